"""The entity channel: relationships of the entities close to the question, and their source texts (Microsoft GraphRAG
0.4.1's local search)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from workbench.index.skeleton import SkeletonLayer
from workbench.methods.ket_rag.rows import Rows, head_tokens, leading

Related = tuple[int, int | None]  # row of a relationship, and its links


class Skeleton:
    """The skeleton as used by the channel: the relationships and the units of each entity."""

    def __init__(self, layer: SkeletonLayer):
        self._layer = layer
        self._ends = np.asarray(layer.ends).reshape(-1, 2)
        self._ranks = layer.ranks
        numbers = np.arange(len(self._ends))
        joined = (np.ones(2 * len(numbers)), (self._ends.T.ravel(), np.r_[numbers, numbers]))
        self._incident = sp.coo_array(joined, shape=(len(layer.entities), len(numbers))).tocsr()

    def related(self, entities: Sequence[int], outside: int) -> list[Related]:
        """Relationships of some entities: those among them by rank; then, up to `outside`, those with others, by the
        number of the entities that the other one is joined to (links), then by rank."""
        rows = self._incidents(entities)
        inside = np.isin(self._ends[rows], entities)
        within = inside.all(axis=1)
        among, out = rows[within], rows[~within]
        others = np.where(inside[~within, 0], self._ends[out, 1], self._ends[out, 0])
        _, place, counts = np.unique(others, return_inverse=True, return_counts=True)
        links = counts[place]
        among = among[np.lexsort((among, -self._ranks[among]))]
        order = np.lexsort((out, -self._ranks[out], -links))[:outside]
        return [(row, None) for row in among.tolist()] + list(zip(out[order].tolist(), links[order].tolist()))

    def units(self, entity: int) -> list[int]:
        """Units of an entity, by the number of its relationships that they state."""
        units = self._layer.entity_units[[entity]].indices
        stated = np.asarray(self._layer.relation_units[self._incidents([entity])].sum(axis=0)).ravel()
        return units[np.lexsort((units, -stated[units]))].tolist()

    def _incidents(self, entities: Sequence[int]) -> np.ndarray:
        return np.unique(self._incident[list(entities)].indices)


class Tables(NamedTuple):
    """Rows of entities and relationships of a context, and their tokens."""

    entities: list[int]
    relations: list[Related]
    tokens: int


def tables(skeleton: Skeleton, rows: Rows, entities: Sequence[int], cap: int, per_entity: int) -> Tables:
    """Both tables under one cap: as many entities as fit, and the relationships of more and more entities, until both
    tables together no longer fit. Links are shown if the first relationship has them, so the columns differ between
    questions."""
    shown, used = leading(entities, lambda row, _: rows.entity_tokens(row), head_tokens("entities"), cap)
    best: list[Related] = []
    more = 0
    for many in range(1, len(entities) + 1):
        related = skeleton.related(entities[:many], per_entity * many)
        linked = bool(related) and related[0][1] is not None
        fitting = [(row, links if linked else None) for row, links in related]
        head = head_tokens("relations", linked)
        fitting, size = leading(fitting, lambda one, _: rows.relation_tokens(*one), head, cap)
        if used + size > cap:
            break
        best, more = fitting, size
    return Tables(shown, best, used + more)
