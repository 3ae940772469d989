"""The view of a part of a graph: a drawing for up to about two hundred nodes, a table of counts for more."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.display import html, text
from workbench.index.layout import layout
from workbench.operators.neighbourhood import KINDS, Edge, Node, Subgraph
from workbench.text import clean, counted, short
from workbench.views.base import esc, page, table
from workbench.views.drawing import (
    LABEL,
    Drawing,
    DrawnEdge,
    DrawnNode,
    EdgeStyle,
    NodeStyle,
    drawing_frame,
    faded,
    in_type,
    type_styles,
    types_shown,
)
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, PALE

SMALL = 200  # nodes up to which HTML draws a subgraph
NODES = {
    "phrase": NodeStyle("phrase", BLUE),
    "page": NodeStyle("phrase and its passage", BLUE, "square"),
    "passage": NodeStyle("passage", ORANGE, "square"),
}
EDGES = {
    "relation": EdgeStyle("facts", GREY),
    "synonym": EdgeStyle("synonyms", GREEN, "╌╌", dashes=(6, 4), linestyle=(0, (6, 4))),
    "context": EdgeStyle("stated in", PALE, "┈┈", dashes=(1, 4), linestyle=(0, (1, 4))),
}
_UNIT = 260  # pixels from the middle to the border of the layout


@html.register
def _(subgraph: Subgraph) -> str:
    if 0 < len(subgraph.nodes) <= SMALL:
        drawing = graph_drawing(subgraph)
        return page(f"<p class='q'>{esc(text(subgraph))}</p>") + drawing_frame(drawing)
    counts = [(f"{kind} edges", sum(edge.kind == kind for edge in subgraph.edges)) for kind in KINDS]
    hint = "<p class='q'>views.canvas.WebGL(…) draws it</p>" if subgraph.nodes else ""
    return page(f"<p>{esc(text(subgraph))}</p>", table(["", ""], counts), hint)


@text.register
def _(subgraph: Subgraph) -> str:
    cut = f"; {subgraph.left_out:,} more are within reach" if subgraph.left_out else ""
    size = f"{counted(len(subgraph.nodes), 'node')}, {counted(len(subgraph.edges), 'edge')}"
    return f"Subgraph {clean(subgraph.name, 80)!r}: {size}{cut}"


def graph_drawing(subgraph: Subgraph) -> Drawing:
    """The subgraph as laid out by `layout`; a click reports the row of a node. A phrase and the passage of its title
    are one mark, with the edges of both; phrases have the colours of their types."""
    crowded, zoom = len(subgraph) > SMALL, max(1.0, (len(subgraph) / 60) ** 0.5)
    places, page_of, types = layout(subgraph).tolist(), _pages(subgraph), type_styles(subgraph.types)
    folded = {passage: phrase for phrase, passage in page_of.items()}
    kept = [at for at in range(len(subgraph)) if at not in folded]
    position = {at: place for place, at in enumerate(kept)}
    position |= {passage: position[phrase] for passage, phrase in folded.items()}
    labelled = most_important(subgraph, 20) if crowded else kept
    edge_styles = {kind: style._replace(linewidth=0.3 if crowded else 0.9) for kind, style in EDGES.items()}
    edges = {
        (*sorted((position[edge.source], position[edge.target])), edge.kind): edge
        for edge in subgraph.edges
        if position[edge.source] != position[edge.target]
    }
    nodes = tuple(
        _drawn_node(subgraph, at, page_of.get(at), places[at], zoom, at in labelled, crowded, types) for at in kept
    )
    drawn = [
        DrawnEdge(position[edge.source], position[edge.target], edge_styles[edge.kind], _edge_tooltip(edge, subgraph),
                  short(edge.says, 24) if edge.kind == "relation" else "", width=edge_width(edge))
        for edge in edges.values()
    ]  # fmt: skip
    weights = [_flow(edge, subgraph) for edge in edges.values()]
    kinds = (in_type(style, "", types) if kind != "passage" else style for kind, style in NODES.items())
    return Drawing(
        subgraph.name,
        nodes,
        tuple(faded(drawn, weights)),
        tuple(kinds),
        tuple(edge_styles.values()),
        "start or seed",
        zoom=zoom,
        types=types_shown(nodes, types, "dot"),
    )  # fmt: skip


def _pages(subgraph: Subgraph) -> dict[int, int]:
    """Position of a phrase → that of the passage whose title it is."""
    titles = {node.label.casefold(): at for at, node in enumerate(subgraph.nodes) if node.kind == "passage"}
    phrases = {node.label.casefold(): at for at, node in enumerate(subgraph.nodes) if node.kind == "phrase"}
    return {at: titles[label] for label, at in phrases.items() if label and label in titles}


def _flow(edge: Edge, subgraph: Subgraph) -> float:
    """What an edge weighs in the picture: about the probability that a walk sends over it at each step, in either
    direction; without a walk its own weight."""
    ends = subgraph.nodes[edge.source], subgraph.nodes[edge.target]
    if any(node.value is None for node in ends):
        return edge.weight
    return edge.weight * sum(node.value / max(1, node.degree) for node in ends)


def most_important(subgraph: Subgraph, limit: int = 40) -> set[int]:
    """The positions of the nodes that keep their label in a crowded picture: starts, then those with the highest value
    or degree."""

    def importance(at: int) -> tuple:
        node = subgraph.nodes[at]
        return (node.hop == 0, node.value or 0.0, node.degree)

    return set(sorted(range(len(subgraph.nodes)), key=importance, reverse=True)[:limit])


def node_size(node: Node) -> float:
    """The diameter of a node, by probability if it has one, otherwise by degree."""
    if node.value is not None:
        return 5 + 55 * min(node.value, 0.25) ** 0.5
    return 6 + 1.3 * min(node.degree, 400) ** 0.5


def edge_width(edge: Edge) -> float:
    return 1.0 + 0.7 * min(edge.weight, 10) ** 0.5 if edge.kind == "relation" else 1.2


def _drawn_node(
    subgraph: Subgraph, at: int, page_at: int | None, place: list[float], zoom: float, labelled: bool, crowded: bool,
    types: Mapping[str, NodeStyle],
) -> DrawnNode:  # fmt: skip
    node, own = subgraph.nodes[at], None if page_at is None else subgraph.nodes[page_at]
    size, start = max(map(node_size, filter(None, (node, own)))), 0 in (node.hop, own and own.hop)
    x, y = place
    role = NODES["page" if own else node.kind]
    style = in_type(role, node.type, types) if node.kind == "phrase" else role
    return DrawnNode(
        node.row, node.name, style, x * _UNIT * zoom, y * _UNIT * zoom,
        short(node.label, LABEL) if labelled else "", _node_tooltip(node, own), role="start" if start else "",
        size=size * zoom**0.5 * (1 if node.kind == "phrase" else 0.8), points=1.7 if crowded else 0.6 * size,
        font=14 * zoom, outline=4 * zoom if start else 0, type=node.type,
    )  # fmt: skip


def _node_tooltip(node: Node, own: Node | None) -> str:
    parts = [_described(node), *([_described(own)] if own else [])]
    return "\n".join([clean(node.label, 300), *parts])


def _described(node: Node) -> str:
    value = "" if node.value is None else f"\nprobability {node.value:.4f}"
    kind = f"{node.kind}, {clean(node.type, 80)}" if node.type else node.kind
    return f"{kind}, {counted(node.degree, 'neighbour')}{value}"


def _edge_tooltip(edge: Edge, subgraph: Subgraph) -> str:
    ends = " — ".join(clean(subgraph.nodes[end].label, 80) for end in (edge.source, edge.target))
    if edge.kind == "relation":
        return f"{ends}\n{clean(edge.says, 300)}\nstated {edge.weight:g} times"
    return f"{ends}\n{f'synonyms, cosine {edge.weight:.3f}' if edge.kind == 'synonym' else 'the passage states it'}"
