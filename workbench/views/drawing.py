"""A drawing: nodes at given positions, edges and a legend, and the HTML page that shows it with vis-network.

Every picture of a graph is a function from its record to a `Drawing`; `figures.drawing_figure` renders the same drawing
for print. Nothing moves by itself and the page fetches nothing. Shapes tell roles and colours tell types, the same in
all pictures of an index; tooltips and the legend, which filters, repeat them."""

from __future__ import annotations

import html as _stdlib_html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from workbench.display import html, text
from workbench.records import Record
from workbench.text import clean, counted, short
from workbench.views import legend, pages
from workbench.views.base import NAME, esc, page, script_data
from workbench.views.palette import AUTO, BLUE, GREEN, GREY, THEMED, THEMED_CSS, VERMILION, theme_css, type_marks

HEIGHT = 520  # pixels of a page
LABEL = 40  # characters of a label
ENTRY = 40  # characters of an entry of a legend
MANY, PALEST = 80, 0.35  # edges from which on they fade, and the share of their opacity that the palest keep
RIM = "#888888"  # around every mark, so that pale ones stand out from white and dark ones from black
SHAPES = {  # vis-network's name: matplotlib's marker, letter in a legend
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


class EdgeStyle(NamedTuple):
    """The marks of one kind of edge. `width` and `dashes` (on, off) are pixels on a page; `linewidth` and `linestyle`
    are matplotlib's; `letters` stand in the legend."""

    name: str
    colour: str
    letters: str = "──"
    width: float = 1.2
    dashes: tuple[int, int] | bool = False
    linewidth: float = 0.9
    linestyle: Any = "solid"
    opacity: float = 0.75


THICK = EdgeStyle("", GREEN, "━━", 5, False, 3.0, "solid", 0.9)
DASHED = EdgeStyle("", BLUE, "╍╍", 3.5, (16, 5), 2.2, (0, (6, 2)), 0.9)
DOTTED = EdgeStyle("", GREY, "┈┈", 1, (3, 5), 0.7, (0, (1.5, 2.5)), 0.6)


class DrawnNode(NamedTuple):
    """A node: `id` is what a click reports, `name` its full name, `role` what it is in this drawing. x points right and
    y down, in pixels of a page; `size` and `font` are pixels, `points` is the diameter in a figure. `outline` is the
    width of a vermilion border, 0 for none. `type` is that of an entity, and its name in `Drawing.types`."""

    id: int
    name: str
    style: NodeStyle
    x: float
    y: float
    label: str = ""
    tooltip: str = ""
    role: str = ""
    size: float = 10
    points: float = 7
    font: float = 14
    outline: float = 0
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
    """What a picture shows, and its legend: the styles in order, the types, and what an outline means (`outlined`).

    `left_out` counts the nodes or edges that had no room. `zoom` scales fonts and outlines: a page shrinks until all
    nodes fit, so large drawings need larger marks. `height` is in pixels, `inches` the size of a figure; `empty` is the
    text for a drawing without nodes."""

    name: str
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    node_styles: tuple[NodeStyle, ...] = ()
    edge_styles: tuple[EdgeStyle, ...] = ()
    outlined: str = ""
    left_out: int = 0
    zoom: float = 1.0
    height: int = HEIGHT
    inches: tuple[float, float] = (8.8, 5.2)
    empty: str = "there is nothing to draw"
    types: tuple[NodeStyle, ...] = ()

    def __len__(self) -> int:
        return len(self.nodes)


@text.register
def _(drawing: Drawing) -> str:
    cut = f"; {drawing.left_out:,} more had no room" if drawing.left_out else ""
    size = f"{counted(len(drawing), 'node')}, {counted(len(drawing.edges), 'edge')}"
    return f"Drawing of {clean(drawing.name, NAME)!r}: {size}{cut}"


@html.register
def _(drawing: Drawing) -> str:
    if not drawing.nodes:
        return page(f"<p class='q'>{esc(drawing.empty)}</p>")
    return page(f"<p class='q'>{esc(text(drawing))}</p>") + drawing_frame(drawing)


def legend_entries(
    nodes: Iterable[NodeStyle], edges: Iterable[EdgeStyle] = (), outlined: str = ""
) -> list[dict[str, Any]]:
    """The meaning of the marks, for the legend of a page."""
    entries = [legend.entry(entry_name(one.name), one.colour, SHAPES[one.shape][1]) for one in nodes]
    entries += [legend.entry(entry_name(outlined), VERMILION, "◯", "")] if outlined else []
    return entries + [legend.entry(entry_name(one.name), one.colour, one.letters, "edge") for one in edges]


def drawing_entries(drawing: Drawing) -> list[dict[str, Any]]:
    """The legend of a drawing."""
    return legend_entries((*drawing.node_styles, *drawing.types), drawing.edge_styles, drawing.outlined)


def entry_name(name: str) -> str:
    """By this name an entry of a legend is hidden and shown."""
    return short(name, ENTRY)


def type_styles(order: Sequence[str]) -> dict[str, NodeStyle]:
    """The style of each type, given all types of an index, the most frequent first."""
    return {name: NodeStyle(name, *mark) for name, mark in type_marks(order).items()}


def in_type(role: NodeStyle, kind: str, styles: Mapping[str, NodeStyle]) -> NodeStyle:
    """The mark of a role in the colour of a type; grey where the type is not known, and the role's own where none
    is."""
    if not styles:
        return role
    return role._replace(colour=styles[kind].colour if kind in styles else GREY)


def types_shown(nodes: Iterable[DrawnNode], styles: Mapping[str, NodeStyle], shape: str = "") -> tuple[NodeStyle, ...]:
    """The types of a drawing's nodes, as entries of its legend, all of one `shape` or each of its own."""
    present = {node.type for node in nodes}
    return tuple(style._replace(shape=shape or style.shape) for name, style in styles.items() if name in present)


def faded(edges: Sequence[DrawnEdge], weights: Sequence[float]) -> Iterator[DrawnEdge]:
    """The edges, paler where there are more than `MANY`, so that nodes and labels stand out: in each style the heaviest
    keep their colour, and the lightest, or all of one weight, fade as the number of edges asks. `weights`: one each."""
    palest = min(1.0, max(PALEST, (MANY / max(1, len(edges))) ** 0.5))
    of: dict[str, list[float]] = {}
    for edge, weight in zip(edges, weights):
        of.setdefault(edge.style.name, []).append(weight)
    ranges = {name: (min(found), max(found)) for name, found in of.items()}
    for edge, weight in zip(edges, weights):
        low, high = ranges[edge.style.name]
        share = (weight - low) / (high - low) if high > low else 0.0
        yield edge._replace(fade=round(palest + (1 - palest) * share, 3))


def drawing_data(drawing: Drawing) -> dict[str, Any]:
    """Nodes and edges for vis-network: the argument of `show` in the page, and a message that a loaded page accepts."""
    return {
        "zoom": drawing.zoom,
        "legend": drawing_entries(drawing),
        "nodes": [_vis_node(node) for node in drawing.nodes],
        "edges": [_vis_edge(edge, drawing) for edge in drawing.edges],
    }


def _vis_node(node: DrawnNode) -> dict:
    return {
        "id": node.id,
        "label": node.label,
        "tooltip": node.tooltip,
        "shape": node.style.shape,
        "size": node.size,
        "x": node.x,
        "y": node.y,
        "borderWidth": node.outline or 1,
        "color": {"background": node.style.colour, "border": VERMILION if node.outline else RIM},
        "in": [entry_name(name) for name in (node.style.name, node.type) if name],
        "font": {"size": node.font},
    }


def _vis_edge(edge: DrawnEdge, drawing: Drawing) -> dict:
    return {
        "from": drawing.nodes[edge.source].id,
        "to": drawing.nodes[edge.target].id,
        "tooltip": edge.tooltip,
        "width": edge.style.width if edge.width is None else edge.width,
        "dashes": list(edge.style.dashes) if edge.style.dashes else False,
        "color": {"color": edge.style.colour, "opacity": round(edge.style.opacity * edge.fade, 4)},
        "in": entry_name(edge.style.name),
        **({"arrows": edge.arrows} if edge.arrows else {}),
        **({"smooth": {"enabled": True, "type": "curvedCW", "roundness": edge.curve}} if edge.curve else {}),
        **({"label": edge.label, "font": {"size": 11}} if edge.label else {}),
    }


# -- the page ----------------------------------------------------------------------------------------------------------

# The page may run and load only what it contains.
POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">"
)
_CSS = pages.part("drawing.css")
_OPTIONS = (
    '{"physics": {"enabled": false}, "interaction": {"hover": true, "tooltipDelay": 80, "multiselect": false},'
    ' "edges": {"smooth": false, "selectionWidth": 2, "hoverWidth": 1}}'
)
# Tooltips become text nodes here, because vis-network parses a string that holds "href" as HTML; they would outlive
# their node and the mouse. A frame may load before it has a size; the drawing is fitted when it has one, and again when
# its shape changes. Labels keep their size at every zoom, and are written only where they have room: first those under
# the mouse, signs, outlined, large and early nodes, then relations. `labels` are the boxes of those that stand there.
_SCRIPT = f"<script>{legend.LEGEND_SCRIPT}{pages.part('drawing.js')}</script>"


