"""Dynamic edge weighting: which neighbours of a seed are rated, and how a rating changes an edge.

The out-edges of a few phrases, by kind: a copy that a question may edit, while the graph stays as it is.

What CatRAG writes into the trace: anchors, rated neighbours, edited edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from workbench.index import Index
from workbench.index.graph import Graph
from workbench.llm.engine import Engine
from workbench.llm.step import Result
from workbench.methods.events import TraceEvent
from workbench.operators.pagerank import Walk
from workbench.steps import rate_neighbours
from workbench.text import storable
from workbench.trace import Trace

Edge = tuple[str, str, str, float, float]  # (phrase, phrase or passage id, kind, weight before, weight after)


@dataclass(frozen=True, slots=True, repr=False)
class Anchors(TraceEvent):
    """Symbolic anchoring: the entities that the question names, the phrase that each is `linked` to, as (entity,
    phrase, cosine), and the phrases that became seeds, with their reset weights."""

    kind, step, scores = "RETRIEVER", "anchors", "added"

    entities: tuple[str, ...] = ()
    linked: tuple[tuple[str, str, float], ...] = ()
    added: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class RatedNeighbours(TraceEvent):
    """Dynamic edge weighting of one seed: how many neighbours it has, those that were rated with score and reason,
    those that the reply left out (`missing`, which count as Weak) and those that were `skipped` without a request."""

    kind, step, scores = "RERANKER", "rate neighbours", "ratings"
    inputs = ("seed", "weight")

    seed: str
    weight: float
    neighbours: int = 0
    reasons: Mapping[str, str] = field(default_factory=dict, hash=False)
    missing: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    ratings: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class EditedEdges(TraceEvent):
    """The out-edges of seeds whose weight is changed for this question."""

    step = "edit edges"

    edges: tuple[Edge, ...] = ()


KINDS = ("relation", "synonym", "context")


class Edit(NamedTuple):
    """One changed edge: rows of a phrase and of a phrase or, of kind `context`, a passage."""

    source: int
    target: int
    kind: str
    before: float
    after: float


class DirectedGraph:
    """The walk over an index, and the weights in it by kind, each from phrases: `relation` and `synonym` (n_e, n_e),
    `context` (n_e, n_p). Both directions of an edge have the same weight until a question edits one."""

    def __init__(self, graph: Graph, merge: str, synonym_weight: float):
        relation, synonym = graph.entries(merge, synonym_weight)
        self.relation, self.synonym = ((part + part.T).tocsr() for part in (relation, synonym))
        self.context = graph.context.T.tocsr()
        self.walk = Walk(graph.weights(merge, synonym_weight))
        self._entries = relation, synonym

    @cached_property
    def parallel(self) -> sp.csr_array:
        """(n_e, n_e): the edges that the released code keeps from one phrase to another, one for each entry, in either
        order."""
        relation, synonym = (part.astype(bool) for part in self._entries)
        entries = (relation + synonym).astype(np.int8)
        return (entries + entries.T).tocsr()

    def out_edges(self, phrases: Iterable[int]) -> OutEdges:
        rows = np.array(list(dict.fromkeys(phrases)), dtype=np.int64)
        return OutEdges(rows, {kind: getattr(self, kind)[rows] for kind in KINDS})

    def walk_over(self, edges: OutEdges) -> Walk:
        """The walk with these edges in place of the graph's own."""
        return self.walk.edited(edges.phrases, _stacked(edges.before), _stacked(edges.weights))


