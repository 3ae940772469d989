"""How CatRAG steered a walk, read from its trace: filtered facts, seeds and anchors, ratings, edited edges.

Nothing is recomputed, so a saved trace suffices, without index or engine. An index adds how the passages spell the
phrases.

A question's walk with CatRAG's mechanisms switched on one after another, so that the part of each can be seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.encoding.similarity import top
from workbench.errors import SettingError
from workbench.index import Index
from workbench.index.facts import fact_line
from workbench.methods.catrag import CatRAG
from workbench.methods.catrag.rating import Anchors, EditedEdges, RatedNeighbours, tier
from workbench.methods.events import read_as_written, root_of, trace_of
from workbench.operators.neighbourhood import spelled, spellings
from workbench.operators.walk_distribution import WalkDistribution, super_hubs
from workbench.records import Evidence, Record
from workbench.settings import parse_spec
from workbench.steps import named_entities
from workbench.trace import Event, Trace

if TYPE_CHECKING:
    import pandas as pd


BEST, HUBS = 2, 2  # best neighbours of a seed, and hubs, that a picture shows first
MECHANISMS = ("key_facts", "anchoring", "dynamic_weights")
STATIC, UNEDITED = "HippoRAG 2's walk", "static walk"
CUMULATIVE = {  # stage → the mechanisms that work in it
    STATIC: (),
    "+ key facts": MECHANISMS[:1],
    "+ anchors": MECHANISMS[:2],
    "+ rated edges": MECHANISMS,
}
ALONE = {
    STATIC: (),
    "key facts alone": MECHANISMS[:1],
    "anchors alone": MECHANISMS[1:2],
    "rated edges alone": MECHANISMS[2:],
    "all three": MECHANISMS,
}


class Stage(NamedTuple):
    """A walk with some of the mechanisms, and how these steered it."""

    name: str
    walk: WalkDistribution
    steering: Steering


class Flow(NamedTuple):
    """A phrase by its row, with its probability in one stage and in another."""

    row: int
    phrase: str
    hub: bool
    before: float
    after: float

    @property
    def change(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, eq=False, repr=False)
class StagedWalk(Record):
    """The walk of a question, stage by stage. `gold` are ids of passages to mark, given by the caller."""

    question: str
    method: str
    parts: tuple[Stage, ...]
    gold: tuple[str, ...] = ()
    verified: tuple[str, ...] = ()  # no verifier chooses passages here; a bump chart asks

    @property
    def stages(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts)

    @property
    def fallback(self) -> str:
        return self.parts[-1].walk.fallback

    @cached_property
    def hubs(self) -> np.ndarray:
        """Rows of the super hubs: the strongest 1 % of the phrases by weighted degree."""
        return super_hubs(self.parts[0].walk.index.graph.strength)

    def ranking(self, stage: int) -> Scores:
        """All passages at a stage, best first, with their probability; without a walk with their dense score."""
        return self._rankings[stage]

    def ranks(self, ids: Iterable[str] | None = None) -> dict[str, tuple[int | None, ...]]:
        """Passage id → its rank at each stage, from 1 on. By default of the gold passages."""
        names = list(self.gold if ids is None else ids)
        at = [{name: rank for rank, (name, _) in enumerate(scores, 1)} for scores in self._rankings]
        return {name: tuple(ranks.get(name) for ranks in at) for name in names}

    def flow(self, stage: int, since: int = 0) -> list[Flow]:
        """The probability of every phrase with any at both stages, the largest gain first, the largest loss last."""
        before, after = (self.parts[at].walk.on_phrases for at in (since, stage))
        change, hubs = after - before, set(self.hubs.tolist())
        rows = np.flatnonzero(before + after)
        names = self.parts[0].walk.index.facts.phrases
        return [
            Flow(row, names[row], row in hubs, float(before[row]), float(after[row]))
            for row in rows[np.lexsort((rows, -change[rows]))].tolist()
        ]

    def spelled(self, flows: Sequence[Flow]) -> list[Flow]:
        """The same with each phrase as the passages spell it."""
        names = spellings(self.parts[0].walk.index, [flow.row for flow in flows])
        return [flow._replace(phrase=name) for flow, name in zip(flows, names)]

    def shown(self, phrases: int = 11, passages: int = 3) -> list[int]:
        """Rows of the graph that a picture of all stages shows: seeds, the strongest hubs, neighbours whose ratings
        tell most, and other phrases with most mass; gold and best passages."""
        index, walks = self.parts[0].walk.index, [part.walk for part in self.parts]
        most = np.max([walk.on_phrases for walk in walks], axis=0)
        row = index.facts.phrase_row
        wanted = [phrase for walk in reversed(walks) for phrase, _ in walk.seeds]
        wanted += self.hubs[np.argsort(-most[self.hubs], kind="stable")][:HUBS].tolist()
        wanted += [row[name] for name in _telling(self.parts[-1].steering)]
        chosen = list(dict.fromkeys([*wanted, *top(most, phrases).tolist()]))[:phrases]
        best = [name for at in (-1, 0) for name, _ in self.ranking(at)[: passages // 2]]
        ids = dict.fromkeys(name for name in [*self.gold, *best] if name in index.passages.row)
        return chosen + [index.graph.phrases + index.passages.row[name] for name in list(ids)[:passages]]

    def frame(self) -> pd.DataFrame:
        """A row per stage: the share of hubs in the phrases' mass (`expected`: without a question) and in that of the
        ten best, S_ppr, the share of the mass on passages, edited edges, and the best rank of a gold passage."""
        import pandas as pd

        rows = [self._row(at, part) for at, part in enumerate(self.parts)]
        return pd.DataFrame(rows).set_index("stage")

    def _row(self, at: int, part: Stage) -> dict:
        bias, ranks = part.walk.hubs, [rank[at] for rank in self.ranks().values() if rank[at]]
        return {
            "stage": part.name,
            "on hubs": bias.share_all,
            "expected": bias.expected,
            "hubs of the ten best": bias.share_top,
            "S_ppr": bias.strength,
            "on passages": float(part.walk.on_passages.sum()),
            "seeds": len(part.walk.seeds),
            "edited edges": len(part.steering.edges),
            "best gold rank": min(ranks, default=None),
        }

    @cached_property
    def _rankings(self) -> list[Scores]:
        return [_ranking(part.walk) for part in self.parts]


def staged(
    method: CatRAG,
    question: str,
    gold: Sequence[str] = (),
    *,
    stages: Mapping[str, Sequence[str]] = CUMULATIVE,
    k: int = 10,
) -> StagedWalk:
    """The walk of a question at each stage: its name → the mechanisms that are on. A mechanism that the method's own
    settings switch off stays off. The engine is asked at every stage; `KeptReplies` asks it once."""
    own, gold = method.settings, tuple(gold)
    plain = own.merge == "overwrite" and own.synonym_weight == 1
    parts = []
    for name, used in stages.items():
        switched = {mechanism: getattr(own, mechanism) and mechanism in used for mechanism in MECHANISMS}
        walk, evidence = _walked(method.adjusted(**switched), question, k)
        called = UNEDITED if name == STATIC and not plain else name
        parts.append(Stage(called, walk, steering(evidence, gold, method.index)))
    return StagedWalk(question, method.label, tuple(parts), gold)


def _telling(steering: Steering) -> Iterator[str]:
    """The most informative neighbours: the best of each seed, one of no use, one that was skipped."""
    for seed in steering.rated:
        rated = [neighbour.name for neighbour in seed.best if neighbour.score is not None]
        useless = [neighbour.name for neighbour in seed.best if neighbour.tier == tier(0)]
        skipped = [neighbour.name for neighbour in seed.best if neighbour.score is None]
        yield from (*rated[:BEST], *useless[-1:], *skipped[:1])


def _walked(method: CatRAG, question: str, k: int) -> tuple[WalkDistribution, Trace]:
    """The walk of a retrieval together with its trace."""
    trace = Trace()
    with trace.span("CHAIN", method.label, question=question, k=k) as span:
        walk = method.walk_distribution(question, trace)
        evidence = method.rank(walk, k)
        if evidence.fallback:
            span.set(fallback=evidence.fallback)
        span.score(evidence.ranking)
    return walk, trace


def _ranking(walk: WalkDistribution) -> Scores:
    scores = walk.dense if walk.pagerank is None else walk.on_passages
    passages = walk.index.passages.passages
    return tuple((passages[row].id, float(scores[row])) for row in top(scores, len(passages)).tolist())


Scores = tuple[tuple[str, float], ...]
METHOD, SKIP = "catrag", "skip"


class Seed(NamedTuple):
    """A phrase at which the walk starts, with its reset weight. An anchor comes from an `entity` of the question, to
    which it has this `cosine`; a phrase of a kept fact has none."""

    phrase: str
    weight: float
    entity: str = ""
    cosine: float | None = None


class RatedNeighbour(NamedTuple):
    """A neighbour of a seed. `score` is None if it was `skipped` without a request; the reply may leave it out
    (`missing`), and it then counts as Weak."""

    name: str
    score: int | None
    reason: str = ""
    missing: bool = False

    @property
    def tier(self) -> str:
        return SKIP if self.score is None else tier(self.score)


class RatedSeed(NamedTuple):
    """A seed with its neighbours, the skipped ones last; `count` is what is held against the limit `k_edge`."""

    phrase: str
    weight: float
    count: int
    neighbours: tuple[RatedNeighbour, ...]

    @property
    def best(self) -> list[RatedNeighbour]:
        """The neighbours, the best rated first and the skipped ones last."""
        return sorted(
            self.neighbours, key=lambda neighbour: -1 if neighbour.score is None else neighbour.score, reverse=True
        )


class EditedEdge(NamedTuple):
    """An out-edge of a seed with its weight in the static graph and for the question. `kind` is `relation` or
    `synonym`, to a phrase, or `context`, to the id of a passage."""

    source: str
    target: str
    kind: str
    before: float
    after: float

    @property
    def factor(self) -> float:
        return self.after / self.before


@dataclass(frozen=True, slots=True, repr=False)
class Steering(Record):
    """The trace of CatRAG for a question, as a record.

    linked     facts closest to the question; `facts` those that the filter kept; each as (text, score)
    dense      the ten passages closest to the question, as (id, scaled cosine)
    entities   the names in the question; None if they were not asked for
    seeds      best first, with the anchors among them
    rated      the seeds whose edges were rated, strongest first
    phrases    the ten phrases with the highest probability
    ranking    passages, best first, with their probability; on the dense scale if there was no walk
    gold       ids of passages to mark, given by the caller; the method does not see them
    engines    answered the Steps
    spelled    phrase or fact → how the passages spell it, where an index is at hand
    """

    question: str
    method: str
    linked: Scores = ()
    facts: Scores = ()
    dense: Scores = ()
    entities: tuple[str, ...] | None = None
    seeds: tuple[Seed, ...] = ()
    rated: tuple[RatedSeed, ...] = ()
    edges: tuple[EditedEdge, ...] = ()
    phrases: Scores = ()
    ranking: Scores = ()
    gold: tuple[str, ...] = ()
    fallback: str | None = None
    failure: str | None = None
    engines: tuple[str, ...] = field(default=(), compare=False)  # a kept reply has none
    spelled: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def anchors(self) -> tuple[Seed, ...]:
        return tuple(seed for seed in self.seeds if seed.entity)

    def called(self, name: str) -> str:
        """A phrase or a fact in the passages' spelling, else in the graph's: lower case, without punctuation."""
        return self.spelled.get(name, name)

    def seed(self, phrase: str) -> RatedSeed:
        """The ratings of a seed's neighbours; SettingError for a phrase that was not rated for."""
        rated = next((seed for seed in self.rated if seed.phrase == phrase), None)
        if rated is None:
            names = ", ".join(repr(seed.phrase) for seed in self.rated) or "none"
            raise SettingError(f"the neighbours of {phrase!r} were not rated; those of these seeds were: {names}")
        return rated


