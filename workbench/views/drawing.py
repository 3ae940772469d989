"""Pictures of graphs as records, and the HTML page in which `viewer/graph.js` draws them.

Every picture of a graph is a function from its record to a `Drawing`, nodes at given positions with edges and a legend,
or to a `Map` of discs with thousands of points in them; `figures` renders the same for print. Shapes tell roles and
colours tell types, the same in all pictures of an index; tooltips and the legend, which filters, repeat them. A page
holds the script and plain data, and fetches nothing."""

from __future__ import annotations

import html as _stdlib_html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from workbench.display import html, text
from workbench.records import Record
from workbench.text import clean, counted, short
from workbench.views import viewer
from workbench.views.palette import AUTO, BLUE, GREEN, GREY, THEMED, THEMED_CSS, VERMILION, theme_css, type_marks
from workbench.views.parts import NAME, Part, picture, quiet
from workbench.views.render import page, script_data

HEIGHT = 520  # pixels of a picture, without its legend
LEGEND = 46  # pixels that a page gets for its legend; more entries take room from the picture
LABEL = 40  # characters of a label
ENTRY, TIP = 40, 220  # characters of an entry of a legend, and of a map's tooltip
MANY, PALEST = 80, 0.35  # edges beyond which they fade, and the least share of their opacity that remains
STRONG = 0.85  # the least opacity of edges of an important path, whose relations are always written
SHAPES = {  # name on a page: matplotlib's marker, letter in a legend
    "dot": ("o", "●"),
    "square": ("s", "■"),
    "triangle": ("^", "▲"),
    "diamond": ("D", "◆"),
    "triangleDown": ("v", "▼"),
    "star": ("*", "★"),
    "hexagon": ("h", "⬢"),
}


class NodeStyle(NamedTuple):
    """The marks of one kind of node; `name` is its entry in the legend, `shape` a key of `SHAPES`."""

    name: str
    colour: str
    shape: str = "dot"


OTHER = NodeStyle("other types", GREY)  # of all types that have no colour of their own


class EdgeStyle(NamedTuple):
    """The marks of one kind of edge. `width` and `dashes` (on, off) are pixels on a page; `linewidth` and `linestyle`
    are what matplotlib makes of them; `letters` stand in the legend."""

    name: str
    colour: str
    letters: str = "──"
    width: float = 1.2
    dashes: tuple[int, int] | None = None
    opacity: float = 0.75

    @property
    def linewidth(self) -> float:
        """Points."""
        return round(0.65 * self.width + 0.1, 2)

    @property
    def linestyle(self) -> Any:
        """Dashes in units of the line's width."""
        return (0, tuple(round(part / self.width, 2) for part in self.dashes)) if self.dashes else "solid"


THICK = EdgeStyle("", GREEN, "━━", 5, opacity=0.9)
DASHED = EdgeStyle("", BLUE, "╍╍", 3.5, (16, 5), opacity=0.9)
DOTTED = EdgeStyle("", GREY, "┈┈", 1, (3, 5), opacity=0.6)


class DrawnNode(NamedTuple):
    """A node: `id` is what a click reports, `name` its full name, `role` what it is in this drawing. x points right and
    y down, in any unit of each axis, because a page stretches the drawing over its window; the radius `size` and `font`
    are pixels. `outline` asks for a vermilion ring. `type` is that of an entity,
    and its name in `Drawing.types`."""

    id: int
    name: str
    style: NodeStyle
    x: float
    y: float
    label: str = ""
    tooltip: str = ""
    role: str = ""
    size: float = 10
    font: float = 14
    outline: bool = False
    type: str = ""


class DrawnEdge(NamedTuple):
    """An edge between positions in `Drawing.nodes`. `arrows` is "", "to", "from" or "to,from"; `width` replaces that of
    the style; `curve` is how far it bends from a straight line, as a share of its length; `fade` is the share of the
    style's opacity that it keeps."""

    source: int
    target: int
    style: EdgeStyle
    tooltip: str = ""
    label: str = ""
    arrows: str = ""
    width: float | None = None
    curve: float = 0.0
    fade: float = 1.0


