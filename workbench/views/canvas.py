"""Widgets that show a graph and report clicks: `picked` is the id of the node that was clicked last, -1 before any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget
import ipywidgets as widgets
import networkx
import traitlets
from ipysigma import Sigma

from workbench.graph.neighbourhood import Subgraph
from workbench.views.base import short
from workbench.views.drawing import HEIGHT, LABEL, Drawing, NodeStyle, drawing_data, drawing_legend, drawing_page
from workbench.views.graph import EDGES, NODES, edge_width, node_size
from workbench.views.layout import layout
from workbench.views.map_page import Map, map_data, map_page
from workbench.views.palette import VERMILION, theme_named

CROWDED = 1000  # nodes from which on marks are small and edges equally thin
_FULL = {"width": "100%"}


class Frame(anywidget.AnyWidget):
    """A drawing as a page in a sandboxed frame, for some two hundred nodes."""

    _esm = """
    function render({ model, el }) {
      const frame = document.createElement("iframe");
      frame.setAttribute("sandbox", "allow-scripts");
      frame.style.cssText = "width:100%;border:1px solid #8884;display:block;box-sizing:border-box";
      frame.style.height = model.get("height") + "px";
      const show = () => { if (model.get("drawn").nodes) frame.contentWindow.postMessage(model.get("drawn"), "*"); };
      // Only once and in the document: a load that interrupts another one can leave the frame blank.
      const load = () => { if (model.get("page")) frame.srcdoc = model.get("page"); };
      const heard = (event) => {
        const row = event.source === frame.contentWindow && event.data ? event.data.picked : undefined;
        if (Number.isInteger(row)) { model.set("picked", row); model.save_changes(); }
      };
      window.addEventListener("message", heard);
      frame.addEventListener("load", show);
      model.on("change:drawn", show);
      model.on("change:page", load);
      load();
      el.append(frame);
      return () => window.removeEventListener("message", heard);
    }
    export default { render };
    """
    page = traitlets.Unicode().tag(sync=True)
    drawn = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(HEIGHT).tag(sync=True)
    picked = traitlets.Int(-1).tag(sync=True)

    def __init__(self, theme: str = "light", height: int = HEIGHT):
        super().__init__(layout=_FULL, height=height)
        self.theme = theme

    def draw(self, drawing: Drawing) -> None:
        """Load the first drawing as a page; send the page the others, which takes a third of the time."""
        self.picked = -1  # so that the same node can be clicked in the next drawing
        if self.page:
            self.drawn = drawing_data(drawing, self.theme)
        else:
            self.page = drawing_page(drawing, height=self.height, theme=self.theme)


class MapFrame(Frame):
    """A map in a sandboxed frame, for some ten thousand nodes."""

    def draw(self, shown: Map) -> None:
        """Load the first map as a page; send the page the others, to which it moves."""
        self.picked = -1  # so that the same node can be clicked in the next map
        if self.page:
            self.drawn = map_data(shown)
        else:
            self.page = map_page(shown, height=self.height, theme=self.theme)


class Canvas(widgets.Box):
    """A place for a drawing or a WebGL view; calls `clicked` with the id of a node."""

    def __init__(self, theme: str = "light", height: int = HEIGHT, frame: type[Frame] = Frame, **layout: str):
        super().__init__(layout=layout or _FULL)
        self.clicked: Callable[[int], Any] = lambda node: None
        self.frame = frame(theme, height)
        self._listen(self.frame)

    def draw(self, drawing: Drawing | None) -> None:
        """Show a drawing; nothing without a drawing or without nodes."""
        if drawing:
            self.frame.draw(drawing)  # before the page shows the frame, so that it has what to load
        self.children = [self.frame] if drawing else []

    def replace(self, view: WebGL) -> None:
        self._listen(view)
        self.children = [view]

    def _listen(self, view: widgets.Widget) -> None:
        view.observe(lambda change: change["new"] >= 0 and self.clicked(change["new"]), "picked")


class WebGL(Sigma):
    """A subgraph of thousands of nodes, drawn by ipysigma; it zooms and shows the labels that have room.

    ipysigma keeps positions in a trait called `layout`, where every widget has its CSS, and the page then fails to make
    a view of the positions. Here `layout` is CSS again, and positions are fixed; show `WEBGL_STYLE` beside it to hide
    the buttons that would move nodes."""

    layout = widgets.trait_types.InstanceDict(widgets.Layout, allow_none=True).tag(
        sync=True, **widgets.widget_serialization
    )
    picked = traitlets.Int(-1)

    def __init__(self, subgraph: Subgraph, *, height: int = HEIGHT, theme: str = "light"):
        colours, crowded = theme_named(theme), len(subgraph) > CROWDED
        super().__init__(
            _networkx(subgraph),
            height=height,
            background_color=colours.paper,
            default_node_label_color=colours.ink,
            hide_info_panel=True,
            hide_search=True,
            default_edge_type="line",
            node_size_range=(1, 6) if crowded else (2, 12),
            edge_size_range=(0.3, 2),
            default_edge_size=0.3,
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


def webgl_legend() -> str:
    """The meaning of the marks, all of which are discs and lines, as HTML."""
    kinds = tuple(NODES[kind]._replace(shape="dot") for kind in ("phrase", "passage"))
    edges = tuple(style._replace(letters="──") for style in EDGES.values())
    return drawing_legend(Drawing("", (), (), (*kinds, NodeStyle("start", VERMILION)), edges))


def _networkx(subgraph: Subgraph) -> networkx.MultiGraph:
    """Numbers are short and defaults omitted, because the page waits for every byte."""
    graph, rows = networkx.MultiGraph(), [str(node.row) for node in subgraph.nodes]
    for row, node, (x, y) in zip(rows, subgraph.nodes, layout(subgraph).round(4).tolist()):
        colour = VERMILION if node.hop == 0 else NODES[node.kind].colour
        graph.add_node(row, label=short(node.label, LABEL), x=x, y=-y, size=round(node_size(node), 1), color=colour)
    crowded = len(subgraph) > CROWDED
    looks = {kind: {"color": style.colour} for kind, style in EDGES.items()}
    for edge in subgraph.edges:
        look = looks[edge.kind] if crowded else looks[edge.kind] | {"size": round(edge_width(edge), 1)}
        graph.add_edge(rows[edge.source], rows[edge.target], edge.kind, **look)
    return graph
