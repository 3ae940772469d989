"""The prize-collecting Steiner tree: the tree with the most prizes on its nodes, less the costs of its edges.

An approximation by Goemans and Williamson (1995), own code: moats grow around the nodes with a prize until they meet,
or until their prizes are spent; what met is pruned by the best subtree of each tree (strong pruning: Johnson, Minkoff,
Phillips 2000). The moats of nodes without a prize never grow by themselves, so they are grown over the distances among
those with one, and each edge that is bought is a shortest path. The dual is feasible in the whole graph then, and the
factor of the scheme is kept: costs and missed prizes together are at most twice the least ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

SAME = 1e-9  # times and prizes that differ by less are equal


class Rooted(NamedTuple):
    """A tree: its nodes, parents first, and the parent of each but the first, with the cost of the edge."""

    order: list[int]
    parents: dict[int, tuple[int, float]]


class SteinerTree(NamedTuple):
    """`nodes`, ascending; `edges`: pairs of them, as many as nodes but one; `value`: prizes less costs."""

    nodes: list[int]
    edges: list[tuple[int, int]]
    value: float


def steiner_tree(costs: sp.csr_array, prizes: Mapping[int, float], parts: np.ndarray | None = None) -> SteinerTree:
    """A tree for the prizes of nodes; those that are not named have none. `costs` of edges: (n, n), symmetric; an edge
    that costs nothing is stored as 0. `parts`: which connected part of the graph each node is in, where that is known;
    the best tree of all parts is the best one."""
    parts = connected_components(costs, directed=False)[1] if parts is None else parts
    terminals: dict[int, list[int]] = {}
    for node in sorted(node for node, prize in prizes.items() if prize > 0):
        terminals.setdefault(int(parts[node]), []).append(node)
    trees = (_tree(costs, prizes, nodes) for nodes in terminals.values())
    return max(trees, key=lambda tree: tree.value, default=SteinerTree([], [], 0.0))


def _tree(costs: sp.csr_array, prizes: Mapping[int, float], terminals: list[int]) -> SteinerTree:
    """Of terminals that are connected: within a reach that grows until no two moats could meet beyond it."""
    step = max(float(costs.data.max(initial=0.0)), SAME)
    reach = 3 * step
    while True:
        reached, before = dijkstra(costs, indices=terminals, limit=reach, return_predecessors=True)
        distances, middles = _meetings(reached)
        joined, time = _grown(distances, [prizes[node] for node in terminals])
        if 2 * time <= 2 * reach - step:  # what is nearer than that is exact
            break
        reach *= 1.5
    nodes = {*terminals}
    for pair in joined:
        for source in pair:
            at = int(middles[pair])
            while at >= 0:
                nodes.add(at)
                at = int(before[source, at])
    return max((_pruned(tree, prizes) for tree in _spanning(costs, sorted(nodes))), key=lambda tree: tree.value)


def _meetings(reached: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From the distances of each terminal to all nodes, (t, n), those between terminals, (t, t), and a node on the
    shortest path of each pair. A path whose ends both reach its middle is found without going all of it."""
    count = len(reached)
    distances, middles = np.full((count, count), np.inf), np.zeros((count, count), dtype=np.int64)
    rows = [np.flatnonzero(np.isfinite(from_terminal)) for from_terminal in reached]
    for a, b in combinations(range(count), 2):
        few, other = (a, b) if len(rows[a]) <= len(rows[b]) else (b, a)
        both = reached[few, rows[few]] + reached[other, rows[few]]
        at = int(both.argmin())  # a terminal reaches itself
        distances[a, b] = distances[b, a] = both[at]
        middles[a, b] = middles[b, a] = rows[few][at]
    return distances, middles


def _spanning(costs: sp.csr_array, nodes: list[int]) -> Iterator[Rooted]:
    """The cheapest spanning tree of each part of the graph among these nodes, by Prim."""
    part = costs[nodes][:, nodes].tocsr()
    left = set(range(len(nodes)))
    while left:
        order, parents, fringe = [], {}, {min(left): (-1, 0.0)}
        while fringe:
            at = min(fringe, key=lambda node: (fringe[node][1], node))
            parent, cost = fringe.pop(at)
            left.remove(at)
            order.append(nodes[at])
            if parent >= 0:
                parents[nodes[at]] = (nodes[parent], cost)
            cells = slice(part.indptr[at], part.indptr[at + 1])
            for near, further in zip(part.indices[cells].tolist(), part.data[cells].tolist()):
                if near in left and further < fringe.get(near, (0, np.inf))[1]:
                    fringe[near] = (at, further)
        yield Rooted(order, parents)


def _grown(distances: np.ndarray, prizes: list[float]) -> tuple[list[tuple[int, int]], float]:
    """(the pairs of terminals that were joined, when growth ended): all moats grow alike until at most one does."""
    owner = list(range(len(prizes)))  # the moat of each terminal
    left = dict(enumerate(map(float, prizes)))  # of the prizes of a moat that grows
    radius, joined, time = np.zeros(len(prizes)), [], 0.0
    while len(left) > 1:
        grows = np.array([moat in left for moat in owner])
        ends = min(left.values())
        meets, pair = np.inf, (0, 0)
        for a, b in combinations(range(len(prizes)), 2):
            if owner[a] != owner[b] and (rate := int(grows[a]) + int(grows[b])):
                after = max(0.0, float(distances[a, b] - radius[a] - radius[b])) / rate
                if after < meets - SAME:
                    meets, pair = after, (a, b)
        step = min(ends, meets)
        time += step
        radius[grows] += step
        left = {moat: rest - step for moat, rest in left.items()}
        if meets <= ends + SAME:
            winner, loser = (owner[terminal] for terminal in pair)
            joined.append(pair)
            owner = [winner if moat == loser else moat for moat in owner]
            left[winner] = left.get(winner, 0.0) + left.pop(loser, 0.0)
        left = {moat: rest for moat, rest in left.items() if rest > SAME}
    return joined, time


def _pruned(tree: Rooted, prizes: Mapping[int, float]) -> SteinerTree:
    """The part of a tree with the most value: a branch stays where it is worth more than the edge that leads to it."""
    order, parents = tree
    worth = {node: prizes.get(node, 0.0) for node in order}
    for node in reversed(order[1:]):
        parent, cost = parents[node]
        worth[parent] += max(0.0, worth[node] - cost)
    root = max(order, key=lambda node: worth[node])  # of equal ones the first, so the largest
    nodes, edges = {root}, []
    for node in order[order.index(root) + 1 :]:
        if node in parents and parents[node][0] in nodes and worth[node] - parents[node][1] > SAME:
            nodes.add(node)
            edges.append((parents[node][0], node))
    return SteinerTree(sorted(nodes), edges, worth[root])