def steering(trace: Trace | Evidence, gold: Sequence[str] = (), index: Index | None = None) -> Steering:
    """The steering of a trace, in memory or opened from a file. With the index that it ran over, phrases and facts are
    spelled as in the passages.

    Raises DataError for the trace of another method, or with events that CatRAG does not write."""
    trace = trace_of(trace)
    root = _fallen_back(trace) or root_of(trace, EditedEdges.step, "edited edges", "take the trace of catrag")
    with read_as_written(root.step, METHOD):
        result = _steering(trace, root, tuple(gold))
    return result if index is None else replace(result, spelled=_spelled(result, index))


def _spelled(steering: Steering, index: Index) -> dict[str, str]:
    rows = index.facts.line_row
    facts = {line: index.facts.facts[rows[line]] for line, _ in steering.linked if line in rows}
    names = [end for subject, _, obj in facts.values() for end in (subject, obj)]
    names += [seed.phrase for seed in (*steering.seeds, *steering.rated)]
    names += [neighbour.name for seed in steering.rated for neighbour in seed.neighbours]
    names += [name for edge in steering.edges for name in (edge.source, edge.target)]
    names += [name for name, _ in steering.phrases]
    spelling = spelled(index, names)
    return spelling | {
        line: fact_line((spelling[head], relation, spelling[tail])) for line, (head, relation, tail) in facts.items()
    }


