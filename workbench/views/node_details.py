"""The views of node details, of a check-up, of a walk's distribution, and of a part of a graph: a drawing for up to
five thousand nodes, a table of counts for more."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from workbench.display import html, text
from workbench.encoding.similarity import top
from workbench.index.layout import layout
from workbench.operators.checkup import Checkup
from workbench.operators.neighbourhood import KINDS, Edge, Node, Subgraph, spellings
from workbench.operators.node_details import NodeDetails
from workbench.operators.walk_distribution import WalkDistribution
from workbench.text import clean, counted, short
from workbench.views.drawing import (
    LABEL,
    THICK,
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
from workbench.views.index import facts_by
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, PALE
from workbench.views.parts import (
    NAME,
    Part,
    bad,
    details,
    faint,
    fold,
    group,
    line,
    number,
    points,
    quiet,
    strong,
    table,
    tag,
    view,
    words,
)
from workbench.views.records import SHOWN, passage_line, triple_line
from workbench.views.render import page

UNFOLDED = 12  # items up to which a list of details is unfolded


@view.register
def _(node: NodeDetails) -> Part | None:
    facts, synonyms, passages = node.counts

    def spelled(name: str) -> str:
        return node.spelling.get(name, name)

    near = [(spelled(entity.name), score) for entity, score in node.synonyms]
    stated = [replace(fact, subject=spelled(fact.subject), object=spelled(fact.object)) for fact in node.facts]
    lists = [
        ("passage", passages, node.passages, group(*map(passage_line, node.passages))),
        ("fact", facts, node.facts, group(*(line(triple_line(triple)) for triple in stated))),
        ("synonym", synonyms, node.synonyms, table(["phrase", "cosine"], near, NAME)),
    ]
    return group(
        line(strong(spelled(node.name), limit=NAME), tag(node.kind), faint(counted(node.degree, "neighbour"))),
        *(
            fold(
                counted(count, what) + (f", the first {len(members)}" if len(members) < count else ""),
                body,
                open=count <= UNFOLDED,
            )
            for what, count, members, body in lists
        ),
    )


@view.register
def _(checkup: Checkup) -> Part | None:
    hubs = [(hub.phrase, hub.strength, f"{hub.share:.2%}", hub.degree, hub.passages) for hub in checkup.hubs]
    parts = [(part.edges, part.count, f"{part.largest:.1%}") for part in checkup.components]
    verdict = bad(f"{len(checkup.warnings)} to look at") if checkup.warnings else "nothing looks wrong"
    measured = table(["", ""], [(name, _measure(name, value)) for name, value in checkup.measured.items()])
    return group(
        line("Check-up of", words(strong(checkup.name, limit=NAME), ":", sep=""), verdict),
        quiet(facts_by(checkup.facts_by)),
        points(*checkup.warnings),
        _published(checkup),
        fold("counts and shares", measured, open=True),
        fold("hubs", table(["phrase", "strength", "of all strength", "neighbours", "passages"], hubs, NAME), open=True),
        fold("connected parts", table(["over", "parts", "nodes in the largest"], parts)),
        fold("passages without a fact", line(f"{', '.join(checkup.isolated)} …" if checkup.isolated else "")),
    )


def _published(checkup: Checkup) -> Part | None:
    """The counts beside those of published graphs."""
    headers = ["", "passages", "phrases", "facts", "synonyms"]
    headers += ["facts a passage", "phrases a passage", "synonyms a phrase"]
    rows = [
        (
            row.graph,
            *(None if math.isnan(value) else int(value) for value in row[3:7]),
            *("" if math.isnan(value) else f"{value:.2f}" for value in row[7:]),
        )
        for row in checkup.beside_published().itertuples()
    ]
    return table(headers, rows, 60)


@view.register
def _(walk: WalkDistribution) -> Part | None:
    if walk.pagerank is None:
        return group(line(walk.question), line(f"no walk: {walk.fallback}", look="bad"))
    return group(
        line(strong(walk.question), tag(walk.method, limit=NAME)),
        _hub_shares(walk),
        details("phrases", _walk_phrases(walk), open=True),
        details("passages", _walk_passages(walk)),
    )


def _hub_shares(walk: WalkDistribution) -> Part | None:
    hubs = walk.hubs
    rows = [
        ("of the mass of all phrases", f"{hubs.share_all:.1%}"),
        ("without a question it would be", f"{hubs.expected:.1%}"),
        ("of the ten phrases with most mass", f"{hubs.share_top:.1%}"),
        ("S_ppr, the mean strength of these ten", round(hubs.strength, 1)),
    ]
    return table(["super hubs (the strongest 1 % of phrases) hold", ""], rows)


def _walk_phrases(walk: WalkDistribution) -> Part | None:
    seeds, best = dict(walk.seeds), top(walk.on_phrases, SHOWN).tolist()
    names = spellings(walk.index, best)
    rows = [(name, float(walk.on_phrases[row]), seeds.get(row)) for name, row in zip(names, best)]
    return table(["phrase", "probability", "seed weight"], rows, NAME)


def _walk_passages(walk: WalkDistribution) -> Part | None:
    passages = walk.index.passages.passages
    ranks = {row: rank for rank, row in enumerate(top(walk.dense, len(passages)).tolist(), 1)}
    best = top(walk.on_passages, SHOWN).tolist()
    rows = [(passage_line(passages[row]), float(walk.on_passages[row]), ranks[row]) for row in best]
    return table(["passage", "probability", "dense rank"], rows)


def _measure(name: str, value: float) -> str:
    """Shares as percentages, counts as they are."""
    if isinstance(value, int):
        return number(value)
    return f"{value:g}" if "degree" in name else f"{value:.1%}"


# -- graph ------------------------------------------------------------------------------------------------------------

CROWDED = 1000  # nodes beyond which edges have no tooltips
LARGEST = 5_000  # nodes up to which a subgraph is drawn
FOLDED, LEAVES = 150, 3  # nodes beyond which leaves are folded; least leaves of one node and relation in a mark
NAMED = 12  # folded nodes that a tooltip names
NODES = {
    "phrase": NodeStyle("phrase", BLUE),
    "page": NodeStyle("phrase and its passage", BLUE, "square"),
    "passage": NodeStyle("passage", ORANGE, "square"),
    "folded": NodeStyle("several at one node", GREY, "hexagon"),
}
EDGES = {
    "relation": EdgeStyle("facts", GREY),
    "synonym": EdgeStyle("synonyms", GREEN, "╌╌", dashes=(6, 4)),
    "context": EdgeStyle("stated in", PALE, "┈┈", dashes=(1, 4)),
}
_UNIT = 260  # pixels from the middle to the border of the layout


@html.register
def _(subgraph: Subgraph) -> str:
    if 0 < len(subgraph.nodes) <= LARGEST:
        return page(quiet(text(subgraph))) + drawing_frame(graph_drawing(subgraph))
    counts = [(f"{kind} edges", sum(edge.kind == kind for edge in subgraph.edges)) for kind in KINDS]
    return page(line(text(subgraph)), table(["", ""], counts))


@text.register
def _(subgraph: Subgraph) -> str:
    cut = f"; {subgraph.left_out:,} more are within reach" if subgraph.left_out else ""
    size = f"{counted(len(subgraph.nodes), 'node')}, {counted(len(subgraph.edges), 'edge')}"
    return f"Subgraph {clean(subgraph.name, 80)!r}: {size}{cut}"


def graph_drawing(subgraph: Subgraph, strong: Collection[frozenset[str]] = (), meaning: str = "") -> Drawing:
    """The subgraph as laid out by `layout`; a click reports the row of a node. A phrase and the passage of its title
    are one mark, with the edges of both; phrases have the colours of their types. Edges between `strong` pairs of names
    are thick and green, with this `meaning`. Of a large subgraph, leaves of one node are one mark, such as "+ 37
    works by"; a click on it reports their node."""
    subgraph = merged(subgraph)
    subgraph = folded(subgraph, strong) if len(subgraph) > FOLDED else subgraph
    types = type_styles(subgraph.types)
    edge_styles = EDGES | ({"strong": THICK._replace(name=meaning)} if strong else {})
    nodes = tuple(_drawn_node(*pair, types) for pair in zip(subgraph.nodes, layout(subgraph).tolist()))
    drawn = [
        _drawn_edge(edge, subgraph, edge_styles["strong" if _pair(edge, subgraph) in strong else edge.kind])
        for edge in subgraph.edges
    ]
    kinds = (in_type(style, "", types) if kind in ("phrase", "page") else style for kind, style in NODES.items())
    return Drawing(
        subgraph.name,
        nodes,
        tuple(faded(drawn, [_flow(edge, subgraph) for edge in subgraph.edges])),
        tuple(kinds),
        tuple(edge_styles.values()),
        "start or seed",
        types=types_shown(nodes, types, "dot"),
    )  # fmt: skip


