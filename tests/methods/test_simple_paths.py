"""The shortest simple paths, against all simple paths, counted out."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from stopwatch import spent

from workbench.methods.dotrag.paths import SimplePaths


def graph(n, edges):
    a, b = np.array(edges, dtype=int).reshape(-1, 2).T
    found = sp.coo_array((np.ones(len(a)), (a, b)), shape=(n, n)).tocsr()
    found = (found + found.T).tocsr()
    found.sort_indices()
    return found


def random_graph(n, edges, seed, hubs=0):
    draw = np.random.default_rng(seed)
    pairs = draw.integers(0, n, (edges, 2))
    if hubs:
        pairs[: edges // 3, 1] = draw.integers(0, hubs, edges // 3)
    return graph(n, sorted({(min(a, b), max(a, b)) for a, b in pairs.tolist() if a != b}))


# 0 - 1 - 3, 0 - 2 - 3, 1 - 2, 3 - 4; 5 stands alone.
DIAMOND = graph(6, [(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 4)])


def test_worked_out_by_hand():
    """To 3: two of two edges, first the one by the smaller node, then the two detours over 1 - 2."""
    paths = SimplePaths(DIAMOND)
    assert paths.shortest(0, 3, 9, 9) == [(0, 1, 3), (0, 2, 3), (0, 1, 2, 3), (0, 2, 1, 3)]
    assert paths.shortest(0, 3, 3, 9) == [(0, 1, 3), (0, 2, 3), (0, 1, 2, 3)]
    assert paths.shortest(0, 3, 9, 2) == [(0, 1, 3), (0, 2, 3)]
    assert paths.shortest(0, 1, 9, 3) == [(0, 1), (0, 2, 1), (0, 2, 3, 1)]


@pytest.mark.parametrize(
    ("start", "end", "longest"), [(0, 5, 9), (5, 0, 9), (0, 0, 9), (0, 4, 2), (0, 3, 1), (0, 1, 0)]
)
def test_where_there_is_no_such_path_there_is_none(start, end, longest):
    assert SimplePaths(DIAMOND).shortest(start, end, 3, longest) == []


@pytest.mark.parametrize("seed", range(20))
def test_they_are_the_first_of_all_simple_paths(seed):
    n = int(np.random.default_rng(seed).integers(2, 12))
    made = random_graph(n, int(1.7 * n), seed)
    paths, known = SimplePaths(made), nx.from_scipy_sparse_array(made)
    for start in range(n):
        for end in range(n):
            for k, longest in ((1, n), (3, 3), (3, n), (1000, n)):
                by_length = sorted(
                    map(tuple, nx.all_simple_paths(known, start, end, longest)), key=lambda p: (len(p), p)
                )
                expected = [path for path in by_length if len(path) > 1][:k]
                assert paths.shortest(start, end, k, longest) == expected


def test_dead_ends_behind_a_hub_do_not_explode():
    """The only way to the end goes by the node at which each of 9,000 walks into the clique would have to return."""
    clique = [(a, b) for a in range(2, 32) for b in range(2, a)]
    made = graph(40, [(0, 1), (1, 39), *((1, node) for node in range(2, 32)), *clique])
    with spent() as taken:
        assert SimplePaths(made).shortest(0, 39, 3, 12) == [(0, 1, 39)]
    assert taken.seconds < 1
