"""CatRAG steers HippoRAG 2's walk by the question, so that it does not drift into hubs.

Follows "CatRAG" (arXiv 2602.01965); profile `released` is the authors' later code (kwunhang/CatRAG, ce06b45). The
transition matrix of HippoRAG 2 is fixed when the index is built (the "static graph fallacy"). Here each question edits
the out-edges of its seeds before the walk, on a copy:

    facts    = filter(link(question))          as in HippoRAG 2     } one round of requests
    entities = name(question)                                       }
    seeds    = phrases of the facts
    boost the edges from their phrases to the passages of the facts   key facts, without a request
    seeds   += the phrases of the entities, weakly                    symbolic anchoring
    for the strongest seeds, side by side:                            dynamic edge weighting: one request each
        rate the neighbours; an edge weighs as much as its end is of use
    p        = PageRank over the edited graph, from seeds and passages
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from workbench.llm.deferrals import each
from workbench.methods.catrag.rating import (
    Anchors,
    DirectedGraph,
    Edit,
    EditedEdges,
    OutEdges,
    Rated,
    Rater,
    by_edge,
    by_target,
    key_passages,
)
from workbench.methods.hipporag2 import HippoRAG2, Linked
from workbench.operators.pagerank import Walk
from workbench.operators.walk_distribution import WalkDistribution
from workbench.records import Evidence
from workbench.settings import NonNegative, Positive, parse_spec, settle, spec_of, validated
from workbench.steps import named_entities
from workbench.text import PHRASE_RULES, storable
from workbench.threads import in_order
from workbench.trace import Trace

Seeds = list[tuple[int, float]]  # (phrase row, reset weight)
SAME = 1 - 1e-5  # cosine from which two vectors count as equal: float32 keeps seven digits
SHAPING = ("merge", "counted", "synonym_weight", "specificity", "filter")  # the settings that `prepare` reads


class CatRAG(HippoRAG2):
    """HippoRAG 2 with a transition matrix that each question edits: anchors, rated edges, key-fact passages."""

    name = "catrag"
    paper = "CatRAG (arXiv 2602.01965)"
    layers = ("passages", "facts", "synonyms", "entity_summaries")
    steps = ("fact_filter", "question_entities", "rate_neighbours")

    @validated
    class Settings(HippoRAG2.Settings):
        """Those of HippoRAG 2, and (section and table of the paper as in docs/catrag.md)

        anchoring        whether the entities of the question become weak seeds, of weight `epsilon` / |P_e|;
                         `anchor_count`: |P_e| of the `anchor`, or, as in the released code, of the phrase handled
                         before it (`previous`)
        dynamic_weights  whether edges of the `n_seed` strongest seeds are weighted by the ratings of their ends; at
                         most `k_edge` neighbours of a seed are rated, the others have the factor `skipped`
        rating_scale     a factor of all factors of rated edges
        ratings_of       an `edge`: relations from the seed that it was rated for; a `target`: all edges from scored
                         seeds to it, and `k_edge` counts parallel edges
        batch            neighbours in one request
        key_facts        whether edges to the passages of kept facts weigh more: `beta` is added to their factor 1
                         (`boost=add`), or is their factor and the sum over a phrase's passages stays (`redistribute`)
        synonym_weight   a factor of synonym edges"""

        profile: str = "paper"
        anchoring: bool = True
        epsilon: NonNegative = 0.2
        anchor_count: Literal["anchor", "previous"] = "anchor"
        dynamic_weights: bool = True
        n_seed: Positive = 5
        k_edge: Positive = 15
        batch: Positive = 15
        skipped: NonNegative = 0.2
        rating_scale: NonNegative = 1.0
        ratings_of: Literal["edge", "target"] = "edge"
        key_facts: bool = True
        beta: NonNegative = 2.5
        boost: Literal["add", "redistribute"] = "add"
        synonym_weight: NonNegative = 1.0

    profiles: Mapping = {
        "paper": {},
        "released": {
            "merge": "overwrite_stated",
            "synonym_weight": 3.0,
            "anchor_count": "previous",
            "skipped": 0.3,
            "rating_scale": 2.0,
            "ratings_of": "target",
            "boost": "redistribute",
        },
    }

    def prepare(self) -> None:
        super().prepare()
        self._rater = Rater(self.index, self.engine, self.settings, self._graph)
        self._phrase_vectors = np.asarray(self._facts.phrase_vectors)
        self._passages_of_phrase = self.index.graph.passages_of
        self._normalise = PHRASE_RULES[self._facts.metadata["settings"]["normalise"]]

    def _prepared_walk(self) -> Walk:
        self._graph = DirectedGraph(self.graph, self.settings.merge, self.settings.synonym_weight)
        return self._graph.walk

    def adjusted(self, **settings: Any) -> Self:
        """This method with other settings. It shares the prepared state, unless one of the settings changes that."""
        given, other = {**parse_spec(self.label)[1], **settings}, copy(self)
        other.settings = settle(self.name, self.Settings, given, self.profiles)
        other.label = spec_of(self.name, given)
        if any(getattr(self.settings, name) != getattr(other.settings, name) for name in SHAPING):
            other.prepare()
        else:
            other._rater = Rater(self.index, self.engine, other.settings, self._graph)
        return other

    def walk_distribution(self, question: str, trace: Trace | None = None) -> WalkDistribution:
        """Where the probability of the walk goes, before passages are ranked by it."""
        trace = trace or Trace("off")
        (linked, reason), (entities, unnamed) = self.recall(question, trace)
        passages = self.score_passages(question, trace)
        seeds = self.add_anchors(entities, linked, self.seed_phrases(linked, trace), trace) if linked.rows else []
        if reason := reason or self.no_start(seeds):
            return WalkDistribution(self.index, question, self.label, [], [], passages, None, reason)
        edges, unrated = self.edit_edges(question, linked, seeds, trace)
        result = self.walk(seeds, passages, trace, self._graph.walk_over(edges))
        facts = list(zip(linked.rows, linked.scores))
        unnamed = unnamed and f"no anchors, because naming entities failed: {unnamed}"
        failed = "; ".join(filter(None, [unnamed, unrated]))
        return WalkDistribution(self.index, question, self.label, seeds, facts, passages, result, failed)

    def rank(self, walk: WalkDistribution, k: int) -> Evidence:
        """As in HippoRAG 2; `fallback` names the requests that failed."""
        evidence = super().rank(walk, k)
        return replace(evidence, fallback=walk.fallback) if walk.pagerank and walk.fallback else evidence

    def recall(self, question: str, trace: Trace) -> tuple[tuple[Linked, str], tuple[tuple[str, ...], str]]:
        """The kept facts and why there are none, the entities of the question and why they failed: two requests that do
        not wait for each other. Without facts, entities are not used."""
        tasks, branches = (self.recall_facts, self.name_entities), (Trace(trace.level), Trace(trace.level))
        try:
            if getattr(self.engine, "workers", 1) > 1:
                return tuple(in_order(lambda pair: pair[0](question, pair[1]), zip(tasks, branches), len(tasks)))
            return tuple(each(lambda task, branch: task(question, branch), tasks, branches))
        finally:
            for branch in branches:
                trace.graft(branch)

    def recall_facts(self, question: str, trace: Trace) -> tuple[Linked, str]:
        return self.filter_facts(question, self.link_facts(question, trace), trace)

    def name_entities(self, question: str, trace: Trace) -> tuple[tuple[str, ...], str]:
        """The entities that the question names; where the request fails, none, and why."""
        if not self.settings.anchoring:
            return (), ""
        inputs = [named_entities.Question(storable(question))]
        (result,) = self.engine.run(named_entities.OF_QUESTION, inputs, trace=trace)
        return tuple(result.value.named_entities) if result.value else (), result.failure or ""

    def add_anchors(self, entities: Sequence[str], linked_facts: Linked, seeds: Seeds, trace: Trace) -> Seeds:
        """Symbolic anchoring: the phrase of each entity is a seed of weight ε / |P_a|, unless it is one already."""
        if not (self.settings.anchoring and self.settings.epsilon):
            return seeds
        with Anchors.open(trace) as write:
            linked = self.link_entities(entities)
            weights, added = dict(seeds), []
            for phrase, passages in self._counted(linked, weights, linked_facts):
                weights[phrase] = self.settings.epsilon / passages
                added.append((self._facts.phrases[phrase], weights[phrase]))
            write(
                entities=tuple(entities),
                linked=tuple((name, self._facts.phrases[row], cosine) for row, (name, cosine) in linked.items()),
                added=tuple(added),
            )
        return sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))

    def link_entities(self, entities: Sequence[str]) -> dict[int, tuple[str, float]]:
        """Phrase row → the first entity that it is closest to, and their cosine. An entity without a letter or digit is
        linked to nothing."""
        linked: dict[int, tuple[str, float]] = {}
        for name in entities:
            if (phrase := self._normalise(name)) and self._facts.phrases:
                row, cosine = self._closest(phrase)
                linked.setdefault(row, (name, cosine))
        return linked

    def _closest(self, phrase: str) -> tuple[int, float]:
        """The phrase closest to this one, and their cosine. Nothing is closer than the phrase itself, which saves the
        comparison with all others, unless the encoder reads a query otherwise than a phrase."""
        vector, own = self.index.encode_query(phrase, "phrases"), self._facts.phrase_row.get(phrase)
        if own is not None and (cosine := float(self._phrase_vectors[own] @ vector)) > SAME:
            return own, cosine
        cosines = self._phrase_vectors @ vector
        row = int(np.argmax(cosines))
        return row, float(cosines[row])

    def _counted(
        self, linked: Mapping[int, object], weights: Mapping[int, float], linked_facts: Linked
    ) -> Iterator[tuple[int, float]]:
        """The linked phrases that are no seeds yet, each with the |P| that its weight is divided by. `weights` grows
        meanwhile. The released code takes the phrase that it handled before, first the object of the last kept fact,
        and goes through a set of numbers (docs/traps.md, CatRAG)."""
        released, before = self.settings.anchor_count == "previous", int(self._facts.objects[linked_facts.rows[-1]])
        for phrase in (
            {row for row in linked} if released else linked
        ):  # the order in which a growing set would hold them
            if not weights.get(phrase):
                yield phrase, float(self._passages_of_phrase[before if released else phrase])
                before = phrase

    def edit_edges(self, question: str, linked_facts: Linked, seeds: Seeds, trace: Trace) -> tuple[OutEdges, str]:
        """The edited out-edges of the phrases of kept facts and of the strongest seeds, and what failed, in words."""
        settings, facts = self.settings, self._facts
        ends = [phrase for row in linked_facts.rows for phrase in (int(facts.subjects[row]), int(facts.objects[row]))]
        scored = seeds[: settings.n_seed] if settings.dynamic_weights else []
        edges = self._graph.out_edges([*ends, *(phrase for phrase, _ in scored)])
        rated, failed = self._rater.rate(question, linked_facts.rows, scored, trace)
        with EditedEdges.open(trace) as write:
            if settings.key_facts:
                self.boost_key_facts(edges, linked_facts)
            self.weigh(edges, rated)
            write(edges=tuple(self._named(edit) for edit in edges.edits()) if trace else ())
        return edges, failed

    def boost_key_facts(self, edges: OutEdges, linked_facts: Linked) -> None:
        """The edges from a kept fact's phrases to the passages that state it weigh (1 + β) times as much (Eq. 3)."""
        facts, add = self._facts, self.settings.boost == "add"
        stated = [(int(facts.subjects[row]), int(facts.objects[row]), facts.stating(row)) for row in linked_facts.rows]
        factor = self.settings.beta + add
        for phrase, passages in key_passages(stated).items():
            edges.scale(phrase, "context", dict.fromkeys(passages, factor))
            if not add:
                edges.rescale(phrase, "context")

    def weigh(self, edges: OutEdges, rated: Sequence[Rated]) -> None:
        """Stage II: an edge from a scored seed has the factor of its rating."""
        scale, skipped = self.settings.rating_scale, self.settings.skipped
        if self.settings.ratings_of == "target":
            factors = by_target(rated, scale, skipped)
            for rating in rated:
                for kind in ("relation", "synonym"):
                    edges.scale(rating.neighbours.seed, kind, factors)
            return
        for seed, factors in by_edge(rated, scale, skipped).items():
            edges.scale(seed, "relation", factors)

    def _named(self, edit: Edit) -> tuple[str, str, str, float, float]:
        source, target, kind, before, after = edit
        names = self._facts.phrases
        end = self._passages.passages[target].id if kind == "context" else names[target]
        return names[source], end, kind, before, after