def merged(subgraph: Subgraph) -> Subgraph:
    """The subgraph in which a phrase and the passage of its title are one node, a `page`, with the edges of both."""
    titles = {node.label.casefold(): at for at, node in enumerate(subgraph.nodes) if node.kind == "passage"}
    phrases = {node.label.casefold(): at for at, node in enumerate(subgraph.nodes) if node.kind == "phrase"}
    phrase_of = {titles[label]: at for label, at in phrases.items() if label and label in titles}
    nodes = dict(enumerate(subgraph.nodes))
    for passage, at in phrase_of.items():
        own, node = nodes.pop(passage), nodes[at]
        value = None if node.value is None else node.value + (own.value or 0)
        nodes[at] = node._replace(kind="page", hop=min(node.hop, own.hop), degree=node.degree + own.degree, value=value)
    position = {at: place for place, at in enumerate(nodes)}
    edges: dict[tuple[int, int, str], Edge] = {}
    for edge in subgraph.edges:
        source, target = (position[phrase_of.get(end, end)] for end in (edge.source, edge.target))
        if source != target:
            edges[min(source, target), max(source, target), edge.kind] = edge._replace(source=source, target=target)
    return replace(subgraph, nodes=tuple(nodes.values()), edges=tuple(edges.values()))


def folded(subgraph: Subgraph, strong: Collection[frozenset[str]] = ()) -> Subgraph:
    """The subgraph in which leaves of a node are folded into one node, those of the same relation or otherwise all. It
    comes after all others, and its name lists the leaves. Starts, pages, nodes of a walk and `strong` pairs remain."""
    around: dict[int, dict[int, Edge]] = {at: {} for at in range(len(subgraph))}
    for edge in subgraph.edges:
        for end, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if edge.kind == "relation" or other not in around[end]:
                around[end][other] = edge
    fixed = {name for pair in strong for name in pair}
    hubs = {
        at: next(iter(around[at].items()))
        for at, node in enumerate(subgraph.nodes)
        if len(around[at]) == 1 and node.kind != "page" and node.hop and node.value is None and node.name not in fixed
    }
    same = Counter((hub, edge.says) for hub, edge in hubs.values())
    leaves_of: dict[tuple[int, str], list[int]] = {}  # a node, and a relation, "" for several → its leaves
    for at, (hub, edge) in hubs.items():
        leaves_of.setdefault((hub, edge.says if same[hub, edge.says] >= LEAVES else ""), []).append(at)
    groups = {key: leaves for key, leaves in leaves_of.items() if len(leaves) >= LEAVES}
    gone = {at for leaves in groups.values() for at in leaves}
    position = {at: place for place, at in enumerate(at for at in range(len(subgraph)) if at not in gone)}
    nodes, edges = [subgraph.nodes[at] for at in position], []
    for edge in subgraph.edges:
        if edge.source in position and edge.target in position:
            edges.append(edge._replace(source=position[edge.source], target=position[edge.target]))
    for (hub, says), leaves in groups.items():
        words, names = f"+ {len(leaves)} {says or 'more'}", [subgraph.nodes[at].label for at in leaves]
        more = [f"… {len(names) - NAMED:,} more"] if len(names) > NAMED else []
        edges.append(hubs[leaves[0]][1]._replace(source=position[hub], target=len(nodes), says=says))
        listed = "\n".join([words, *names[:NAMED], *more])
        nodes.append(Node(subgraph.nodes[hub].row, "folded", listed, words, 1, len(leaves)))
    return replace(subgraph, nodes=tuple(nodes), edges=tuple(edges))


