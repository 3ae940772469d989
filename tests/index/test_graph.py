"""Graph and facts as they are asked by node: each kind of edge by itself, degrees, the facts of a phrase or a pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from small import index_of, stated

CLOSE = 5 / 35**0.5  # cosine of `a b c d` and `b c d`
# Rows: lake mira 0, nora whitlock 1, old orsby harbour pier 2, orsby 3, orsby harbour pier 4, quell 5, quell town hall
# 6, river aldra 7, the quell town hall 8, 東京 9; passages from 10.
RELATION = {(0, 6): 1, (0, 7): 2, (1, 3): 2, (2, 4): 1, (3, 7): 2, (3, 9): 1, (5, 8): 1}
SYNONYM = {(2, 4): CLOSE, (6, 8): CLOSE}
CONTEXT = {
    **{(10, row): 1 for row in (1, 3, 7)},
    **{(11, row): 1 for row in (0, 7)},
    **{(12, row): 1 for row in (0, 6, 7)},
    **{(13, row): 1 for row in (1, 3)},
    **{(14, row): 1 for row in (2, 3, 4, 7)},
    **{(15, row): 1 for row in (5, 8)},
    **{(16, row): 1 for row in (3, 9)},
}


@pytest.mark.parametrize(("kind", "pairs"), [("relation", RELATION), ("synonym", SYNONYM), ("context", CONTEXT)])
def test_each_kind_of_edge_over_all_nodes(tiny_index, kind, pairs):
    expected = np.zeros((18, 18))
    for (one, other), weight in pairs.items():
        expected[one, other] = expected[other, one] = weight
    assert tiny_index.graph.undirected[kind].toarray() == pytest.approx(expected)


def test_degrees_count_a_neighbour_once(tiny_index):
    # The pier and the old pier are both related and synonymous: one neighbour, and their passage.
    assert tiny_index.graph.degrees.tolist() == [4, 3, 2, 7, 2, 2, 3, 6, 3, 2, 3, 2, 3, 2, 4, 2, 2, 0]


def test_strength_is_the_weighted_degree_of_the_walk(tiny_index):
    # orsby: 2·(2 + 2 + 1) by facts, 4 passages. A pier: the cosine, from both sides, in place of the fact; 1 passage.
    strength = tiny_index.graph.strength
    assert strength[[3, 2]] == pytest.approx([14, 2 * CLOSE + 1])
    assert len(strength) == 10


@settings(max_examples=15)
@given(stated)
def test_what_holds_for_any_graph(tmp_path_factory, stated):
    index = index_of(tmp_path_factory.mktemp("any"), stated)
    graph, facts = index.graph, index.facts
    n = graph.phrases
    assert set(graph.undirected) == {"relation", "synonym", "context"}
    for part in graph.undirected.values():
        dense = part.toarray()
        assert dense.shape == (graph.nodes, graph.nodes)
        assert np.array_equal(dense, dense.T) and (dense >= 0).all() and not dense.diagonal().any()
    assert np.array_equal(graph.undirected["relation"].toarray()[:n, :n], graph.relation.toarray())
    assert np.array_equal(graph.undirected["context"].toarray()[n:, :n], graph.context.toarray())
    sides = graph.synonym.toarray()
    assert np.array_equal(graph.undirected["synonym"].toarray()[:n, :n], np.maximum(sides, sides.T))
    assert np.array_equal(graph.strength, graph.weights().toarray()[:n].sum(axis=1).ravel()) or n == 0

    ends = list(zip(facts.subjects.tolist(), facts.objects.tolist()))
    for one in range(n):
        assert facts.about(one) == [fact for fact, pair in enumerate(ends) if one in pair]
        for other in range(n):
            joining = [fact for fact, pair in enumerate(ends) if pair in ((one, other), (other, one))]
            assert list(facts.between(one, other)) == joining
