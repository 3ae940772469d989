"""HippoRAG 2: a question is linked to facts, and a random walk from their phrases ranks the passages.

Follows "From RAG to Memory: Non-Parametric Continual Learning for Large Language Models" (arXiv 2502.14802;
hyper-parameters: appendix G.1) and the authors' code (OSU-NLP-Group/HippoRAG, commit c617143).

Where the two differ, or the paper is silent, the profile decides:

    setting         released      paper
    specificity     true          false     divide a phrase's weight by its number of passages (in the code only)
    merge           overwrite     sum       weight of a pair that is both related and synonymous
    filter_match    closest       exact     how the filter's answer is mapped back to the candidates
    counted         spellings     facts     whether two spellings of a fact in one passage count twice in a weight

`released` is the default, because the published numbers were made with the code. Not included: the DSPy-tuned filter
prompt (ours is shorter) and task instructions, unless the encoder has them. Different from the code: equal scores are
ordered by rank instead of by hash; the reason for falling back to dense retrieval is recorded, and an engine failure is
distinguished from an empty answer."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from workbench.encoding.similarity import minmax, top
from workbench.index import Index
from workbench.index.facts import fact_line
from workbench.index.graph import MERGES, Graph
from workbench.methods.base import Method
from workbench.operators.pagerank import Damping, PageRankResult, Walk
from workbench.operators.walk_distribution import WalkDistribution
from workbench.records import Entity, Evidence, Scored, ranked
from workbench.settings import NonNegative, Number, Positive, validated
from workbench.steps import fact_filter
from workbench.trace import Trace

_COMPARED = 1_000  # characters of a fact that are compared with those that were shown
TRACED = 10  # passages and phrases of each stage that the trace lists


class Linked(NamedTuple):
    """Facts by row, best first, with their scores s_f."""

    rows: list[int]
    scores: list[float]


class HippoRAG2(Method):
    """Query-to-triple linking, recognition memory, personalised PageRank over phrases and passages."""

    name = "hipporag2"
    paper = "From RAG to Memory (arXiv 2502.14802)"
    layers = ("passages", "facts", "synonyms")
    steps = ("fact_filter",)
    scale = "ppr"

    @validated
    class Settings:
        """Defaults of paper (appendix G.1) and code. `filter`: `step` (asks the engine) or `identity` (keeps all
        candidates). `filter_floor`: the least string similarity at which a fact that the filter changed is mapped to
        the closest candidate. `counted`: the weight of a relation counts the passages that state it, each for every
        of its `spellings` or once (`facts`). `tolerance`: the L1 change at which the walk stops."""

        profile: str = "released"
        linking_top_k: Positive = 5
        seed_phrases: Positive = 5
        filter: Literal["step", "identity"] = "step"
        filter_match: Literal["closest", "exact"] = "closest"
        filter_floor: Number = 0.0
        specificity: bool = True
        passage_weight: NonNegative = 0.05
        damping: Damping = 0.5
        merge: Literal[*MERGES] = "overwrite"
        counted: Literal["spellings", "facts"] = "spellings"
        tolerance: Number = 1e-6

    profiles: Mapping = {
        "released": {
            "specificity": True,
            "merge": "overwrite",
            "filter_match": "closest",
            "counted": "spellings",
        },
        "paper": {"specificity": False, "merge": "sum", "filter_match": "exact", "counted": "facts"},
    }

    def prepare(self) -> None:
        if self.settings.filter == "identity":
            self.steps = tuple(name for name in self.steps if name != fact_filter.STEP.name)
        graph = self.graph
        self._facts, self._passages = self.index.facts, self.index.passages
        self._fact_vectors = np.asarray(self._facts.fact_vectors)
        self._passages_of = graph.passages_of if self.settings.specificity else None
        self._walk = self._prepared_walk()

    @property
    def graph(self) -> Graph:
        """The index's graph, whose relations are counted as the settings say."""
        return self.index.graph_of_spellings if self.settings.counted == "spellings" else self.index.graph

    def _prepared_walk(self) -> Walk:
        return Walk(self.graph.weights(self.settings.merge))

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        return self.rank(self.walk_distribution(question, trace), k)

    def walk_distribution(self, question: str, trace: Trace | None = None) -> WalkDistribution:
        """Steps 1 to 6: the probability distribution of the walk, before it ranks the passages."""
        trace = trace or Trace("off")
        candidates = self.link_facts(question, trace)
        linked, reason = self.filter_facts(question, candidates, trace)
        passages = self.score_passages(question, trace)
        seeds = self.seed_phrases(linked, trace) if linked.rows else []
        reason = reason or self.no_start(seeds)
        result = None if reason else self.walk(seeds, passages, trace)
        facts = list(zip(linked.rows, linked.scores))
        return WalkDistribution(self.index, question, self.label, seeds, facts, passages, result, reason)

    def link_facts(self, question: str, trace: Trace) -> Linked:
        """Step 1: the best `linking_top_k` facts. Scores are min-max scaled over *all* facts; scaling over the
        candidates alone would change every seed weight."""
        with trace.span("RETRIEVER", "link facts") as span:
            scores = self._fact_vectors @ self.index.encode_query(question, "facts")
            best = top(scores, self.settings.linking_top_k)
            low, high = (scores.min(), scores.max()) if len(scores) else (0.0, 0.0)
            scaled = (scores[best] - low) / (high - low) if high > low else np.ones(len(best))
            linked = Linked(best.tolist(), scaled.tolist())
            span.score(zip(map(self._text, linked.rows), linked.scores)) if trace else None
        return linked

    def filter_facts(self, question: str, candidates: Linked, trace: Trace) -> tuple[Linked, str]:
        """Step 2: recognition memory. Returns the kept facts in the filter's order, and if there are none, the
        reason."""
        if not candidates.rows:
            return candidates, "the index holds no fact"
        if self.settings.filter == "identity":
            return candidates, ""
        with trace.span("RERANKER", "filter facts") as span:
            facts = [self._facts.facts[row] for row in candidates.rows]
            value = fact_filter.Input(question, tuple(facts), tuple(candidates.scores))
            (result,) = self.engine.run(fact_filter.STEP, [value], trace=trace)
            chosen = self.match(result.value.facts, facts) if result.value else []
            linked = Linked([candidates.rows[i] for i in chosen], [candidates.scores[i] for i in chosen])
            span.set(kept=len(chosen), of=len(facts))
            span.score(zip(map(self._text, linked.rows), linked.scores)) if trace else None
        if linked.rows:
            return linked, ""
        return linked, f"the fact filter failed: {result.failure}" if result.failure else "the fact filter kept no fact"

    def match(self, named: Sequence[Sequence[str]], facts: Sequence[tuple[str, str, str]]) -> list[int]:
        """Positions of the candidates that the filter named, without repetition, at most `linking_top_k`.

        `closest` maps each to the most similar candidate, from `filter_floor` on: with floor 0, as in the released
        code, an invented fact becomes a real one. `exact` takes literal copies only. Of a reply that names more than
        four times as many facts as were shown, the first are read."""
        texts = [str(fact)[:_COMPARED] for fact in facts]
        chosen: list[int] = []
        for text in list(dict.fromkeys(str(tuple(fact))[:_COMPARED] for fact in named))[: 4 * len(texts)]:
            if text in texts or self.settings.filter_match == "exact":  # nothing is closer than a literal copy
                positions = [texts.index(text)] if text in texts else []
            else:
                ratios = [difflib.SequenceMatcher(None, text, other).ratio() for other in texts]
                positions = [int(np.argmax(ratios))] if max(ratios) >= self.settings.filter_floor else []
            chosen += [position for position in positions if position not in chosen]
        return chosen[: self.settings.linking_top_k]

    def no_start(self, seeds: list[tuple[int, float]]) -> str:
        """Why the walk has nowhere to start: the lowest fact of all has s_f = 0, so alone it gives seeds without
        weight, which the released code rejects."""
        weighty = self.settings.passage_weight or any(weight for _, weight in seeds)
        return "" if weighty else "the kept facts have no weight and passages are no seeds"

    def score_passages(self, question: str, trace: Trace) -> np.ndarray:
        """Step 5: d_p for every passage."""
        with trace.span("RETRIEVER", "score passages") as span:
            scores = dense_scores(self.index, question)
            if trace:
                best = top(scores, TRACED)
                span.score((self._passages.passages[row].id, scores[row]) for row in best)
        return scores

    def seed_phrases(self, linked: Linked, trace: Trace) -> list[tuple[int, float]]:
        """Step 4: the phrases of the kept facts, with their reset weights."""
        with trace.span("CHAIN", "seed phrases", specificity=self.settings.specificity) as span:
            seeds = phrase_seeds(
                linked.rows,
                linked.scores,
                self._facts.subjects,
                self._facts.objects,
                self._passages_of,
                self.settings.seed_phrases,
            )
            span.score((self._facts.phrases[row], weight) for row, weight in seeds) if trace else None
        return seeds

    def walk(
        self, seeds: list[tuple[int, float]], passages: np.ndarray, trace: Trace, over: Walk | None = None
    ) -> PageRankResult:
        """Step 6: personalised PageRank from phrase seeds and, weakly, from *all* passages, not only the best; `over`
        another matrix than the graph's, if one is given."""
        with trace.span(
            "CHAIN", "walk", damping=self.settings.damping, passage_weight=self.settings.passage_weight
        ) as span:
            reset = np.zeros(self._walk.n)
            phrases = len(self._facts.phrases)
            for phrase, weight in seeds:
                reset[phrase] = weight
            reset[phrases:] = self.settings.passage_weight * passages
            result = (over or self._walk)(reset, self.settings.damping, tolerance=self.settings.tolerance)
            if trace:
                best = top(result.p[:phrases], TRACED)
                span.set(iterations=result.iterations, mass_on_passages=float(result.p[phrases:].sum()))
                span.score((self._facts.phrases[row], result.p[row]) for row in best)
        return result

    def rank(self, walk: WalkDistribution, k: int) -> Evidence:
        """Step 7: passages by their probability. The seeds become the evidence's entities, the kept facts its facts.

        Step 3: if no fact was kept, the dense ranking on its own scale."""
        passages = self._passages.passages
        if walk.pagerank is None:
            best = top(walk.dense, k)
            best_passages = ranked([passages[row] for row in best], walk.dense[best])
            fallback = f"dense ranking, because {walk.fallback}"
            return Evidence(walk.question, self.label, "minmax-cosine", best_passages, fallback=fallback)
        best = top(walk.on_passages, k)
        return Evidence(
            walk.question,
            self.label,
            self.scale,
            ranked([passages[row] for row in best], walk.on_passages[best]),
            entities=tuple(Scored(Entity(self._facts.phrases[row]), weight) for row, weight in walk.seeds),
            facts=tuple(
                Scored(self._facts.triple(row, self._stated_in(row)), float(score)) for row, score in walk.facts
            ),
        )

    def _text(self, fact: int) -> str:
        return fact_line(self._facts.facts[fact])

    def _stated_in(self, fact: int) -> tuple[str, ...]:
        return tuple(self._passages.passages[row].id for row in self._facts.stating(fact))


