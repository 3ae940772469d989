"""The records that flow between the stages: frozen, typed, comparable, and able to show themselves.

`docs/architecture.md` says which stage makes which record. A record holds data and nothing else; how it looks is the
business of :mod:`workbench.views`, which is asked only at the moment something is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from workbench.trace import Trace

T = TypeVar("T")


class Record:
    """Base of everything that shows itself: `repr` in a terminal, HTML in a notebook."""

    __slots__ = ()

    def __repr__(self) -> str:
        from workbench import views

        return views.text(self)

    def _repr_html_(self) -> str:
        from workbench import views

        return views.html(self)


class Scored(NamedTuple, Generic[T]):
    """An item and its score, on the scale that the evidence names: `for passage, score in evidence.passages`."""

    item: T
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class Passage(Record):
    """One unit of the corpus."""

    id: str
    title: str
    text: str

    @property
    def content(self) -> str:
        """Title, newline, text: what is encoded and what a reader sees."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True, repr=False)
class Question(Record):
    """A question with its gold. A method is given `question` alone.

    `answers` is the answer followed by its aliases, or, where `answer_set` is true, the full set of right answers.
    An empty `answers` says that the corpus does not hold the answer. `start` names the entities of a graph at which
    the question begins, where the data say it (MetaQA's topic entity).
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    type: str | None = None
    hops: int | None = None
    support: tuple[str, ...] = ()
    decomposition: tuple[dict, ...] | None = field(default=None, hash=False)
    answer_set: bool = False
    start: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Triple(Record):
    """A fact: subject, relation, object, and the ids of the passages that state it."""

    subject: str
    relation: str
    object: str
    passages: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[str, str, str]:
        return (self.subject, self.relation, self.object)


@dataclass(frozen=True, slots=True, repr=False)
class Entity(Record):
    """A node of a graph that is not a passage."""

    name: str
    type: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Path(Record):
    """A chain `nodes[0] -relations[0]-> nodes[1] …`, with the passages that support it, and what a method judged it to
    be: `complete` where it ends in what was asked for, `partial` where it leads there, empty where none is judged."""

    nodes: tuple[str, ...]
    relations: tuple[str, ...]
    passages: tuple[str, ...] = ()
    verdict: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Report(Record):
    """A text about several passages: the summary of a cluster (RAPTOR), the report on a community (GraphRAG).

    `level` counts the layers between it and the passages, from 1 on; `passages` are the ids of those it is about.
    """

    id: str
    title: str
    text: str
    passages: tuple[str, ...] = ()
    level: int = 1

    @property
    def content(self) -> str:
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True, repr=False)
class Evidence(Record):
    """What a method found for a question, best first, and the trace that led to it.

    `scale` names the scale of the passages' scores. `fallback` says, in words, why a method had to answer by its
    fall-back, and is `None` when it did not. `nodes` are the entities in the method's own order. `selected` is how
    many of the leading passages the method chose for the reader; `None` leaves the choice to the reader.
    """

    question: str
    method: str
    scale: str
    passages: tuple[Scored[Passage], ...]
    entities: tuple[Scored[Entity], ...] = ()
    facts: tuple[Scored[Triple], ...] = ()
    paths: tuple[Scored[Path], ...] = ()
    reports: tuple[Scored[Report], ...] = ()
    selected: int | None = None
    fallback: str | None = None
    trace: Trace | None = field(default=None, compare=False, hash=False)

    @property
    def ranking(self) -> list[tuple[str, float]]:
        """Passage ids with their scores, best first."""
        return [(passage.id, score) for passage, score in self.passages]

    @property
    def nodes(self) -> list[str]:
        return [entity.name for entity, _ in self.entities]


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Record):
    """What a reader made of the evidence, and which engine it asked. `failure` says why there is no answer;
    abstaining is an answer, not a failure."""

    question: str
    text: str
    abstained: bool = False
    thought: str = ""
    reader: str = ""
    passages: tuple[str, ...] = ()
    failure: str | None = None
    engine: str = ""
    trace: Trace | None = field(default=None, compare=False, hash=False)


def ranked(items: Sequence[T], scores: Sequence[float]) -> tuple[Scored[T], ...]:
    """Pair items with plain Python floats, in the order given."""
    return tuple(Scored(item, float(score)) for item, score in zip(items, scores, strict=True))
