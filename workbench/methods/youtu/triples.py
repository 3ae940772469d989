"""The graph as the routes search it: relations (level 2) and attributes (level 1) as one table of triples.

The path route: simple paths from a few entities, along edges in both directions, scored by their triples.

The paper searches depth first. We list the same paths level by level, in arrays: the result is the same, unless the
limit of visits is reached. A depth-first search then misses whatever stands last; here it is the worst paths that are
not extended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from workbench import threads
from workbench.index import Index
from workbench.records import Triple

HAS = "has_attribute"


class Triples:
    """Rows are the relations of the layer `schema_graph` (m), then its attributes (a); t = m + a.

    heads, tails    int64 (t), rows of entities; an attribute has the tail -1
    same            int64 (t), equal for triples with the same (head, relation, tail)
    of_entity       csr (n, t): 1 where the entity is an end
    stated          csr (t, passages): 1 where the passage states the triple
    """

    def __init__(self, index: Index):
        graph = index.schema_graph
        self.graph, self.passages = graph, index.passages.passages
        self.relations, self.attributes = len(graph.sources), graph.attributes
        of = np.array([attribute.entity for attribute in self.attributes], dtype=np.int64)
        self.heads = np.concatenate([np.asarray(graph.sources, dtype=np.int64), of])
        self.tails = np.concatenate([np.asarray(graph.targets, dtype=np.int64), np.full(len(of), -1)])
        self.same = _same(self.heads, self._spelled())
        self.of_entity = _ends(self.heads, self.tails, len(graph.names))
        self.stated = sp.vstack([graph.relation_stated, graph.attribute_stated], format="csr")
        self._vectors = np.concatenate([graph.relation_vectors, graph.attribute_vectors])

    def __len__(self) -> int:
        return len(self.heads)

    def _spelled(self) -> list[tuple[str, str]]:
        """(relation, tail) of each triple."""
        names, graph = self.graph.names, self.graph
        related = [(label, names[tail]) for label, tail in zip(graph.labels, graph.targets.tolist())]
        return related + [(HAS, attribute.text) for attribute in self.attributes]

    def cosines(self, queries: np.ndarray) -> np.ndarray:
        """Cosines with unit vectors (q, d): float32 (t, q). All queries read the vectors once.

        A single query is asked twice: torch multiplies with one column slowly (matrix times vector)."""
        import torch

        threads.settle_torch()
        both = queries if len(queries) > 1 else np.repeat(queries, 2, axis=0)
        return (torch.from_numpy(self._vectors) @ torch.from_numpy(both).T).numpy()[:, : len(queries)]

    def means(self) -> np.ndarray:
        """The mean vector of each entity's triples, Eq. 4: float32 (n, d); zeros where it has none."""
        total = self.of_entity @ self._vectors
        return (total / np.maximum(np.diff(self.of_entity.indptr), 1)[:, None]).astype(np.float32)

    def of_entities(self, entities: Iterable[int]) -> np.ndarray:
        """Rows of all triples of some entities, ascending."""
        return rows_of(self.of_entity, entities)

    def record(self, row: int) -> Triple:
        """The triple in words, with the passages that state it."""
        passages = tuple(self.passages[at].id for at in slice_of(self.stated, row).tolist())
        names = self.graph.names
        head = names[self.heads[row]]
        if row >= self.relations:
            return Triple(head, HAS, self.attributes[row - self.relations].text, passages)
        return Triple(head, self.graph.labels[row], names[self.tails[row]], passages)


def slice_of(matrix: sp.csr_array, row: int) -> np.ndarray:
    """The columns of a row, ascending."""
    return matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]


def rows_of(matrix: sp.csr_array, rows: Iterable[int]) -> np.ndarray:
    """The columns of several rows, each once, ascending."""
    chosen = np.fromiter(rows, dtype=np.int64)
    return np.unique(matrix[chosen].indices).astype(np.int64) if len(chosen) else chosen


def _same(heads: np.ndarray, spelled: Sequence[tuple[str, str]]) -> np.ndarray:
    numbers: dict[tuple, int] = {}
    keys = ((head, *words) for head, words in zip(heads.tolist(), spelled))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _ends(heads: np.ndarray, tails: np.ndarray, entities: int) -> sp.csr_array:
    rows, apart = np.arange(len(heads)), np.flatnonzero((tails >= 0) & (tails != heads))
    ends = np.concatenate([heads, tails[apart]]), np.concatenate([rows, rows[apart]])
    matrix = sp.coo_array((np.ones(len(ends[0]), np.float32), ends), shape=(entities, len(heads))).tocsr()
    matrix.sort_indices()
    return matrix