def drawing_page(drawing: Drawing, *, theme: str = AUTO) -> str:
    """A self-contained HTML page, as high as its window: it zooms, pans, shows tooltips, and its legend filters."""
    before, after = _empty_page(theme)
    return f"{before}<script>show({script_data(drawing_data(drawing))});</script></body>{after}"


def drawing_frame(drawing: Drawing, *, height: int | None = None, theme: str = AUTO) -> str:
    """The page in a sandboxed frame, as HTML for the output of a notebook and for pages made from it. `height` is that
    of the picture, without its legend."""
    return framed(drawing_page(drawing, theme=theme), height or drawing.height)


def framed(made: str, height: int) -> str:
    """A page with a picture of this height and a legend, as a sandboxed frame."""
    return (
        f'<style>{THEMED_CSS}</style><iframe class="{THEMED}" srcdoc="{_stdlib_html.escape(made)}" width="100%" '
        f'height="{height + legend.HEIGHT}" frameborder="0" sandbox="allow-scripts"></iframe>'
    )


@lru_cache(maxsize=3)
def _empty_page(theme: str) -> tuple[str, str]:
    """A page with vis-network and nothing to show, before and after the end of its body."""
    from workbench.index.networks import OfflineNetwork

    css = theme_css(theme) + _CSS + legend.LEGEND_CSS
    network = OfflineNetwork()
    network.set_options(_OPTIONS)
    made = network.generate_html().replace("<head>", f"<head>{POLICY}<style>{css}</style>", 1)
    before, _, after = made.rpartition("</body>")
    return before + _SCRIPT, after
