"""The network of GFM-RAG against slow references, hand-worked numbers and finite differences."""

import numpy as np
import pytest
import torch

from workbench.methods.gfm_rag import network
from workbench.methods.gfm_rag.network import Edges, Layer, Network, Shape, gathered

PUBLISHED = Shape(768, 512, 6)


def random_edges(rng, nodes, facts, kinds) -> Edges:
    """With parallel edges and self-loops, as they come."""
    heads, tails, relations = (rng.integers(high, size=facts) for high in (nodes, nodes, kinds))
    return Edges.of(heads, relations, tails, nodes, kinds)


def slowly(layer: Layer, states, start, relations, edges) -> np.ndarray:
    """A dense reference: one node, one edge, one number at a time, in numpy."""
    own = {name: value.detach().double().numpy() for name, value in layer.state_dict().items()}
    hidden = np.maximum(relations @ own["relation_projection.0.weight"].T + own["relation_projection.0.bias"], 0)
    vectors = hidden @ own["relation_projection.2.weight"].T + own["relation_projection.2.bias"]
    new = np.zeros_like(states)
    for node in range(edges.nodes):
        arriving = [at for at in range(len(edges)) if edges.target[at] == node]
        message = start[node] + sum(states[edges.source[at]] * vectors[edges.relation[at]] for at in arriving)
        summed = np.concatenate([states[node], message]) @ own["linear.weight"].T + own["linear.bias"]
        normed = (summed - summed.mean()) / np.sqrt(summed.var() + 1e-5)
        new[node] = states[node] + np.maximum(normed * own["layer_norm.weight"] + own["layer_norm.bias"], 0)
    return new


def test_a_layer_is_that_of_a_dense_slow_reference_on_random_graphs():
    rng, largest = np.random.default_rng(0), 0.0
    for seed in range(100):
        torch.manual_seed(seed)
        nodes, kinds, width = rng.integers(2, 12), rng.integers(1, 4), 4
        edges, layer = random_edges(rng, nodes, rng.integers(0, 20), kinds), Layer(width)
        states, start = (torch.randn(nodes, 1, width) for _ in range(2))
        relations = torch.randn(2 * kinds, width)
        with torch.no_grad():
            ours = layer(states, start, relations, edges)[:, 0].numpy()
        doubles = [one.double().numpy() for one in (states[:, 0], start[:, 0], relations)]
        largest = max(largest, float(np.abs(ours - slowly(layer, *doubles, edges)).max()))
    assert largest < 1e-5


def test_a_graph_of_five_nodes_worked_out_by_hand():
    """0 -(a)-> 1 -(a)-> 2, 0 -(b)-> 2, 3 -(b)-> 3; node 4 is alone. a = (1, 2), b = (3, -1), their inverses (0, 1) and
    (1, 0); states h = (1, 1), (2, 0), (0, 3), (1, -1), (5, 5)."""
    edges = Edges.of(np.array([0, 1, 0, 3]), np.array([0, 0, 1, 1]), np.array([1, 2, 2, 3]), 5, 2)
    states = torch.tensor([[1.0, 1], [2, 0], [0, 3], [1, -1], [5, 5]])
    relations = torch.tensor([[1.0, 2], [3, -1], [0, 1], [1, 0]])
    expected = [
        [0 * 2 + 1 * 0, 1 * 0 + 0 * 3],  # of 1 by a's inverse, of 2 by b's
        [1 * 1 + 0 * 0, 2 * 1 + 1 * 3],  # of 0 by a, of 2 by a's inverse
        [1 * 2 + 3 * 1, 2 * 0 - 1 * 1],  # of 1 by a, of 0 by b
        [3 * 1 + 1 * 1, -1 * -1 + 0 * -1],  # of itself by b and b's inverse
        [0, 0],
    ]
    assert gathered(states, relations, edges).tolist() == expected
    assert edges.target.tolist() == sorted(edges.target.tolist()) and len(edges) == 8, "by target, with their inverses"
    without = edges.without(torch.ones(8, dtype=bool))
    assert len(without) == 0 and gathered(states, relations, without).sum() == 0


def test_permuted_nodes_have_permuted_scores():
    rng = np.random.default_rng(1)
    torch.manual_seed(1)
    model, nodes = Network(Shape(6, 8, 3)).eval(), 30
    edges, order = random_edges(rng, nodes, 80, 4), rng.permutation(nodes)
    place = torch.from_numpy(np.argsort(order))
    source, target = place[edges.source], place[edges.target]
    by_target = torch.argsort(target, stable=True)
    moved = Edges(source[by_target], edges.relation[by_target], target[by_target], nodes)
    start, questions, relations = torch.rand(nodes, 2), torch.randn(2, 6), torch.randn(8, 6)
    with torch.no_grad():
        one, other = model(questions, start, relations, edges), model(questions, start[order], relations, moved)
    torch.testing.assert_close(other, one[order], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("block", [1, 1 << 18])
def test_gradients_agree_with_finite_differences(monkeypatch, block):
    monkeypatch.setattr(network, "BLOCK", block)
    torch.manual_seed(2)
    edges = random_edges(np.random.default_rng(2), 6, 12, 2)
    states = torch.randn(6, 2, 3, dtype=torch.float64, requires_grad=True)
    relations = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda h, r: gathered(h, r, edges), (states, relations))
    model = Network(Shape(3, 4, 2)).double()
    questions, start = torch.randn(2, 3, dtype=torch.float64, requires_grad=True), torch.rand(6, 2).double()
    vectors = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda q, r: model(q, start, r, edges), (questions, vectors))


def test_the_published_shape_has_its_parameters_and_tensors():
    with torch.device("meta"):
        model = Network(PUBLISHED)
    assert model.parameters_in_all == 8_144_897
    shapes = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    assert len(shapes) == 56
    assert shapes["rel_mlp.weight"] == shapes["question_mlp.weight"] == (512, 768)
    assert shapes["entity_model.layers.5.linear.weight"] == (512, 1024)
    assert shapes["entity_model.layers.0.relation_projection.2.weight"] == (512, 512)
    assert shapes["entity_model.layers.3.layer_norm.bias"] == (512,)
    assert shapes["entity_model.mlp.0.weight"] == (1024, 1024)
    assert shapes["entity_model.mlp.2.weight"] == (1, 1024)