def dense_scores(index: Index, question: str) -> np.ndarray:
    """d_p for every passage: cosines, min-max scaled over all passages. float64, (n_p,)."""
    return minmax(np.asarray(index.passages.vectors) @ index.encode_query(question, "passages"))


def phrase_seeds(
    facts: Sequence[int],
    scores: Sequence[float],
    subjects: np.ndarray,
    objects: np.ndarray,
    passages_of: np.ndarray | None,
    limit: int,
) -> list[tuple[int, float]]:
    """(phrase row, weight) of the phrases of the kept facts, best first.

        w_e = (1 / n_e) Σ s_f / |P_e|    over the n_e occurrences of phrase e in the kept facts

    `passages_of` holds |P_e| per phrase; None omits the division, as the paper's text does, and popular phrases then
    dominate. Equal weights, which are common, are ordered by row, that is by phrase; in the released code they come
    from an unordered set, so their order differs from run to run."""
    total: dict[int, float] = {}
    places: dict[int, int] = {}
    for fact, score in zip(facts, scores):
        for phrase in (int(subjects[fact]), int(objects[fact])):
            share = score if passages_of is None else score / passages_of[phrase]
            total[phrase] = total.get(phrase, 0.0) + share
            places[phrase] = places.get(phrase, 0) + 1
    weights = [(phrase, float(total[phrase] / places[phrase])) for phrase in total]
    return sorted(weights, key=lambda pair: (-pair[1], pair[0]))[:limit]
