"""`Reach` gives the logits of the network's own forward pass, and what a question changes."""

import numpy as np
import pytest
import torch
from test_gfm_rag_network import random_edges

from workbench.methods.gfm_rag import reach as module
from workbench.methods.gfm_rag.network import Network, Shape
from workbench.methods.gfm_rag.reach import Reach, Start

STARTS = [Start([0, 3], [0.5, 1.0]), Start((), ()), Start([7], [0.1]), Start([39], [1.0])]


def made(seed: int, nodes: int = 40, facts: int = 60):
    torch.manual_seed(seed)
    edges = random_edges(np.random.default_rng(seed), nodes - 1, facts, 3)  # the last node is alone
    edges = type(edges)(edges.source, edges.relation, edges.target, nodes)
    return Network(Shape(5, 8, 3)).eval(), torch.randn(6, 5), edges


def plainly(model, questions, starts, relations, edges) -> torch.Tensor:
    start = torch.zeros(edges.nodes, len(starts))
    for column, one in enumerate(starts):
        for row, weight in zip(one.rows, one.weights):
            start[row, column] = weight
    with torch.no_grad():
        return model(questions, start, relations, edges).T


@pytest.mark.parametrize(
    ("sparse", "rows"), [(0.0, 7), (0.1, 4096), (2.0, 7)], ids=["all edges by seven nodes", "some", "one by one"]
)
def test_logits_are_those_of_the_forward_pass(monkeypatch, sparse, rows):
    monkeypatch.setattr(module, "SPARSE", sparse)
    monkeypatch.setattr(module, "ROWS", rows)
    for seed in range(10):
        model, relations, edges = made(seed, facts=60 if seed else 0)
        assert Reach(model, relations, edges).logits(torch.zeros(0, 5), []).shape == (0, 40)
        questions = torch.randn(len(STARTS), 5)
        found = Reach(model, relations, edges).logits(questions, STARTS)
        torch.testing.assert_close(found, plainly(model, questions, STARTS, relations, edges), rtol=1e-4, atol=1e-5)


def test_layers_are_the_differences_that_the_question_makes():
    model, relations, edges = made(3)
    question, start = torch.randn(5), STARTS[0]
    layers, logits = Reach(model, relations, edges).traced(question, start)
    expected = plainly(model, question[None], [start], relations, edges)[0]
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-5)
    assert len(layers) == 4
    assert layers[0].rows.tolist() == [0, 3]
    with torch.no_grad():
        query, vectors = model.question_mlp(question[None]), model.rel_mlp(relations)
        weight = torch.zeros(40, 1)
        weight[[0, 3], 0] = torch.tensor([0.5, 1.0])
        states = boundary = weight.unsqueeze(-1) * query
        base = nothing = torch.zeros_like(states)
        for layer, reached in zip(model.entity_model.layers, layers[1:]):
            states, base = layer(states, boundary, vectors, edges), layer(base, nothing, vectors, edges)
            expected = (states - base)[:, 0]
            torch.testing.assert_close(reached.changes, expected[reached.rows], rtol=1e-4, atol=1e-5)
            others = np.setdiff1d(np.arange(40), reached.rows.numpy())
            assert expected[others].abs().max() < 1e-6 if len(others) else True


def test_the_strongest_message_is_the_largest_of_those_that_arrive():
    model, relations, edges = made(4)
    question, start = torch.randn(5), STARTS[0]
    reach = Reach(model, relations, edges)
    layers, _ = reach.traced(question, start)
    rows = layers[2].rows.tolist()
    with torch.no_grad():
        vectors = model.entity_model.layers[1].relation_projection(model.rel_mlp(relations))
    full = torch.zeros(40, 8)
    full[layers[1].rows] = layers[1].changes
    for row, message in zip(rows, reach.strongest(layers[1], 1, rows)):
        arriving = [at for at in range(len(edges)) if edges.target[at] == row and full[edges.source[at]].any()]
        norms = [float((full[edges.source[at]] * vectors[edges.relation[at]]).norm()) for at in arriving]
        assert (message is None) == (not norms)
        assert message is None or message.norm == pytest.approx(max(norms), rel=1e-5)
    assert any(reach.strongest(layers[1], 1, rows))
