"""How the agent answered a question, read from its trace: sub-questions, what each route brought, fusion, rounds.

Nothing is recomputed, so a saved trace suffices, without index or engine.

What Youtu-GraphRAG writes into the trace: the decomposition, what each route brought, fusion, the rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from workbench.methods.events import TraceEvent, read_as_written, root_of, trace_of
from workbench.records import Evidence, Record
from workbench.trace import Event, Trace

Scores = tuple[tuple[str, float], ...]  # (text or passage id, score), best first
Facts = tuple[tuple[str, str, str, float], ...]  # (head, relation, tail, score), best first
ROUTES = ("entity", "triple", "community", "path", "chunk")


@dataclass(frozen=True, slots=True, repr=False)
class Decomposition(TraceEvent):
    """The sub-questions, and the names of the schema that the question involves. `matched`: types of the graph that
    the entity types denote."""

    step = "decompose"

    sub_questions: tuple[str, ...] = ()
    entity_types: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Search(TraceEvent):
    """The routes of one query and their fusion. `origin`: `sub-question`, or `round n` of the reflection."""

    kind, step = "RETRIEVER", "search"
    inputs = ("query", "origin")

    query: str
    origin: str


@dataclass(frozen=True, slots=True, repr=False)
class Route(TraceEvent):
    """What one route brought: `triples` with its scores, and where they come from, as (text, score): entities with
    their similarity, communities, paths, or passages for the route `chunk`. `filtered`: the type filter changed the
    order of the entities."""

    kind, step = "RETRIEVER", "{route} route"
    inputs = ("route",)

    route: str
    triples: Facts = ()
    through: Scores = ()
    filtered: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Fusion(TraceEvent):
    """The triples and the passages that stay, of the routes of one query (`fuse`)."""

    kind, step, scores = "RERANKER", "fuse", "passages"

    triples: Facts = ()
    passages: Scores = ()


@dataclass(frozen=True, slots=True, repr=False)
class Initial(TraceEvent):
    """The answer from the evidence of the decomposition, which is the first thought."""

    step = "initial answer"

    answer: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Round(TraceEvent):
    """A round of reflection: the reply, and what it decides: an `answer`, or a `query`. `marked`: it has a marker.
    `stopped`: why it is the last one: `answered`, `repeated`, `empty`, `failed` or `last round`."""

    step = "round {round}"
    inputs = ("round",)

    round: int
    thought: str = ""
    answer: str = ""
    query: str = ""
    marked: bool = True
    stopped: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Ranking(TraceEvent):
    """The evidence of all queries, ranked for the reader: triples, communities by name, passages."""

    kind, step, scores = "RERANKER", "rank evidence", "passages"

    triples: Facts = ()
    communities: Scores = ()
    passages: Scores = ()


METHOD = "youtu"


class Involved(NamedTuple):
    """The names of the schema that a question involves; `matched` are the types of the graph that they denote, by which
    entities are filtered."""

    entity_types: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()


NONE = Involved()


class RouteTaken(NamedTuple):
    """What a route (entity, triple, community, path, chunk) brought: triples as (head, relation, tail, score), and the
    entities, communities, paths or passages `through` which it went, as (text, score)."""

    route: str
    triples: Facts = ()
    through: Scores = ()
    filtered: bool = False


class Searched(NamedTuple):
    """A query with the routes that it took, and the triples and passages that fusion kept. `origin`: `sub-question`, or
    the round that asked for it."""

    query: str
    origin: str
    routes: tuple[RouteTaken, ...] = ()
    triples: Facts = ()
    passages: Scores = ()


class Reflected(NamedTuple):
    """A round: its thought, the answer or the query that it decides on, what the query found, and why the loop ended
    with it (`answered`, `repeated`, `empty`, `failed`, `last round`; empty if it went on)."""

    number: int
    thought: str
    answer: str
    query: str
    marked: bool
    stopped: str
    found: Searched | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Routes(Record):
    """What the trace of Youtu-GraphRAG tells of a question.

    involved       what the decomposer says that it involves
    sub_questions  each with its routes
    answer         the first one, which rounds of reflection begin with; None without the agent
    rounds         of the reflection
    triples, communities, ranking   the evidence of all queries, as it is handed on
    gold           ids of passages to mark, given by the caller; the method does not see them
    engines        answered the Steps
    """

    question: str
    method: str
    involved: Involved = NONE
    sub_questions: tuple[Searched, ...] = ()
    answer: str | None = None
    rounds: tuple[Reflected, ...] = ()
    triples: Facts = ()
    communities: Scores = ()
    ranking: Scores = ()
    gold: tuple[str, ...] = ()
    fallback: str | None = None
    failure: str | None = None
    engines: tuple[str, ...] = ()

    @property
    def searches(self) -> tuple[Searched, ...]:
        """Every query, in the order in which they were searched."""
        return (*self.sub_questions, *(round.found for round in self.rounds if round.found))

    @property
    def stopped(self) -> str:
        """Why the reflection ended; empty without one."""
        return self.rounds[-1].stopped if self.rounds else ""


def routed(trace: Trace | Evidence, gold: Sequence[str] = ()) -> Routes:
    """The routes of a trace, in memory or opened from a file.

    Raises DataError for the trace of another method, or with events that Youtu-GraphRAG does not write."""
    trace = trace_of(trace)
    root = root_of(trace, Decomposition.step, "decomposition", "take the trace of youtu")
    with read_as_written(root.step, METHOD):
        return _routes(trace, root, tuple(gold))


def _routes(trace: Trace, root: Event, gold: tuple[str, ...]) -> Routes:
    parts = trace.children(root.id)
    decomposition = Decomposition.find(parts) or Decomposition()
    first, ranking = Initial.find(parts), Ranking.find(parts) or Ranking()
    return Routes(
        root.inputs["question"],
        root.step,
        Involved(decomposition.entity_types, decomposition.relations, decomposition.attributes, decomposition.matched),
        tuple(_searches(trace, root)),
        first.answer if first else None,
        tuple(_round(trace, part) for part in parts if part.step.startswith("round ")),
        ranking.triples,
        ranking.communities,
        root.scores,
        gold,
        root.outputs.get("fallback"),
        root.failure,
        trace.engines,
    )


def _searches(trace: Trace, parent: Event) -> Iterator[Searched]:
    for event in trace.children(parent.id):
        if event.step == Search.step:
            search, parts = Search.read(event), trace.children(event.id)
            fusion = Fusion.find(parts) or Fusion()
            routes = tuple(_route(part) for part in parts if "route" in part.inputs)
            yield Searched(search.query, search.origin, routes, fusion.triples, fusion.passages)


def _route(event: Event) -> RouteTaken:
    route = Route.read(event)
    return RouteTaken(route.route, route.triples, route.through, route.filtered)


def _round(trace: Trace, event: Event) -> Reflected:
    round = Round.read(event)
    searched = next(_searches(trace, event), None)
    return Reflected(
        round.round, round.thought, round.answer, round.query, round.marked, round.stopped, searched, round.failure
    )
