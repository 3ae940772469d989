"""Pictures of a steered walk: seeds, their neighbours and the best passages, with the edges that a question edits.

All stages share one layout; an edge is as wide as its weight, a node as large as its probability. Shapes tell roles,
and colours the types of phrases where the index knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from workbench.index.layout import layout
from workbench.methods.catrag.steering import EditedEdge, StagedWalk, Steering
from workbench.operators.neighbourhood import Edge, Node, Subgraph, among
from workbench.operators.types import Types
from workbench.records import Passage
from workbench.text import clean, short
from workbench.views.drawing import (
    Drawing,
    DrawnEdge,
    DrawnNode,
    EdgeStyle,
    NodeStyle,
    in_type,
    type_styles,
    types_shown,
)
from workbench.views.node_details import node_size
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

SEED = NodeStyle("seed: phrase of a kept fact", BLUE, "triangle")
ANCHOR = NodeStyle("seed: anchor", PURPLE, "diamond")
PHRASE = NodeStyle("phrase", SKY)
PASSAGE = NodeStyle("passage", ORANGE, "square")
GOLD = NodeStyle("gold passage", VERMILION, "star")
NODES = (SEED, ANCHOR, PHRASE, PASSAGE, GOLD)

KEY_FACT = EdgeStyle("key fact", BLUE, "━━", 3, opacity=0.95)
STRONGER = EdgeStyle("strengthened", GREEN, "━━", 3, opacity=0.95)
WEAKER = EdgeStyle("weakened", ORANGE, "╌╌", 1.5, (8, 4), opacity=0.9)
GONE = EdgeStyle("gone", VERMILION, "╍✕╍", 1.5, (5, 5), opacity=0.9)
SKIPPED = EdgeStyle("skipped", GREY, "┈┈", 1, (2, 5), opacity=0.5)
SAME = EdgeStyle("out-edge of a seed", GREY, "─▸", 1.2, opacity=0.7)
OTHER = EdgeStyle("other edge", GREY, "──", 0.8, opacity=0.22)
EDGES = (KEY_FACT, STRONGER, WEAKER, GONE, SKIPPED, SAME, OTHER)

_UNIT, _CURVE, _CROSS = 300, 0.16, "✕"
_FIXED = {SEED: 16, ANCHOR: 16, PHRASE: 9, PASSAGE: 10, GOLD: 13}  # sizes where no probability is known
MORE = 28, 7  # phrases and passages of a picture with more than the first dozen
NEIGHBOURS = 9  # of a seed that a picture without an index shows
Places = Mapping[int, tuple[float, float]]
Passages = Mapping[str, Passage]
Key = tuple[str, str, str]  # source, target and kind of an edge


class Edits(NamedTuple):
    """The edited out-edges of one stage: what each weighs, and which targets of a seed were `skipped`."""

    edges: Mapping[Key, EditedEdge]
    skipped: frozenset[tuple[str, str]]
    scores: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, shown: Steering) -> Edits:
        pairs = [(seed.phrase, one) for seed in shown.rated for one in seed.neighbours]
        return cls(
            {(edge.source, edge.target, edge.kind): edge for edge in shown.edges},
            frozenset((phrase, one.name) for phrase, one in pairs if one.score is None),
            {(phrase, one.name): one.score for phrase, one in pairs if one.score is not None},
        )

    def style(self, key: Key) -> EdgeStyle:
        """How an edge is drawn that this stage may have edited."""
        edge = self.edges.get(key)
        if edge is None:
            return SAME
        if edge.after == 0:
            return GONE
        if key[:2] in self.skipped and key[2] != "context":
            return SKIPPED
        return WEAKER if edge.after < edge.before else KEY_FACT if edge.kind == "context" else STRONGER


def places_of(walk: StagedWalk, known: Places | None = None, more: bool = False) -> dict[int, tuple[float, float]]:
    """Row → position of each node of the picture, about a dozen, or `more`; those that are `known` already, if they
    suffice."""
    rows = walk.shown(*MORE) if more else walk.shown()
    if known and set(rows) <= known.keys():
        return {row: known[row] for row in rows}
    subgraph = among(walk.parts[0].walk.index, dict.fromkeys(rows, 1))
    return dict(zip(rows, map(tuple, _spread(layout(subgraph)).tolist())))


def _spread(places: np.ndarray) -> np.ndarray:
    """Positions moved halfway towards equal distances along each axis, so that no part is crowded."""
    ranks = places.argsort(axis=0).argsort(axis=0)
    return (places + 2 * ranks / max(1, len(places) - 1) - 1) / 2


def steered_drawing(walk: StagedWalk, stage: int, places: Places | None = None, chosen: str = "") -> Drawing:
    """A stage of the walk. `places` are those of `places_of`, `chosen` a seed whose edges bear the scores of their
    ratings. A click reports the row of a node."""
    places = places or places_of(walk)
    part = walk.parts[stage]
    p = part.walk.pagerank.p if part.walk.pagerank else None
    subgraph = among(part.walk.index, dict.fromkeys(places, 1), values=() if p is None else p)
    roles, hubs = _roles(part.steering, walk.gold), set(walk.hubs.tolist())
    weights = {seed.phrase: seed.weight for seed in part.steering.seeds}
    styles = type_styles(subgraph.types)
    nodes = [
        _node(node, roles.get((node.kind, node.name)), places[node.row], node.row in hubs,
              weights.get(node.name), styles)
        for node in subgraph.nodes
    ]  # fmt: skip
    last = Edits.of(walk.parts[-1].steering)
    edges = _edges(subgraph, Edits.of(part.steering), last, chosen)
    return _drawing(f"{walk.stages[stage]}: {walk.question}", nodes, edges, styles, "hub (strongest 1 %)")


def traced_drawing(
    shown: Steering, passages: Passages | None = None, chosen: str = "", *, types: Types | None = None
) -> Drawing:
    """What a trace alone tells: the seeds, the best and worst rated neighbours, the edited edges between them. A click
    reports the position of a node. `types` are those of the index."""
    subgraph = _traced_subgraph(shown, passages or {}, types or Types())
    styles = type_styles(subgraph.types)
    roles, weights = _roles(shown, shown.gold), {seed.phrase: seed.weight for seed in shown.seeds}
    nodes = [
        _node(node, roles.get((node.kind, node.name)), tuple(place), False, weights.get(node.name), styles)
        for node, place in zip(subgraph.nodes, _spread(layout(subgraph)).tolist())
    ]
    edits = Edits.of(shown)
    return _drawing(f"edited edges: {shown.question}", nodes, _edges(subgraph, edits, edits, chosen), styles)


def _drawing(
    name: str, nodes: Sequence[DrawnNode], edges: Sequence[DrawnEdge], types: Mapping[str, NodeStyle],
    outlined: str = "",
) -> Drawing:  # fmt: skip
    order = {style: at for at, style in enumerate(EDGES)}
    drawn = sorted(edges, key=lambda edge: -order[edge.style])  # what was strengthened lies on top
    kinds = tuple(_coloured(style, "", types) for style in NODES)
    return Drawing(
        name, tuple(nodes), tuple(drawn), kinds, EDGES, outlined, inches=(9.6, 6.4),
        types=types_shown(nodes, types, "dot"),
    )  # fmt: skip


def _coloured(role: NodeStyle, kind: str, types: Mapping[str, NodeStyle]) -> NodeStyle:
    return role if role in (PASSAGE, GOLD) else in_type(role, kind, types)


def _roles(shown: Steering, gold: Sequence[str]) -> dict[tuple[str, str], NodeStyle]:
    roles = {("phrase", seed.phrase): ANCHOR if seed.entity else SEED for seed in shown.seeds}
    return roles | {("passage", name): GOLD for name in gold}


def _node(
    node: Node, role: NodeStyle | None, place: tuple[float, float], hub: bool, weight: float | None,
    types: Mapping[str, NodeStyle],
) -> DrawnNode:  # fmt: skip
    style = role or (PHRASE if node.kind == "phrase" else PASSAGE)
    size = _FIXED[style] if node.value is None else node_size(node)
    mass = "" if node.value is None else f"\nprobability {node.value:.4f}"
    seed = "" if weight is None else f"\nseed of weight {weight:.4g}"
    kind = f", {clean(node.type, 80)}" if node.type else ""
    tooltip = f"{clean(node.label, 300)}\n{style.name}{kind}{', hub' if hub else ''}{mass}{seed}"
    important = role or hub or node.kind == "passage" or size > 10
    return DrawnNode(
        node.row, node.name, _coloured(style, node.type, types), place[0] * _UNIT, place[1] * _UNIT,
        short(node.label, 30), tooltip,
        role="hub" if hub else "", size=size, font=16 if important else 13,
        outline=hub, type=node.type,
    )  # fmt: skip


def _edges(subgraph: Subgraph, now: Edits, last: Edits, chosen: str) -> list[DrawnEdge]:
    """Every edge of the graph once; where a question edits it, once for each direction that it edits."""
    made = []
    for edge in subgraph.edges:
        source, target = subgraph.nodes[edge.source], subgraph.nodes[edge.target]
        ways = [
            (start, end, key)
            for start, end, key in (
                (edge.source, edge.target, (source.name, target.name, edge.kind)),
                (edge.target, edge.source, (target.name, source.name, edge.kind)),
            )
            if key in last.edges or key in now.edges
        ]
        if not ways:
            made.append(DrawnEdge(edge.source, edge.target, OTHER, _tooltip(subgraph, edge)))
        curve = _CURVE if len(ways) > 1 else 0.0
        made += [_edited(subgraph, edge, way, now, last, chosen, curve) for way in ways]
    return made


def _edited(
    subgraph: Subgraph, edge: Edge, way: tuple[int, int, Key], now: Edits, last: Edits, chosen: str, curve: float
) -> DrawnEdge:
    start, end, key = way
    style, edit = now.style(key), now.edges.get(key)
    weight = edit.after if edit else last.edges[key].before
    score = now.scores.get(key[:2]) if edge.kind != "context" and key[0] == chosen else None
    label = _CROSS if style is GONE else ""
    label = f"{label} {score}".strip() if score is not None else label
    said = f"{edit.before:.3g} → {edit.after:.3g}, × {edit.factor:.3g}" if edit else f"weight {weight:.3g}"
    rated = f"\nrated {now.scores[key[:2]]}" if edge.kind != "context" and key[:2] in now.scores else ""
    tooltip = f"{_tooltip(subgraph, edge)}\nfrom {clean(subgraph.nodes[start].label, 80)}: {style.name}, {said}{rated}"
    width = edge_width(weight) if style not in (GONE, SKIPPED) else style.width
    return DrawnEdge(start, end, style, tooltip, label, "to", width, curve)


def edge_width(weight: float) -> float:
    """Pixels for a weight of the walk, where a context edge weighs 1 and a fact stated once 2."""
    return min(0.4 + 1.7 * weight**0.5, 10.0)


def _tooltip(subgraph: Subgraph, edge: Edge) -> str:
    ends = " — ".join(clean(subgraph.nodes[end].label, 80) for end in (edge.source, edge.target))
    return f"{ends}\n{clean(edge.says, 300) or ('synonyms' if edge.kind == 'synonym' else 'stated in the passage')}"


def _traced_subgraph(shown: Steering, passages: Passages, types: Types) -> Subgraph:
    """The nodes that the edits of a trace name, as a graph of its own."""
    phrases = [seed.phrase for seed in shown.seeds]
    for seed in shown.rated:
        names = [one.name for one in seed.best]
        phrases += names if len(names) <= NEIGHBOURS else [*names[: NEIGHBOURS - 2], *names[-2:]]
    stated_in = dict.fromkeys(edge.target for edge in shown.edges if edge.kind == "context")
    named = [*(("phrase", name) for name in dict.fromkeys(phrases)), *(("passage", name) for name in stated_in)]
    at = {pair: row for row, pair in enumerate(named)}
    nodes = []
    for row, (kind, name) in enumerate(named):
        passage = passages.get(name) if kind == "passage" else None
        label = (passage.title or passage.text[:60]) if passage else shown.called(name)
        nodes.append(Node(row, kind, name, label, 1, 0, type=types.type_of(name) if kind == "phrase" else ""))
    edges = {}
    for edge in shown.edges:
        end = at.get(("passage" if edge.kind == "context" else "phrase", edge.target))
        if end is not None and ("phrase", edge.source) in at:
            pair = tuple(sorted((at["phrase", edge.source], end)))
            edges[pair, edge.kind] = Edge(*pair, edge.kind, edge.before)
    return Subgraph(shown.question, tuple(nodes), tuple(edges.values()), types=types.order)