def _flow(edge: Edge, subgraph: Subgraph) -> float:
    """The weight of an edge in the picture: about the probability that a walk follows it at each step, in either
    direction; without a walk, the edge's own weight."""
    ends = subgraph.nodes[edge.source], subgraph.nodes[edge.target]
    if any(node.value is None for node in ends):
        return edge.weight
    return edge.weight * sum(node.value / max(1, node.degree) for node in ends)


def node_size(node: Node) -> float:
    """The diameter of a node, by probability if it has one, otherwise by degree."""
    if node.value is not None:
        return 5 + 55 * min(node.value, 0.25) ** 0.5
    return 6 + 1.3 * min(node.degree, 400) ** 0.5


def _drawn_node(node: Node, place: Sequence[float], types: Mapping[str, NodeStyle]) -> DrawnNode:
    phrase, (x, y) = node.kind in ("phrase", "page"), place
    style = in_type(NODES[node.kind], node.type, types) if phrase else NODES[node.kind]
    value = "" if node.value is None else f"\nprobability {node.value:.4f}"
    kind = ", ".join(filter(None, (NODES[node.kind].name, clean(node.type, 80))))
    says = f"{clean(node.label, 300)}\n{kind}, {counted(node.degree, 'neighbour')}{value}"
    return DrawnNode(
        node.row, node.name, style, x * _UNIT, y * _UNIT, short(node.label, LABEL),
        clean(node.name, 600) if node.kind == "folded" else says, role="" if node.hop else "start",
        size=node_size(node) * (1 if phrase else 0.8), font=14, outline=not node.hop, type=node.type,
    )  # fmt: skip