@dataclass(frozen=True, slots=True, repr=False)
class Drawing(Record):
    """The content of a picture, and its legend: the styles in order, the types, and what an outline means (`outlined`).

    `left_out` counts the nodes or edges that had no room. `height` is in pixels, `inches` the size of a figure; `empty`
    is the text for a drawing without nodes."""

    name: str
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    node_styles: tuple[NodeStyle, ...] = ()
    edge_styles: tuple[EdgeStyle, ...] = ()
    outlined: str = ""
    left_out: int = 0
    height: int = HEIGHT
    inches: tuple[float, float] = (8.8, 5.2)
    empty: str = "there is nothing to draw"
    types: tuple[NodeStyle, ...] = ()

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Map(Record):
    """The content of a map. The first `discs` rows of its nodes are discs, the largest first, the others points; labels
    of earlier rows have precedence.

    ids         int (n,): what a click reports; a node keeps its place on the way to the next map of the same `space`
    places      float (n, 2), radii float (n,): x points right and y down, in any one unit
    style       int (n,): positions in `node_styles`
    labels, tips  of the first rows; the others have none, and a click on them counts for their disc
    rings       rows with an outline, which means `outlined`
    edges       int (e, 2): rows; edge_style int (e,): positions in `edge_styles`
    left_out    what had no room, in words; "" for nothing"""

    name: str
    space: str
    ids: np.ndarray
    places: np.ndarray
    radii: np.ndarray
    style: np.ndarray
    node_styles: tuple[NodeStyle, ...]
    discs: int = 0
    labels: tuple[str, ...] = ()
    tips: tuple[str, ...] = ()
    rings: tuple[int, ...] = ()
    outlined: str = ""
    edges: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int32))
    edge_style: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    edge_styles: tuple[EdgeStyle, ...] = ()
    left_out: str = ""

    def __len__(self) -> int:
        return len(self.ids)


@text.register
def _(drawing: Drawing) -> str:
    cut = f"; {drawing.left_out:,} more had no room" if drawing.left_out else ""
    size = f"{counted(len(drawing), 'node')}, {counted(len(drawing.edges), 'edge')}"
    return f"Drawing of {clean(drawing.name, NAME)!r}: {size}{cut}"


@text.register
def _(disc_map: Map) -> str:
    size = f"{disc_map.discs:,} discs, {len(disc_map) - disc_map.discs:,} points, {len(disc_map.edges):,} lines"
    return f"Map of {clean(disc_map.name, NAME)!r}: {size}{f'; {disc_map.left_out}' if disc_map.left_out else ''}"


@html.register(Drawing)
@html.register(Map)
def _picture_html(drawing: Drawing | Map) -> str:
    if isinstance(drawing, Drawing) and not drawing.nodes:
        return page(quiet(drawing.empty))
    return page(quiet(text(drawing))) + drawing_frame(drawing)


def entry_name(name: str) -> str:
    """The name by which an entry of a legend is hidden and shown."""
    return short(name, ENTRY)


def type_styles(order: Sequence[str]) -> dict[str, NodeStyle]:
    """The style of each type, given all types of an index, the most frequent first; all that have no colour of their
    own share one."""
    marks = type_marks(order)
    return {name: OTHER if mark[0] == GREY else NodeStyle(name, *mark) for name, mark in marks.items()}


def in_type(role: NodeStyle, kind: str, styles: Mapping[str, NodeStyle]) -> NodeStyle:
    """The mark of a role in the colour of a type; grey if the type is unknown, and the role's own colour if there are
    no types."""
    if not styles:
        return role
    return role._replace(colour=styles[kind].colour if kind in styles else GREY)


def types_shown(nodes: Iterable[DrawnNode], styles: Mapping[str, NodeStyle], shape: str = "") -> tuple[NodeStyle, ...]:
    """The types of a drawing's nodes, as entries of its legend, all of one `shape` or each of its own."""
    present = {node.type for node in nodes}
    entries = (style._replace(shape=shape or style.shape) for name, style in styles.items() if name in present)
    return tuple(sorted(dict.fromkeys(entries), key=lambda style: style.name == OTHER.name))


