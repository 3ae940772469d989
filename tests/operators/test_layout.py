"""Positions: repeatable, finite, within the square, for graphs of every shape."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.index.layout import LARGE, layout
from workbench.operators.neighbourhood import Edge, Node, Subgraph


def graph(n: int, pairs=()) -> Subgraph:
    nodes = tuple(Node(row, "phrase", str(row), str(row), min(row, 2), 1) for row in range(n))
    return Subgraph("", nodes, tuple(Edge(one, other, "relation", 1.0) for one, other in pairs))


def tree(n: int, parts: int = 1) -> Subgraph:
    return graph(n, [(row, row % parts if row < 8 else row // 4) for row in range(parts, n)])


@pytest.mark.parametrize(
    "subgraph",
    [graph(0), graph(1), graph(2), graph(30), graph(2, [(0, 1)]), tree(60), tree(60, 3), tree(LARGE - 1), tree(LARGE)],
    ids=["none", "one", "two", "no edges", "a pair", "tree", "three parts", "small", "large"],
)
def test_positions_are_finite_repeatable_and_within_the_square(subgraph):
    before = random.getstate()
    positions = layout(subgraph)
    assert random.getstate() == before, "Python's own random numbers are left alone"
    random.seed(8)
    assert positions.shape == (len(subgraph), 2)
    assert np.isfinite(positions).all() and (np.abs(positions) <= 1).all()
    assert np.array_equal(layout(subgraph), positions) and (len(subgraph) != 1 or not positions.any())


@settings(max_examples=20)
@given(st.integers(2, 40).flatmap(lambda n: st.tuples(
    st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=80))))  # fmt: skip
def test_of_any_graph_no_two_nodes_stand_in_one_place(drawn):
    n, pairs = drawn
    positions = layout(graph(n, pairs))
    assert np.isfinite(positions).all() and (np.abs(positions) <= 1).all()
    inside = positions[(np.abs(positions) < 1).all(axis=1)]  # what drifts far off is put on the border
    assert len(np.unique(inside.round(9), axis=0)) == len(inside)


def test_neighbours_stand_closer_than_others():
    ring = graph(40, [(row, (row + 1) % 40) for row in range(40)])
    positions = layout(ring)
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    assert apart[range(40), (np.arange(40) + 1) % 40].mean() < apart.mean() / 3
