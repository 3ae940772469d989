"""The walk against hand-computed vectors, igraph's prpack, and properties that hold on any graph."""

import igraph
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import SettingError
from workbench.operators.pagerank import Walk, personalized_pagerank

EXACT = {"tolerance": 1e-13}


def graph(n: int, edges, directed: bool = False) -> sp.csr_array:
    weights = np.zeros((n, n))
    for a, b, weight in edges:
        weights[a, b] += weight
        if not directed:
            weights[b, a] += weight
    return sp.csr_array(weights)


SQUARE = [(0, 1, 4), (1, 2, 1), (2, 3, 3), (3, 0, 1)]
VECTORS = [  # weights, reset, p at d = 0.5, worked out for the released HippoRAG 2
    (graph(5, SQUARE), (0.2, 0, 0.1, 0, 0), (0.430471, 0.201713, 0.236196, 0.131620, 0)),
    (graph(5, [(0, 1, 2), (0, 1, 2), *SQUARE[1:]]), (0.2, 0, 0.1, 0, 0), (0.430471, 0.201713, 0.236196, 0.131620, 0)),
    (graph(5, [(0, 1, 1)]), (1, 0, 0, 0, 1), (0.444444, 0.222222, 0, 0, 0.333333)),
    (graph(5, [(0, 1, 1)], directed=True), (1, 0, 0, 0, 1), (0.4, 0.2, 0, 0, 0.4)),
]


@pytest.mark.parametrize(("weights", "reset", "expected"), VECTORS)
def test_the_vectors_of_the_spec(weights, reset, expected):
    assert personalized_pagerank(weights, np.array(reset), **EXACT) == pytest.approx(expected, abs=1e-6)


@st.composite
def walks(draw):
    n = draw(st.integers(1, 9))
    nodes = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(nodes, nodes, st.floats(0.1, 9)), max_size=20))
    reset = np.array(draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))
    reset[draw(nodes)] += 0.5
    return n, edges, reset, draw(st.floats(0, 0.95))


@given(walks(), st.booleans())
def test_equals_prpack_on_any_graph(walk, directed):
    """Loops are left out: igraph counts an undirected loop twice, and HippoRAG 2 has none."""
    n, edges, reset, damping = walk
    edges = [(a, b, w) for a, b, w in edges if a != b]
    peer = igraph.Graph(n=n, edges=[(a, b) for a, b, _ in edges], directed=directed)
    expected = peer.personalized_pagerank(
        damping=damping, directed=directed, weights=[w for *_, w in edges] or None, reset=reset, implementation="prpack"
    )
    found = personalized_pagerank(graph(n, edges, directed), reset, damping, tolerance=1e-14)
    assert found == pytest.approx(expected, abs=1e-8)


@given(walks(), st.floats(0.01, 100))
def test_is_a_distribution_and_does_not_depend_on_the_scale_of_the_reset(walk, factor):
    n, edges, reset, damping = walk
    weights = graph(n, edges)
    p = personalized_pagerank(weights, reset, damping, **EXACT)
    assert p.sum() == pytest.approx(1)
    assert (p >= 0).all()
    assert personalized_pagerank(weights, reset * factor, damping, **EXACT) == pytest.approx(p, abs=1e-9)


@given(walks(), st.randoms(use_true_random=False))
def test_does_not_depend_on_the_numbering_of_the_nodes(walk, random):
    n, edges, reset, damping = walk
    order = list(range(n))
    random.shuffle(order)
    renamed = graph(n, [(order[a], order[b], w) for a, b, w in edges])
    moved = np.empty(n)
    moved[order] = reset
    found = personalized_pagerank(renamed, moved, damping, **EXACT)
    assert found[order] == pytest.approx(personalized_pagerank(graph(n, edges), reset, damping, **EXACT), abs=1e-9)


def test_the_residual_bounds_the_distance_to_the_limit():
    walk = Walk(graph(5, SQUARE))
    reset = np.array([1.0, 0, 0, 0, 0])
    rough, exact = walk(reset, tolerance=1e-3), walk(reset, **EXACT)
    assert rough.iterations < exact.iterations
    assert np.abs(rough.p - exact.p).sum() < 1e-3


def test_negative_and_nan_entries_of_the_reset_count_as_zero():
    weights = graph(4, SQUARE)
    clean = personalized_pagerank(weights, np.array([1.0, 0, 0, 0]), **EXACT)
    assert personalized_pagerank(weights, np.array([1.0, -3, np.nan, 0]), **EXACT) == pytest.approx(clean)


@pytest.mark.parametrize(
    ("reset", "damping"), [((0, 0), 0.5), ((1, 0), 1.0), ((1, 0), -0.1), ((float("nan"), -1), 0.5)]
)
def test_what_has_no_answer_is_refused(reset, damping):
    with pytest.raises(SettingError):
        Walk(graph(2, [(0, 1, 1)]))(np.array(reset, dtype=float), damping)


def test_negative_weights_are_refused():
    with pytest.raises(SettingError, match="-1"):
        Walk(graph(2, [(0, 1, -1)]))
    weights = graph(2, [(0, 1, 1)])
    with pytest.raises(SettingError, match="-2"):
        Walk(weights).edited(np.array([0]), weights[[0]], sp.csr_array([[0.0, -2.0]]))


# -- walks with edited edges ------------------------------------------------------------------------------------------


@st.composite
def edits(draw):
    """An undirected graph, a few of its nodes, and other out-edges of these: scaled, or taken away."""
    n, edges, reset, _ = draw(walks())
    weights = graph(n, edges).toarray()
    nodes = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True))
    count = len(nodes) * n
    factors = draw(st.lists(st.sampled_from([0.0, 0.2, 1.0, 3.5, 10.0]), min_size=count, max_size=count))
    after = weights[nodes] * np.array(factors).reshape(len(nodes), n)
    return weights, reset, nodes, after, draw(st.floats(0, 0.95))


@given(edits())
def test_an_edited_walk_is_the_walk_over_the_edited_matrix(case):
    weights, reset, nodes, after, damping = case
    walk = Walk(sp.csr_array(weights))
    before = walk(reset, damping, **EXACT).p
    edited = walk.edited(np.array(nodes), sp.csr_array(weights[nodes]), sp.csr_array(after))
    changed = weights.copy()
    changed[nodes] = after
    found = edited(reset, damping, tolerance=1e-14, max_iterations=10_000)
    assert found.p == pytest.approx(dense(changed, reset, damping), abs=1e-8)
    assert np.array_equal(walk(reset, damping, **EXACT).p, before), "the walk it was made from has changed"
    if (after == weights[nodes]).all():
        assert edited is walk


def dense(weights: np.ndarray, reset: np.ndarray, damping: float) -> np.ndarray:
    """p from the definition; what reaches a node without out-edges goes back to the reset."""
    r, strength = reset / reset.sum(), weights.sum(axis=1, keepdims=True)
    transition = np.where(strength > 0, np.divide(weights, strength, where=strength > 0, out=np.zeros_like(weights)), r)
    return np.linalg.solve(np.eye(len(r)) - damping * transition.T, (1 - damping) * r)


def test_a_node_that_loses_all_edges_sends_its_mass_back():
    weights = graph(3, [(0, 1, 1), (1, 2, 1)])
    edited = Walk(weights).edited(np.array([1]), weights[[1]], sp.csr_array((1, 3)))
    # 0 sends half of its mass to 1, which keeps none: p = (4, 2, 0) / 6 for a walk that starts at 0.
    assert edited(np.array([1.0, 0, 0]), 0.5, **EXACT).p == pytest.approx([2 / 3, 1 / 3, 0], abs=1e-9)
