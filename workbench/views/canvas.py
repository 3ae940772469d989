"""Widgets that draw a subgraph and say which node was clicked: `picked` is its row, -1 before any was."""

from __future__ import annotations

import anywidget
import ipywidgets as widgets
import networkx
import traitlets
from ipysigma import Sigma

from workbench.operators.neighbourhood import Subgraph
from workbench.views.base import short
from workbench.views.graph import EDGES, HEIGHT, LABEL, NODES, edge_width, graph_page, node_size, theme_named
from workbench.views.layout import layout
from workbench.views.palette import VERMILION

_FULL = {"width": "100%"}


class Frame(anywidget.AnyWidget):
    """A page in a sandboxed frame, for some two hundred nodes."""

    _esm = """
    function render({ model, el }) {
      const frame = document.createElement("iframe");
      frame.setAttribute("sandbox", "allow-scripts");
      frame.style.cssText = "width:100%;border:1px solid #8884;display:block;box-sizing:border-box";
      const show = () => { frame.style.height = model.get("height") + "px"; frame.srcdoc = model.get("page"); };
      const heard = (event) => {
        const row = event.source === frame.contentWindow && event.data ? event.data.picked : undefined;
        if (Number.isInteger(row)) { model.set("picked", row); model.save_changes(); }
      };
      window.addEventListener("message", heard);
      model.on("change:page", show);
      show();
      el.append(frame);
      return () => window.removeEventListener("message", heard);
    }
    export default { render };
    """
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(HEIGHT).tag(sync=True)
    picked = traitlets.Int(-1).tag(sync=True)

    def __init__(self, theme: str = "light"):
        super().__init__(layout=_FULL)
        self.theme = theme

    def draw(self, subgraph: Subgraph) -> None:
        self.picked = -1  # so that the same node can be clicked in the next picture
        self.page = graph_page(subgraph, height=self.height, theme=self.theme)


class WebGL(Sigma):
    """An ipysigma view, for thousands of nodes. It zooms and shows labels as there is room.

    ipysigma keeps positions in a trait called `layout`, where every widget has its CSS: the page then fails to make a
    view of the positions. Here `layout` is CSS again, and positions are fixed; show `WEBGL_STYLE` beside it to hide
    the buttons that would move nodes."""

    layout = widgets.trait_types.InstanceDict(widgets.Layout, allow_none=True).tag(
        sync=True, **widgets.widget_serialization
    )
    picked = traitlets.Int(-1)

    def __init__(self, subgraph: Subgraph, *, height: int = HEIGHT, theme: str = "light"):
        colours, crowded = theme_named(theme), len(subgraph) > 1000
        super().__init__(
            _networkx(subgraph),
            height=height,
            background_color=colours.paper,
            default_node_label_color=colours.ink,
            hide_info_panel=True,
            hide_search=True,
            default_edge_type="line",
            node_size_range=(1, 6) if crowded else (2, 12),
            edge_size_range=(0.1, 0.6) if crowded else (0.3, 2),
            label_density=1.5,
        )
        self.layout = _FULL
        self.add_class("hopscope-webgl")
        self.observe(self._selected, "selected_node")

    def _selected(self, change: dict) -> None:
        if change["new"] is not None:
            self.picked = int(change["new"])


WEBGL_STYLE = """<style>
.hopscope-webgl :is(.ipysigma-layout-controls, .ipysigma-right-panel, .ipysigma-graph-description) {
  display: none !important }
</style>"""


def _networkx(subgraph: Subgraph) -> networkx.MultiGraph:
    graph = networkx.MultiGraph()
    for node, (x, y) in zip(subgraph.nodes, layout(subgraph).tolist()):
        colour = VERMILION if node.hop == 0 else NODES[node.kind][0]
        graph.add_node(str(node.row), label=short(node.label, LABEL), x=x, y=-y, size=node_size(node), color=colour)
    for edge in subgraph.edges:
        source, target = subgraph.nodes[edge.source], subgraph.nodes[edge.target]
        graph.add_edge(str(source.row), str(target.row), color=EDGES[edge.kind][0], size=edge_width(edge))
    return graph
