"""PathRAG: the paths with the most flow between the entities of a question, shown from the least to the most reliable.

Follows "PathRAG: Pruning Graph-based Retrieval Augmented Generation with Relational Paths" (arXiv 2502.14902) as its
released code does (snapshot of December 2025), a fork of the early LightRAG whose two sides it keeps: low
keywords find entities, between which paths are searched; high keywords find relations. Profile `paper` scores paths
by the paper's formula; its values for the settings could not be confirmed, so they are the code's.

The evidence has paths best first; a reader, and the layout `tables` of its own context, reverse them. Passages are the
text units of the high level, then those of the low level; all scores except those of paths are 1 / rank. Without a
high-level hit, where the code fails, the evidence has the low level alone.

Flow-based pruning: the most reliable of all short paths between some nodes (PathRAG, arXiv 2502.14902).

One unit of resource leaves the first node of an ordered pair and is split among the next nodes on the pair's simple
paths, decaying by alpha at each further edge; an amount below the threshold flows no further. The score of a path is an
average, in two forms:

    edges    the released code, the default: flow over the edges; an amount of at most `threshold` is not passed on
    nodes    the paper's formula: resource of the nodes, including the first node's 1; passed on if each share of it
             is at least `threshold`

Between hubs there are too many paths to list. The numbers of common neighbours give the nodes that lead from s to t,
and the number of paths. If so many nodes follow s that nothing flows beyond them, which is nearly always the case, all
paths of one length have the same score, so the first few suffice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Annotated, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from pydantic import Field

from workbench.errors import SettingError
from workbench.methods.base import Method
from workbench.methods.lightrag.context import (
    COUNTED,
    SCALE,
    Retrieved,
    evidence,
    fitting,
    global_side,
    nothing,
    of_entities,
    tables,
)
from workbench.methods.lightrag.graph import EdgeGraph, high_level, keywords_of, low_level
from workbench.records import Evidence, Path, Scored
from workbench.settings import Cosine, Positive, Share, Tokens, validated
from workbench.tokens import leading_texts
from workbench.trace import Trace

FORMS = ("edges", "nodes")
HOPS = 3  # at most

Nodes = tuple[int, ...]


class Flow(NamedTuple):
    """`paths` (rows of nodes) best first, with their `scores`. `counts`: simple paths of 1, 2 and 3 edges over all
    ordered pairs. `bounded`: number of ordered pairs of which only the first `limit` paths were examined."""

    paths: list[Nodes]
    scores: list[float]
    counts: tuple[int, int, int]
    bounded: int


def flow_paths(
    adjacency: sp.csr_array,
    nodes: Sequence[int],
    *,
    alpha: float = 0.8,
    threshold: float = 0.3,
    hops: int = 3,
    keep: int = 15,
    limit: int = 10_000,
    form: str = "edges",
) -> Flow:
    """The best simple paths of at most `hops` edges between any two of the distinct `nodes`.

    `adjacency` is symmetric, with ones, sorted indices and no self-loops. Of the paths over one set of nodes only the
    best counts, in either direction. At most `keep` paths are returned, and at most half of all paths. Ties are ordered
    by `nodes`, then by length, then by rows. Of a pair with more than `limit` paths, the first `limit` in this order
    are examined.
    """
    if form not in FORMS:
        raise SettingError(f"form={form!r} is unknown; choose {' or '.join(FORMS)}")
    if hops not in range(1, HOPS + 1):
        raise SettingError(f"hops={hops!r}; it should be 1, 2 or 3")
    pairs = _Pairs(adjacency, nodes, hops)
    lively, idle = [], []
    for pair in pairs.connected():
        share = 1 / pairs.following[pair]
        flows = share > threshold if form == "edges" else share >= threshold
        worth = share if form == "edges" else 1.0  # of a path of one edge if nothing flows on
        (lively if flows else idle).append((worth, pair))
    pool: list[tuple[float, tuple[int, int], int, Nodes]] = []
    bounded = 0
    for _, pair in lively:
        paths = list(islice(pairs.paths(pair), limit))
        bounded += sum(pairs.counts[:, *pair]) > limit
        scores = (_by_edges if form == "edges" else _by_nodes)(paths, alpha, threshold)
        pool += _distinct([(-score, pair, at, path) for at, (score, path) in enumerate(zip(scores, paths))], keep)
    pool = _distinct(pool, keep)
    for worth, pair in sorted(idle, key=lambda pair: (-pair[0] / pairs.shortest(pair[1]), pair[1])):
        if len(pool) == keep and -pool[-1][0] > worth / pairs.shortest(pair):
            break
        paths = _first_distinct(pairs.paths(pair), keep)
        pool = _distinct([*pool, *((-worth / (len(path) - 1), pair, at, path) for at, path in paths)], keep)
    counts = tuple(int(count) for count in pairs.counts.sum(axis=(1, 2)))
    best = pool[: min(keep, sum(count // 2 for count in counts))]
    return Flow([path for *_, path in best], [-score for score, *_ in best], counts, bounded)


class _Pairs:
    """The simple paths between some nodes. A pair is (position of s, position of t) in `nodes`.

    counts     int (3, q, q): how many paths of 1, 2, 3 edges
    following  int (q, q): how many nodes follow s on the paths to t
    """

    def __init__(self, adjacency: sp.csr_array, nodes: Sequence[int], hops: int):
        self._adjacency, self._nodes, self._hops = adjacency, np.array(nodes, dtype=np.int64), hops
        q = len(nodes)
        self.counts = np.zeros((HOPS, q, q), dtype=np.int64)
        self.following = np.zeros((q, q), dtype=np.int64)
        self._leads: list[np.ndarray] = []  # of s: (neighbours, q), whether a path of two or three edges goes through
        adjacent = adjacency[self._nodes].T.tocsr()  # (n, q): is the row a neighbour of t?
        shared = (adjacency @ adjacent).tocsr() if hops > 2 else None  # (n, q): common neighbours with t
        joined = adjacent[self._nodes].toarray().astype(np.int64)
        for s in range(q):
            near = self._near(self._nodes[s])
            other = near[:, None] != self._nodes
            two = adjacent[near].toarray().astype(np.int64) if hops > 1 else np.zeros(other.shape, np.int64)
            # s itself is a common neighbour of its neighbours and of t, where it is joined to t.
            three = (shared[near].toarray().astype(np.int64) - joined[s]) * other if hops > 2 else np.zeros_like(two)
            leads = (two > 0) | (three > 0)
            self.counts[:, s] = joined[s], two.sum(axis=0), three.sum(axis=0)
            self.following[s] = leads.sum(axis=0) + joined[s]
            self._leads.append(leads)
        self.counts[:, range(q), range(q)] = 0
        self.following[range(q), range(q)] = 0
        self._sets: dict[int, frozenset[int]] = {}

    def connected(self) -> list[tuple[int, int]]:
        return [(s, t) for s, t in np.argwhere(self.following).tolist()]

    def shortest(self, pair: tuple[int, int]) -> int:
        return 1 + int(np.argmax(self.counts[:, *pair] > 0))

    def paths(self, pair: tuple[int, int]) -> Iterator[Nodes]:
        """The shorter first, those of one length by rows."""
        s, t = (int(self._nodes[end]) for end in pair)
        ones, twos, threes = self.counts[:, *pair].tolist()
        through = self._near(s)[self._leads[pair[0]][:, pair[1]]].tolist()
        if ones:
            yield s, t
        if twos:
            yield from ((s, a, t) for a in through if a in self._set(t))
        if threes:
            for a in through:
                yield from ((s, a, b, t) for b in sorted(self._set(a) & self._set(t)) if b != s)

    def _near(self, node: int) -> np.ndarray:
        return self._adjacency.indices[self._adjacency.indptr[node] : self._adjacency.indptr[node + 1]]

    def _set(self, node: int) -> frozenset[int]:
        if node not in self._sets:
            self._sets[node] = frozenset(self._near(node).tolist())
        return self._sets[node]


def _by_edges(paths: Sequence[Nodes], alpha: float, threshold: float) -> list[float]:
    """The released code's form, for the paths of one ordered pair. Successors are visited in the order of their rows,
    which matters for an edge that is the second of one path and the third of another."""
    start, end = paths[0][0], paths[0][-1]
    after = _successors(paths)
    flow: dict[tuple[int, int], float] = defaultdict(float)
    for a in after[start]:
        flow[start, a] += 1 / len(after[start])
        if a == end or not flow[start, a] > threshold:
            continue
        for b in after[a]:
            flow[a, b] += flow[start, a] * alpha / len(after[a])
            if b == end or not flow[a, b] > threshold:
                continue
            for c in after[b]:
                flow[b, c] += flow[a, b] * alpha / len(after[b])
    return [sum(flow[edge] for edge in pairwise(path)) / (len(path) - 1) for path in paths]


def _by_nodes(paths: Sequence[Nodes], alpha: float, threshold: float) -> list[float]:
    """The paper's form, for the paths of one ordered pair; the successors of a node are those on these paths.

    The formula is circular if two inner nodes follow each other; here resources arrive in waves, one per edge up to the
    length of the paths, and add up."""
    start, end = paths[0][0], paths[0][-1]
    after = _successors(paths)
    resource: dict[int, float] = defaultdict(float, {start: 1.0})
    wave = {start: 1.0}
    for _ in range(max(map(len, paths)) - 1):
        arriving: dict[int, float] = defaultdict(float)
        for node in sorted(wave):
            share = wave[node] / len(after[node]) if node != end else 0.0
            if node != end and share >= threshold:
                for b in after[node]:
                    arriving[b] += alpha * share
        for node, amount in arriving.items():
            resource[node] += amount
        wave = arriving
    return [sum(resource[node] for node in path) / (len(path) - 1) for path in paths]


def _successors(paths: Sequence[Nodes]) -> dict[int, list[int]]:
    nodes_after: dict[int, set[int]] = defaultdict(set)
    for path in paths:
        for a, b in pairwise(path):
            nodes_after[a].add(b)
    return {node: sorted(nodes) for node, nodes in nodes_after.items()}


def _distinct(pool: list[tuple], keep: int) -> list[tuple]:
    """The best `keep` over different sets of nodes, best first."""
    by_nodes: dict[frozenset[int], tuple] = {}
    for scored in sorted(pool):
        by_nodes.setdefault(frozenset(scored[-1]), scored)
        if len(by_nodes) == keep:
            break
    return list(by_nodes.values())


def _first_distinct(paths: Iterator[Nodes], keep: int) -> list[tuple[int, Nodes]]:
    """As many paths over different sets of nodes, with their positions."""
    by_nodes: dict[frozenset[int], tuple[int, Nodes]] = {}
    for at, path in enumerate(paths):
        by_nodes.setdefault(frozenset(path), (at, path))
        if len(by_nodes) == keep:
            break
    return list(by_nodes.values())


class PathRAG(Method):
    """Flow-based pruning of the paths between retrieved entities."""

    name = "pathrag"
    paper = "PathRAG (arXiv 2502.14902)"
    layers = ("passages", "typed")
    steps = ("keywords",)
    scale = SCALE
    profiles = {"released": {}, "paper": {"form": "nodes"}}

    @validated
    class Settings:
        """top_k, least      maximum number of entities and of relations per search, and their least cosine
        alpha, threshold  decay of the flow at each further edge; flow below which nothing is passed on
        form              whether a path's score averages over edges (the code) or nodes (the paper)
        hops, paths       maximum number of edges of a path; number of paths kept
        limit             paths examined of one ordered pair, if flow is passed on
        counted           a passage of an entity is ordered by the neighbours that share it: those of `all` entities
                          found that it describes (the code), or of the `first` of them
        text_tokens, relation_tokens, local_tokens   caps of the passages of each level; of the relations of the high
                          level; of its entities, and of the paths"""

        profile: str = "released"
        top_k: Positive = 40
        least: Cosine = 0.2
        alpha: Share = 0.8
        threshold: Share = 0.3
        form: Literal[*FORMS] = "edges"
        hops: Annotated[int, Field(ge=1, le=HOPS)] = 3
        paths: Positive = 15
        limit: Positive = 10_000
        counted: Literal[*COUNTED] = "all"
        text_tokens: Tokens = 4000
        relation_tokens: Tokens = 3000
        local_tokens: Tokens = 5000

    def prepare(self) -> None:
        self._typed, self._graph = self.index.typed, EdgeGraph(self.index)

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        words = keywords_of(question, self._graph, self.engine, trace)
        if not (words.high and words.low):
            why = words.failure or f"the question has no {'low' if words.high else 'high'}-level keywords"
            return nothing(question, self.label, why, "tables")
        chosen, graph = self.settings, self._graph
        near = low_level(words.low, self.index, graph, chosen.top_k, chosen.least, trace)
        edges = high_level(words.high, self.index, graph, chosen.top_k, chosen.least, trace)
        paths, scores = self.paths(near, trace)
        with trace.span("CHAIN", "context") as span:
            caps = chosen.relation_tokens, chosen.local_tokens, chosen.text_tokens
            high = global_side(graph, edges, *caps)
            low = fitting(graph, of_entities(graph, near, chosen.counted), chosen.text_tokens)
            entities = dict.fromkeys([*near, *(row for path in paths for row in path), *high.entities])
            retrieved = Retrieved(list(entities), high.edges, list(dict.fromkeys([*high.passages, *low])))
            span.set(entities=len(retrieved.entities), edges=len(retrieved.edges), passages=len(retrieved.passages))
        records = tuple(Scored(self._record(path), score) for path, score in zip(paths, scores))
        context_graph = tables(graph, Retrieved([], high.edges, retrieved.passages), "tables")
        named = [graph.entity(row, "high") for row in high.entities] + [graph.entity(row, "low") for row in near]
        context_graph = replace(context_graph, entities=tuple(named), paths=tuple(path for path, _ in records))
        return evidence(question, self.label, graph, retrieved, k, context_graph, records)

    def paths(self, nodes: list[int], trace: Trace) -> tuple[list[Nodes], list[float]]:
        """The paths that fit, as rows of entities, best first, and their scores."""
        chosen = self.settings
        with trace.span("RETRIEVER", "paths", nodes=len(nodes)) as span:
            flow = flow_paths(
                self._typed.adjacency,
                nodes,
                alpha=chosen.alpha,
                threshold=chosen.threshold,
                hops=chosen.hops,
                keep=chosen.paths,
                limit=chosen.limit,
                form=chosen.form,
            )
            fitting_paths = leading_texts(map(self.text, flow.paths), chosen.local_tokens)
            names = (" – ".join(self._typed.names[row] for row in path) for path in flow.paths[:fitting_paths])
            span.set(simple_paths=flow.counts, bounded_pairs=flow.bounded, kept=len(flow.paths), told=fitting_paths)
            span.score(zip(names, flow.scores))
        return flow.paths[:fitting_paths], flow.scores[:fitting_paths]

    def text(self, path: Nodes) -> str:
        """A path in the words of the code, for the reader and for the cut by its length: inner entities occur twice."""
        typed = self._typed
        entities = [f"{typed.names[row]} is a {typed.types[row]} ({typed.descriptions[row]})." for row in path]
        joins = [
            f"Between {typed.names[a]} and {typed.names[b]} there is an edge ({self._keywords(a, b)})."
            for a, b in pairwise(path)
        ]
        return " ".join(f"{first} {joint} {other}" for (first, other), joint in zip(pairwise(entities), joins))

    def _keywords(self, a: int, b: int) -> str:
        return ", ".join(sorted({word for row in self._typed.between(a, b) for word in self._typed.keywords[row]}))

    def _record(self, path: Nodes) -> Path:
        """The path as a record, with all parallel relations, and with its text; ⁻¹ marks a relation followed in
        reverse."""
        typed, passages = self._typed, self._graph.passages
        hops = [(a, typed.between(a, b)) for a, b in pairwise(path)]
        stating = np.unique(typed.relation_stated[[row for _, rows in hops for row in rows]].indices)
        return Path(
            tuple(typed.names[row] for row in path),
            tuple(" / ".join(dict.fromkeys(self._label(row, a) for row in rows)) for a, rows in hops),
            tuple(passages[row].id for row in stating),
            text=self.text(path),
        )

    def _label(self, relation: int, start: int) -> str:
        typed = self._typed
        label = typed.labels[relation] or ", ".join(typed.keywords[relation])
        return label + ("" if typed.sources[relation] == start else "⁻¹")
