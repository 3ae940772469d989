"""What Youtu-GraphRAG writes into the trace: the decomposition, what each route brought, fusion, the rounds."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.methods.events import TraceEvent

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
