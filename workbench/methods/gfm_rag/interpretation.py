"""The paths that carried most of an entity's score (the path interpretations of GFM-RAG and NBFNet).

The logit of an entity is a function of how much each edge of each layer counts. Its gradient with respect to these
weights, all 1, says what an edge carried. A path of ℓ edges takes its first edge from the first layer, its second from
the second, and so on; its importance is the mean of their gradients. A beam search keeps the best beginnings of paths
at each node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from workbench.methods.gfm_rag.network import BLOCK, Edges, Network, gathered
from workbench.methods.gfm_rag.reach import Start

BEAMS = 10  # beginnings of paths that are kept at each node

Steps = tuple[int, ...]  # rows of edges, in the order of the path


def edge_gradients(
    network: Network, question: Tensor, start: Start, relations: Tensor, edges: Edges, target: int
) -> np.ndarray:
    """∂ logit[target] / ∂ weight of each edge in each layer, float32 (layers, edges)."""
    begin = torch.zeros(edges.nodes, 1)
    begin[list(start.rows), 0] = torch.tensor(start.weights, dtype=torch.float32)
    with torch.enable_grad():
        query = network.question_mlp(question[None])
        vectors = network.rel_mlp(relations)
        boundary = states = (begin.unsqueeze(-1) * query).detach().requires_grad_()
        before, projected, messages = [], [], []
        for layer in network.entity_model.layers:
            before.append(states)
            projected.append(layer.relation_projection(vectors).detach())
            messages.append(gathered(states, projected[-1], edges))
            messages[-1].retain_grad()
            summed = torch.cat([states, messages[-1] + boundary], dim=-1)
            states = states + layer.update(layer.linear(summed))
        logit = network.entity_model.mlp(torch.cat([states[target, 0], query[0]]))
        torch.autograd.backward(logit, inputs=messages)
    step = max(1, BLOCK // network.shape.width)
    found = np.zeros((len(messages), len(edges)), dtype=np.float32)
    with torch.no_grad():
        for at, (states, vectors, message) in enumerate(zip(before, projected, messages)):
            arrived, left = message.grad[:, 0], states[:, 0]
            for first in range(0, len(edges), step):
                part = slice(first, first + step)
                sent = left[edges.source[part]] * vectors[edges.relation[part]]
                found[at, part] = (arrived[edges.target[part]] * sent).sum(1).numpy()
    return found


def best_paths(
    gradients: np.ndarray, edges: Edges, starts: Sequence[int], target: int, k: int = 5, beams: int = BEAMS
) -> list[tuple[Steps, float]]:
    """At most k paths from a start to the target that visit no node twice, with their importance, best first; equal
    ones the shorter first."""
    source, goal = edges.source.numpy(), edges.target.numpy()
    near = _within(edges, target, len(gradients))  # by layer, which nodes can still reach the target
    beginnings: dict[int, list[tuple[float, tuple[int, ...], Steps]]] = {
        int(row): [(0.0, (int(row),), ())] for row in dict.fromkeys(starts)
    }
    found: list[tuple[Steps, float]] = []
    for at, weights in enumerate(gradients):
        here = np.zeros(edges.nodes, dtype=bool)
        here[list(beginnings)] = True
        rows = np.flatnonzero(here[source] & near[len(gradients) - at - 1][goal])
        longer: dict[int, list[tuple[float, tuple[int, ...], Steps]]] = {}
        for row in rows.tolist():
            end, weight = int(goal[row]), float(weights[row])
            for total, nodes, steps in beginnings[int(source[row])]:
                if end not in nodes:
                    longer.setdefault(end, []).append((total + weight, (*nodes, end), (*steps, row)))
        beginnings = {end: sorted(some, key=_order)[:beams] for end, some in longer.items()}
        found += [(steps, total / len(steps)) for total, _, steps in beginnings.pop(target, ())]
    return sorted(found, key=lambda one: (-one[1], len(one[0]), one[0]))[:k]


def _order(one: tuple[float, tuple[int, ...], Steps]) -> tuple:
    return -one[0], one[2]


def _within(edges: Edges, target: int, layers: int) -> list[np.ndarray]:
    """[n]: the nodes from which at most n edges lead to the target, bool (nodes,)."""
    near = [np.arange(edges.nodes) == target]
    for _ in range(layers):
        reached = near[-1].copy()
        reached[edges.source.numpy()[near[-1][edges.target.numpy()]]] = True
        near.append(reached)
    return near
