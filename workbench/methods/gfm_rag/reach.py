"""The logits of questions over one index, for less work than the network's own `forward`.

With no start entity, the states of the network depend on the graph alone. These base states are computed once. A
question changes only what its entities reach: h₀ at its entities, after one layer their neighbours, and so on. Messages
are linear in the states, so

    m = m(base) + Σ over edges of (h − h(base)) ⊙ r  +  h₀

and a layer has to be computed only where something changed. Once the changed nodes have many edges, the sum is taken
over all edges of the graph, which is then cheaper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from workbench import threads
from workbench.methods.gfm_rag.network import Edges, Network, gathered

SPARSE = 0.1  # share of all edges up to which the edges of the changed nodes are followed one by one
AT_ONCE = 1 << 24  # numbers in the states of the questions that are scored together: 64 MB


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


class _Changed(NamedTuple):
    """Differences to the base states, (keys, width). Key = node · batch + question, ascending."""

    keys: Tensor
    values: Tensor


class Reach:
    """A network over the graph of one index. `relations`: (2R, text), float32."""

    def __init__(self, network: Network, relations: Tensor, edges: Edges):
        threads.settle()
        self.network, self.edges = network, edges
        by_source = torch.argsort(edges.source, stable=True)
        self._relation, self._target = edges.relation[by_source], edges.target[by_source]
        self._degree = torch.bincount(edges.source, minlength=edges.nodes)
        self._begin = torch.cumsum(self._degree, 0) - self._degree
        width = network.shape.width
        with torch.inference_mode():
            projected = network.rel_mlp(relations)
            self._relations = [layer.relation_projection(projected) for layer in self._layers]
            self._states, self._summed = [torch.zeros(edges.nodes, width)], []
            for layer, vectors in zip(self._layers, self._relations):
                states = self._states[-1]
                messages = gathered(states, vectors, edges)
                self._summed.append(layer.linear(torch.cat([states, messages], dim=-1)))
                self._states.append(states + layer.update(self._summed[-1]))
            first = network.entity_model.mlp[0]
            self._of_state, self._of_query = first.weight[:, :width].T, first.weight[:, width:].T
            self._head = self._states[-1] @ self._of_state + first.bias

    @property
    def _layers(self):
        return self.network.entity_model.layers

    def logits(self, questions: Tensor, starts: Sequence[Start]) -> Tensor:
        """Of questions (batch, text) with their start entities: float32 (batch, nodes)."""
        size = max(1, AT_ONCE // max(1, self.edges.nodes * self.network.shape.width))
        parts = [
            self._logits(questions[first : first + size], starts[first : first + size])
            for first in range(0, len(starts), size)
        ]
        return torch.cat(parts) if parts else torch.zeros(0, self.edges.nodes)

    @torch.inference_mode()
    def traced(self, question: Tensor, start: Start) -> tuple[list[Reached], Tensor]:
        """What a question (text,) changes, at its entities and after each layer; and its logits, (nodes,)."""
        query = self.network.question_mlp(question[None])
        passed = list(self._passed(query, [start]))
        return [Reached(*changed) for changed in passed], self._headed(query, passed[-1])[0]

    @torch.inference_mode()
    def strongest(self, before: Reached, layer: int, rows: Sequence[int]) -> list[Message | None]:
        """The message of a layer, from 0 on, that brought most of the change to each of the rows; `before` is what the
        question had changed before the layer. None where no message did."""
        found: list[Message | None] = []
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
            found.append(Message(int(source[best]), int(relation[best]), float(norms[best])) if best >= 0 else None)
        return found

    @torch.inference_mode()
    def _logits(self, questions: Tensor, starts: Sequence[Start]) -> Tensor:
        query = self.network.question_mlp(questions)
        *_, last = self._passed(query, starts)
        return self._headed(query, last)

    def _headed(self, query: Tensor, changed: _Changed) -> Tensor:
        second, (keys, values) = self.network.entity_model.mlp[2], changed
        asked, batch = query @ self._of_query, len(query)
        rows, of = keys // batch, keys % batch
        changed = torch.relu(self._head[rows] + values @ self._of_state + asked[of]) @ second.weight[0]
        if len(keys) == batch * self.edges.nodes:
            return (changed + second.bias).view(-1, batch).T
        logits = torch.stack([torch.relu(self._head + one) @ second.weight[0] for one in asked])
        logits[of, rows] = changed
        return logits + second.bias

    def _passed(self, query: Tensor, starts: Sequence[Start]) -> Iterator[_Changed]:
        changed = start = self._start(query, starts)
        yield changed
        for at, layer in enumerate(self._layers):
            keys, messages = self._messages(changed, self._relations[at], len(starts))
            messages[torch.searchsorted(keys, start.keys)] += start.values
            before = torch.zeros_like(messages)
            before[torch.searchsorted(keys, changed.keys)] = changed.values
            rows = keys // len(starts)
            weight = layer.linear.weight
            width = before.shape[1]
            summed = self._summed[at][rows] + before @ weight[:, :width].T + messages @ weight[:, width:].T
            states = self._states[at][rows] + before + layer.update(summed)
            changed = _Changed(keys, states - self._states[at + 1][rows])
            yield changed

    def _start(self, query: Tensor, starts: Sequence[Start]) -> _Changed:
        batch = len(starts)
        weights = {
            int(row) * batch + at: float(weight)
            for at, start in enumerate(starts)
            for row, weight in zip(start.rows, start.weights)
        }
        keys = torch.tensor(sorted(weights), dtype=torch.int64)
        values = torch.tensor([weights[key] for key in keys.tolist()], dtype=query.dtype)
        return _Changed(keys, values[:, None] * query[keys % batch])

    def _messages(self, changed: _Changed, relations: Tensor, batch: int) -> tuple[Tensor, Tensor]:
        """The keys that the changed nodes reach, with those of the nodes themselves, and the messages to each."""
        rows, of = changed.keys // batch, changed.keys % batch
        degrees = self._degree[rows]
        if degrees.sum() > SPARSE * batch * len(self.edges):
            nodes, width = self.edges.nodes, changed.values.shape[1]
            full = torch.zeros(nodes * batch, width)
            full[changed.keys] = changed.values
            messages = gathered(full.view(nodes, batch, width), relations, self.edges)
            return torch.arange(nodes * batch), messages.view(-1, width)
        place = torch.arange(int(degrees.sum())) - torch.repeat_interleave(torch.cumsum(degrees, 0) - degrees, degrees)
        edge = torch.repeat_interleave(self._begin[rows], degrees) + place
        ends = self._target[edge] * batch + torch.repeat_interleave(of, degrees)
        keys = torch.unique(torch.cat([changed.keys, ends]))
        carried = torch.repeat_interleave(changed.values, degrees, dim=0) * relations[self._relation[edge]]
        messages = torch.zeros(len(keys), changed.values.shape[1])
        return keys, messages.index_add(0, torch.searchsorted(keys, ends), carried)
