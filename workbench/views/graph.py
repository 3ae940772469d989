"""A part of a graph as a picture: a page of its own for some two hundred nodes, WebGL for thousands.

Positions come from `layout`, nothing moves by itself, nothing is fetched. On a page and in a figure colour is never the
only mark: passages are squares, synonyms are dashed, passages' edges are dotted. WebGL has colours alone, which
colour-blind readers can tell apart."""

from __future__ import annotations

import html as _stdlib_html
import json
import re
from collections.abc import Iterator

from workbench.errors import SettingError
from workbench.graph.neighbourhood import KINDS, Edge, Node, Subgraph
from workbench.views.base import clean, esc, html, page, short, table, text
from workbench.views.layout import layout
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, PALE, THEMES, VERMILION, Theme

HEIGHT = 520  # pixels
SMALL = 200  # nodes up to which a page of its own is drawn
LABEL = 40  # characters of a label in a picture
NODES = {"phrase": (BLUE, "dot"), "passage": (ORANGE, "square")}
EDGES = {"relation": (GREY, False), "synonym": (GREEN, [6, 4]), "context": (PALE, [1, 4])}
# Nothing but what stands in the page may run or load in it.
_FENCE = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">"
)
_CSS = (
    "body{{margin:0;background:{0}}} .card,#mynetwork{{border:0!important}} h1{{display:none}} "
    ".vis-tooltip{{font-family:sans-serif!important}}"
)
# The picture takes the room that there is. Tooltips are set as text here, because a title that pyvis writes becomes
# HTML if it holds the word href. A frame that is laid out later than it loads has no room at first, and is drawn then.
_SCRIPT = """<script>
const tip = (words) => Object.assign(document.createElement("div"), {innerText: words});
const place = document.getElementById("mynetwork");
let shown, placed = false;
const show = (drawn) => {
  const room = place.getBoundingClientRect();
  shown = drawn;
  placed = room.width > 0 && room.height > 0;
  if (!placed) return;
  const wide = Math.min(Math.max(room.width / room.height, 1), 2);
  nodes.clear();
  edges.clear();
  nodes.add(drawn.nodes.map((node) => ({...node, x: node.x * wide, title: tip(node.says)})));
  edges.add(drawn.edges.map((edge) => ({...edge, title: tip(edge.says)})));
  network.fit();
  network.moveTo({scale: 0.9 * network.getScale()});
};
show({nodes: nodes.get(), edges: edges.get()});
new ResizeObserver(() => { if (!placed) show(shown); }).observe(place);
addEventListener("message", ({source, data}) => { if (source === parent && data && data.nodes) show(data); });
network.on("click", ({nodes: [row]}) => { if (Number.isInteger(row)) parent.postMessage({picked: row}, "*"); });
</script>"""


def graph_page(subgraph: Subgraph, *, height: int = HEIGHT, theme: str = "light") -> str:
    """A whole HTML page that shows the graph, can be zoomed, dragged and hovered, and needs nothing besides itself."""
    from pyvis.network import Network

    colours, drawn = theme_named(theme), graph_data(subgraph, theme)
    net = Network(notebook=False, cdn_resources="in_line", height=f"{height - 4}px", bgcolor=colours.paper)
    net.nodes, net.edges = drawn["nodes"], drawn["edges"]
    net.set_options(
        '{"physics": {"enabled": false}, "interaction": {"hover": true, "tooltipDelay": 80, "multiselect": false},'
        ' "edges": {"smooth": false, "selectionWidth": 2, "hoverWidth": 1}}'
    )
    made = net.generate_html(notebook=False)
    made = re.sub(r'<(script|link)\b[^>]*(?:src|href)="https?://[^>]*>(?:\s*</script>)?', "", made)
    made = made.replace("<head>", f"<head>{_FENCE}<style>{_CSS.format(colours.paper)}</style>", 1)
    before, _, after = made.rpartition("</body>")
    return f"{before}{_SCRIPT}</body>{after}"


def graph_data(subgraph: Subgraph, theme: str = "light") -> dict[str, list[dict]]:
    """Nodes and edges as vis-network takes them: what a page that is there already can be sent to show instead."""
    return {"nodes": list(_vis_nodes(subgraph, theme_named(theme))), "edges": list(_vis_edges(subgraph))}


def graph_frame(subgraph: Subgraph, *, height: int = HEIGHT, theme: str = "light") -> str:
    """The page in a sandboxed frame, as HTML for a notebook's output and for pages made of it."""
    return framed(graph_page(subgraph, height=height, theme=theme), height)


def shown_page(drawn: dict, *, height: int = HEIGHT, theme: str = "light") -> str:
    """The page of an empty graph, shown other data: `nodes` and `edges` as the page's script takes them."""
    blank = graph_page(Subgraph("", (), ()), height=height, theme=theme)
    data = json.dumps(drawn).replace("<", "\\u003c")  # no text can end the script
    before, _, after = blank.rpartition("</body>")
    return f"{before}<script>show({data});</script></body>{after}"


