"""How CatRAG steered a walk, read from its trace: kept facts, seeds and anchors, ratings, edited edges.

Nothing is recomputed, so a saved trace suffices, without index or engine. An index adds how the passages spell the
phrases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from workbench.errors import SettingError
from workbench.index import Index
from workbench.index.facts import fact_line
from workbench.methods.catrag.events import Anchors, EditedEdges, RatedNeighbours
from workbench.methods.catrag.rating import tier
from workbench.methods.events import read_as_written, root_of, trace_of
from workbench.operators.neighbourhood import spelled
from workbench.records import Evidence, Record
from workbench.settings import parse_spec
from workbench.steps import question_entities
from workbench.trace import Event, Trace

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
        return sorted(self.neighbours, key=lambda one: -1 if one.score is None else one.score, reverse=True)


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
    """What the trace of CatRAG tells of a question.

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
        """A phrase or a fact as the passages spell it, else as the graph does: in lower case and without
        punctuation."""
        return self.spelled.get(name, name)

    def seed(self, phrase: str) -> RatedSeed:
        """The ratings of a seed's neighbours; SettingError for a phrase that was not rated for."""
        found = next((one for one in self.rated if one.phrase == phrase), None)
        if found is None:
            names = ", ".join(repr(one.phrase) for one in self.rated) or "none"
            raise SettingError(f"the neighbours of {phrase!r} were not rated; those of these seeds were: {names}")
        return found


def steering(trace: Trace | Evidence, gold: Sequence[str] = (), index: Index | None = None) -> Steering:
    """The steering of a trace, in memory or opened from a file. With the index that it ran over, phrases and facts are
    spelled as in the passages.

    Raises DataError for the trace of another method, or with events that CatRAG does not write."""
    trace = trace_of(trace)
    root = _fallen_back(trace) or root_of(trace, EditedEdges.step, "edited edges", "take the trace of catrag")
    with read_as_written(root.step, METHOD):
        shown = _steering(trace, root, tuple(gold))
    return shown if index is None else replace(shown, spelled=_spelled(shown, index))


def _spelled(shown: Steering, index: Index) -> dict[str, str]:
    rows = index.facts.line_row
    facts = {line: index.facts.facts[rows[line]] for line, _ in shown.linked if line in rows}
    names = [end for subject, _, obj in facts.values() for end in (subject, obj)]
    names += [seed.phrase for seed in (*shown.seeds, *shown.rated)]
    names += [one.name for seed in shown.rated for one in seed.neighbours]
    names += [name for edge in shown.edges for name in (edge.source, edge.target)] + [name for name, _ in shown.phrases]
    found = spelled(index, names)
    return found | {line: fact_line((found[head], said, found[tail])) for line, (head, said, tail) in facts.items()}


def _fallen_back(trace: Trace) -> Event | None:
    """The retrieval that kept no fact, so that there was neither a seed nor an edge to edit."""
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
    reply = next((part for part in parts if part.step == question_entities.STEP.name), None)
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