def _fallen_back(trace: Trace) -> Event | None:
    """The retrieval when no fact passed the filter, so that there was neither a seed nor an edge to edit."""
    if trace.find(EditedEdges.step):
        return None
    labels = (event for event in trace if event.kind == "CHAIN" and event.step.startswith(METHOD))
    return next((event for event in labels if parse_spec(event.step)[0] == METHOD), None)


def _steering(trace: Trace, root: Event, gold: tuple[str, ...]) -> Steering:
    parts = trace.children(root.id)
    linked = _scores(parts, "link facts")
    anchors, edited = Anchors.find(parts), EditedEdges.find(parts)
    return Steering(
        root.inputs["question"],
        root.step,
        linked,
        _scores(parts, "filter facts") if any(part.step == "filter facts" for part in parts) else linked,
        _scores(parts, "score passages"),
        anchors.entities if anchors else _named(parts),
        _seeds(_scores(parts, "seed phrases"), anchors),
        tuple(_rated(RatedNeighbours.read(part)) for part in parts if part.step == RatedNeighbours.step),
        tuple(EditedEdge(*edge) for edge in edited.edges) if edited else (),
        _scores(parts, "walk"),
        root.scores,
        gold,
        root.outputs.get("fallback"),
        root.failure,
        trace.engines,
    )