def _pair(edge: Edge, subgraph: Subgraph) -> frozenset[str]:
    return frozenset((subgraph.nodes[edge.source].name, subgraph.nodes[edge.target].name))


def _drawn_edge(edge: Edge, subgraph: Subgraph, style: EdgeStyle) -> DrawnEdge:
    """An edge; in crowded pictures it has no tooltip."""
    tooltip = _edge_tooltip(edge, subgraph) if len(subgraph) <= CROWDED else ""
    relation, strong = edge.kind == "relation", style.name != EDGES[edge.kind].name
    width = None if strong else 1.0 + 0.7 * min(edge.weight, 10) ** 0.5 if relation else 1.2
    return DrawnEdge(edge.source, edge.target, style, tooltip, short(edge.says, 24) if relation else "", width=width)


def _edge_tooltip(edge: Edge, subgraph: Subgraph) -> str:
    ends = " — ".join(clean(subgraph.nodes[end].label, 80) for end in (edge.source, edge.target))
    if subgraph.nodes[edge.target].kind == "folded":
        return ends
    if edge.kind == "relation":
        return f"{ends}\n{clean(edge.says, 300)}\nstated {edge.weight:g} times"
    return f"{ends}\n{f'synonyms, cosine {edge.weight:.3f}' if edge.kind == 'synonym' else 'the passage states it'}"
