"""Paths of stage 3: the shortest simple paths between two entities, and their wording.

Simple paths of an undirected, unweighted graph by Yen's algorithm in Lawler's form: take the best path, then partition
the remaining paths by the node at which they leave it, so that none occurs twice. The search for the best path of a
part grows from both ends, always at the smaller front, and compares the fronts from the smaller one, so it looks up a
hub instead of expanding it. Each search visits an edge at most twice, and there are at most 1 + (k - 1)·longest
searches."""

from __future__ import annotations

from collections.abc import Collection, Set
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from workbench.methods.dotrag.events import Hop, JudgedPath, Rows
from workbench.methods.dotrag.neighbourhood import DotContext


class SimplePaths:
    """Paths in a graph: a square, symmetric csr_array without self-loops. Neighbours are read on first use and cached
    for the lifetime of this object."""

    def __init__(self, graph: sp.csr_array):
        self._indptr, self._indices = graph.indptr, graph.indices
        self._sets: dict[int, set[int]] = {}

    def shortest(self, start: int, end: int, k: int, longest: int) -> list[tuple[int, ...]]:
        """At most `k` paths of 1 to `longest` edges as tuples of nodes, ordered by length, then by nodes. Empty if
        `start` is `end`."""
        paths_found: list[tuple[int, ...]] = []
        parts: list[tuple] = []  # (length, best path, how many nodes all paths of the part share, where none goes next)
        self._offer(parts, (start,), set(), end, longest)
        while parts:
            _, path, shared, closed = heappop(parts)
            paths_found.append(path)
            if len(paths_found) == k:
                break
            for at in range(shared, len(path)):
                self._offer(parts, path[:at], {path[at]} | (closed if at == shared else set()), end, longest)
        return paths_found

    def _offer(self, parts: list, begin: tuple[int, ...], closed: set[int], end: int, longest: int) -> None:
        """Add the part of the paths that start with `begin` and do not continue to a node of `closed`."""
        rest = self._rest(begin, closed, end, longest - len(begin) + 1) if begin[-1] != end else None
        if rest is not None:
            heappush(parts, (len(begin) + len(rest), begin + rest, len(begin), closed))

    def _rest(self, begin: tuple[int, ...], closed: set[int], end: int, most: int) -> tuple[int, ...] | None:
        """The shortest continuation of `begin` to `end` with at most `most` edges; the first of equal ones."""
        first = self._near(begin[-1]) - closed
        first.difference_update(begin)
        if most >= 1 and end in first:
            return (end,)
        front, back = [first], [{end}]  # nodes by their distance: 1, 2, … from the beginning; 0, 1, … from the end
        while front[-1] and back[-1] and (length := len(front) + len(back)) <= most:
            if self._touching(front[-1], back[-1]):
                return self._first(front, back)
            if length < most:
                side = min(front, back, key=lambda levels: len(levels[-1]))
                grown = set().union(*map(self._near, side[-1]))
                grown.difference_update(begin, *side)
                side.append(grown)
            else:
                break
        return None

    def _first(self, front: list[Set[int]], back: list[Set[int]]) -> tuple[int, ...]:
        """The first of the paths through all levels, of which the last two are adjacent."""
        levels = back[::-1]
        for level in reversed(front):
            levels.insert(0, self._touching(level, levels[0]))
        path = [min(levels[0])]
        for level in levels[1:]:
            path.append(min(self._near(path[-1]) & level))
        return tuple(path)

    def _touching(self, nodes: Collection[int], others: Collection[int]) -> set[int]:
        """The members of `nodes` with a neighbour among `others`."""
        if len(nodes) <= len(others):
            return {node for node in nodes if not self._near(node).isdisjoint(others)}
        return set().union(*(self._near(other) & nodes for other in others))

    def _near(self, node: int) -> set[int]:
        neighbours = self._sets.get(node)
        if neighbours is None:
            neighbours = set(self._indices[self._indptr[node] : self._indptr[node + 1]].tolist())
            self._sets[node] = neighbours
        return neighbours


class PathReader:
    """Reads paths from the graph for one question. Each hop is read once, because most paths share their hops."""

    def __init__(self, context: DotContext, question: str):
        self._context, self._typed, self._question = context, context.typed, question
        self._hops: dict[tuple[int, int], _HopRead] = {}

    def path(self, id: str, entities: Rows, query_similarity: float) -> JudgedPath:
        """The path through these entities (rows): the chain of their names (`chain`), then the description of each hop.

        Its `similarity` is the mean, over the hops, of the best cosine between the question and a relation of the hop,
        from stored vectors: nothing is encoded for a path. It uses the question instead of the iteration's query, so
        that confidences of different iterations are comparable."""
        hops = [self._hops.get(pair) or self._hop(*pair) for pair in pairwise(entities)]
        names = tuple(self._typed.names[row] for row in entities)
        text = " ".join(hop.text for hop in hops)
        return JudgedPath(
            id,
            f"{' → '.join(names)}: {text}" if self._context.settings.chain else text,
            names,
            tuple(self._typed.types[row] for row in entities),
            tuple(hop.relations for hop in hops),
            sum(hop.similarity for hop in hops) / len(hops),
            query_similarity,
            entities=entities,
            facts=tuple(hop.rows for hop in hops),
        )

    def _hop(self, here: int, there: int) -> _HopRead:
        rows = self._typed.between(here, there)
        cosines = self._typed.relation_vectors[rows] @ self._vector
        if self._context.settings.parallel == "best":
            rows = [rows[int(np.argmax(cosines))]]
        relations = dict.fromkeys((self._context.label(row), bool(self._typed.sources[row] == here)) for row in rows)
        text = " ".join(dict.fromkeys(map(self._text, rows)))
        hop = self._hops[here, there] = _HopRead(tuple(rows), tuple(relations), text, float(cosines.max()))
        return hop

    def _text(self, relation: int) -> str:
        typed = self._typed
        if typed.relation_descriptions[relation]:
            return typed.relation_descriptions[relation][: self._context.settings.description_chars]
        ends = typed.names[typed.sources[relation]], typed.names[typed.targets[relation]]
        return " - ".join(part for part in (ends[0], self._context.label(relation), ends[1]) if part)

    @cached_property
    def _vector(self) -> np.ndarray:
        return self._context.encode_question(self._question)


class _HopRead(NamedTuple):
    """An edge of a path: the relations (rows) that join its ends, their labels and directions, their text, and the
    cosine of the question and the most similar one."""

    rows: Rows
    relations: Hop
    text: str
    similarity: float