def _scores(parts: Sequence[Event], step: str) -> Scores:
    return next((part.scores for part in parts if part.step == step), ())


def _named(parts: Sequence[Event]) -> tuple[str, ...] | None:
    """The names in the question, from the reply itself, where no anchors were made of them."""
    reply = next((part for part in parts if part.step == named_entities.OF_QUESTION.name), None)
    return tuple(reply.outputs.get("named_entities", ())) if reply else None


def _seeds(facts: Scores, anchors: Anchors | None) -> tuple[Seed, ...]:
    linked = {phrase: (entity, cosine) for entity, phrase, cosine in anchors.linked} if anchors else {}
    added = [Seed(phrase, weight, *linked[phrase]) for phrase, weight in (anchors.added if anchors else ())]
    return tuple(sorted([*(Seed(*pair) for pair in facts), *added], key=lambda seed: -seed.weight))


def _rated(event: RatedNeighbours) -> RatedSeed:
    return RatedSeed(event.seed, event.weight, event.neighbours, tuple(_neighbours(event)))


def _neighbours(event: RatedNeighbours) -> Iterator[RatedNeighbour]:
    for name, score in event.ratings:
        yield RatedNeighbour(name, int(score), event.reasons.get(name, ""), name in event.missing)
    for name in event.skipped:
        yield RatedNeighbour(name, None)
