"""LinearRAG: entities, sentences and passages without relations; what a question names activates entities through the
sentences that resemble it, and a random walk from these ranks the passages.

Follows "LinearRAG: Linear Graph Retrieval Augmented Generation on Large-scale Corpora" (arXiv 2510.10114, section 3):

    a⁰   = the entity closest to each name of the question, with the cosine                       3.2
    σ    = the cosine of the question and each sentence
    aᵗ   = max(Mᵀ (σ ⊙ M aᵗ⁻¹), aᵗ⁻¹); of the entities that are new, those below δ are left out
    b(p) = (λ cos(q, p) + ln(1 + Σ a(e) ln(1 + N(e, p)) / L(e))) W_p      e: activated, L: its level
    I    = PageRank over entities and passages that contain them, from a and b

The first stage ends where no entity is new. The profile `released` has the values of the authors' published
configuration, `paper` leaves open what the paper does; both are on the page of the method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

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
    """`values`: a, float64 (e,). `levels`: L, int (e,), 1 for the entities of the question, 0 where not activated."""

    values: np.ndarray
    levels: np.ndarray


class LinearRAG(Method):
    """Entity activation by semantic bridging over sentences, passages by personalised PageRank over entities."""

    name = "linearrag"
    paper = "LinearRAG (arXiv 2510.10114)"
    layers = ("passages", "trigraph")
    scale = "ppr"
    profiles: Mapping = {
        "released": {},
        "paper": {"sentences": None, "delta": 1, "iterations": 4, "trade_off": 1, "passage_weight": 1, "damping": 0.85},
    }

    @validated
    class Settings:
        """`sentences`: of those that mention a newly activated entity, so many of the closest to the question pass its
        activation on, each once; with `none` all sentences pass the sum of their entities on, as in the equation.
        `delta`: δ; what is passed on by one of the `sentences`, or the activation of a new entity, is left out below
        it. `iterations`: of the activation, at most. `trade_off`: λ, the weight of the cosine beside what the activated
        entities give a passage. `passage_weight`: W_p. `tolerance`: the L1 change at which the walk stops."""

        profile: str = "released"
        sentences: Positive | None = 1
        delta: NonNegative = 0.5
        iterations: Positive = 3
        trade_off: NonNegative = 1.5
        passage_weight: NonNegative = 0.05
        damping: Damping = 0.5
        tolerance: Number = 1e-6

    def prepare(self) -> None:
        self._graph, self._passages = self.index.trigraph, self.index.passages
        self._row = {name: row for row, name in enumerate(self._graph.entities)}
        self._mentioned_in = sp.csr_array(self._graph.mention.T)
        self._logarithm = self._graph.contain.astype(np.float64).log1p()  # ln(1 + N)
        contain = self._graph.contain.astype(bool).astype(np.float64)
        self._walk = Walk(sp.block_array([[None, contain.T], [contain, None]], format="csr"))

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        with trace.span("EMBEDDING", "encode question", text=question):
            vector = self.index.encode_query(question, "passages")
        scores, scale, fallback, entities = np.asarray(self._passages.vectors) @ vector, "cosine", None, ()
        seeds, reason = self.link(question, trace)
        if seeds:
            active = self.activate(seeds, np.maximum(self._graph.sentence_vectors @ vector, 0.0), trace)
            scores, scale = self.walk(active, self.importance(active, scores, trace), trace), self.scale
            entities = tuple(Scored(Entity(name), value) for name, value in self._strongest(active.values, SHOWN))
        else:
            fallback = f"dense ranking, because {reason}"
        best = top(scores, k)
        passages = ranked([self._passages.passages[row] for row in best], scores[best])
        return Evidence(question, self.label, scale, passages, entities, fallback=fallback)

    def link(self, question: str, trace: Trace) -> tuple[dict[int, float], str]:
        """(entity → its cosine with the name that it is closest to, the reason should there be none)."""
        with trace.span("RETRIEVER", "link entities") as span:
            names = [mention.name for mention in mentioned(question) if mention.named]
            seeds: dict[int, float] = {}
            for name in names if self._row else ():
                entity, cosine = self._closest(name)
                if cosine > 0:
                    seeds[entity] = max(cosine, seeds.get(entity, 0.0))
            span.set(names=names)
            span.score((self._graph.entities[row], cosine) for row, cosine in seeds.items())
        return seeds, "no entity of the index is like what it names" if names else "the question names no entity"

    def _closest(self, name: str) -> tuple[int, float]:
        if name in self._row:  # its own vector is the closest
            return self._row[name], 1.0
        cosines = self._graph.entity_vectors @ self.index.encode_query(name, "phrases")
        return int(cosines.argmax()), float(cosines.max())

    def activate(self, seeds: Mapping[int, float], sigma: np.ndarray, trace: Trace) -> Activation:
        """Stage 1: from the entities of the question over sentences, weighted by their cosines, to further entities."""
        values, levels = np.zeros(len(self._row)), np.zeros(len(self._row), dtype=np.int64)
        values[list(seeds)], levels[list(seeds)] = list(seeds.values()), 1
        unused = np.ones(len(sigma), dtype=bool)
        for iteration in range(1, self.settings.iterations + 1):
            with trace.span("CHAIN", f"bridge {iteration}") as span:
                if self.settings.sentences is None:
                    through = sigma * (self._graph.mention @ values)
                else:
                    through = self._chosen(np.where(levels == iteration, values, 0.0), sigma, unused)
                reached = np.maximum(self._mentioned_in @ through, values)
                new = (levels == 0) & (reached >= self.settings.delta) & (reached > 0)
                values = np.where(new | (levels > 0), reached, 0.0)
                levels[new] = iteration + 1
                sentences = [self._graph.sentences[row] for row in top(through, TRACED) if through[row] > 0]
                span.set(new=int(new.sum()), sentences=sentences)
                span.score(self._strongest(np.where(new, values, 0.0)))
            if not new.any():
                break
        return Activation(values, levels)

    def _chosen(self, latest: np.ndarray, sigma: np.ndarray, unused: np.ndarray) -> np.ndarray:
        """What sentences pass on if each of the `latest` activations, the strongest first, goes over its closest
        `sentences` that are `unused`, which they then are no longer; float64 (s,)."""
        through = np.zeros(len(sigma))
        starts, mentioning = self._mentioned_in.indptr, self._mentioned_in.indices
        for entity in top(latest, np.count_nonzero(latest)):
            rows = mentioning[starts[entity] : starts[entity + 1]]
            rows = rows[unused[rows]]
            closest = rows[top(sigma[rows], self.settings.sentences)]
            unused[closest], through[closest] = False, sigma[closest] * latest[entity]
        return np.where(through >= self.settings.delta, through, 0.0)

    def importance(self, active: Activation, cosines: np.ndarray, trace: Trace) -> np.ndarray:
        """b(p): what a passage begins with, by its cosine and by the activated entities that it contains; float64,
        (n_p,)."""
        with trace.span("RETRIEVER", "score passages", trade_off=self.settings.trade_off) as span:
            share = active.values / np.maximum(active.levels, 1)
            own = self.settings.trade_off * np.maximum(cosines, 0.0)
            begins = (own + np.log1p(self._logarithm @ share)) * self.settings.passage_weight
            span.score((self._passages.passages[row].id, begins[row]) for row in top(begins, TRACED))
        return begins

    def walk(self, active: Activation, begins: np.ndarray, trace: Trace) -> np.ndarray:
        """Stage 2: I of every passage, float64 (n_p,)."""
        with trace.span("CHAIN", "walk", damping=self.settings.damping) as span:
            reset = np.concatenate([active.values, begins])
            walked = self._walk(reset, self.settings.damping, tolerance=self.settings.tolerance)
            entities, passages = np.split(walked.p, [len(active.values)])
            span.set(iterations=walked.iterations, mass_on_passages=float(passages.sum()))
            span.score(self._strongest(entities))
        return passages

    def _strongest(self, values: np.ndarray, most: int = TRACED) -> Iterator[tuple[str, float]]:
        return ((self._graph.entities[row], float(values[row])) for row in top(values, most) if values[row] > 0)
