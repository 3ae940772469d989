"""The view of a steered walk: kept facts, seeds and anchors, ratings, edited edges, and what each stage moves.

Its pictures show seeds, their neighbours and the best passages, with the edges that a question edits. All stages share
one layout; an edge is as wide as its weight, a node as large as its probability. Shapes tell roles, and colours the
types of phrases where the index knows them.

A trace has no titles and texts of passages; a view shows them if `passages`, by id, are given, otherwise ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from workbench.index.layout import layout
from workbench.methods.catrag.steering import (
    EditedEdge,
    Flow,
    RatedNeighbour,
    RatedSeed,
    Scores,
    Seed,
    StagedWalk,
    Steering,
)
from workbench.operators.neighbourhood import Edge, Subgraph, among
from workbench.records import Passage
from workbench.text import clean, counted, short
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
from workbench.views.parts import NAME, Part, details, faint, group, quiet, strong, table, tag, titled, view, words
from workbench.views.records import SHOWN, asked_part, passage_cell, trace_heading
from workbench.views.stepped import Stage, stages_part

LINE = 300  # characters of a fact or a reason
MOVED = 6  # phrases that gained most, and as many that lost most
Passages = Mapping[str, Passage]
Places = Mapping[int, tuple[float, float]]


@view.register
def _(walk: StagedWalk) -> Part | None:
    by_id = {passage.id: passage for passage in walk.parts[0].walk.index.passages.passages}
    steered = walk.parts[-1].steering
    return group(
        asked_part(walk.question, walk.method, steered.engines, filter(None, [walk.fallback])),
        stages_part(stages(walk, passages=by_id)),
        details("how it was steered", whole(steered, by_id)),
    )


# -- parts of a page ---------------------------------------------------------------------------------------------------


def stages(
    walk: StagedWalk, places: Places | None = None, chosen: str = "", passages: Passages | None = None, k: int = SHOWN
) -> list[Stage]:
    """The stages of a walk; with the `places` of nodes, they have pictures."""
    return [
        Stage(
            part.name,
            steered_drawing(walk, at, places, chosen) if places else None,
            group(
                stages_table(walk, at),
                flow_part(walk, at, max(0, at - 1)),
                seeds_part(walk.parts[-1].steering),
                details("passages", ranking_part(walk.ranking(at)[:k], walk.gold, passages)),
            ),
        )
        for at, part in enumerate(walk.parts)
    ]


@view.register(Steering)
def whole(steering: Steering, passages: Passages | None = None) -> Part | None:
    """Everything that the trace records."""
    return group(
        trace_heading(steering),
        facts_part(steering),
        seeds_part(steering),
        *(details(_rated_for(steering, seed), ratings_part(steering, seed.phrase)) for seed in steering.rated),
        edges_part(steering, passages),
        titled("passages"),
        ranking_part(steering.ranking[:SHOWN], steering.gold, passages),
    )


def facts_part(steering: Steering) -> Part | None:
    """The facts closest to the question, and which of them the filter kept."""
    kept_facts = dict(steering.facts)
    rows = [(steering.called(fact), score, "kept" if fact in kept_facts else "–") for fact, score in steering.linked]
    return group(titled("facts"), table(["fact", "similarity", ""], rows, LINE))


def seeds_part(steering: Steering) -> Part | None:
    """The seeds with their weights, and where each comes from."""
    rated = {seed.phrase: len(seed.neighbours) for seed in steering.rated}
    rows = [
        (steering.called(seed.phrase), seed.weight, _origin(seed), rated.get(seed.phrase, "not rated"))
        for seed in steering.seeds
    ]
    return group(titled("seeds"), table(["seed", "weight", "from", "neighbours"], rows, LINE))


def ratings_part(steering: Steering, phrase: str) -> Part | None:
    """The neighbours of a seed, the best rated first, and what the rating did to their edges."""
    edges = {(edge.source, edge.target): edge for edge in steering.edges if edge.kind != "context"}
    rows = []
    for neighbour in steering.seed(phrase).best:
        edge = edges.get((phrase, neighbour.name))
        weight = f"{edge.before:.3g} → {edge.after:.3g}{' (gone)' * (edge.after == 0)}" if edge else "as it was"
        reason = "left out by the reply; counts as Weak" if neighbour.missing else neighbour.reason
        rows.append(
            (
                steering.called(neighbour.name),
                "–" if neighbour.score is None else neighbour.score,
                neighbour.tier,
                weight,
                reason,
            )
        )
    return table(["neighbour", "score", "tier", "weight", "reason"], rows, LINE)


def edges_part(steering: Steering, passages: Passages | None = None) -> Part:
    """The edited edges, folded."""
    rows = []
    for edge in steering.edges:
        passage = (passages or {}).get(edge.target) if edge.kind == "context" else None
        end = short((passage.title or passage.text) if passage else steering.called(edge.target), 80)
        rows.append((steering.called(edge.source), end, edge.kind, edge.before, edge.after, f"× {edge.factor:.3g}"))
    listed = table(["from", "to", "kind", "before", "after", "factor"], rows[:200], NAME)
    return details(counted(len(rows), "edited edge"), listed)


def ranking_part(ranking: Scores, gold: Sequence[str], passages: Passages | None = None) -> Part | None:
    """Passages, best first; gold ones are marked."""
    rows = [(rank, passage_cell(name, passages, gold), score) for rank, (name, score) in enumerate(ranking, 1)]
    return table(["rank", "passage", "score"], rows, NAME)


def stages_table(walk: StagedWalk, at: int) -> Part | None:
    """The drift of each stage: the share of the mass on hubs, and the ranks of the gold passages. Stage `at` is
    bold."""
    rows = [
        (strong(part.name) if stage == at else part.name, *_stage_cells(walk, stage))
        for stage, part in enumerate(walk.parts)
    ]
    headers = ["stage", "mass on hubs", "hubs of the ten best", "S_ppr", "mass on passages", "edited edges", "gold at"]
    hubs = (
        f"hubs: the strongest 1 % of the phrases ({len(walk.hubs):,}), and their share of the phrases' mass; without "
        f"a question they would hold {walk.parts[0].walk.hubs.expected:.1%}"
    )
    return group(table(headers, rows), quiet(hubs))


def flow_part(walk: StagedWalk, stage: int, since: int) -> Part | None:
    """The phrases whose probability rose and fell most between two stages; of a single stage, the most probable."""
    moved = walk.flow(stage, since)
    if stage == since:
        most = sorted(moved, key=lambda flow: -flow.after)[: 2 * MOVED]
        rows = [(_phrase(flow), f"{flow.after:.2%}") for flow in walk.spelled(most)]
        return group(titled("phrases with most mass"), table(["phrase", "mass"], rows))
    gained = [flow for flow in moved[:MOVED] if flow.change > 0]
    lost = [flow for flow in moved[::-1][:MOVED] if flow.change < 0]
    rows = [(_phrase(flow), f"{flow.before:.2%}", f"{flow.after:.2%}", f"{flow.change:+.2%}")
            for flow in walk.spelled([*gained, *lost])]  # fmt: skip
    title = titled("mass gained and lost", walk.stages[since], "→", walk.stages[stage])
    return group(title, table(["phrase", "before", "after", "change"], rows))


# -- smaller parts -----------------------------------------------------------------------------------------------------


def _stage_cells(walk: StagedWalk, stage: int) -> tuple:
    part = walk.parts[stage]
    bias, ranks = part.walk.hubs, [ranks[stage] for ranks in walk.ranks().values()]
    return (
        f"{bias.share_all:.1%}",
        f"{bias.share_top:.1%}",
        f"{bias.strength:.1f}",
        f"{part.walk.on_passages.sum():.1%}",
        len(part.steering.edges),
        ", ".join(str(rank or "–") for rank in sorted(ranks, key=lambda rank: rank or 10**9)) or "–",
    )


def _phrase(flow: Flow) -> Part:
    return words(flow.phrase, tag("hub") if flow.hub else None, limit=NAME)


def _origin(seed: Seed) -> str:
    if not seed.entity:
        return "a kept fact"
    cosine = "" if seed.cosine is None else f", cosine {seed.cosine:.2f}"
    return f"anchor of {clean(seed.entity, NAME)!r}{cosine}"


def _rated_for(steering: Steering, seed: RatedSeed) -> Part:
    counts = Counter(neighbour.tier for neighbour in seed.best)
    tiers = ", ".join(f"{count} {tier}" for tier, count in counts.items())
    return words(strong(steering.called(seed.phrase), limit=NAME), faint(tiers or "no neighbour"))


# -- drawings ----------------------------------------------------------------------------------------------------------

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
MORE = 28, 7  # phrases and passages of a picture with more than the first dozen
Key = tuple[str, str, str]  # source, target and kind of an edge
Edit = tuple[EditedEdge, RatedNeighbour | None]


def _edits(steering: Steering) -> dict[Key, Edit]:
    """The edited out-edges of one stage, with the ratings that edited them."""
    rated = {(seed.phrase, neighbour.name): neighbour for seed in steering.rated for neighbour in seed.neighbours}
    return {
        (edge.source, edge.target, edge.kind): (
            edge,
            rated.get((edge.source, edge.target)) if edge.kind != "context" else None,
        )
        for edge in steering.edges
    }


def _style(edit: Edit | None) -> EdgeStyle:
    """The style of an edge that this stage may have edited."""
    if edit is None:
        return SAME
    edge, rating = edit
    if edge.after == 0:
        return GONE
    if rating and rating.score is None:
        return SKIPPED
    return WEAKER if edge.after < edge.before else KEY_FACT if edge.kind == "context" else STRONGER


def places_of(walk: StagedWalk, placed: Places | None = None, more: bool = False) -> dict[int, tuple[float, float]]:
    """Row → position of each node of the picture, about a dozen, or `more`; the positions in `placed` are reused if
    they suffice."""
    rows = walk.shown(*MORE) if more else walk.shown()
    if placed and set(rows) <= placed.keys():
        return {row: placed[row] for row in rows}
    subgraph = among(walk.parts[0].walk.index, dict.fromkeys(rows, 1))
    return dict(zip(rows, map(tuple, _spread(layout(subgraph)).tolist())))


def _spread(places: np.ndarray) -> np.ndarray:
    """Positions moved halfway towards equal distances along each axis, so that no part is crowded."""
    ranks = places.argsort(axis=0).argsort(axis=0)
    return (places + 2 * ranks / max(1, len(places) - 1) - 1) / 2


def steered_drawing(walk: StagedWalk, stage: int, places: Places | None = None, chosen: str = "") -> Drawing:
    """A stage of the walk. `places` are those of `places_of`, `chosen` a seed whose edges bear the scores of their
    ratings. A click reports the row of a node."""
    places, part, steering = places or places_of(walk), walk.parts[stage], walk.parts[stage].steering
    subgraph = among(part.walk.index, dict.fromkeys(places, 1), values=part.walk.pagerank.p)
    styles, hubs = type_styles(subgraph.types), set(walk.hubs.tolist())
    roles = {("phrase", seed.phrase): ANCHOR if seed.entity else SEED for seed in steering.seeds}
    roles |= {("passage", name): GOLD for name in walk.gold}
    weights = {("phrase", seed.phrase): seed.weight for seed in steering.seeds}
    nodes = []
    for node in subgraph.nodes:
        key, hub, (x, y), size = (node.kind, node.name), node.row in hubs, places[node.row], node_size(node)
        style = roles.get(key) or (PHRASE if node.kind == "phrase" else PASSAGE)
        kind = f", {clean(node.type, 80)}" if node.type else ""
        seed = f"\nseed of weight {weights[key]:.4g}" if key in weights else ""
        role = f"{style.name}{kind}{', hub' if hub else ''}\nprobability {node.value:.4f}{seed}"
        important = key in roles or hub or node.kind == "passage" or size > 10
        nodes.append(DrawnNode(
            node.row, node.name, _coloured(style, node.type, styles), x * _UNIT, y * _UNIT, short(node.label, 30),
            f"{clean(node.label, 300)}\n{role}", "hub" if hub else "", size, 16 if important else 13, hub, node.type,
        ))  # fmt: skip
    edges = _edges(subgraph, _edits(steering), _edits(walk.parts[-1].steering), chosen)
    edges.sort(key=lambda edge: -EDGES.index(edge.style))  # strengthened edges lie on top
    kinds = tuple(_coloured(style, "", styles) for style in NODES)
    return Drawing(
        f"{part.name}: {walk.question}", tuple(nodes), tuple(edges), kinds, EDGES, "hub (strongest 1 %)",
        inches=(9.6, 6.4), types=types_shown(nodes, styles, "dot"),
    )  # fmt: skip


def _coloured(role: NodeStyle, kind: str, types: Mapping[str, NodeStyle]) -> NodeStyle:
    return role if role in (PASSAGE, GOLD) else in_type(role, kind, types)


def _edges(subgraph: Subgraph, now: Mapping[Key, Edit], last: Mapping[Key, Edit], chosen: str) -> list[DrawnEdge]:
    """Every edge of the graph once; where a question edits it, once for each direction that it edits."""
    made = []
    for edge in subgraph.edges:
        pairs = ((edge.source, edge.target), (edge.target, edge.source))
        keyed = [(*pair, (*(subgraph.nodes[at].name for at in pair), edge.kind)) for pair in pairs]
        ways = [(start, end, key) for start, end, key in keyed if key in last or key in now]
        if not ways:
            made.append(DrawnEdge(edge.source, edge.target, OTHER, _tooltip(subgraph, edge)))
        for start, end, key in ways:
            drawn = _edited(now.get(key), last.get(key), chosen)
            where = f"{_tooltip(subgraph, edge)}\nfrom {clean(subgraph.nodes[start].label, 80)}: {drawn.tooltip}"
            curve = _CURVE if len(ways) > 1 else 0.0
            made.append(drawn._replace(source=start, target=end, tooltip=where, curve=curve))
    return made


def _edited(now: Edit | None, last: Edit | None, chosen: str) -> DrawnEdge:
    """The look of an edge at a stage, without its ends."""
    style, (edge, rating) = _style(now), now or (last[0], None)
    score = rating.score if rating else None
    label = _CROSS if style is GONE else ""
    label = f"{label} {score}".strip() if score is not None and edge.source == chosen else label
    weight = edge.after if now else edge.before
    change = f"{edge.before:.3g} → {edge.after:.3g}, × {edge.factor:.3g}" if now else f"weight {weight:.3g}"
    rated = "" if score is None else f"\nrated {score}"
    width = edge_width(weight) if style not in (GONE, SKIPPED) else style.width
    return DrawnEdge(0, 0, style, f"{style.name}, {change}{rated}", label, "to", width)


def edge_width(weight: float) -> float:
    """Pixels for a weight of the walk, where a context edge weighs 1 and a fact stated once 2."""
    return min(0.4 + 1.7 * weight**0.5, 10.0)


def _tooltip(subgraph: Subgraph, edge: Edge) -> str:
    ends = " — ".join(clean(subgraph.nodes[end].label, 80) for end in (edge.source, edge.target))
    return f"{ends}\n{clean(edge.says, 300) or ('synonyms' if edge.kind == 'synonym' else 'stated in the passage')}"