class FoundPath(NamedTuple):
    """A path: rows of its entities and of its triples, and the mean of the triples' cosines. `joined`: it ends at a
    goal or at another seed."""

    entities: tuple[int, ...]
    triples: tuple[int, ...]
    score: float
    joined: bool


class Paths(NamedTuple):
    """Paths (p), the best first; `entities` (p, depth + 1) and `triples` (p, depth) end with -1 where a path does."""

    entities: np.ndarray
    triples: np.ndarray
    scores: np.ndarray
    joined: np.ndarray

    def first(self, most: int) -> list[FoundPath]:
        """At most so many paths, as records."""
        rows = zip(*(part[:most].tolist() for part in self))
        return [FoundPath(_used(nodes), _used(triples), *rest) for nodes, triples, *rest in rows]

    def of_triples(self) -> dict[int, float]:
        """Each triple with the score of the best path that it lies on, by row."""
        length = self.triples.shape[1]
        rows, scores = self.triples.ravel(), np.repeat(self.scores, length)
        used = np.flatnonzero(rows >= 0)
        order = used[np.lexsort((-scores[used], rows[used]))]
        targets, first = np.unique(rows[order], return_index=True)
        return dict(zip(targets.tolist(), scores[order][first].tolist()))


class Edges:
    """The relations of the graph from both ends: `others` and `triples` of entity e stand from `bounds[e]` on, by
    triple. Loops are left out."""

    def __init__(self, triples: Triples, entities: int):
        heads, other = triples.heads[: triples.relations], triples.tails[: triples.relations]
        rows = np.flatnonzero(heads != other)
        ends = np.concatenate([heads[rows], other[rows]])
        order = np.lexsort((np.concatenate([rows, rows]), ends))
        self.others = np.concatenate([other[rows], heads[rows]])[order]
        self.triples = np.concatenate([rows, rows])[order]
        self.bounds = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=entities))])

    def degrees(self, entities: np.ndarray) -> np.ndarray:
        return self.bounds[entities + 1] - self.bounds[entities]


def search_paths(
    edges: Edges, cosines: np.ndarray, seeds: np.ndarray, goals: np.ndarray, depth: int, visits: int, most: int
) -> Paths:
    """At most `most` paths of up to `depth` edges: those that end at a goal first, then by the mean cosine of their
    triples, the shorter one first. `seeds`: rows of entities; `goals`: bool, per entity. Each level visits at most its
    share of `visits`, from the best paths on."""
    goals = goals.copy()
    goals[seeds] = True
    nodes, triples, totals = seeds[:, None], np.zeros((len(seeds), 0), np.int64), np.zeros(len(seeds))
    levels = [Paths(_padded(nodes[:0], depth + 1), _padded(triples[:0], depth), totals[:0], goals[:0])]
    for length in range(1, depth + 1):
        nodes, triples, totals = _extended(edges, cosines, nodes, triples, totals, visits // depth)
        if not len(nodes):
            break
        arrays = _padded(nodes, depth + 1), _padded(triples, depth), totals / length, goals[nodes[:, -1]]
        levels.append(Paths(*arrays))
    return _best(levels, most)


def _extended(edges: Edges, cosines, nodes, triples, totals, visits: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The paths one edge longer, best first, without those that come back to an entity."""
    degrees = edges.degrees(nodes[:, -1])
    source = np.repeat(np.arange(len(nodes)), degrees)
    starts = np.cumsum(degrees) - degrees
    at = (np.arange(len(source)) - np.repeat(starts, degrees) + np.repeat(edges.bounds[nodes[:, -1]], degrees))[:visits]
    source, ends, rows = source[:visits], edges.others[at], edges.triples[at]
    simple = np.flatnonzero((nodes[source] != ends[:, None]).all(axis=1))
    source, ends, rows = source[simple], ends[simple], rows[simple]
    longer = totals[source] + cosines[rows]
    order = np.argsort(-longer, kind="stable")
    source = source[order]
    return (
        np.column_stack([nodes[source], ends[order]]),
        np.column_stack([triples[source], rows[order]]),
        longer[order],
    )


def _best(levels: Sequence[Paths], most: int) -> Paths:
    entities, triples, scores, joined = map(np.concatenate, zip(*levels))
    lengths = (triples >= 0).sum(axis=1)
    order = np.lexsort((np.arange(len(scores)), lengths, -scores, ~joined))[:most]
    return Paths(entities[order], triples[order], scores[order], joined[order])


def _padded(rows: np.ndarray, width: int) -> np.ndarray:
    padded = np.full((len(rows), width), -1, dtype=np.int64)
    padded[:, : rows.shape[1]] = rows
    return padded


def _used(rows: Sequence[int]) -> tuple[int, ...]:
    return tuple(row for row in rows if row >= 0)
