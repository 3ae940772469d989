"""The path route: simple paths from a few entities, along edges in both directions, scored by their triples.

The paper searches depth first. We list the same paths level by level, in arrays: the result is the same, unless the
limit of visits is reached. A depth-first search then misses whatever stands last; here it is the worst paths that are
not extended."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.methods.youtu.triples import Triples


class Found(NamedTuple):
    """A path: rows of its entities and of its triples, and the mean of the triples' cosines. `joined`: it ends at a
    keyword or at another seed."""

    entities: tuple[int, ...]
    triples: tuple[int, ...]
    score: float
    joined: bool


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
) -> list[Found]:
    """At most `most` paths of up to `depth` edges: those that end at a goal first, then by the mean cosine of their
    triples, the shorter one first. `seeds`: rows of entities; `goals`: bool, per entity. Each level visits at most its
    share of `visits`, from the best paths on."""
    goals = goals.copy()
    goals[seeds] = True
    nodes, triples, totals = seeds[:, None], np.zeros((len(seeds), 0), np.int64), np.zeros(len(seeds))
    levels = []
    for length in range(1, depth + 1):
        nodes, triples, totals = _extended(edges, cosines, nodes, triples, totals, visits // depth)
        if not len(nodes):
            break
        levels.append((nodes, triples, totals / length, goals[nodes[:, -1]]))
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


def _best(levels: list, most: int) -> list[Found]:
    if not levels:
        return []
    lengths = np.concatenate([np.full(len(nodes), nodes.shape[1]) for nodes, *_ in levels])
    scores, joined = (np.concatenate([level[at] for level in levels]) for at in (2, 3))
    order = np.lexsort((np.arange(len(scores)), lengths, -scores, ~joined))[:most]
    firsts = np.cumsum([0, *(len(nodes) for nodes, *_ in levels)])
    found = []
    for place in order.tolist():
        level = int(np.searchsorted(firsts, place, side="right")) - 1
        nodes, triples, means, ends = (part[place - firsts[level]] for part in levels[level])
        found.append(Found(tuple(nodes.tolist()), tuple(triples.tolist()), float(means), bool(ends)))
    return found