def faded(edges: Sequence[DrawnEdge], weights: Sequence[float]) -> Iterator[DrawnEdge]:
    """The edges, paler if there are more than `MANY`, so that nodes and labels stand out. In each style, the heaviest
    edges keep their colour, and the lightest, or all if their weights are equal, fade with the number of edges; those
    of an important path never fade. `weights` has a number for each edge."""
    palest = min(1.0, max(PALEST, (MANY / max(1, len(edges))) ** 0.5))
    of: dict[str, list[float]] = {}
    for edge, weight in zip(edges, weights):
        of.setdefault(edge.style.name, []).append(weight)
    ranges = {name: (min(values), max(values)) for name, values in of.items()}
    for edge, weight in zip(edges, weights):
        low, high = ranges[edge.style.name]
        share = (weight - low) / (high - low) if high > low else 0.0
        fade = 1.0 if edge.style.opacity >= STRONG else round(palest + (1 - palest) * share, 3)
        yield edge._replace(fade=fade)


# -- the data of a page ------------------------------------------------------------------------------------------------


def drawing_entries(drawing: Drawing | Map) -> list[dict[str, Any]]:
    """The entries of the legend, for marks that are in the picture. `of` is what an entry hides, "node" or "edge", or
    "" if it only explains."""
    drawing = _as_drawing(drawing) if isinstance(drawing, Map) else drawing
    marks = {name for node in drawing.nodes for name in _names(node, drawing)}
    lines = {edge.style.name for edge in drawing.edges}
    nodes = [style for style in (*drawing.node_styles, *drawing.types) if style.name in marks]
    edges = [style for style in drawing.edge_styles if style.name in lines]
    entries = [(style.name, style.colour, SHAPES[style.shape][1], "node") for style in nodes]
    if drawing.outlined and any(node.outline for node in drawing.nodes):
        entries.append((drawing.outlined, VERMILION, "◯", ""))
    entries += [(style.name, style.colour, style.letters, "edge") for style in edges]
    return [{"name": entry_name(name), "colour": colour, "mark": mark, "of": of} for name, colour, mark, of in entries]


def _as_drawing(disc_map: Map) -> Drawing:
    rows = zip(*(np.asarray(part).tolist() for part in (disc_map.ids, disc_map.places, disc_map.radii, disc_map.style)))
    rings, look = set(disc_map.rings), disc_map.node_styles
    nodes = tuple(
        DrawnNode(id, "", look[style], *place, short(label, LABEL), clean(tip, TIP), "", radius, 0, row in rings)
        for row, ((id, place, radius, style), label, tip) in enumerate(
            zip_longest(rows, disc_map.labels, disc_map.tips, fillvalue="")
        )
    )  # fmt: skip
    ends = zip(np.asarray(disc_map.edges).tolist(), np.asarray(disc_map.edge_style).tolist())
    edges = tuple(DrawnEdge(*pair, disc_map.edge_styles[style]) for pair, style in ends)
    return Drawing(disc_map.name, nodes, edges, look, disc_map.edge_styles, disc_map.outlined)


def drawing_data(drawing: Drawing | Map, whole: Drawing | None = None) -> dict[str, Any]:
    """The data that `viewer/graph.js` draws: the first data of a page, and a message that a loaded page accepts.
    Numbers are short and defaults are left out, to keep pages of thousands of nodes small. `whole` is the last drawing
    of a series, whose bounds hold for all, so that every node keeps its place."""
    common = {"name": short(drawing.name, NAME), "legend": drawing_entries(drawing)}
    if isinstance(drawing, Map):
        drawn = _drawing_data(_as_drawing(drawing))
        return common | {"space": drawing.space, "round": True, "discs": drawing.discs} | drawn
    whole = whole or drawing
    xs, ys = [node.x for node in whole.nodes] or [0.0], [node.y for node in whole.nodes] or [0.0]
    bounds = [round(edge, 1) for edge in (min(xs), min(ys), max(xs), max(ys))]
    ratio = round(max(1.2, drawing.inches[0] / drawing.inches[1]), 3)
    return common | {"ratio": ratio, "bounds": bounds} | _drawing_data(drawing)


