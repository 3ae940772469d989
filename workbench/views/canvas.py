"""Widgets that show a graph and report clicks: `picked` is the id of the node that was clicked last, -1 before any;
`hidden` are the entries of the legend whose nodes or edges are not shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import anywidget
import ipywidgets as widgets
import networkx
import numpy as np
import traitlets
from ipysigma import Sigma

from workbench.index.layout import layout
from workbench.operators.neighbourhood import Subgraph
from workbench.text import short
from workbench.views import legend, pages
from workbench.views.drawing import (
    HEIGHT,
    LABEL,
    THICK,
    Drawing,
    drawing_data,
    drawing_entries,
    drawing_page,
    entry_name,
    in_type,
    legend_entries,
    type_styles,
)
from workbench.views.map_page import Map, map_data, map_entries, map_page
from workbench.views.node_details import EDGES, NODES, edge_width, node_size
from workbench.views.palette import AUTO, THEMED, THEMED_CSS, VERMILION, surface

CROWDED = 1000  # nodes from which on marks are small and edges equally thin
_FULL = {"width": "100%"}


class Frame(anywidget.AnyWidget):
    """A drawing as a page in a sandboxed frame, for some two hundred nodes."""

    _esm = pages.part("frame.js")
    _css = THEMED_CSS
    page = traitlets.Unicode().tag(sync=True)
    drawn = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(HEIGHT).tag(sync=True)
    picked = traitlets.Int(-1).tag(sync=True)
    hidden = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, theme: str = AUTO, height: int = HEIGHT):
        """`height` is that of the picture, without its legend."""
        super().__init__(layout=_FULL, height=height + legend.HEIGHT)
        self.add_class(THEMED)
        self.theme = theme
        self.entries: list[dict[str, Any]] = []

    def draw(self, drawing: Drawing) -> None:
        """Load the first drawing as a page; send the page the others, which takes a third of the time."""
        self.picked = -1  # so that the same node can be clicked in the next drawing
        self.entries = drawing_entries(drawing)
        if self.page:
            self.drawn = drawing_data(drawing)
        else:
            self.page = drawing_page(drawing, theme=self.theme)


class MapFrame(Frame):
    """A map in a sandboxed frame, for some ten thousand nodes."""

    def draw(self, shown: Map) -> None:
        """Load the first map as a page; send the page the others, to which it moves."""
        self.picked = -1  # so that the same node can be clicked in the next map
        self.entries = map_entries(shown)
        if self.page:
            self.drawn = map_data(shown)
        else:
            self.page = map_page(shown, theme=self.theme)


class Canvas(widgets.Box):
    """A place for a drawing or a WebGL view; calls `clicked` with the id of a node."""

    def __init__(self, theme: str = AUTO, height: int = HEIGHT, frame: type[Frame] = Frame, **layout: str):
        super().__init__(layout=(layout or _FULL) | {"flex_flow": "column"})
        self.clicked: Callable[[int], Any] = lambda node: None
        self.frame = frame(theme, height)
        self._listen(self.frame)
        self.entries: tuple[str, ...] = ()  # what of the picture can be hidden, by its names in the legend

    def draw(self, drawing: Drawing | None) -> None:
        """Show a drawing; nothing without a drawing or without nodes."""
        if drawing:
            self.frame.draw(drawing)  # before the page shows the frame, so that it has what to load
        self.children = [self.frame] if drawing else []
        self._can_hide(self.frame.entries if drawing else ())

    def replace(self, view: WebGL) -> None:
        """Show a view by WebGL, with its legend below."""
        shown = Legend(entries=view.entries, hidden=self.frame.hidden, colour=view.colour)
        traitlets.link((self.frame, "hidden"), (shown, "hidden"))

        def sift(hidden: Sequence[str]) -> None:
            part = view.without(hidden) if hidden else view
            self._listen(part)
            self.children = [part, shown]

        sift(self.hidden)
        shown.observe(lambda change: sift(change["new"]), "hidden")
        self._can_hide(view.entries)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The entries that are hidden now; they stay so in the next picture."""
        return tuple(self.frame.hidden)

    def hide(self, *names: str) -> None:
        """Hide what these entries of the legend stand for, and show everything else, as clicks on them do."""
        self.frame.hidden = list(names)

    def _can_hide(self, entries: Sequence[dict[str, Any]]) -> None:
        self.entries = tuple(one["name"] for one in entries if one["of"])

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

    def __init__(
        self, subgraph: Subgraph, *, height: int = HEIGHT, theme: str = AUTO, hidden: Sequence[str] = (),
        strong: Collection[frozenset[str]] = (), meaning: str = "", places: np.ndarray | None = None,
    ):  # fmt: skip
        """Without what the entries `hidden` of the legend stand for. Edges between `strong` pairs of names are thick
        and green, with this `meaning`; `places` are those of `layout`."""
        colours, crowded = surface(theme), len(subgraph) > CROWDED
        self._places = layout(subgraph) if places is None else places
        self._made = {
            "subgraph": subgraph, "height": height, "theme": theme, "strong": strong, "meaning": meaning,
        }  # fmt: skip
        super().__init__(
            _networkx(subgraph, self._places, set(hidden), strong),
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
        self.add_class(THEMED)
        self.observe(self._selected, "selected_node")

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The meaning of the marks, all of which are discs and lines."""
        subgraph = self._made["subgraph"]
        styles, present = type_styles(subgraph.types), {node.type for node in subgraph.nodes}
        kinds = (in_type(NODES["phrase"], "", styles), NODES["passage"])
        types = (style for name, style in styles.items() if name in present)
        discs = [style._replace(shape="dot") for style in (*kinds, *types)]
        edges = {edge.kind for edge in subgraph.edges}
        lines = [style._replace(letters="──") for kind, style in EDGES.items() if kind in edges]
        meaning = self._made["meaning"]
        told = [legend.entry(meaning, THICK.colour, THICK.letters, "")] if meaning else []
        return legend_entries(discs, lines, "start") + told

    @property
    def colour(self) -> str:
        """Of the letters of a legend."""
        return surface(self._made["theme"]).ink

    def without(self, hidden: Sequence[str]) -> WebGL:
        """The view of what remains, each node in its place."""
        return type(self)(**self._made, hidden=hidden, places=self._places)

    def _selected(self, change: dict) -> None:
        if change["new"] is not None:
            self.picked = int(change["new"])


WEBGL_STYLE = (
    f"<style>{THEMED_CSS}</style>"
    + """<style>
.hopscope-webgl :is(.ipysigma-layout-controls, .ipysigma-right-panel, .ipysigma-graph-description) {
  display: none !important }
</style>"""
)


class Legend(anywidget.AnyWidget):
    """A legend beside a view that has none of its own."""

    _esm = legend.LEGEND_SCRIPT + pages.part("legend_widget.js")
    _css = legend.LEGEND_CSS
    entries = traitlets.List().tag(sync=True)
    hidden = traitlets.List(traitlets.Unicode()).tag(sync=True)
    colour = traitlets.Unicode().tag(sync=True)


def _networkx(
    subgraph: Subgraph, places: np.ndarray, hidden: set[str], strong: Collection[frozenset[str]]
) -> networkx.MultiGraph:
    """Numbers are short and defaults omitted, because the page waits for every byte."""
    graph, rows, styles = networkx.MultiGraph(), [str(node.row) for node in subgraph.nodes], type_styles(subgraph.types)
    for row, node, (x, y) in zip(rows, subgraph.nodes, places.round(4).tolist()):
        role = NODES[node.kind]
        if hidden & {entry_name(role.name), entry_name(node.type)}:
            continue
        style = in_type(role, node.type, styles) if node.kind == "phrase" else role
        colour = VERMILION if node.hop == 0 else style.colour
        graph.add_node(row, label=short(node.label, LABEL), x=x, y=-y, size=round(node_size(node), 1), color=colour)
    crowded = len(subgraph) > CROWDED
    looks = {kind: {"color": style.colour} for kind, style in EDGES.items()}
    for edge in subgraph.edges:
        ends = rows[edge.source], rows[edge.target]
        if EDGES[edge.kind].name in hidden or not all(end in graph for end in ends):
            continue
        look = looks[edge.kind] if crowded else looks[edge.kind] | {"size": round(edge_width(edge), 1)}
        if frozenset((subgraph.nodes[edge.source].name, subgraph.nodes[edge.target].name)) in strong:
            look = {"color": THICK.colour, "size": 3.0}
        graph.add_edge(*ends, edge.kind, **look)
    return graph
