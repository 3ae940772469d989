"""LinearRAG: entities, sentences and passages without relations; what a question names activates entities through the
sentences that resemble it, and a random walk from these ranks the passages.

Follows "LinearRAG: Linear Graph Retrieval Augmented Generation on Large-scale Corpora" (arXiv 2510.10114, section 3),
the paper alone:

    a⁰   = the entity closest to each name of the question, with the cosine                       3.2
    σ    = the cosine of the question and each sentence
    aᵗ   = max(Mᵀ (σ ⊙ M aᵗ⁻¹), aᵗ⁻¹); of the entities that are new, those below δ are left out
           or, as in `bridge=max`, with the greatest in place of the sums of the two products
    b(p) = (λ cos(q, p) + ln(1 + Σ a(e) ln(1 + N(e, p)) / L(e))) W_p      e: activated, L: its level
    I    = PageRank over entities and passages that contain them, from a and b

The first stage ends where no entity is new. What the paper leaves open is on the page of the method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import matmul
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from workbench.encoding.similarity import top
from workbench.language.mentions import mentioned
from workbench.methods.base import Method
from workbench.operators.pagerank import Damping, Walk
from workbench.records import Entity, Evidence, Scored, ranked
from workbench.settings import NonNegative, Number, Positive, validated
from workbench.trace import Trace

SHOWN = 50  # activated entities in the evidence, the strongest
TRACED = 10  # entities, sentences and passages of a stage that the trace lists


class Activation(NamedTuple):
    """values  float64 (e,): a
    levels  int (e,): L, 1 for the entities of the question, 0 for those that are not activated
    """

    values: np.ndarray
    levels: np.ndarray


class LinearRAG(Method):
    """Entity activation by semantic bridging over sentences, passages by personalised PageRank over entities."""

    name = "linearrag"
    paper = "LinearRAG (arXiv 2510.10114)"
    layers = ("passages", "trigraph")
    scale = "ppr"

    @validated
    class Settings:
        """`bridge`: an entity gets the `sum` of what all its sentences pass on, each the sum of its entities, as the
        equation has it, or the `max` of both, a single chain, which stays a product of cosines. `delta`: the activation
        below which a new entity is left out. `iterations`: of the activation, at most. `trade_off`: λ, the weight of
        the cosine beside what the activated entities give a passage. `passage_weight`: W_p. `tolerance`: the L1 change
        at which the walk stops."""

        profile: str = "paper"
        bridge: Literal["sum", "max"] = "sum"
        delta: NonNegative = 1.0
        iterations: Positive = 4
        trade_off: NonNegative = 1.0
        passage_weight: NonNegative = 1.0
        damping: Damping = 0.85
        tolerance: Number = 1e-6

    profiles: Mapping = {"paper": {"bridge": "sum", "iterations": 4, "damping": 0.85}}

    def prepare(self) -> None:
        self._graph, self._passages = self.index.trigraph, self.index.passages
        self._row = {name: row for row, name in enumerate(self._graph.entities)}
        self._mention = self._graph.mention
        self._mentioned_in = sp.csr_array(self._mention.T)
        self._logarithm = self._graph.contain.copy()
        self._logarithm.data = np.log1p(self._logarithm.data.astype(np.float64))  # ln(1 + N)
        contain = self._graph.contain.astype(bool).astype(np.float64)
        self._walk = Walk(sp.block_array([[None, contain.T], [contain, None]], format="csr"))

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        with trace.span("EMBEDDING", "encode question", text=question):
            vector = self.index.encode_query(question, "passages")
        cosines = np.asarray(self._passages.vectors) @ vector
        seeds, reason = self.link(question, trace)
        if reason:
            best = top(cosines, k)
            passages = ranked([self._passages.passages[row] for row in best], cosines[best])
            return Evidence(question, self.label, "cosine", passages, fallback=f"dense ranking, because {reason}")
        active = self.activate(seeds, np.maximum(self._graph.sentence_vectors @ vector, 0.0), trace)
        scores = self.walk(active, self.importance(active, cosines, trace), trace)
        best = top(scores, k)
        strongest = [row for row in top(active.values, SHOWN) if active.levels[row]]
        return Evidence(
            question,
            self.label,
            self.scale,
            ranked([self._passages.passages[row] for row in best], scores[best]),
            entities=tuple(Scored(Entity(self._graph.entities[row]), float(active.values[row])) for row in strongest),
        )

    def link(self, question: str, trace: Trace) -> tuple[dict[int, float], str]:
        """(entity → its cosine with the name that it is closest to, why there is none)."""
        with trace.span("RETRIEVER", "link entities") as span:
            names = [mention.name for mention in mentioned(question) if mention.named]
            seeds: dict[int, float] = {}
            for name in names if self._row else ():
                entity, cosine = self._closest(name)
                if cosine > 0:
                    seeds[entity] = max(cosine, seeds.get(entity, 0.0))
            span.set(names=names)
            span.score((self._graph.entities[row], cosine) for row, cosine in seeds.items())
        if seeds:
            return seeds, ""
        return seeds, "the question names no entity" if not names else "no entity of the index is like what it names"

    def _closest(self, name: str) -> tuple[int, float]:
        if name in self._row:  # its own vector is the closest
            return self._row[name], 1.0
        cosines = self._graph.entity_vectors @ self.index.encode_query(name, "phrases")
        return int(cosines.argmax()), float(cosines.max())

    def activate(self, seeds: Mapping[int, float], sigma: np.ndarray, trace: Trace) -> Activation:
        """Stage 1: from the entities of the question over sentences, weighted by their cosines, to further entities."""
        values, levels = np.zeros(len(self._row)), np.zeros(len(self._row), dtype=np.int64)
        values[list(seeds)], levels[list(seeds)] = list(seeds.values()), 1
        joined = matmul if self.settings.bridge == "sum" else _greatest
        for iteration in range(1, self.settings.iterations + 1):
            with trace.span("CHAIN", f"bridge {iteration}") as span:
                through = sigma * joined(self._mention, values)
                reached = np.maximum(joined(self._mentioned_in, through), values)
                new = (levels == 0) & (reached >= self.settings.delta) & (reached > 0)
                values = np.where(new | (levels > 0), reached, 0.0)
                levels[new] = iteration + 1
                span.set(new=int(new.sum()), sentences=self._sentences(through) if trace else [])
                span.score(self._strongest(np.where(new, values, 0.0))) if trace else None
            if not new.any():
                break
        return Activation(values, levels)

    def importance(self, active: Activation, cosines: np.ndarray, trace: Trace) -> np.ndarray:
        """b(p): what a passage begins with, by its cosine and by the activated entities that it contains; float64,
        (n_p,)."""
        with trace.span("RETRIEVER", "score passages", trade_off=self.settings.trade_off) as span:
            share = np.divide(active.values, active.levels, out=np.zeros_like(active.values), where=active.levels > 0)
            own = self.settings.trade_off * np.maximum(cosines, 0.0)
            begins = (own + np.log1p(self._logarithm @ share)) * self.settings.passage_weight
            if trace:
                span.score((self._passages.passages[row].id, begins[row]) for row in top(begins, TRACED))
        return begins

    def walk(self, active: Activation, begins: np.ndarray, trace: Trace) -> np.ndarray:
        """Stage 2: I of every passage, float64 (n_p,)."""
        with trace.span("CHAIN", "walk", damping=self.settings.damping) as span:
            reset = np.concatenate([active.values, begins])
            walked = self._walk(reset, self.settings.damping, tolerance=self.settings.tolerance)
            entities = len(active.values)
            span.set(iterations=walked.iterations, mass_on_passages=float(walked.p[entities:].sum()))
            span.score(self._strongest(walked.p[:entities])) if trace else None
        return walked.p[entities:]

    def _strongest(self, values: np.ndarray) -> Iterator[tuple[str, float]]:
        return ((self._graph.entities[row], float(values[row])) for row in top(values, TRACED) if values[row] > 0)

    def _sentences(self, through: np.ndarray) -> list[str]:
        """Those over which most is passed on."""
        return [self._graph.sentences[row] for row in top(through, TRACED) if through[row] > 0]


def _greatest(matrix: sp.csr_array, values: np.ndarray) -> np.ndarray:
    """In place of the sum of a product of a 0-1 matrix, none of whose rows is empty, the greatest of its terms."""
    return np.maximum.reduceat(values[matrix.indices], matrix.indptr[:-1])
