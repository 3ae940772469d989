"""HippoRAG 1: the names in a question are linked to phrases, and a random walk over phrases alone ranks the passages.

Follows "HippoRAG: Neurobiologically Inspired Long-Term Memory for Large Language Models" (arXiv 2405.14831, section 2.3
and appendix) and the authors' code (OSU-NLP-Group/HippoRAG, the file `src/hipporag.py` of the first version):

    names   = question_entities(question)                 one request
    seeds   = the phrase closest to each name, weighted 1 / |P_e|          node specificity
    p       = PageRank over phrases: relations and synonyms, from the seeds
    s(d)    = Σ over the facts of d: p(subject) + p(object)                incidence of passages

Against HippoRAG 2 it has no facts in the linking, no filter and no passages in the graph. Two things follow the code,
where the paper says less: a passage counts a phrase once for each of its facts, and scores are min-max scaled. With
`ensemble`, an uncertain link (a cosine up to `recognition`) mixes the dense ranking in, half and half. Where the
question has no name, the code gives all passages the same score, in no order; here the dense ranking stands in, and the
evidence says so, as the code does with `ensemble`."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp

from workbench.encoding.similarity import minmax, top
from workbench.index.graph import MERGES
from workbench.methods.base import Method
from workbench.methods.hipporag2 import dense_scores
from workbench.operators.linking import Link, near
from workbench.operators.pagerank import Damping, Walk
from workbench.records import Entity, Evidence, Scored, ranked
from workbench.settings import Cosine, Number, validated
from workbench.steps import named_entities
from workbench.text import storable
from workbench.trace import Trace

TRACED = 10  # phrases of the walk that the trace lists


class HippoRAG1(Method):
    """Named entities of the question, node specificity, personalised PageRank over phrases, passages by incidence."""

    name = "hipporag1"
    paper = "HippoRAG (arXiv 2405.14831)"
    layers = ("passages", "facts", "synonyms")
    steps = ("question_entities",)
    scale = "minmax-ppr"

    @validated
    class Settings:
        """`specificity`: a seed weighs 1 / |P_e|, the number of passages of its phrase. `merge`: as for HippoRAG 2.
        `ensemble`: the dense ranking is mixed in where a name is linked with a cosine of at most `recognition`."""

        specificity: bool = True
        damping: Damping = 0.5
        merge: Literal[*MERGES] = "overwrite"
        ensemble: bool = False
        recognition: Cosine = 0.9
        tolerance: Number = 1e-6

    def prepare(self) -> None:
        facts, graph = self.index.facts, self.index.graph
        passage, fact = facts.stated
        ends = np.c_[facts.subjects[fact], facts.objects[fact]]
        rows, phrases = np.repeat(passage, 2), ends.ravel()
        counted = np.c_[np.ones(len(ends), bool), ends[:, 0] != ends[:, 1]].ravel()  # a phrase counts once in a fact
        shape = (graph.passages, graph.phrases)
        self._incidence = sp.csr_array((np.ones(counted.sum()), (rows[counted], phrases[counted])), shape=shape)
        self._walk = Walk(graph.weights(self.settings.merge)[: graph.phrases, : graph.phrases])
        self._passages_of = graph.passages_of
        self._passages = self.index.passages

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        names, failure = self.name_entities(question, trace)
        links = self.link(names, trace)
        if not links:
            dense = dense_scores(self.index, question)
            why = failure or ("the index holds no fact" if names else "the question names nothing")
            return self._ranked(question, dense, k, "minmax-cosine", fallback=f"dense ranking, because {why}")
        seeds = self.seeds(links)
        scores = minmax(self._incidence @ self.walk(seeds, trace))
        note = None
        if self.settings.ensemble and min(link.cosine for link in links) <= self.settings.recognition:
            scores = scores / 2 + dense_scores(self.index, question) / 2
            note = "half of the dense ranking, because a link is uncertain"
        entities = tuple(Scored(Entity(self.index.facts.phrases[row]), weight) for row, weight in seeds.items())
        return self._ranked(question, scores, k, self.scale, entities=entities, fallback=note)

    def name_entities(self, question: str, trace: Trace) -> tuple[list[str], str]:
        """(the names in the question, why there are none after a failed request)."""
        value = named_entities.Question(question)
        (result,) = self.engine.run(named_entities.OF_QUESTION, [value], trace=trace)
        names = [storable(name) for name in result.value.named_entities] if result.value else []
        return list(
            dict.fromkeys(filter(str.strip, names))
        ), f"naming failed: {result.failure}" if result.failure else ""

    def link(self, names: list[str], trace: Trace) -> list[Link]:
        """The phrase closest to each name."""
        with trace.span("RETRIEVER", "link names", names=names) as span:
            links = [link for name in names for link in near(self.index, name)]
            span.score((self.index.facts.phrases[link.phrase], link.cosine) for link in links) if trace else None
        return links

    def seeds(self, links: list[Link]) -> dict[int, float]:
        """Phrase row → its weight among the restarts of the walk, before they are normalised."""
        rows = dict.fromkeys(link.phrase for link in links)
        specific = self.settings.specificity
        return {row: float(1 / max(1, self._passages_of[row])) if specific else 1.0 for row in rows}

    def walk(self, seeds: dict[int, float], trace: Trace) -> np.ndarray:
        """The probability of each phrase, float64 (n_e,)."""
        with trace.span("CHAIN", "walk", damping=self.settings.damping) as span:
            reset = np.zeros(self._walk.n)
            reset[list(seeds)] = list(seeds.values())
            result = self._walk(reset, self.settings.damping, tolerance=self.settings.tolerance)
            if trace:
                best = top(result.p, TRACED)
                span.set(iterations=result.iterations)
                span.score((self.index.facts.phrases[row], result.p[row]) for row in best)
        return result.p

    def _ranked(self, question: str, scores: np.ndarray, k: int, scale: str, **more) -> Evidence:
        best = top(scores, k)
        passages = ranked([self._passages.passages[row] for row in best], scores[best])
        return Evidence(question, self.label, scale, passages, **more)
