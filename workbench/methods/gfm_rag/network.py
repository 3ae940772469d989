"""The graph neural network of GFM-RAG (arXiv 2502.01113, section 3.2): messages that depend on the question.

    q = W_q · enc(question)          r = W_r · enc(names of the relations and of their inverses)
    h₀[e] = w_e · q for the entities e of the question, 0 for all others
    in each layer, with its own small network for the relations:
        m[v] = Σ over edges (u, ρ, v) of h[u] ⊙ r[ρ]  +  h₀[v]
        h   ← h + ReLU(LayerNorm(W [h ; m]))
    logit[e] = MLP([h[e] ; q])

Parameters have the names and shapes of the published checkpoint, so its state dict loads as it is. The messages are a
plain scatter-add over edges, in blocks: no compiled operator, and no memory for all messages at once.

The graph that messages pass over: the phrases of an index, its facts and its synonyms.

The losses of GFM-RAG (arXiv 2502.01113, section 3.2.3, and release 1.0).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from workbench.index import Index
from workbench.index.relations import SYNONYM

BLOCK = 1 << 18  # numbers of the messages that exist at once: 1 MB, which a cache holds
GPU_BLOCK = 1 << 24  # the same on a GPU, whose cores all need work: 64 MB


@dataclass(frozen=True)
class Shape:
    """`text`: dimensions of the encoder; `width`: of the states; `layers`: of message passing."""

    text: int
    width: int = 512
    layers: int = 6

    def __str__(self) -> str:
        return f"{self.layers} layers of {self.width} over texts of {self.text}"


@dataclass(frozen=True, eq=False)
class Edges:
    """Directed edges, inverses included, sorted by target. `source`, `relation`, `target`: int64 tensors, (edges,);
    relation ρ of R has the inverse ρ + R."""

    source: Tensor
    relation: Tensor
    target: Tensor
    nodes: int

    @classmethod
    def of(cls, heads: np.ndarray, relations: np.ndarray, tails: np.ndarray, nodes: int, kinds: int) -> Edges:
        """Each triple of rows forwards and, with the relation `kinds` further on, backwards."""
        source, target = np.r_[heads, tails], np.r_[tails, heads]
        relation = np.r_[relations, relations + kinds]
        order = np.lexsort((relation, source, target))
        return cls(*(torch.from_numpy(part[order].astype(np.int64)) for part in (source, relation, target)), nodes)

    def __len__(self) -> int:
        return len(self.source)

    def without(self, dropped: Tensor) -> Edges:
        """The edges that the mask does not drop."""
        remaining = ~dropped
        return Edges(self.source[remaining], self.relation[remaining], self.target[remaining], self.nodes)

    def to(self, device: torch.device | str) -> Edges:
        return Edges(self.source.to(device), self.relation.to(device), self.target.to(device), self.nodes)


class Layer(nn.Module):
    """One round of messages (DistMult, sum)."""

    def __init__(self, width: int):
        super().__init__()
        self.linear = nn.Linear(2 * width, width)  # of [old state ; message], in this order
        self.layer_norm = nn.LayerNorm(width)
        self.relation_projection = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, states: Tensor, start: Tensor, relations: Tensor, edges: Edges) -> Tensor:
        """New states (nodes, batch, width) from the old ones, the `start` states h₀ and the relations (2R, width)."""
        messages = gathered(states, self.relation_projection(relations), edges) + start
        return states + self.update(self.linear(torch.cat([states, messages], dim=-1)))

    def update(self, summed: Tensor) -> Tensor:
        return torch.relu(self.layer_norm(summed))


class EntityModel(nn.Module):
    """The layers, and the head that turns a state and the question into a logit."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.layers = nn.ModuleList(Layer(shape.width) for _ in range(shape.layers))
        both = 2 * shape.width
        self.mlp = nn.Sequential(nn.Linear(both, both), nn.ReLU(), nn.Linear(both, 1))  # of [state ; question]


