"""The path route: simple paths from a few entities, along edges in both directions, scored by their triples.

The paper searches depth first. We list the same paths level by level, in arrays: the result is the same, unless the
limit of visits is reached. A depth-first search then misses whatever stands last; here it is the worst paths that are
not extended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.methods.youtu.triples import Triples


class Found(NamedTuple):
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

    def first(self, most: int) -> list[Found]:
        """At most so many paths, as records."""
        rows = zip(*(part[:most].tolist() for part in self))
        return [Found(_used(nodes), _used(triples), *rest) for nodes, triples, *rest in rows]

    def of_triples(self) -> dict[int, float]:
        """Each triple with the score of the best path that it lies on, by row."""
        length = self.triples.shape[1]
        rows, scores = self.triples.ravel(), np.repeat(self.scores, length)
        used = np.flatnonzero(rows >= 0)
        order = used[np.lexsort((-scores[used], rows[used]))]
        found, first = np.unique(rows[order], return_index=True)
        return dict(zip(found.tolist(), scores[order][first].tolist()))


class Edges:
    """The relations of the graph from both ends: `others` and `triples` of entity e stand from `bounds[e]` on, by
    triple. Loops are left out."""

    def __init__(self, triples: Triples, entities: int):
        one, other = triples.heads[: triples.relations], triples.tails[: triples.relations]
        rows = np.flatnonzero(one != other)
        ends = np.concatenate([one[rows], other[rows]])
        order = np.lexsort((np.concatenate([rows, rows]), ends))
        self.others = np.concatenate([other[rows], one[rows]])[order]
        self.triples = np.concatenate([rows, rows])[order]
        self.bounds = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=entities))])

    def degrees(self, entities: np.ndarray) -> np.ndarray:
        return self.bounds[entities + 1] - self.bounds[entities]


def search(
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
        found = _padded(nodes, depth + 1), _padded(triples, depth), totals / length, goals[nodes[:, -1]]
        levels.append(Paths(*found))
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
