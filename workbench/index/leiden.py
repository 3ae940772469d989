"""Hierarchical communities: Leiden (Traag, Waltman and van Eck 2019) by igraph, applied again to each community that is
too large.

Microsoft GraphRAG's hierarchy: level 0 is the coarsest; a community of more than `max_size` members is split
at the next level, and members of the others do not appear there again.
"""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

_lock = threading.Lock()


class Cluster(NamedTuple):
    """`members` are nodes, ascending; `parent` is the id of the cluster that it is a part of, -1 at level 0. `whole`:
    it is larger than was asked for, and the algorithm finds no parts in it, as in a star."""

    id: int
    level: int
    parent: int
    members: np.ndarray
    whole: bool


def hierarchy(
    n: int,
    pairs: np.ndarray,
    weights: np.ndarray,
    *,
    max_size: int = 10,
    resolution: float = 1.0,
    randomness: float = 0.001,
    iterations: int = 1,
    seed: int = 0,
    use_lcc: bool = False,
) -> list[Cluster]:
    """Clusters of an undirected graph by modularity; each stands at its id.

    `pairs` int (m, 2) of nodes 0 … n-1, each pair once, sorted, because the result depends on their order; `weights`
    float (m,), above 0. Negative `iterations` go on until nothing changes. `use_lcc` leaves out all but the largest
    component (the one of the first node, where several are as large). Clusters are numbered level by level, those of
    one parent by size. The parts of a cluster depend on nothing outside it.
    """
    nodes = _largest_component(n, pairs) if use_lcc else np.arange(n)
    tune = {"resolution": resolution, "beta": randomness, "n_iterations": iterations}
    clusters: list[Cluster] = []
    wholes = [(-1, nodes)] if len(nodes) else []
    level = 0
    while wholes:
        large = []
        for (parent, members), edges in zip(wholes, inside(n, pairs, [members for _, members in wholes])):
            parts = _parts(members, pairs[edges], weights[edges], seed, tune)
            if parent >= 0 and len(parts) == 1:
                clusters[parent] = clusters[parent]._replace(whole=True)
                continue
            for part in parts:
                if len(part) > max_size:
                    large.append((len(clusters), part))
                clusters.append(Cluster(len(clusters), level, parent, part, False))
        wholes, level = large, level + 1
    return clusters


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """igraph draws from a generator of this seed, one thread at a time, and then from Python's own again, which is
    what it does by itself."""
    import igraph  # half a second, because it imports matplotlib

    with _lock:
        igraph.set_random_number_generator(random.Random(seed))
        try:
            yield
        finally:
            igraph.set_random_number_generator(random)


def _parts(members: np.ndarray, pairs: np.ndarray, weights: np.ndarray, seed: int, tune: dict) -> list[np.ndarray]:
    """The communities among `members`, largest first; equal ones by their first member."""
    import igraph

    graph = igraph.Graph(n=len(members), edges=np.searchsorted(members, pairs))
    with seeded(seed):
        partition = graph.community_leiden(objective_function="modularity", weights=weights.tolist(), **tune)
    parts = [members[rows] for rows in map(sorted, partition) if rows]
    return sorted(parts, key=lambda part: (-len(part), part[0]))


def inside(n: int, pairs: np.ndarray, groups: list[np.ndarray]) -> list[np.ndarray]:
    """Per group of nodes, which share none, the rows of the pairs within it, ascending."""
    group = np.full(n, -1)
    for number, members in enumerate(groups):
        group[members] = number
    ends = group[pairs]
    inside = np.flatnonzero((ends[:, 0] == ends[:, 1]) & (ends[:, 0] >= 0))
    inside = inside[np.argsort(ends[inside, 0], kind="stable")]
    begins = np.searchsorted(ends[inside, 0], np.arange(len(groups) + 1))
    return [inside[begin:end] for begin, end in itertools.pairwise(begins)]


def _largest_component(n: int, pairs: np.ndarray) -> np.ndarray:
    if not n:
        return np.arange(0)
    graph = sp.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    _, label = sp.csgraph.connected_components(graph, directed=False)
    return np.flatnonzero(label == np.bincount(label).argmax())
