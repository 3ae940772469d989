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
from workbench.views import legend
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
_CSS = (
    "body{margin:0;background:var(--paper);color:var(--ink);height:100vh;display:flex;flex-direction:column;"
    "overflow:hidden} .card{flex:1 1 0;min-height:0} #mynetwork{height:100%!important} "
    ".card,#mynetwork{border:0!important;background:none!important} h1,center{display:none} "
    "#legend{flex:none;z-index:1} div.vis-tooltip{font-family:sans-serif!important;color:var(--ink)!important;"
    "background:var(--paper)!important} #hint{position:fixed;right:8px;top:6px;font:12px sans-serif;opacity:.7;"
    "pointer-events:none}"
)
_OPTIONS = (
    '{"physics": {"enabled": false}, "interaction": {"hover": true, "tooltipDelay": 80, "multiselect": false},'
    ' "edges": {"smooth": false, "selectionWidth": 2, "hoverWidth": 1}}'
)
# Tooltips become text nodes here, because vis-network parses a string that holds "href" as HTML; they would outlive
# their node and the mouse. A frame may load before it has a size; the drawing is fitted when it has one, and again when
# its shape changes. Labels keep their size at every zoom, and are written only where they have room: first those under
# the mouse, signs, outlined, large and early nodes, then relations. `labels` are the boxes of those that stand there.
_SCRIPT = (
    f"""<script>{legend.LEGEND_SCRIPT}"""
    + """
const inks = getComputedStyle(document.documentElement);  // live: it follows the theme
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => network.redraw());
const tip = (words) => Object.assign(document.createElement("div"), {innerText: words});
const place = document.getElementById("mynetwork");
const hint = document.body.appendChild(Object.assign(document.createElement("div"), {id: "hint"}));
const OVER = 16;  // labels that may cover marks
let shown, wide, order = [], labels = [], hovered = null, placed = false;
const gone = new Set();  // ids of hidden nodes
const sift = () => {
  gone.clear();
  for (const node of shown.nodes) if (node.in.some(entries.has)) gone.add(node.id);
  nodes.update(shown.nodes.map(({id}) => ({id, hidden: gone.has(id)})));
  edges.update(shown.edges.map((edge, id) => ({id, hidden: lost(edge)})));
  network.redraw();
};
const lost = (edge) => entries.has(edge.in) || gone.has(edge.from) || gone.has(edge.to);
const entries = legend(
  document.body.appendChild(Object.assign(document.createElement("div"), {id: "legend", className: "legend"})),
  (hidden) => { sift(); parent.postMessage({hidden}, "*"); },
);
const ratio = () => {
  const room = place.getBoundingClientRect();
  placed = room.width > 0 && room.height > 0;
  return placed ? Math.min(Math.max(innerWidth / innerHeight, 1), 2) : 1;  // whatever the legend takes of the height
};
const hide = () => { network.interactionHandler.popup?.hide(); };
const show = (drawn) => {
  hide();
  shown = hovered = null;
  wide = ratio();
  nodes.clear();
  edges.clear();
  nodes.add(drawn.nodes.map(({label, in: _, ...node}) => ({...node, x: node.x * wide, title: tip(node.tooltip)})));
  edges.add(drawn.edges.map(({label, in: _, ...edge}, at) => ({...edge, id: at, title: tip(edge.tooltip)})));
  const weight = ({borderWidth, font, size}) => [borderWidth, font.size, size];
  const before = (a, b) => { for (let i = 0; i < 3; i++) if (a[i] !== b[i]) return b[i] - a[i]; return 0; };
  order = drawn.nodes.filter((node) => node.label).sort((a, b) => before(weight(a), weight(b)));
  shown = drawn;
  entries.show(drawn.legend);
  sift();
  if (!placed) return;
  network.fit();
  network.moveTo({scale: 0.86 * network.getScale()});
};
const meets = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
network.on("afterDrawing", (ctx) => {
  if (!shown || !placed) return;
  const scale = network.getScale(), room = place.getBoundingClientRect(), dots = ctx.canvas.width / room.width;
  const marks = new Map(shown.nodes.filter(({id}) => !gone.has(id)).map((node) => {
    const {x, y} = network.canvasToDOM(network.getPosition(node.id)), r = node.size * scale + 1;
    return [node.id, {x: x - r, y: y - r, w: 2 * r, h: 2 * r}];
  }));
  labels = [];
  ctx.save();
  ctx.setTransform(dots, 0, 0, dots, 0, 0);
  Object.assign(ctx, {textAlign: "left", textBaseline: "middle", lineJoin: "round"});
  const [paper, ink] = ["--paper", "--ink"].map((name) => inks.getPropertyValue(name));
  Object.assign(ctx, {lineWidth: 3, strokeStyle: paper, fillStyle: ink});
  const write = (box, words) => {
    ctx.strokeText(words, box.x + 2, box.y + box.h / 2);
    ctx.fillText(words, box.x + 2, box.y + box.h / 2);
    labels.push({...box, words});
  };
  const free = (box, over) => box.x >= 0 && box.y >= 0 && box.x + box.w <= room.width && box.y + box.h <= room.height
    && !labels.some((one) => meets(box, one))
    && (over || ![...marks.values()].some((mark) => meets(box, mark)));
  const put = (node, over, always) => {
    const size = node.font.size / shown.zoom, mark = marks.get(node.id);
    if (mark.x > room.width || mark.y > room.height || mark.x + mark.w < 0 || mark.y + mark.h < 0) return;
    ctx.font = `${size}px sans-serif`;
    const w = ctx.measureText(node.label).width + 4, h = size + 3, middle = mark.x + mark.w / 2;
    const boxes = [
      [middle - w / 2, mark.y + mark.h], [mark.x + mark.w + 1, mark.y + mark.h / 2 - h / 2],
      [mark.x - w - 1, mark.y + mark.h / 2 - h / 2], [middle - w / 2, mark.y - h],
    ].map(([x, y]) => ({id: node.id, x, y, w, h}));
    const box = boxes.find((one) => free(one)) ?? boxes.find((one) => over && free(one, true)) ?? (always && boxes[0]);
    if (box) write(box, node.label);
  };
  const tie = (edge, at, sign) => {
    const {x, y} = network.canvasToDOM(network.body.edges[at].edgeType.getPoint(0.5));
    const [from, to] = [edge.from, edge.to].map((id) => marks.get(id));
    const long = Math.hypot(from.x + from.w / 2 - to.x - to.w / 2, from.y + from.h / 2 - to.y - to.h / 2);
    ctx.font = `${edge.font.size}px sans-serif`;
    const w = ctx.measureText(edge.label).width + 4, h = edge.font.size + 3;
    const box = {id: null, x: x - w / 2, y: y - h / 2, w, h};
    if (sign || (long > w && free(box))) write(box, edge.label);
  };
  const ties = shown.edges.map((edge, at) => [edge, at, edge.label && !/\\p{L}/u.test(edge.label)])
    .filter(([edge]) => !lost(edge));
  const under = order.find(({id}) => id === hovered && !gone.has(id));
  if (under) put(under, true, true);
  for (const one of ties) if (one[2]) tie(...one);
  order.filter(({id}) => !gone.has(id)).forEach((node, rank) => { if (node !== under) put(node, rank < OVER); });
  for (const one of ties) if (one[0].label && !one[2]) tie(...one);
  ctx.restore();
});
new ResizeObserver(() => { if (shown && (!placed || ratio() !== wide)) show(shown); }).observe(place);
place.addEventListener("mouseleave", hide);
addEventListener("message", ({source, data}) => {
  if (source !== parent || !data) return;
  if (Array.isArray(data.hide)) { entries.set(data.hide); if (shown) sift(); }
  if (data.nodes) show(data);
});
network.on("hoverNode", ({node}) => { hovered = node; network.redraw(); });
network.on("blurNode", () => { hovered = null; network.redraw(); });
network.on("click", ({nodes: [id], pointer: {DOM: {x, y}}}) => {
  const over = labels.find((box) => box.id !== null && meets(box, {x, y, w: 0, h: 0}));
  const found = over ? over.id : id;
  if (Number.isInteger(found)) parent.postMessage({picked: found}, "*");
});
// The wheel scrolls the notebook until the picture is clicked, and again once something else is.
const zoomable = (yes) => network.setOptions({interaction: {zoomView: yes}});
zoomable(false);
addEventListener("focus", () => { zoomable(true); hint.textContent = ""; });
addEventListener("blur", () => zoomable(false));
place.addEventListener("mousedown", () => window.focus());
place.addEventListener("wheel", () => { if (!document.hasFocus()) hint.textContent = "click to zoom with the wheel"; });
place.addEventListener("mouseleave", () => { hint.textContent = ""; });
</script>"""
)


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
