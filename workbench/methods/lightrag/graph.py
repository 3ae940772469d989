"""The typed graph as LightRAG reads it: one undirected edge for each pair of entities, ranked by its ends' degrees.

The two levels of a question: its keywords, and the entities and edges close to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from workbench.encoding.similarity import top
from workbench.index import Index
from workbench.layouts import lightrag
from workbench.layouts.evidence import chunk_of
from workbench.llm.engine import Engine
from workbench.operators.linking import named
from workbench.records import ContextEntity, ContextRelation, Triple, Unit
from workbench.steps import keywords as step
from workbench.trace import Trace

SEPARATOR = "<SEP>"  # between descriptions that stand together


class EdgeGraph:
    """An edge merges all relations that join two different entities, with their descriptions, weights and passages.

    ends     int (p, 2), rows of entities, the lower first; edges are sorted by them
    ranks    int (p,), the degrees of both ends added up
    weights  float64 (p,)
    schema   its relations (`TypedLayer.relations`)
    """

    def __init__(self, index: Index):
        self.typed, self.passages = index.typed, index.passages.passages
        self.schema = self.typed.relations
        typed, n = self.typed, len(self.typed.names)
        apart = np.flatnonzero(typed.sources != typed.targets)
        ends = np.sort(np.c_[typed.sources, typed.targets][apart].astype(np.int64), axis=1)
        keys = ends[:, 0] * n + ends[:, 1]
        order = np.argsort(keys, kind="stable")
        keys, first = np.unique(keys[order], return_index=True)
        self._relations, self._bounds = apart[order], np.r_[first, len(order)]
        self.ends = np.c_[keys // max(n, 1), keys % max(n, 1)]
        self.ranks = typed.degrees[self.ends].sum(axis=1)
        self.weights = np.add.reduceat(typed.weights[self._relations].astype(np.float64), first)
        numbers = np.arange(len(keys))
        joined = (np.ones(2 * len(keys)), (self.ends.T.ravel(), np.r_[numbers, numbers]))
        self._incident = sp.coo_array(joined, shape=(n, len(keys))).tocsr()
        self._described = typed.stated.T.tocsr()  # (passages, n)

    # -- search -------------------------------------------------------------------------------------------------------

    def nearest_entities(self, query: np.ndarray, k: int, least: float) -> tuple[np.ndarray, np.ndarray]:
        """Rows of at most k entities closest to a vector, best first, and their cosines, each at least `least`."""
        return _nearest(self.typed.entity_vectors @ query, k, least)

    def nearest_edges(self, query: np.ndarray, k: int, least: float) -> tuple[np.ndarray, np.ndarray]:
        """The same for edges. The cosine of an edge is that of its closest relation."""
        cosines = (self.typed.relation_vectors @ query)[self._relations]
        return _nearest(np.maximum.reduceat(cosines, self._bounds[:-1]), k, least)

    def edges_of(self, entities: Sequence[int]) -> np.ndarray:
        """All edges of some entities, by (rank, weight), the highest first."""
        return self.by_rank(np.unique(self._incident[list(entities)].indices))

    def by_rank(self, edges: np.ndarray) -> np.ndarray:
        return edges[np.lexsort((edges, -self.weights[edges], -self.ranks[edges]))]

    def ends_of(self, edges: Iterable[int]) -> list[int]:
        """The entities that edges join, by first appearance."""
        return list(dict.fromkeys(self.ends[list(edges)].ravel().tolist()))

    # -- what a row holds ---------------------------------------------------------------------------------------------

    def relations(self, edge: int) -> list[int]:
        """Rows of the relations of an edge."""
        return self._relations[self._bounds[edge] : self._bounds[edge + 1]].tolist()

    def description(self, edge: int) -> str:
        return SEPARATOR.join(dict.fromkeys(self.typed.relation_descriptions[row] for row in self.relations(edge)))

    def name(self, edge: int) -> str:
        return " – ".join(self.typed.names[row] for row in self.ends[edge].tolist())

    def triples(self, edge: int) -> list[Triple]:
        """Its relations in their own directions, with the passages that state them, and their descriptions."""
        typed = self.typed
        return [
            Triple(
                typed.names[typed.sources[row]],
                typed.labels[row] or ", ".join(typed.keywords[row]),
                typed.names[typed.targets[row]],
                tuple(self.passages[passage].id for passage in _row(typed.relation_stated, row)),
                typed.relation_descriptions[row],
            )
            for row in self.relations(edge)
        ]

    # -- what a context shows of it -----------------------------------------------------------------------------------

    def entity(self, row: int, level: str = "") -> ContextEntity:
        entity = self.typed.entities[row]
        degree = int(self.typed.degrees[row])
        return ContextEntity(entity.name, entity.description, degree=degree, type=entity.type, level=level)

    def edge(self, edge: int) -> ContextRelation:
        first, two = (self.typed.names[row] for row in self.ends[edge].tolist())
        weight, rank = float(self.weights[edge]), int(self.ranks[edge])
        stating = tuple(self.passages[row].id for row in self.passages_of_edge(edge))
        words = tuple(sorted({word for row in self.relations(edge) for word in self.typed.keywords[row]}))
        described = self.description(edge)
        return ContextRelation(first, two, described, weight, rank=rank, passages=stating, keywords=words)

    def unit(self, row: int) -> Unit:
        return chunk_of(self.passages[row])

    def entity_line(self, row: int) -> str:
        """One line of JSON, as the context of the current LightRAG shows an entity."""
        return lightrag.entity_line(self.entity(row))

    def edge_line(self, edge: int) -> str:
        first, two = (self.typed.names[row] for row in self.ends[edge].tolist())
        return lightrag.relation_line(first, two, self.description(edge))

    def passage_line(self, row: int) -> str:
        return lightrag.line(content=self.passages[row].content)

    # -- passages -----------------------------------------------------------------------------------------------------

    def passages_of_entity(self, row: int) -> list[int]:
        return _row(self.typed.stated, row)

    def passages_of_edge(self, edge: int) -> list[int]:
        return sorted({passage for row in self.relations(edge) for passage in _row(self.typed.relation_stated, row)})

    def neighbours_sharing(self, row: int, passage: int) -> int:
        """The number of neighbours of an entity that a passage describes."""
        near, described = (_row(matrix, at) for matrix, at in ((self.typed.adjacency, row), (self._described, passage)))
        return len(np.intersect1d(near, described, assume_unique=True))


def _nearest(cosines: np.ndarray, k: int, least: float) -> tuple[np.ndarray, np.ndarray]:
    rows = top(cosines, k)
    rows = rows[cosines[rows] >= least]
    return rows, cosines[rows]


def _row(matrix: sp.csr_array, at: int) -> list[int]:
    return matrix.indices[matrix.indptr[at] : matrix.indptr[at + 1]].tolist()


TRACED = 10  # of what was found


class Keywords(NamedTuple):
    """The keywords of each level as one string, as they are encoded, and why there are none if the Step failed."""

    high: str
    low: str
    failure: str | None = None


def keywords_of(question: str, graph: EdgeGraph, engine: Engine, trace: Trace) -> Keywords:
    """One call of the Step `keywords`."""
    spans = tuple((span, graph.typed.types[row]) for span, row in named(graph.typed, question))
    (result,) = engine.run(step.STEP, [step.Input(question, spans, graph.schema)], trace=trace)
    if result.failure:
        return Keywords("", "", result.failure)
    return Keywords(", ".join(result.value.high_level), ", ".join(result.value.low_level))


def low_level(words: str, index: Index, graph: EdgeGraph, k: int, least: float, trace: Trace) -> list[int]:
    """The k entities closest to the keywords, best first; empty without keywords."""
    if not words:
        return []
    with trace.span("RETRIEVER", "low level", keywords=words) as span:
        rows, cosines = graph.nearest_entities(index.encode_query(words, "entities"), k, least)
        span.set(found=len(rows))
        span.score((graph.typed.names[row], cosine) for row, cosine in zip(rows[:TRACED].tolist(), cosines))
    return rows.tolist()


def high_level(words: str, index: Index, graph: EdgeGraph, k: int, least: float, trace: Trace) -> list[int]:
    """The k edges closest to the keywords, best first; empty without keywords."""
    if not words:
        return []
    with trace.span("RETRIEVER", "high level", keywords=words) as span:
        rows, cosines = graph.nearest_edges(index.encode_query(words, "relations"), k, least)
        span.set(found=len(rows))
        span.score((graph.name(edge), cosine) for edge, cosine in zip(rows[:TRACED].tolist(), cosines))
    return rows.tolist()
