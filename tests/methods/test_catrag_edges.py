"""The edited out-edges of CatRAG on a thousand random graphs: rows stay distributions, nothing shared is edited."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from workbench.index.graph import MERGES, Graph
from workbench.methods.catrag.rating import KINDS, DirectedGraph, key_passages

FACTORS = st.sampled_from([0.0, 0.2, 0.3, 1.0, 2.5, 3.5, 10.0])


@st.composite
def graphs(draw) -> Graph:
    phrases, passages = draw(st.integers(1, 7)), draw(st.integers(1, 4))

    def matrix(rows: int, columns: int, values) -> np.ndarray:
        return np.array(draw(st.lists(values, min_size=rows * columns, max_size=rows * columns)), float).reshape(
            rows, columns
        )

    stated = matrix(phrases, phrases, st.sampled_from([0, 0, 0, 1, 2]))
    synonym = matrix(phrases, phrases, st.sampled_from([0, 0, 0, 0.8, 0.95]))
    np.fill_diagonal(stated, 0)
    np.fill_diagonal(synonym, 0)
    context = matrix(passages, phrases, st.sampled_from([0, 1]))
    return Graph(*map(sp.csr_array, (stated, context, synonym)))


@st.composite
def edits(draw):
    """A graph and factors: (phrase, kind, target, factor)."""
    graph = draw(graphs())
    ends = {"relation": graph.phrases, "synonym": graph.phrases, "context": graph.passages}
    one = st.sampled_from(KINDS).flatmap(
        lambda kind: st.tuples(
            st.integers(0, graph.phrases - 1), st.just(kind), st.integers(0, ends[kind] - 1), FACTORS
        )
    )
    return graph, draw(st.lists(one, min_size=1, max_size=8)), draw(st.sampled_from(MERGES))


def dense(graph: DirectedGraph) -> dict[str, np.ndarray]:
    return {kind: getattr(graph, kind).toarray() for kind in KINDS}


def whole(parts: dict[str, np.ndarray]) -> np.ndarray:
    n = parts["context"].shape[1]
    return np.block([
        [parts["relation"] + parts["synonym"], parts["context"]],
        [parts["context"].T, np.zeros((n, n))],
    ])  # fmt: skip


@given(edits(), st.floats(0, 0.9))
def test_the_walk_is_that_over_the_edited_matrix_and_no_edit_outlives_it(case, damping):
    graph, changes, merge = case
    directed = DirectedGraph(graph, merge, 1.0)
    before = dense(directed)
    assert whole(before) == pytest.approx(graph.weights(merge).toarray())
    edges, after = directed.out_edges(phrase for phrase, *_ in changes), {k: v.copy() for k, v in before.items()}
    for phrase, kind, target, factor in changes:
        edges.scale(phrase, kind, {target: factor})
        after[kind][phrase, target] *= factor
    told = {(edit.source, edit.target, edit.kind): (edit.before, edit.after) for edit in edges.edits()}
    expected = {(row, column, kind): (before[kind][row, column], after[kind][row, column]) for kind in KINDS
                for row, column in np.argwhere(before[kind] != after[kind])}  # fmt: skip
    assert told == {one: pytest.approx(weights) for one, weights in expected.items()}

    matrix = whole(before)
    matrix[: graph.phrases] = np.hstack([after["relation"] + after["synonym"], after["context"]])
    strength = matrix.sum(axis=1, keepdims=True)
    reset = np.arange(1.0, graph.nodes + 1) / np.arange(1.0, graph.nodes + 1).sum()
    transition = np.where(strength > 0, np.divide(matrix, strength, where=strength > 0, out=matrix.copy()), reset)
    assert transition.sum(axis=1) == pytest.approx(1), (
        "a row is a distribution; without weight it goes back to the reset"
    )
    exact = np.linalg.solve(np.eye(graph.nodes) - damping * transition.T, (1 - damping) * reset)
    found = directed.walk_over(edges)(reset, damping, tolerance=1e-13, max_iterations=10_000)
    assert found.p == pytest.approx(exact, abs=1e-8)
    assert all(np.array_equal(one, before[kind]) for kind, one in dense(directed).items())
    if not told:
        assert directed.walk_over(edges) is directed.walk, "the walk of HippoRAG 2, to the last bit"


@given(edits())
def test_rescaled_edges_keep_their_sum(case):
    graph, changes, merge = case
    directed = DirectedGraph(graph, merge, 3.0)
    edges = directed.out_edges(range(graph.phrases))
    before = [edges.weights["context"][[row]].sum() for row in range(graph.phrases)]
    for phrase, _, target, factor in changes:
        edges.scale(phrase, "context", {target % graph.passages: factor + 0.1})
        edges.rescale(phrase, "context")
    assert [edges.weights["context"][[row]].sum() for row in range(graph.phrases)] == pytest.approx(before)


def test_the_passages_of_key_facts_by_hand():
    stating = np.array
    facts = [(0, 1, stating([4, 5])), (1, 2, stating([5])), (3, 3, stating([6]))]
    assert key_passages(facts) == {0: [4, 5], 1: [4, 5, 5], 2: [5], 3: [6]}


def test_parallel_edges_are_entries_in_either_order():
    """0 → 1 stated, 1 → 0 stated and a synonym of the same order, which takes its place."""
    stated, synonym = np.array([[0, 1], [1, 0]]), np.array([[0, 0], [0.9, 0]])
    graph = Graph(sp.csr_array(stated.astype(float)), sp.csr_array(np.ones((1, 2))), sp.csr_array(synonym))
    directed = DirectedGraph(graph, "overwrite_stated", 3.0)
    assert directed.parallel.toarray().tolist() == [[0, 2], [2, 0]]
    assert directed.relation.toarray().tolist() == [[0, 2], [2, 0]]
    assert directed.synonym.toarray() == pytest.approx(np.array([[0, 2.7], [2.7, 0]]))
