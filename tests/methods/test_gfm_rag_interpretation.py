"""Paths that carried a score: gradients against finite differences, and beams on graphs worked out by hand."""

import numpy as np
import pytest
import torch

from workbench.errors import SettingError
from workbench.methods import method
from workbench.methods.gfm_rag.network import Edges, Network, Shape
from workbench.methods.gfm_rag.reach import Start, best_paths, edge_gradients
from workbench.testing import small_index

QUESTION = "Who designed the bridge over the river at Vennick?"


def chain() -> Edges:
    """0 → 1 → 2, and 0 → 3 → 2 by another relation; node 4 is alone."""
    return Edges.of(np.array([0, 1, 0, 3]), np.array([0, 0, 1, 1]), np.array([1, 2, 3, 2]), 5, 2)


def named(edges: Edges, steps) -> list[tuple[int, int]]:
    return [(int(edges.source[step]), int(edges.target[step])) for step in steps]


def weighed(network, question, start, relations, edges, target, layer, edge, weight) -> float:
    """The logit where one edge of one layer counts `weight`: node by node, without `gathered`."""
    begin = torch.zeros(edges.nodes, 1).double()
    begin[list(start.rows), 0] = torch.tensor(start.weights).double()
    query, vectors = network.question_mlp(question[None]), network.rel_mlp(relations)
    states = boundary = begin * query
    for at, one in enumerate(network.entity_model.layers):
        projected = one.relation_projection(vectors)
        message = boundary.clone()
        for row in range(len(edges)):
            counts = weight if (at, row) == (layer, edge) else 1.0
            message[edges.target[row]] += counts * states[edges.source[row]] * projected[edges.relation[row]]
        states = states + one.update(one.linear(torch.cat([states, message], dim=-1)))
    return float(network.entity_model.mlp(torch.cat([states[target], query[0]])))


def test_gradients_agree_with_finite_differences():
    torch.manual_seed(5)
    edges, network = chain(), Network(Shape(4, 6, 2)).eval()
    question, relations, start = torch.randn(4), torch.randn(4, 4), Start([0], [1.0])
    found = edge_gradients(network, question, start, relations, edges, 2)
    exact, step = network.double(), 1e-5
    checked = 0
    with torch.no_grad():
        for layer in range(2):
            for edge in range(len(edges)):
                up, down = (
                    weighed(exact, question.double(), start, relations.double(), edges, 2, layer, edge, 1 + sign * step)
                    for sign in (1, -1)
                )
                assert found[layer, edge] == pytest.approx((up - down) / (2 * step), abs=1e-4)
                checked += abs(found[layer, edge]) > 1e-3
    assert checked > 2, "some edges carry something"


def test_the_path_with_the_larger_mean_comes_first():
    edges = chain()
    gradients = np.zeros((2, len(edges)), dtype=np.float32)
    at = {pair: row for row, pair in enumerate(named(edges, range(len(edges))))}
    gradients[0, at[0, 1]], gradients[1, at[1, 2]] = 1.0, 3.0
    gradients[0, at[0, 3]], gradients[1, at[3, 2]] = 2.0, 1.0
    (one, first), (other, second) = best_paths(gradients, edges, [0], 2)
    assert (named(edges, one), first) == ([(0, 1), (1, 2)], 2.0)
    assert (named(edges, other), second) == ([(0, 3), (3, 2)], 1.5)
    assert best_paths(gradients, edges, [0], 2, k=1) == [(one, 2.0)]


def test_no_path_visits_a_node_twice_or_is_invented():
    edges = chain()
    gradients = np.ones((4, len(edges)), dtype=np.float32)
    for steps, _ in best_paths(gradients, edges, [0], 2, k=100, beams=100):
        nodes = [0, *(end for _, end in named(edges, steps))]
        assert len(set(nodes)) == len(nodes) and nodes[-1] == 2
        assert all(one[1] == other[0] for one, other in zip(named(edges, steps), named(edges, steps)[1:]))
    assert best_paths(gradients, edges, [0], 4) == [], "nothing leads to a node that is alone"
    assert best_paths(gradients, edges, [2], 2) == [], "a start is reached without a path"


def test_the_method_names_phrases_relations_and_passages():
    asked = method("gfm_rag[checkpoint=untrained]", small_index())
    found = asked.explain(QUESTION, "aldermark", k=3)
    assert 0 < len(found) <= 3
    assert [weight for _, weight in found] == sorted((weight for _, weight in found), reverse=True)
    for path, _ in found:
        assert path.nodes[0] == "vennick" and path.nodes[-1] == "aldermark"
        assert len(path.relations) == len(path.nodes) - 1
        assert set(path.passages) <= set(asked.index.passages.row)
    assert asked.explain(QUESTION), "of the best entity by default"
    with pytest.raises(SettingError, match=r"no entity 'Aldermarkk'.*close to it"):
        asked.explain(QUESTION, "Aldermarkk")
