"""GraphRAG's local search as a passage retriever: entities close to the question, and the passages that mention them.

Follows "From Local to Global: A Graph RAG Approach to Query-Focused Summarization" (arXiv 2404.16130) and Microsoft's
code (microsoft/graphrag, commit 6dad6d2), whose local search fills a context and ranks no passages. The ranking here
keeps the order in which the code takes text units. A passage belongs to the best-matched entity that it mentions:

    s(p) = max(0, cos(q, e)) + min(ε, gap) n / (1 + n)       n: relationships of e in p, at most 1 in all

`gap` is the difference between the cosines of the preceding entity and e: without it, ε could lift a passage over one
of a better entity. With `community`, reports count as well: s_B(p) = (1-β) s(p) + β max_c cos(q, c) rating(c) / 10 over
the communities c that p mentions. Passages that mention no matched entity follow in dense order.

Differences: no conversation history and no claims; relationships are added one by one, not entity by entity; a report
that does not fit is skipped (in the code, a long first report leaves no other). Global search ranks no passages and is
the reader `global`; the local context, cut as the code cuts it, is that of the evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from workbench import tokens
from workbench.encoding.similarity import top
from workbench.errors import IndexFault, SettingError
from workbench.index.communities import EntityGraph, mentions, text_units
from workbench.layouts import graphrag
from workbench.layouts.evidence import chunk_of, relation_of, report_of
from workbench.methods.base import Method
from workbench.records import ContextEntity, ContextGraph, Entity, Evidence, Report, Scored, Triple, ranked
from workbench.settings import Natural, Positive, Share, validated
from workbench.trace import Trace

TRACED = 10  # entities, reports and passages that the trace lists
PER_ENTITY = 10  # relationships of the local context per matched entity


class GraphRAG(Method):
    """Entities close to the question, the passages that mention them, and their communities."""

    name = "graphrag"
    paper = "From Local to Global (arXiv 2404.16130); its ranking of passages is our own"
    layers = ("passages", "facts", "communities")
    scale = "entity-cosine"

    @validated
    class Settings:
        """`entities` are matched for the local context (the code's 10, doubled by its oversampling); the number is
        doubled up to `entities_max` until k passages mention one. `level`: the finest level of communities with reports
        in the context. `tokens` of a local context; `report_share` of them for reports, `relation_share` for entities
        and relationships, the rest for text units. `dense_fill`: whether passages without a matched entity follow in
        dense order."""

        entities: Positive = 20
        entities_max: Positive = 200
        epsilon: Share = 0.01
        community: bool = False
        beta: Share = 0.15
        level: Natural = 2
        tokens: Positive = 12_000
        report_share: Share = 0.15
        relation_share: Share = 0.35
        dense_fill: bool = True

        def __post_init__(self):
            if self.entities_max < self.entities:
                raise SettingError(f"entities_max={self.entities_max} is less than entities={self.entities}; raise it")

    @property
    def reads(self) -> tuple[str, ...]:
        return (*super().reads, *(("profiles",) if self.index.phrased else ()))

    def prepare(self) -> None:
        self._passages, self._facts, self._layer = self.index.passages, self.index.facts, self.index.communities
        if self.settings.community and not self._layer.reports:
            raise IndexFault(
                f"{self.index.folder} has no report on a community, and community=true ranks by them; set "
                "community=false, or build the layer 'communities' with a smaller min_members or another engine"
            )
        self._graph = EntityGraph.of(self._facts, self.index.phrased)
        self._ranks = self._graph.ranks
        self._passage_vectors = np.asarray(self._passages.vectors)
        # Entities are identified by their phrases, as in the graph.
        self._entities = [
            Entity(phrase, entity.type, entity.description)
            for phrase, entity in zip(self._facts.phrases, self._layer.entities)
        ]
        self._entity_vectors = np.asarray(self._layer.entity_vectors)
        mentioned = mentions(self._facts, len(self._passages.passages))
        self._mentions = _with_relationships(mentioned, self._facts, self._graph)
        self._neighbours = _adjacency(self._graph)
        self._facts_of = _facts_of(self._graph)
        reported = [self._layer.communities[id] for id in self._layer.report_ids]
        self._units = text_units(reported, mentioned)
        self._row = {id: row for row, id in enumerate(self._layer.report_ids)}
        self._rating = np.array([self._layer.reports[id].rating for id in self._layer.report_ids])
        self._communities = self._units.T.tocsr()  # of each passage
        # Texts are counted once and not per question.
        self._report = lru_cache(None)(self._report_on)
        self._joining = lru_cache(100_000)(self._joining_of)

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        matched, cosines = self.match(question, trace)
        with trace.span("EMBEDDING", "encode question", text=question):
            dense = self._passage_vectors @ self.index.encode_query(question, "passages")
        if not len(matched):
            best = top(dense, k)
            best_passages = ranked([self._passages.passages[row] for row in best], np.clip(dense[best], 0, 1))
            reason = "dense ranking, because the index holds no entity"
            return Evidence(question, self.label, "cosine", best_passages, fallback=reason)
        rows, scores, owners = self.collect(matched, cosines, trace)
        described = rows[owners < self.settings.entities]  # the text units of the local context, in its order
        if self.settings.community:
            rows, scores = self.by_communities(question, rows, scores, trace)
        used = self._grown(owners, k, len(matched))
        rows, scores = self._filled(rows, scores, dense)
        local = matched[: self.settings.entities].tolist()
        with trace.span("CHAIN", "local context", entities=len(local)) as span:
            facts, reports = self.relationships(local), self.reports(local)
            context = self.context(local, facts, reports, described)
            span.set(facts=len(facts), reports=[report.id for report, _ in reports], units=len(context.chunks))
        entities = [self._entities[row] for row in matched[:used].tolist()]
        return Evidence(
            question,
            self.label,
            self.scale,
            ranked([self._passages.passages[row] for row in rows[:k]], scores[:k]),
            entities=ranked(entities, cosines[:used]),
            facts=facts,
            reports=reports,
            context=context,
        )

    def context(
        self,
        matched: Sequence[int],
        facts: Sequence[Scored[Triple]],
        reports: Sequence[Scored[Report]],
        units: Iterable[int],
    ) -> ContextGraph:
        """The local context: reports, matched entities and their relationships, and text units (rows of passages), each
        within its share of `tokens`."""
        chosen = self.settings
        graph = ContextGraph(
            tuple(self._entity(row) for row in matched),
            tuple(replace(relation_of(fact), rank=int(rank)) for fact, rank in facts),
            tuple(report_of(report) for report, _ in reports),
            tuple(chunk_of(self._passages.passages[row]) for row in units),
        )
        share = 1 - chosen.report_share - chosen.relation_share
        return graphrag.filled(graph, chosen.tokens, chosen.report_share, share)

    def _entity(self, row: int) -> ContextEntity:
        entity = self._entities[row]
        degree = int(self._graph.degrees[row])
        return ContextEntity(entity.name, entity.description or entity.type, degree=degree)

    def match(self, question: str, trace: Trace) -> tuple[np.ndarray, np.ndarray]:
        """Phrase rows of the entities closest to the question, best first, at most `entities_max`, and their cosines,
        float64."""
        with trace.span("RETRIEVER", "match entities") as span:
            cosines_all = self._entity_vectors @ self.index.encode_query(question, "entities")
            best = top(cosines_all, self.settings.entities_max)
            cosines = cosines_all[best].astype(np.float64)
            span.score((self._facts.phrases[row], score) for row, score in zip(best[:TRACED], cosines))
        return best, cosines

    def collect(
        self, matched: np.ndarray, cosines: np.ndarray, trace: Trace
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """s(p) over all matched entities: passage rows, best first, their scores, and the rank of each passage's
        entity. The order is that of local search: by entity, then by relationships, then by row."""
        with trace.span("CHAIN", "collect text units", entities=len(matched)) as span:
            mentions = self._mentions[matched]
            rank = np.repeat(np.arange(len(matched)), np.diff(mentions.indptr))
            # a passage belongs to the first that brings it
            rows, first = np.unique(mentions.indices, return_index=True)
            owner, n = rank[first], mentions.data[first] - 1.0
            order = np.lexsort((rows, -n, owner))
            rows, owner, n = rows[order], owner[order], n[order]
            cosines = np.clip(cosines, 0.0, 1.0)
            gap = np.append(np.inf, cosines[:-1] - cosines[1:])
            scores = cosines[owner] + np.minimum(self.settings.epsilon, gap)[owner] * n / (1 + n)
            scores = np.minimum(scores, 1.0)
            span.set(passages=len(rows))
            self._note(span, rows, scores)
        return rows, scores, owner

    def by_communities(
        self, question: str, rows: np.ndarray, scores: np.ndarray, trace: Trace
    ) -> tuple[np.ndarray, np.ndarray]:
        """s_B(p), from the passages and their scores s(p)."""
        with trace.span("RERANKER", "weigh communities", beta=self.settings.beta) as span:
            cosines = np.asarray(self._layer.report_vectors) @ self.index.encode_query(question, "passages")
            weights = np.clip(cosines, 0.0, 1.0).astype(np.float64) * self._rating / 10
            theirs = self._communities[rows]
            best = sp.csr_array((weights[theirs.indices], theirs.indices, theirs.indptr), theirs.shape).max(axis=1)
            scores = (1 - self.settings.beta) * scores + self.settings.beta * best.toarray().ravel()
            order = np.argsort(-scores, kind="stable")
            self._note(span, rows[order], scores[order])
        return rows[order], scores[order]

    def relationships(self, matched: list[int]) -> tuple[Scored[Triple], ...]:
        """Facts of the local context: first those among the matched entities, by degree; then those with other
        entities, by the number of matched entities that the other one is linked to. Scores are combined degrees."""
        ranks, ends = self._ranks, self._graph.pairs
        neighbours = self._neighbours[matched]
        pairs, times = np.unique(neighbours.data, return_counts=True)  # a pair among them is found from both ends
        among, outwards = pairs[times == 2] - 1, pairs[times == 1] - 1
        links = np.bincount(neighbours.indices, minlength=len(self._graph.degrees))
        own = np.isin(ends[outwards], matched)
        shared = links[ends[outwards][~own]]
        order = np.r_[
            among[np.lexsort((among, -ranks[among]))], outwards[np.lexsort((outwards, -ranks[outwards], -shared))]
        ]
        left, facts_found = self.settings.tokens * self.settings.relation_share, []
        for pair in order[: PER_ENTITY * len(matched)].tolist():
            facts, size = self._joining(pair)
            left -= size
            if left < 0:
                break
            facts_found += [Scored(fact, float(ranks[pair])) for fact in facts]
        return tuple(facts_found)

    def reports(self, matched: list[int]) -> tuple[Scored[Report], ...]:
        """Reports on the communities of the matched entities down to `level`, as many as fit: by the number of matched
        entities, which is their score, then by rating."""
        counts = Counter(id for row in matched for id in self._layer.of_phrase.get(row, ()))
        all_reports = self._layer.reports
        ids = [id for id in counts if id in all_reports and self._layer.communities[id].level <= self.settings.level]
        left, reports_found = self.settings.tokens * self.settings.report_share, []
        for id in sorted(ids, key=lambda id: (-counts[id], -all_reports[id].rating, id)):
            report, size = self._report(id)
            if size <= left:
                left -= size
                reports_found.append(Scored(report, float(counts[id])))
        return tuple(reports_found)

    def _grown(self, owners: np.ndarray, k: int, matched: int) -> int:
        """The number of entities used: `entities`, doubled until k passages belong to one of them."""
        used = self.settings.entities
        while used < matched and np.count_nonzero(owners < used) < k:
            used *= 2
        return min(used, matched)

    def _filled(self, rows: np.ndarray, scores: np.ndarray, dense: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ranking followed by the passages that no entity reaches, by their cosine, scaled to stay below the
        others."""
        if not self.settings.dense_fill:
            return rows, scores
        rest = np.setdiff1d(np.arange(len(dense)), rows)
        rest = rest[np.argsort(-dense[rest], kind="stable")]
        return np.r_[rows, rest], np.r_[scores, scores.min() * np.clip(dense[rest], 0.0, 1.0)]

    def _report_on(self, id: int) -> tuple[Report, int]:
        """A report as a record, and its tokens."""
        stored = self._layer.reports[id]
        units = self._units[[self._row[id]]].indices
        ids = tuple(self._passages.passages[row].id for row in np.sort(units))
        report = Report(f"community-{id}", stored.title, stored.text, ids, self._layer.heights[id])
        return report, tokens.count(report.content)

    def _joining_of(self, pair: int) -> tuple[tuple[Triple, ...], int]:
        """The facts that join a pair, and their tokens."""
        facts = []
        for fact in self._facts_of[pair]:
            stating = tuple(self._passages.passages[row].id for row in self._facts.stating(fact))
            facts.append(self._facts.triple(fact, stating))
        return tuple(facts), sum(tokens.count("|".join(fact.members) + "\n") for fact in facts)

    def _note(self, span, rows: np.ndarray, scores: np.ndarray) -> None:
        span.score((self._passages.passages[row].id, score) for row, score in zip(rows[:TRACED], scores))


def _with_relationships(mentioned: sp.csr_array, facts, graph: EntityGraph) -> sp.csr_array:
    """1 + the number of the phrase's relationships that the passage states, where it mentions it, (n_e, n_p)."""
    passage, fact = facts.stated
    pair = graph.of_fact[fact]
    stated = np.unique(np.c_[passage, pair][pair >= 0], axis=0)
    ends = graph.pairs[stated[:, 1]].T.ravel()
    twice = np.r_[stated[:, 0], stated[:, 0]]
    located = sp.coo_array((np.ones(len(ends)), (ends, twice)), shape=mentioned.shape).tocsr()
    matrix = (mentioned + located).tocsr()
    matrix.sort_indices()
    return matrix


def _adjacency(graph: EntityGraph) -> sp.csr_array:
    """1 + the number of the pair that joins two phrases, (n_e, n_e)."""
    n, numbers = len(graph.degrees), np.arange(1, len(graph.pairs) + 1)
    ends = np.r_[graph.pairs, graph.pairs[:, ::-1]]
    return sp.coo_array((np.r_[numbers, numbers], (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()


def _facts_of(graph: EntityGraph) -> list[list[int]]:
    """Fact rows per pair."""
    facts_of: list[list[int]] = [[] for _ in graph.pairs]
    for fact, pair in enumerate(graph.of_fact.tolist()):
        if pair >= 0:
            facts_of[pair].append(fact)
    return facts_of
