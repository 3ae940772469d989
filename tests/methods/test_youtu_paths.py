"""The path route against a plain depth-first search."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.methods.youtu.triples import Edges, search_paths

N = 6
EDGES = st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=9)


def edges_of(pairs) -> Edges:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Edges(SimpleNamespace(heads=ends[:, 0], tails=ends[:, 1], relations=len(ends)), N)


def depth_first(pairs, seeds, depth):
    """Every simple path, as (entities, triples)."""

    def extend(nodes, rows):
        if len(rows) < depth:
            for row, (one, other) in enumerate(pairs):
                for start, end in ((one, other), (other, one)):
                    if start == nodes[-1] and end not in nodes:
                        yield (*nodes, end), (*rows, row)
                        yield from extend((*nodes, end), (*rows, row))

    return {path for seed in seeds for path in extend((seed,), ())}


def found(pairs, cosines, seeds, goals=(), depth=5, visits=10**6, most=10**6):
    marked = np.isin(np.arange(N), list(goals))
    seeds = np.array(seeds, np.int64)
    paths = search_paths(edges_of(pairs), np.array(cosines, np.float32), seeds, marked, depth, visits, most)
    listed = paths.first(len(paths.scores))
    best: dict[int, float] = {}
    for path in listed:
        for row in path.triples:
            best[row] = max(path.score, best.get(row, path.score))
    assert paths.of_triples() == best
    return listed


@given(EDGES, st.lists(st.integers(0, N - 1), max_size=3, unique=True), st.integers(1, 5), st.randoms())
def test_the_paths_of_a_depth_first_search(pairs, seeds, depth, draw):
    cosines = [draw.uniform(-1, 1) for _ in pairs]
    paths = found(pairs, cosines, seeds, depth=depth)
    assert {(path.entities, path.triples) for path in paths} == depth_first(pairs, seeds, depth)
    assert all(path.score == pytest.approx(np.mean([cosines[row] for row in path.triples]), abs=1e-5) for path in paths)


SEEDS = st.lists(st.integers(0, N - 1), min_size=1, max_size=3, unique=True)


@given(EDGES, SEEDS, st.sets(st.integers(0, N - 1)), st.randoms())
def test_those_that_reach_a_goal_come_first_then_the_best(pairs, seeds, goals, draw):
    cosines = [draw.uniform(-1, 1) for _ in pairs]
    paths = found(pairs, cosines, seeds, goals)
    order = [(not path.joined, -path.score) for path in paths]
    assert order == sorted(order)
    assert all(path.joined == (path.entities[-1] in goals | set(seeds)) for path in paths)
    assert found(pairs, cosines, seeds, goals, most=3) == paths[:3]


def test_by_hand():
    pairs = [(0, 1), (1, 2), (2, 3), (3, 3), (0, 1)]
    paths = found(pairs, [0.5, 0.1, 0.9, 1.0, 0.4], [0], goals=[3])
    assert paths[0].entities == (0, 1, 2, 3) and paths[0].triples == (0, 1, 2) and paths[0].joined
    assert [path.triples for path in paths] == [(0, 1, 2), (4, 1, 2), (0,), (4,), (0, 1), (4, 1)]
    assert paths[0].score == pytest.approx(0.5) and len(found(pairs, [0.5] * 5, [0], depth=1)) == 2


def test_a_limit_of_visits_spares_the_best():
    pairs = [(0, 1), (0, 2), (1, 3), (2, 4)]
    paths = found(pairs, [0.1, 0.9, 0.5, 0.5], [0], visits=10, depth=5)
    assert [path.entities for path in paths] == [(0, 2), (0, 2, 4), (0, 1)], "2 is extended, 1 not"
    assert {path.entities[0] for path in found([(0, 2), (0, 3), (1, 4)], [0.1, 0.2, 0.9], [0, 1], visits=10)} == {0}
