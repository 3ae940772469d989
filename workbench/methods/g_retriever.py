"""G-Retriever: the phrases and facts that resemble a question are prizes, a prize-collecting Steiner tree joins them,
and its facts lead to passages.

Follows "G-Retriever: Retrieval-Augmented Generation for Textual Graph Understanding and Question Answering" (arXiv
2402.07630, section 5); what it asks a trained network and a tuned model with soft prompts is left to the reader:

    prize(n) = k - i for the phrase of rank i from 0 on, of the `nodes` closest; 0 for all others         5.2
    prize(f) = the same of the `edges` closest facts
    S        = argmax over connected subgraphs  Σ prize(n) + Σ prize(f) - `edge_cost` |edges|             5.3

A fact whose prize is below the cost becomes cheaper by it. One whose prize is above would cost less than nothing: as by
the virtual node of the paper, its ends are joined for nothing, and the rest is a prize for both together. The tree is
an approximation (`operators/steiner.py`). The ranking of passages is our definition:

    s(p) = Σ cos(q, f)  over the facts f of S that p states, no less than 0 each"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, NamedTuple

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from scipy.sparse.csgraph import connected_components

from workbench.encoding.similarity import top
from workbench.index.facts import fact_line
from workbench.methods.base import Method
from workbench.operators.steiner import steiner_tree
from workbench.operators.walk_distribution import with_dense_fill
from workbench.records import ContextEntity, ContextGraph, ContextRelation, Entity, Evidence, Scored
from workbench.settings import Number, Positive, validated
from workbench.trace import Trace


class Prized(NamedTuple):
    """Row → prize, best first."""

    nodes: dict[int, float]
    facts: dict[int, float]


class Subgraph(NamedTuple):
    """Phrases and facts by row, and what they are worth: prizes less costs."""

    nodes: list[int]
    facts: list[int]
    value: float


class GRetriever(Method):
    """Prizes for phrases and facts, the Steiner tree that collects them, the passages of its facts."""

    name = "g_retriever"
    paper = "G-Retriever (arXiv 2402.07630); its ranking of passages is our own"
    layers = ("passages", "facts")
    scale = "facts"

    @validated
    class Settings:
        """`nodes`, `edges`: how many phrases and facts have a prize. `edge_cost`: of each edge of the subgraph.
        `dense_fill`: whether the dense ranking follows the passages of the subgraph."""

        profile: str = "webqsp"
        nodes: Positive = 3
        edges: Positive = 5
        edge_cost: Annotated[Number, Field(gt=0, title="cost")] = 0.5
        dense_fill: bool = True

    profiles: Mapping = {"webqsp": {"nodes": 3, "edges": 5}, "scene_graphs": {"nodes": 3, "edges": 3}}

    def prepare(self) -> None:
        self._facts, self._passages = self.index.facts, self.index.passages
        self._vectors = np.asarray(self._facts.phrase_vectors), np.asarray(self._facts.fact_vectors)
        ends = self._facts.subjects, self._facts.objects
        both = np.concatenate(ends), np.concatenate(ends[::-1])
        shape = (len(self._facts.phrases),) * 2
        self._costs = sp.coo_array((np.ones(len(both[0])), both), shape=shape).tocsr()
        self._costs.data[:] = self.settings.edge_cost
        self._costs.sort_indices()
        self._parts = connected_components(self._costs, directed=False)[1]

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        with trace.span("EMBEDDING", "encode question", text=question):
            vector = self.index.encode_query(question, "facts")
        cosines = [vectors @ vector for vectors in self._vectors]
        dense = np.asarray(self._passages.vectors) @ self.index.encode_query(question, "passages")
        prized = self.prizes(cosines, trace)
        subgraph = self.subgraph(prized, cosines[1], trace)
        scores = self.passages(subgraph.facts, cosines[1], trace)
        why = "the subgraph holds no fact" if len(self._facts.facts) else "the index holds no fact"
        states = self._stating(subgraph.facts)
        return Evidence(
            question,
            self.label,
            self.scale,
            with_dense_fill(self._passages.passages, scores, dense, k, self.settings.dense_fill or not scores),
            entities=tuple(Scored(Entity(self._facts.phrases[row]), float(cosines[0][row])) for row in subgraph.nodes),
            facts=tuple(
                Scored(self._facts.triple(row, passages), float(cosines[1][row]))
                for row, passages in zip(subgraph.facts, states)
            ),
            selected=min(k, len(scores)) or None,
            fallback=None if scores else f"dense ranking, because {why}",
            context=self.context(subgraph) if scores else None,
        )

    def prizes(self, cosines: list[np.ndarray], trace: Trace) -> Prized:
        """The phrases and facts closest to the question, with k, k - 1, … 1."""
        with trace.span("RETRIEVER", "prizes", nodes=self.settings.nodes, edges=self.settings.edges) as span:
            ranks = [top(values, k) for values, k in zip(cosines, (self.settings.nodes, self.settings.edges))]
            most = self.settings.nodes, self.settings.edges
            prized = Prized(*({int(row): float(k - i) for i, row in enumerate(rows)} for k, rows in zip(most, ranks)))
            phrases = [(self._facts.phrases[row], prize) for row, prize in prized.nodes.items()]
            span.score([*phrases, *((self._line(row), prize) for row, prize in prized.facts.items())])
        return prized

    def subgraph(self, prized: Prized, cosines: np.ndarray, trace: Trace) -> Subgraph:
        """S: the tree, and the facts that it is made of. Of parallel facts the one with a prize or, without one, the
        one closest to the question."""
        with trace.span("CHAIN", "collect prizes", edge_cost=self.settings.edge_cost) as span:
            costs, prizes = self._with_prizes(prized)
            tree = steiner_tree(costs, prizes, self._parts)
            free = [row for row, prize in prized.facts.items() if prize > self.settings.edge_cost]
            held = [row for row in free if int(self._facts.subjects[row]) in tree.nodes]
            nodes = {*tree.nodes, *(int(self._facts.objects[row]) for row in held)}
            joined = {frozenset(self._ends(row)) for row in held}
            between = (self._facts.between(a, b) for a, b in tree.edges if frozenset((a, b)) not in joined)
            held += [max(rows, key=lambda row: (prized.facts.get(row, 0.0), cosines[row], -row)) for rows in between]
            facts = sorted(held, key=lambda row: (-cosines[row], row))
            span.set(nodes=[self._facts.phrases[row] for row in sorted(nodes)], value=tree.value)
            span.score((self._line(row), cosines[row]) for row in facts)
        return Subgraph(sorted(nodes), facts, tree.value)

    def _with_prizes(self, prized: Prized) -> tuple[sp.csr_array, dict[int, float]]:
        """The costs of edges, and the prizes of phrases, once the facts with a prize are cheaper or free."""
        costs, prizes = self._costs.copy(), dict(prized.nodes)
        for row, prize in prized.facts.items():
            subject, object = self._ends(row)
            rest = prize - self.settings.edge_cost
            if rest > 0:
                prizes[subject] = prizes.get(subject, 0.0) + rest
            for start, end in ((subject, object), (object, subject)):
                cells = costs.indices[slice(*costs.indptr[start : start + 2])]
                cell = costs.indptr[start] + np.searchsorted(cells, end)
                costs.data[cell] = min(costs.data[cell], max(0.0, -rest))
        return costs, prizes

    def passages(self, facts: Iterable[int], cosines: np.ndarray, trace: Trace) -> dict[int, float]:
        """s(p) of the passages that state a fact of the subgraph, by row."""
        with trace.span("RETRIEVER", "passages of the subgraph") as span:
            scores: dict[int, float] = {}
            for fact in facts:
                for row in self._facts.stating(fact).tolist():
                    scores[row] = scores.get(row, 0.0) + max(float(cosines[fact]), 0.0)
            best = sorted(scores, key=lambda row: (-scores[row], row))
            span.score((self._passages.passages[row].id, scores[row]) for row in best)
        return scores

    def context(self, subgraph: Subgraph) -> ContextGraph:
        """The subgraph as tables of nodes and edges, in the order in which facts name the nodes."""
        facts = [self._facts.facts[row] for row in subgraph.facts]
        names = dict.fromkeys(name for subject, _, object in facts for name in (subject, object))
        relations = (
            ContextRelation(subject, object, relation, passages=passages)
            for (subject, relation, object), passages in zip(facts, self._stating(subgraph.facts))
        )
        return ContextGraph(tuple(map(ContextEntity, names)), tuple(relations), layout="subgraph")

    def _stating(self, facts: Iterable[int]) -> list[tuple[str, ...]]:
        passages = self._passages.passages
        return [tuple(passages[row].id for row in self._facts.stating(fact)) for fact in facts]

    def _ends(self, fact: int) -> tuple[int, int]:
        return int(self._facts.subjects[fact]), int(self._facts.objects[fact])

    def _line(self, fact: int) -> str:
        return fact_line(self._facts.facts[fact])