def framed(made: str, height: int) -> str:
    """A whole page in a sandboxed frame."""
    text = _stdlib_html.escape(made)
    return f'<iframe srcdoc="{text}" width="100%" height="{height}" frameborder="0" sandbox="allow-scripts"></iframe>'


@html.register
def _(subgraph: Subgraph) -> str:
    """Small ones as a graph; large ones as what they hold, because HTML alone cannot draw them fluently."""
    if 0 < len(subgraph.nodes) <= SMALL:
        return page(f"<p class='q'>{esc(text(subgraph))}</p>") + graph_frame(subgraph) + page(legend())
    kinds = [(f"{kind} edges", sum(edge.kind == kind for edge in subgraph.edges)) for kind in KINDS]
    said = "" if not subgraph.nodes else "<p class='q'>views.canvas.WebGL(…) draws it</p>"
    return page(f"<p>{esc(text(subgraph))}</p>", table(["", ""], kinds), said)


@text.register
def _(subgraph: Subgraph) -> str:
    cut = f"; {subgraph.left_out:,} more are within reach" if subgraph.left_out else ""
    return f"Subgraph {clean(subgraph.name, 80)!r}: {len(subgraph.nodes):,} nodes, {len(subgraph.edges):,} edges{cut}"


def legend() -> str:
    """What the marks mean, as HTML."""
    return (
        f"<p class='q'><span style='color:{BLUE}'>●</span> phrase &nbsp; <span style='color:{ORANGE}'>■</span> passage"
        f" &nbsp; <span style='color:{VERMILION}'>◯</span> start or seed &nbsp; "
        f"<span style='color:{GREY}'>──</span> facts &nbsp; <span style='color:{GREEN}'>╌╌</span> synonyms &nbsp; "
        f"<span style='color:{ORANGE}'>┈┈</span> stated in</p>"
    )


def says(node: Node) -> str:
    """What a view tells about a node."""
    value = "" if node.value is None else f"\nprobability {node.value:.4f}"
    return f"{clean(node.label, 300)}\n{node.kind}, {node.degree:,} neighbours{value}"


def _vis_nodes(subgraph: Subgraph, colours: Theme) -> Iterator[dict]:
    """The page is zoomed until all nodes fit, so what should keep its size on the screen grows with the zoom."""
    zoom = max(1.0, (len(subgraph.nodes) / 60) ** 0.5)
    labelled = named(subgraph)
    for at, (node, (x, y)) in enumerate(zip(subgraph.nodes, layout(subgraph).tolist())):
        start = node.hop == 0
        yield {
            "id": node.row,
            "label": short(node.label, LABEL) if at in labelled else "",
            "says": says(node),
            "shape": NODES[node.kind][1],
            "size": node_size(node) * zoom**0.5 * (1 if node.kind == "phrase" else 0.8),
            "x": x * 260 * zoom,
            "y": y * 260 * zoom,
            "borderWidth": 4 * zoom if start else 1,
            "color": {"background": NODES[node.kind][0], "border": VERMILION if start else colours.paper},
            "font": {"color": colours.ink, "size": 14 * zoom, "strokeWidth": 3 * zoom, "strokeColor": colours.paper},
        }


def _vis_edges(subgraph: Subgraph) -> Iterator[dict]:
    for edge in subgraph.edges:
        colour, dashes = EDGES[edge.kind]
        ends = " — ".join(clean(subgraph.nodes[end].label, 80) for end in (edge.source, edge.target))
        yield {
            "from": subgraph.nodes[edge.source].row,
            "to": subgraph.nodes[edge.target].row,
            "says": f"{ends}\n{_edge_says(edge)}",
            "width": edge_width(edge),
            "dashes": dashes,
            "color": {"color": colour, "opacity": 0.75},
        }


def _edge_says(edge: Edge) -> str:
    if edge.kind == "relation":
        return f"{clean(edge.says, 300)}\nstated {edge.weight:g} times"
    return f"synonyms, cosine {edge.weight:.3f}" if edge.kind == "synonym" else "the passage states it"


def named(subgraph: Subgraph, most: int = 40) -> set[int]:
    """Positions of the nodes that keep their label in a crowded picture: starts, then what has most value or degree."""

    def worth(at: int) -> tuple:
        node = subgraph.nodes[at]
        return (node.hop == 0, node.value or 0.0, node.degree)

    return set(sorted(range(len(subgraph.nodes)), key=worth, reverse=True)[:most])


def node_size(node: Node) -> float:
    """A diameter: by probability where there is one, else by degree."""
    if node.value is not None:
        return 5 + 55 * min(node.value, 0.25) ** 0.5
    return 6 + 1.3 * min(node.degree, 400) ** 0.5


def edge_width(edge: Edge) -> float:
    return 1.0 + 0.7 * min(edge.weight, 10) ** 0.5 if edge.kind == "relation" else 1.2


def theme_named(name: str) -> Theme:
    if name not in THEMES:
        raise SettingError(f"theme={name!r} is unknown; choose one of {', '.join(THEMES)}")
    return THEMES[name]
