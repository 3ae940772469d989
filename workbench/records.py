"""The records that flow between the stages: frozen, typed, comparable, and able to show themselves.

`docs/architecture.md` says which stage makes which record. A record holds data and nothing else; how it looks is the
business of :mod:`workbench.views`, which is asked only at the moment something is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from workbench.text import titled

if TYPE_CHECKING:
    from workbench.trace import Trace

T = TypeVar("T")


class Record:
    """Base of everything that shows itself: `repr` in a terminal, HTML in a notebook."""

    __slots__ = ()
    __apart__ = ("__repr__", "_repr_html_")  # how it looks is no part of what it holds (`workbench.source`)

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
        return titled(self.title, self.text)


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
        return titled(self.title, self.text)


@dataclass(frozen=True, slots=True, repr=False)
class Unit(Record):
    """A stretch of text that is no whole passage: a piece of one, or a part of a chunk that several make up. `passages`
    are the ids of those it is cut from; `title` is that of the passage where it is one, if the text does not hold it.
    """

    id: str
    text: str
    title: str = ""
    passages: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """Title, newline, text: what a reader sees."""
        return titled(self.title, self.text)


@dataclass(frozen=True, slots=True, repr=False)
class ContextEntity(Record):
    """A row of the entities of a context; `id` and `degree` (its relationships in the whole graph) where it shows
    them."""

    name: str
    description: str = ""
    id: int | None = None
    degree: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ContextRelation(Record):
    """A row of the relationships of a context. `rank`: the degrees of both ends added up; `links`: how many of the
    entities shown an end that is not shown is joined to. `passages`: ids of those that state it."""

    source: str
    target: str
    description: str = ""
    weight: float = 1.0
    id: int | None = None
    rank: int | None = None
    links: int | None = None
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class ContextGraph(Record):
    """A context as tables, each in its order: entities, relationships, `sources` (texts that the graph was read from),
    `chunks` (texts of the corpus). What a structured context is before it is written, and after it is parsed."""

    entities: tuple[ContextEntity, ...] = ()
    relations: tuple[ContextRelation, ...] = ()
    sources: tuple[Unit, ...] = ()
    chunks: tuple[Unit, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Evidence(Record):
    """What a method found for a question, best first, and the trace that led to it.

    `scale` names the scale of the passages' scores. `fallback` says, in words, why a method had to answer by its
    fall-back, and is `None` when it did not. `nodes` are the entities in the method's own order. `selected` is how
    many of the leading passages the method chose for the reader; `None` leaves the choice to the reader. `context` is
    what the method itself lays out for a reader; `None` leaves that to the reader as well.
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
    context: ContextGraph | None = None

    @property
    def ranking(self) -> list[tuple[str, float]]:
        """Passage ids with their scores, best first."""
        return [(passage.id, score) for passage, score in self.passages]

    @property
    def nodes(self) -> list[str]:
        return [entity.name for entity, _ in self.entities]


@dataclass(frozen=True, slots=True, repr=False)
class Compressed(Record):
    """A context before and after a compressor cut it down to `budget` cl100k tokens.

    `graph` is what was kept of the tables of `before`, `text` how it is written, `tokens` and `tokens_before` its
    length and that of the whole. `hops`: (name, hop) of every entity reached, the nearest first; `seeds` those at 0.
    `kept`: which part of the text holds what, as (heading, hop or None, ids of units or names). `fallback`: why the
    context was left as it was, in words."""

    question: str
    compressor: str
    budget: int
    before: ContextGraph
    graph: ContextGraph
    text: str
    tokens: int
    tokens_before: int
    seeds: tuple[str, ...] = ()
    hops: tuple[tuple[str, int], ...] = ()
    kept: tuple[tuple[str, int | None, tuple[str, ...]], ...] = ()
    fallback: str | None = None

    @property
    def dropped(self) -> ContextGraph:
        """What of the tables was not kept."""
        before, after = self.before, self.graph
        return ContextGraph(
            *(
                tuple(row for row in rows if row not in kept)
                for rows, kept in (
                    (before.entities, set(after.entities)),
                    (before.relations, set(after.relations)),
                    (before.sources, set(after.sources)),
                    (before.chunks, set(after.chunks)),
                )
            )
        )


@dataclass(frozen=True, slots=True, repr=False)
class Pattern(Record):
    """A triple pattern; a term that begins with `?` is a variable."""

    subject: str
    predicate: str
    object: str

    @property
    def members(self) -> tuple[str, str, str]:
        return (self.subject, self.predicate, self.object)


@dataclass(frozen=True, slots=True, repr=False)
class Match(Record):
    """A pattern and the fact that it was matched with. `score` is in [0, 1]: how alike predicate and terms are, 1 where
    the labels agree (`exact`); `turned`: subject and object stand the other way round."""

    pattern: Pattern
    fact: Triple
    score: float
    exact: bool = False
    turned: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Binding(Record):
    """Values of variables under which all patterns match, one match for each, and the worst of their scores."""

    values: tuple[tuple[str, str], ...]
    matches: tuple[Match, ...]
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class Proof(Record):
    """A query carried out on facts, and what it says of an answer.

    `query` is the SPARQL that was executed, `patterns` its triple patterns in the order in which they were joined,
    `wanted` the variable asked for, `compare` how several values make the answer (empty: the value itself). `bindings`
    are complete, best first; `partial` the best matches up to the hop where the chain breaks, `broken` the number of
    that pattern from 1 on, None where none breaks. `answers`: values of `wanted`, best first, with their scores.
    `mark` is what that says of `answer`: `verified`, `contradicted`, `unsupported`, or empty where none was given.
    `flaw`: why there is nothing to execute, in words."""

    query: str = ""
    patterns: tuple[Pattern, ...] = ()
    wanted: str = ""
    compare: str = ""
    bindings: tuple[Binding, ...] = ()
    partial: tuple[Match, ...] = ()
    broken: int | None = None
    answers: tuple[Scored[str], ...] = ()
    answer: str = ""
    mark: str = ""
    flaw: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Reading(Record):
    """How an answer came about: the `prompt` that gave it; with routing the `kind` of question it was taken for
    (`invalid`: the label was none, and the default was taken); `retried`: the first prompt abstained; `flaw`: why no
    answer could be read off the reply (empty: it could); `compressor`, and the cl100k `tokens` that were shown."""

    prompt: str
    kind: str = ""
    invalid: bool = False
    retried: bool = False
    flaw: str = ""
    compressor: str = ""
    tokens: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Record):
    """What a reader made of the evidence, and which engine it asked. `failure` says why there is no answer;
    abstaining is an answer, not a failure. `proof` is what executing the query behind it gave, where there is one.
    `reply` is what the model said, where that is no answer that can be read."""

    question: str
    text: str
    abstained: bool = False
    thought: str = ""
    reader: str = ""
    passages: tuple[str, ...] = ()
    failure: str | None = None
    engine: str = ""
    trace: Trace | None = field(default=None, compare=False, hash=False)
    reading: Reading | None = None
    proof: Proof | None = None
    reply: str = ""


def ranked(items: Sequence[T], scores: Sequence[float]) -> tuple[Scored[T], ...]:
    """Pair items with plain Python floats, in the order given."""
    return tuple(Scored(item, float(score)) for item, score in zip(items, scores, strict=True))


def record_of(kind: type, plain: Mapping[str, Any]) -> Any:
    """The record that `dataclasses.asdict` made plain, back from JSON: its sequences are tuples again."""
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()})