class OutEdges:
    """Row i of each matrix holds the edges of `phrases[i]`; edits change `weights` alone, `before` stays."""

    def __init__(self, phrases: np.ndarray, weights: Mapping[str, sp.csr_array]):
        self.phrases, self.weights = phrases, weights
        self._row = {phrase: row for row, phrase in enumerate(phrases.tolist())}
        self.before = {kind: matrix.copy() for kind, matrix in weights.items()}

    def scale(self, phrase: int, kind: str, factors: Mapping[int, float]) -> None:
        """Multiply the weights from a phrase to the targets given."""
        targets, weights = self._of(phrase, kind)
        for at in np.flatnonzero(np.isin(targets, list(factors))).tolist():
            weights[at] *= factors[int(targets[at])]

    def rescale(self, phrase: int, kind: str) -> None:
        """Restore the sum of a phrase's edges of one kind to its value before all edits."""
        part = self._part(phrase, kind)
        data = self.weights[kind].data
        if total := data[part].sum():
            data[part] *= self.before[kind].data[part].sum() / total

    def edits(self) -> Iterator[Edit]:
        """The edges with another weight than before, by phrase and kind."""
        for phrase in self._row:
            for kind in self.weights:
                targets, after = self._of(phrase, kind)
                before = self.before[kind].data[self._part(phrase, kind)]
                for at in np.flatnonzero(before != after).tolist():
                    yield Edit(phrase, int(targets[at]), kind, float(before[at]), float(after[at]))

    def _part(self, phrase: int, kind: str) -> slice:
        row = self._row[phrase]
        return slice(*self.weights[kind].indptr[row : row + 2].tolist())

    def _of(self, phrase: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """The targets and weights of its edges; the weights are a view."""
        part = self._part(phrase, kind)
        return self.weights[kind].indices[part], self.weights[kind].data[part]


def _stacked(weights: Mapping[str, sp.csr_array]) -> sp.csr_array:
    """The weights from some phrases to all nodes, phrases first."""
    return sp.hstack([weights["relation"] + weights["synonym"], weights["context"]], format="csr")


def key_passages(facts: Sequence[tuple[int, int, np.ndarray]]) -> dict[int, list[int]]:
    """Phrase → passages that state a key fact with it. A fact is its two ends and the passages that state it."""
    passages: dict[int, list[int]] = {}
    for subject, obj, stating in facts:
        for phrase in dict.fromkeys((subject, obj)):
            passages.setdefault(phrase, []).extend(stating.tolist())
    return passages


MISSING = 4  # a neighbour that the reply leaves out is Weak: a reply that was cut must not delete edges


class Neighbours(NamedTuple):
    """The phrases that share a fact with `seed`: `rated` as far as they are asked about, each with the facts that join
    it to the seed; the rest is `skipped`. `count` is what is held against the limit."""

    seed: int
    rated: dict[int, list[int]]
    skipped: list[int]
    count: int


class Rated(NamedTuple):
    """The ratings of a seed's neighbours, by phrase; None where the reply has none."""

    neighbours: Neighbours
    ratings: dict[int, rate_neighbours.Rating | None]

    @classmethod
    def of(cls, neighbours: Neighbours, inputs: Sequence[rate_neighbours.Input], replies: Sequence[Result]) -> Rated:
        ratings: list[rate_neighbours.Rating | None] = []
        for value, reply in zip(inputs, replies):
            ratings += rate_neighbours.matched(value, reply.value) if reply.value else [None] * len(value.neighbours)
        return cls(neighbours, dict(zip(neighbours.rated, ratings)))

    @property
    def scores(self) -> dict[int, int]:
        return {row: MISSING if rating is None else rating.score for row, rating in self.ratings.items()}


class Rater:
    """Rates the neighbours of seeds with an engine. Where ratings are those of a target, parallel edges of the `graph`
    count against `k_edge`, as in the released code."""

    def __init__(self, index: Index, engine: Engine, settings: Any, graph: DirectedGraph):
        self._facts, self._contexts = index.facts, index.entity_summaries
        self._index, self._engine, self._settings = index, engine, settings
        self._parallel = graph.parallel if settings.ratings_of == "target" else None

    def rate(
        self, question: str, linked_rows: Sequence[int], seeds: Sequence[tuple[int, float]], trace: Trace
    ) -> tuple[list[Rated], str]:
        """The ratings of the neighbours of each seed, and what failed, in words. One request per seed, or per `batch`
        of its neighbours, side by side; `linked_rows` are those of the filtered facts."""
        similarity = _Similarity(np.asarray(self._facts.fact_vectors), self._index.encode_query(question, "facts"))
        of_seeds = [self.neighbours(phrase, similarity) for phrase, _ in seeds]
        inputs = [list(self._inputs(storable(question), linked_rows, each, similarity)) for each in of_seeds]
        every = [value for values in inputs for value in values]
        results = iter(self._engine.run(rate_neighbours.STEP, every, trace=trace))
        rated, failures = [], []
        for (_, weight), neighbours, values in zip(seeds, of_seeds, inputs):
            replies = [next(results) for _ in values]
            failures += [reply.failure for reply in replies if reply.failure]
            rated.append(Rated.of(neighbours, values, replies))
            self._write(rated[-1], weight, trace)
        if not failures:
            return rated, ""
        return rated, f"{len(failures)} of {len(every)} requests for ratings failed ({failures[0]}): edges are Weak"

    def neighbours(self, seed: int, similarity: _Similarity) -> Neighbours:
        """Stage I, coarse pruning: of more than `k_edge` neighbours, those are rated whose best fact is closest to the
        question."""
        joining: dict[int, list[int]] = {}
        for row in self._facts.about(seed):
            other = int(self._facts.objects[row] if self._facts.subjects[row] == seed else self._facts.subjects[row])
            if other != seed:
                joining.setdefault(other, []).append(row)
        places = self._places(seed, sorted(joining))
        if len(places) > self._settings.k_edge:
            best = {phrase: similarity.best(joining[phrase]) for phrase in joining}
            places.sort(key=lambda phrase: -best[phrase])
        chosen = dict.fromkeys(places[: self._settings.k_edge])
        skipped = [phrase for phrase in dict.fromkeys(places) if phrase not in chosen]
        return Neighbours(seed, {phrase: joining[phrase] for phrase in chosen}, skipped, len(places))

    def _places(self, seed: int, phrases: list[int]) -> list[int]:
        """Each neighbour once, or as often as there are edges to it."""
        if self._parallel is None:
            return phrases
        edges = self._parallel[[seed]]
        copies = dict(zip(edges.indices.tolist(), edges.data.tolist()))
        return [phrase for phrase in phrases for _ in range(copies.get(phrase, 1))]

    def _inputs(
        self, question: str, linked_rows: Sequence[int], neighbours: Neighbours, similarity: _Similarity
    ) -> Iterator[rate_neighbours.Input]:
        facts = self._facts
        candidates = [
            rate_neighbours.Neighbour(
                facts.phrases[phrase],
                tuple(facts.facts[row] for row in rows),
                self._contexts.context(facts, phrase),
                similarity.best(rows),
            )
            for phrase, rows in neighbours.rated.items()
        ]
        trusted = tuple(facts.facts[row] for row in linked_rows)
        for start in range(0, len(candidates), self._settings.batch):
            batch = tuple(candidates[start : start + self._settings.batch])
            yield rate_neighbours.Input(question, trusted, facts.phrases[neighbours.seed], batch)

    def _write(self, rated: Rated, weight: float, trace: Trace) -> None:
        names, neighbours = self._facts.phrases, rated.neighbours
        with RatedNeighbours.open(trace, seed=names[neighbours.seed], weight=weight) as write:
            write(
                neighbours=neighbours.count,
                ratings=tuple((names[row], float(score)) for row, score in rated.scores.items()),
                reasons={names[row]: given.reason for row, given in rated.ratings.items() if given and given.reason},
                missing=tuple(names[row] for row, rating in rated.ratings.items() if rating is None),
                skipped=tuple(names[row] for row in neighbours.skipped),
            )


class _Similarity(NamedTuple):
    """Cosines of facts and the question."""

    facts: np.ndarray
    question: np.ndarray

    def best(self, rows: list[int]) -> float:
        return float((self.facts[rows] @ self.question).max())


def phi(score: int) -> float:
    """The factor of an edge by its score (table 7): Irrelevant 0, Weak 0.2 to 0.3, High 2 to 3, Direct 5.

    >>> [phi(score) for score in (0, 3, 4, 5, 6, 7, 8, 9, 10)]
    [0.0, 0.0, 0.2, 0.25, 0.3, 2.0, 2.5, 3.0, 5.0]
    """
    return 0.0 if score < 4 else score / 20 if score < 7 else (score - 3) / 2 if score < 10 else 5.0


def tier(score: int) -> str:
    """The name of a score's tier.

    >>> [tier(score) for score in (3, 4, 7, 10)]
    ['Irrelevant', 'Weak', 'High', 'Direct']
    """
    return "Irrelevant" if score < 4 else "Weak" if score < 7 else "High" if score < 10 else "Direct"


def by_edge(rated: Sequence[Rated], scale: float, skipped: float) -> dict[int, dict[int, float]]:
    """Seed → neighbour → factor, for relation edges (paper)."""
    return {
        seed.neighbours.seed: {row: scale * phi(score) for row, score in seed.scores.items()}
        | dict.fromkeys(seed.neighbours.skipped, skipped)
        for seed in rated
    }


def by_target(rated: Sequence[Rated], scale: float, skipped: float) -> dict[int, float]:
    """Neighbour → factor for the edges of all scored seeds that lead to it, whoever it was rated for: the highest score
    counts, and any score before a skip (released code)."""
    factors = {row: skipped for seed in rated for row in seed.neighbours.skipped}
    scores: dict[int, int] = {}
    for seed in rated:
        for row, score in seed.scores.items():
            scores[row] = max(score, scores.get(row, 0))
    return factors | {row: scale * phi(score) for row, score in scores.items()}