class Network(nn.Module):
    """The retriever. `forward` is the model as the paper writes it; `reach.Reach` gives the same logits of an index
    for less work."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.rel_mlp = nn.Linear(shape.text, shape.width)
        self.question_mlp = nn.Linear(shape.text, shape.width)
        self.entity_model = EntityModel(shape)

    def forward(self, questions: Tensor, start: Tensor, relations: Tensor, edges: Edges) -> Tensor:
        """Logits (nodes, batch) of questions (batch, text), where `start` (nodes, batch) holds the weights w_e of their
        entities and `relations` (2R, text) the vectors of the relations."""
        return self.passed(self.question_mlp(questions), start, self.rel_mlp(relations), edges)

    def passed(self, query: Tensor, start: Tensor, relations: Tensor, edges: Edges) -> Tensor:
        """The same from vectors that are projected already: of queries (batch, width) and relations."""
        states = boundary = start.unsqueeze(-1) * query
        for layer in self.entity_model.layers:
            states = layer(states, boundary, relations, edges)
        query_states = query.expand_as(states)
        return self.entity_model.mlp(torch.cat([states, query_states], dim=-1)).squeeze(-1)

    @property
    def parameters_in_all(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())


def gathered(states: Tensor, relations: Tensor, edges: Edges) -> Tensor:
    """Σ over edges (u, ρ, v) of h[u] ⊙ r[ρ], for each v: (nodes, batch, width) from states of that shape and relations
    (2R, width); without the batch where the states have none."""
    if states.dim() == 2:
        return gathered(states.unsqueeze(1), relations, edges).squeeze(1)
    return _Gathered.apply(states, relations, edges)


class _Gathered(torch.autograd.Function):
    """Block by block in both directions, so that messages stay in the cache and none is kept for the gradient."""

    @staticmethod
    def forward(ctx, states: Tensor, relations: Tensor, edges: Edges) -> Tensor:
        ctx.save_for_backward(states, relations)
        ctx.edges = edges
        summed = torch.zeros_like(states, memory_format=torch.contiguous_format)
        for source, relation, target in _blocks(edges, states):
            _add(summed, target, states.index_select(0, source) * relations.index_select(0, relation).unsqueeze(1))
        return summed

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        states, relations = ctx.saved_tensors
        to_states = torch.zeros_like(states, memory_format=torch.contiguous_format)
        to_relations = torch.zeros_like(relations)
        for source, relation, target in _blocks(ctx.edges, states):
            arrived = gradient.index_select(0, target)
            _add(to_states, source, arrived * relations.index_select(0, relation).unsqueeze(1))
            _add(to_relations, relation, (arrived * states.index_select(0, source)).sum(1))
        return to_states, to_relations, None


def _blocks(edges: Edges, states: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    block = BLOCK if states.is_cpu else GPU_BLOCK
    step = max(1, block // max(1, states[0].numel())) if len(states) else 1
    parts = (edges.source, edges.relation, edges.target)
    return zip(*(torch.split(part, step) for part in parts)) if len(edges) else iter(())


def _add(total: Tensor, rows: Tensor, values: Tensor) -> None:
    """total[rows] += values; scatter_add over whole rows is several times faster than index_add on a CPU."""
    flat = values.reshape(len(rows), -1)
    total.view(len(total), -1).scatter_add_(0, rows.unsqueeze(1).expand_as(flat), flat)


Pairs = Literal["last", "all"]


def edges_of(index: Index, pairs: Pairs = "last") -> Edges:
    """Facts and synonyms as edges between phrase rows, with inverses.

    `last` keeps one relation for an ordered pair of phrases, as the released code does: a synonym replaces facts, and
    of facts the last one stays (theirs in the order of the corpus, ours in that of the facts layer, which is sorted).
    `all` keeps every one."""
    heads, relations, tails = triples_of(index)
    if pairs == "last":
        keys = heads * len(index.facts.phrases) + tails
        _, last = np.unique(keys[::-1], return_index=True)
        places = np.sort(len(keys) - 1 - last)
        heads, relations, tails = heads[places], relations[places], tails[places]
    return Edges.of(heads, relations, tails, len(index.facts.phrases), len(index.relations.names))


def triples_of(index: Index) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Phrase rows of heads, relation rows, phrase rows of tails: the facts, then the synonyms. int64."""
    facts, synonyms, row = index.facts, index.synonyms, index.relations.row
    kinds = np.array([row[relation] for _, relation, _ in facts.facts], dtype=np.int64)
    same = np.full(len(synonyms.sources), row[SYNONYM], dtype=np.int64)
    heads = np.r_[facts.subjects, synonyms.sources.astype(np.int64)]
    return heads, np.r_[kinds, same], np.r_[facts.objects, synonyms.targets.astype(np.int64)]


EPSILON = 1e-5
SHARE_OF_BCE = 0.3
RETRIEVAL, COMPLETION = 0.2, 1.0  # temperatures of the negatives' weights in the two stages


def balanced_bce(logits: Tensor, positive: Tensor, temperature: float, counted: Tensor | None = None) -> Tensor:
    """Binary cross-entropy in which a question's positives weigh 1 together and its negatives too, the harder ones
    more: softmax(logit / temperature), without gradient. `logits`, `positive` and the mask of entries that are
    `counted`: (nodes, batch)."""
    counted = torch.ones_like(positive) if counted is None else counted
    negative = counted * (1 - positive)
    with torch.no_grad():
        harder = torch.softmax((logits / temperature).masked_fill(negative == 0, -torch.inf), dim=0).nan_to_num()
        weight = positive / positive.sum(0).clamp(min=1) + harder
    loss = binary_cross_entropy_with_logits(logits, positive, weight=weight, reduction="none")
    return (loss.sum(0) / weight.sum(0).clamp(min=EPSILON)).mean()


def list_loss(logits: Tensor, positive: Tensor) -> Tensor:
    """−mean over the positives i of log(σ_i / (Σ_j σ_j + ε) + ε). (nodes, batch)."""
    shares = torch.sigmoid(logits)
    log = torch.log(shares / (shares.sum(0) + EPSILON) + EPSILON)
    return (-(log * positive).sum(0) / positive.sum(0).clamp(min=1)).mean()


def retrieval_loss(logits: Tensor, positive: Tensor) -> Tensor:
    """0.3 BCE + 0.7 list loss."""
    bce = balanced_bce(logits, positive, RETRIEVAL)
    return SHARE_OF_BCE * bce + (1 - SHARE_OF_BCE) * list_loss(logits, positive)
