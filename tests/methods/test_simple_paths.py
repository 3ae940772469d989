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


@pytest.mark.parametrize("seed", range(60))
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


@pytest.mark.parametrize("seed", range(5))
def test_their_lengths_are_those_of_networkx(seed):
    made = random_graph(300, 700, seed, hubs=4)
    paths, known = SimplePaths(made), nx.from_scipy_sparse_array(made)
    for end in range(1, 300, 7):
        if nx.has_path(known, 0, end):
            expected = [len(path) for path, _ in zip(nx.shortest_simple_paths(known, 0, end), range(4))]
            found = paths.shortest(0, end, 4, 300)
            assert [len(path) for path in found] == expected
            assert all(len(set(path)) == len(path) for path in found)


def test_a_path_along_a_line():
    n = 2_000
    line = graph(n, [(at, at + 1) for at in range(n - 1)])
    assert SimplePaths(line).shortest(0, n - 1, 3, n) == [tuple(range(n))]
    assert SimplePaths(line).shortest(0, n - 1, 3, n - 2) == []


def test_a_complete_graph_does_not_explode():
    """Of 60 nodes there are 58·57·56 paths of four edges; three are asked for."""
    n = 60
    full = graph(n, [(a, b) for a in range(n) for b in range(a)])
    assert SimplePaths(full).shortest(0, 59, 3, 50) == [(0, 59), (0, 1, 59), (0, 2, 59)]


def test_dead_ends_behind_a_hub_do_not_explode():
    """The only way to the end goes by the node at which each of 9,000 walks into the clique would have to return."""
    clique = [(a, b) for a in range(2, 32) for b in range(2, a)]
    made = graph(40, [(0, 1), (1, 39), *((1, node) for node in range(2, 32)), *clique])
    with spent() as taken:
        assert SimplePaths(made).shortest(0, 39, 3, 12) == [(0, 1, 39)]
    assert taken.seconds < 1


def test_two_hubs_with_thousands_of_neighbours():
    """Nodes 2 … 5001 stand between the hubs 0 and 1: as many paths of two edges."""
    made = graph(5_002, [(hub, node) for node in range(2, 5_002) for hub in (0, 1)])
    paths = SimplePaths(made)
    assert paths.shortest(0, 1, 3, 3) == [(0, 2, 1), (0, 3, 1), (0, 4, 1)]
    with spent() as taken:
        for end in range(2, 202):
            assert paths.shortest(0, end, 3, 3)[0] == (0, end)
    assert taken.seconds < 5
