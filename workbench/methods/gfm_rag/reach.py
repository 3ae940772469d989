"""The logits of questions over one index, computed with less work than the network's own `forward`.

With no start entity, the states of the network depend on the graph alone. These base states are computed once. A
question changes only what its entities reach: h₀ at its entities, after one layer their neighbours, and so on. Messages
are linear in the states, so

    m = m(base) + Σ over edges of (h − h(base)) ⊙ r  +  h₀

and a layer has to be computed only where something changed. Once the changed nodes have many edges, the sum is taken
over all edges of the graph, which is then cheaper.

The paths that carried most of an entity's score (the path interpretations of GFM-RAG and NBFNet).

The logit of an entity is a function of how much each edge of each layer counts. Its gradient with respect to these
weights, all 1, says what an edge carried. A path of ℓ edges takes its first edge from the first layer, its second from
the second, and so on; its importance is the mean of their gradients. A beam search keeps the best beginnings of paths
at each node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from workbench import threads
from workbench.methods.gfm_rag.network import BLOCK, Edges, Network, gathered

SPARSE = 0.1  # share of all edges up to which the edges of the changed nodes are followed one by one
ROWS = 4096  # nodes that are updated at once: their states stay in the cache


class Start(NamedTuple):
    """The entities of a question: their rows and their weights w_e."""

    rows: Sequence[int]
    weights: Sequence[float]


class Reached(NamedTuple):
    """After a layer: the `rows` of the nodes whose state the question changed, ascending, and how, (rows, width)."""

    rows: Tensor
    changes: Tensor


class Message(NamedTuple):
    """A message by the rows of its source and relation, and the norm of what the question changed in it."""

    source: int
    relation: int
    norm: float


class Reach:
    """A network over the graph of one index. `relations`: (2R, text), float32."""

    def __init__(self, network: Network, relations: Tensor, edges: Edges):
        threads.settle_torch()
        self.network, self.edges = network, edges
        by_source = torch.argsort(edges.source, stable=True)
        self._relation, self._target = edges.relation[by_source], edges.target[by_source]
        self._degree = torch.bincount(edges.source, minlength=edges.nodes)
        self._begin = torch.cumsum(self._degree, 0) - self._degree
        width = network.shape.width
        with torch.inference_mode():
            projected = network.rel_mlp(relations)
            self._relations = [layer.relation_projection(projected) for layer in self._layers]
            states, self._summed, self._updates = torch.zeros(edges.nodes, width), [], []
            for layer, vectors in zip(self._layers, self._relations):
                messages = gathered(states, vectors, edges)
                self._summed.append(layer.linear(torch.cat([states, messages], dim=-1)))
                self._updates.append(layer.update(self._summed[-1]))
                states = states + self._updates[-1]
            first = network.entity_model.mlp[0]
            self._of_state, self._of_query = first.weight[:, :width].T, first.weight[:, width:].T
            self._head = states @ self._of_state + first.bias

    @property
    def _layers(self):
        return self.network.entity_model.layers

    def logits(self, questions: Tensor, starts: Sequence[Start]) -> Tensor:
        """Of questions (batch, text) with their start entities: float32 (batch, nodes). One question after the other is
        faster than several at once, whose states no cache holds."""
        scores = torch.zeros(len(starts), self.edges.nodes)
        with torch.inference_mode():
            for row, (query, start) in enumerate(zip(self.network.question_mlp(questions), starts)):
                *_, last = self._passed(query, start)
                scores[row] = self._headed(query, last)
        return scores

    @torch.inference_mode()
    def traced(self, question: Tensor, start: Start) -> tuple[list[Reached], Tensor]:
        """What a question (text,) changes, at its entities and after each layer; and its logits, (nodes,)."""
        (query,) = self.network.question_mlp(question[None])
        layers = list(self._passed(query, start))
        return layers, self._headed(query, layers[-1])

    @torch.inference_mode()
    def strongest(self, before: Reached, layer: int, rows: Sequence[int]) -> list[Message | None]:
        """The message of a layer, from 0 on, that brought most of the change to each of the rows; `before` is what the
        question had changed before the layer. None where no message did."""
        messages: list[Message | None] = []
        ends = torch.tensor(list(rows), dtype=torch.int64)
        begins = torch.searchsorted(self.edges.target, ends).tolist()
        stops = torch.searchsorted(self.edges.target, ends, right=True).tolist()
        for begin, stop in zip(begins, stops):
            source, relation = self.edges.source[begin:stop], self.edges.relation[begin:stop]
            changed = torch.isin(source, before.rows)
            source, relation = source[changed], relation[changed]
            changes = before.changes[torch.searchsorted(before.rows, source)]
            norms = (changes * self._relations[layer][relation]).norm(dim=1)
            best = int(norms.argmax()) if len(norms) else -1
            messages.append(Message(int(source[best]), int(relation[best]), float(norms[best])) if best >= 0 else None)
        return messages

    def _passed(self, query: Tensor, start: Start) -> Iterator[Reached]:
        weights = dict(sorted(zip(start.rows, start.weights)))
        rows = torch.tensor([int(row) for row in weights], dtype=torch.int64)
        changed = begin = Reached(rows, torch.tensor(list(weights.values()), dtype=query.dtype)[:, None] * query)
        yield changed
        for at, layer in enumerate(self._layers):
            rows, messages = self._messages(changed, self._relations[at])
            messages[torch.searchsorted(rows, begin.rows)] += begin.changes
            changes = torch.zeros_like(messages)
            changes[torch.searchsorted(rows, changed.rows)] = changed.changes
            of_state, of_message = layer.linear.weight.T.split(query.shape[0])
            for part, own in self._parts(rows):
                summed = torch.addmm(self._summed[at][own], changes[part], of_state)
                summed.addmm_(messages[part], of_message)
                changes[part] += layer.update(summed).sub_(self._updates[at][own])
            changed = Reached(rows, changes)
            yield changed

    def _headed(self, query: Tensor, changed: Reached) -> Tensor:
        """The logits of all nodes: computed for those that the question changed, stored for the others."""
        last, query_part = self.network.entity_model.mlp[2], query @ self._of_query
        logits = torch.empty(self.edges.nodes)
        if len(changed.rows) < self.edges.nodes:
            for part, own in self._parts(torch.arange(self.edges.nodes)):
                logits[part] = torch.relu_(self._head[own] + query_part) @ last.weight[0]
        for part, own in self._parts(changed.rows):
            hidden = torch.addmm(self._head[own], changed.changes[part], self._of_state).add_(query_part)
            logits[own] = hidden.relu_() @ last.weight[0]
        return logits + last.bias

    def _parts(self, rows: Tensor) -> Iterator[tuple[slice, slice | Tensor]]:
        """Parts of ascending rows: where they are among these, and among all nodes, which is the same if all are."""
        everything = len(rows) == self.edges.nodes
        for first in range(0, len(rows), ROWS):
            part = slice(first, first + ROWS)
            yield part, part if everything else rows[part]

    def _messages(self, changed: Reached, relations: Tensor) -> tuple[Tensor, Tensor]:
        """The rows that the changed nodes reach, with those of the nodes themselves, and the messages to each."""
        degrees, width = self._degree[changed.rows], changed.changes.shape[1]
        if degrees.sum() > SPARSE * len(self.edges):
            full = torch.zeros(self.edges.nodes, width)
            full[changed.rows] = changed.changes
            return torch.arange(self.edges.nodes), gathered(full, relations, self.edges)
        place = torch.arange(int(degrees.sum())) - torch.repeat_interleave(torch.cumsum(degrees, 0) - degrees, degrees)
        edge = torch.repeat_interleave(self._begin[changed.rows], degrees) + place
        ends = self._target[edge]
        rows = torch.unique(torch.cat([changed.rows, ends]))
        carried = torch.repeat_interleave(changed.changes, degrees, dim=0) * relations[self._relation[edge]]
        return rows, torch.zeros(len(rows), width).index_add(0, torch.searchsorted(rows, ends), carried)


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
    gradients = np.zeros((len(messages), len(edges)), dtype=np.float32)
    with torch.no_grad():
        for at, (states, vectors, message) in enumerate(zip(before, projected, messages)):
            arrived, left = message.grad[:, 0], states[:, 0]
            for first in range(0, len(edges), step):
                part = slice(first, first + step)
                sent = left[edges.source[part]] * vectors[edges.relation[part]]
                gradients[at, part] = (arrived[edges.target[part]] * sent).sum(1).numpy()
    return gradients


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
    paths: list[tuple[Steps, float]] = []
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
        paths += [(steps, total / len(steps)) for total, _, steps in beginnings.pop(target, ())]
    return sorted(paths, key=lambda pair: (-pair[1], len(pair[0]), pair[0]))[:k]


def _order(beginning: tuple[float, tuple[int, ...], Steps]) -> tuple:
    return -beginning[0], beginning[2]


def _within(edges: Edges, target: int, layers: int) -> list[np.ndarray]:
    """[n]: the nodes from which at most n edges lead to the target, bool (nodes,)."""
    near = [np.arange(edges.nodes) == target]
    for _ in range(layers):
        reached = near[-1].copy()
        reached[edges.source.numpy()[near[-1][edges.target.numpy()]]] = True
        near.append(reached)
    return near
