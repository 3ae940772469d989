"""The part of the typed graph around some entities (DotRAG, neighbourhood construction).

Breadth first over the undirected graph, only through entities of admitted types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from workbench.index.typed import TypedLayer

ALWAYS = frozenset({"", "unknown", "unsure"})  # an entity without a type cannot have a wrong one
FEWEST = 3  # entities besides the anchors; with fewer, the types are considered a mistake

_codes: WeakKeyDictionary[TypedLayer, tuple[list[str], np.ndarray]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Region:
    """rows             int64 (n), entities, ascending; `hops`: the distance of each from the nearest anchor
    graph            csr_array (n, n): the edges among them, by position in `rows`
    pruned           type → number of entities that were reached and excluded because of it
    filter_relaxed   whether the types were ignored, because almost no entity had them
    truncated        whether the region ends before `h_max`, because the next hop would be too large"""

    rows: np.ndarray
    hops: np.ndarray
    graph: sp.csr_array
    pruned: Mapping[str, int]
    filter_relaxed: bool = False
    truncated: bool = False

    @property
    def edges(self) -> int:
        return self.graph.nnz // 2

    def sizes(self) -> list[int]:
        """Number of entities at 0, 1, … hops."""
        return np.bincount(self.hops).tolist()

    def positions(self, rows: Iterable[int]) -> list[int]:
        """The positions in `rows` of these entities, which must be in the region."""
        return np.searchsorted(self.rows, list(rows)).tolist()


def region(
    typed: TypedLayer,
    anchors: Sequence[int],
    allowed: Collection[str],
    h_max: int = 3,
    max_region: int | None = 20_000,
    *,
    relax: bool = True,
    untyped: bool = True,
) -> Region:
    """The entities within `h_max` edges of the anchors (rows) that can be reached through entities of `allowed` types,
    or, with `untyped`, of none.

    It includes the anchors whatever their type. With fewer than three other entities, the types are ignored, unless
    `relax` is off. It ends before a hop that would make it larger than `max_region` entities."""
    names, codes = _types(typed)
    always = ALWAYS if untyped else ()
    admitted = np.array([name in always or name in allowed for name in names], dtype=bool)
    rows, hops, pruned, truncated = _grown(typed, anchors, admitted[codes], h_max, max_region)
    relaxed = relax and len(rows) - len(set(anchors)) < FEWEST and len(pruned) > 0 and not truncated
    if relaxed:
        rows, hops, pruned, truncated = _grown(typed, anchors, np.ones(len(codes), dtype=bool), h_max, max_region)
    counts = np.bincount(codes[pruned], minlength=len(names))
    by_type = {names[code]: int(counts[code]) for code in np.flatnonzero(counts)}
    return Region(rows, hops, typed.adjacency[rows][:, rows], by_type, relaxed, truncated)


def _grown(typed: TypedLayer, anchors: Sequence[int], admitted: np.ndarray, h_max: int, most: int | None):
    """(rows, their hops, rows of other types, whether the next hop was too large)."""
    hop = np.full(len(admitted), -1, dtype=np.int64)
    frontier = np.unique(np.asarray(anchors, dtype=np.int64))
    hop[frontier] = 0
    size, pruned, truncated = len(frontier), np.zeros(len(admitted), dtype=bool), False
    for distance in range(1, h_max + 1):
        met = np.unique(typed.adjacency[frontier].indices)
        met = met[hop[met] < 0]
        pruned[met[~admitted[met]]] = True
        frontier = met[admitted[met]]
        truncated = most is not None and size + len(frontier) > most
        if truncated or not len(frontier):
            break
        hop[frontier] = distance
        size += len(frontier)
    rows = np.flatnonzero(hop >= 0)
    return rows, hop[rows], np.flatnonzero(pruned), truncated


def _types(typed: TypedLayer) -> tuple[list[str], np.ndarray]:
    """The type names, and for each entity the position of its type among them."""
    if typed not in _codes:
        names = sorted(set(typed.types))
        number = {name: at for at, name in enumerate(names)}
        _codes[typed] = names, np.array([number[name] for name in typed.types], dtype=np.int64)
    return _codes[typed]