def _drawing_data(drawing: Drawing) -> dict[str, Any]:
    looks = list(dict.fromkeys((node.style, _names(node, drawing)) for node in drawing.nodes))
    styles = list(dict.fromkeys([*drawing.edge_styles, *(edge.style for edge in drawing.edges)]))
    look_at, style_at = ({key: at for at, key in enumerate(keys)} for keys in (looks, styles))
    return {
        "looks": [[style.colour, style.shape, list(map(entry_name, names))] for style, names in looks],
        "lines": list(map(_line, styles)),
        "nodes": [_node_data(node, look_at[node.style, _names(node, drawing)]) for node in drawing.nodes],
        "edges": [_edge_data(edge, style_at[edge.style]) for edge in drawing.edges],
    }


def _names(node: DrawnNode, drawing: Drawing) -> tuple[str, ...]:
    """The entries of the legend that hide a node: its role, and its type or that of all without a colour."""
    kind = node.type if any(style.name == node.type for style in drawing.types) else OTHER.name
    return tuple(name for name in dict.fromkeys((node.style.name, kind if node.type else "")) if name)


def _line(style: EdgeStyle) -> list[Any]:
    dashes = list(style.dashes) if style.dashes else []
    return [style.colour, style.width, style.opacity, dashes, entry_name(style.name), style.opacity >= STRONG]


def _node_data(node: DrawnNode, look: int) -> dict[str, Any]:
    tip, font = node.tooltip or node.name, round(node.font, 1)
    optional = _given(label=node.label, tip=tip, font=font, ring=int(node.outline))
    data = {"id": node.id, "x": round(node.x, 1), "y": round(node.y, 1), "r": round(node.size, 1), "s": look}
    return data | optional


def _edge_data(edge: DrawnEdge, look: int) -> dict[str, Any]:
    width, fade = edge.width and round(edge.width, 1), edge.fade if edge.fade < 1 else None
    optional = _given(label=edge.label, tip=edge.tooltip, arrows=edge.arrows, curve=edge.curve, width=width, fade=fade)
    return {"source": edge.source, "target": edge.target, "s": look} | optional


def _given(**data: Any) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value}


# -- the page ----------------------------------------------------------------------------------------------------------

# The page may run and load only what it contains.
POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">"
)


def drawing_page(drawing: Drawing | Map, *, theme: str = AUTO) -> str:
    """A self-contained HTML page, as high as its window: it zooms, pans, shows tooltips, and its legend filters."""
    return (
        f'<!doctype html><html><head>{POLICY}<meta charset="utf-8"><style>{theme_css(theme)}{viewer.GRAPH_CSS}</style>'
        f'</head><body class="hopscope-graph"><script>{viewer.GRAPH}{viewer.part("page.js")}</script>'
        f"<script>view.show({script_data(drawing_data(drawing))});</script></body></html>"
    )


def drawing_frame(drawing: Drawing | Map, *, theme: str = AUTO) -> str:
    """The page in a sandboxed frame, as HTML for the output of a notebook and for pages made from it."""
    height = getattr(drawing, "height", HEIGHT)
    return (
        f'<style>{THEMED_CSS}</style><iframe class="{THEMED}" width="100%" height="{height + LEGEND}" frameborder="0" '
        f'sandbox="allow-scripts" srcdoc="{_stdlib_html.escape(drawing_page(drawing, theme=theme))}"></iframe>'
    )


def drawing_part(drawing: Drawing, whole: Drawing | None = None) -> Part | None:
    """The picture as a part of a page whose head has `viewer.GRAPH`; a page without scripts shows its text. None
    for a drawing without nodes."""
    return picture("graph", drawing_data(drawing, whole), text(drawing)) if drawing.nodes else None
