"""The records that flow between the stages: frozen, typed, comparable, and self-displaying.

`docs/architecture.md` lists which stage creates which record. A record holds only data;
:mod:`workbench.display` finds what renders it, when it is first shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from workbench import display
from workbench.text import titled

if TYPE_CHECKING:
    from workbench.trace import Trace

T = TypeVar("T")


class Record:
    """Base of every record: `repr` in a terminal, HTML in a notebook."""

    __slots__ = ()

    def __repr__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)


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
        """Title, newline, text: the input of the encoder and of a reader."""
        return titled(self.title, self.text)


@dataclass(frozen=True, slots=True, repr=False)
class Question(Record):
    """A question with its gold. A method receives `question` alone.

    `answers` is the answer followed by its aliases, or, if `answer_set` is true, the full set of right answers. Empty
    `answers` mean that the corpus does not hold the answer. `start` names the entities of a graph at which the question
    begins, if the data state them (MetaQA's topic entity).
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
    """A fact: subject, relation, object, the ids of the passages that state it, and its description where the graph has
    one."""

    subject: str
    relation: str
    object: str
    passages: tuple[str, ...] = ()
    description: str = ""

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
    """A chain `nodes[0] -relations[0]-> nodes[1] …`, with its supporting passages and a method's judgement: `complete`
    if it ends in what the question asks for, `partial` if it leads there, empty without a judgement. `text`: the path
    in the method's words, from the descriptions of the graph; empty where it has none."""

    nodes: tuple[str, ...]
    relations: tuple[str, ...]
    passages: tuple[str, ...] = ()
    verdict: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Report(Record):
    """A text about several passages: the summary of a cluster (RAPTOR) or the report on a community (GraphRAG).

    `level` counts the layers between the report and the passages, starting at 1; `passages` are the ids of its
    subjects.
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
    """A span of text that is not a whole passage: a piece of one, or a part of a chunk made of several. `passages` are
    the ids of its source passages; `title` is the title of its only source passage if the text does not contain it."""

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
    """A row of the entities of a context; `type`, `id` and `degree` (its relationships in the whole graph) if the
    context shows them. `level`: `high` or `low` in a context with a table of entities for each (PathRAG)."""

    name: str
    description: str = ""
    id: int | None = None
    degree: int | None = None
    type: str = ""
    level: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class ContextRelation(Record):
    """A row of the relationships of a context. `rank`: the sum of the degrees of both ends; `links`: how many of the
    shown entities an end that is not shown is joined to. `passages`: ids of the passages that state it."""

    source: str
    target: str
    description: str = ""
    weight: float = 1.0
    id: int | None = None
    rank: int | None = None
    links: int | None = None
    passages: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class ContextGraph(Record):
    """A context as ordered tables: entities, relationships, `sources` (texts that the graph was read from, or that
    report on it), `chunks` (texts of the corpus), paths, best first. It is the form of a structured context before
    writing and after parsing; `layout` names the one in which its method writes it (`workbench.layouts`)."""

    entities: tuple[ContextEntity, ...] = ()
    relations: tuple[ContextRelation, ...] = ()
    sources: tuple[Unit, ...] = ()
    chunks: tuple[Unit, ...] = ()
    paths: tuple[Path, ...] = ()
    layout: str = "ket_rag"


@dataclass(frozen=True, slots=True, repr=False)
class Evidence(Record):
    """What a method retrieved for a question, best first, and the trace that led to it.

    `scale` names the scale of the passages' scores. `fallback` states why a method used its fallback, and is `None` if
    it did not. `nodes` are the entities in the method's own order. `selected` is the number of leading passages that
    the method chose for the reader; `None` leaves the choice to the reader. `context` is the method's own layout for a
    reader; `None` leaves the layout to the reader. `mixed`: rankings on different scales were put on one.
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
    mixed: bool = False

    @property
    def ranking(self) -> list[tuple[str, float]]:
        """Passage ids with their scores, best first."""
        return [(passage.id, score) for passage, score in self.passages]

    @property
    def nodes(self) -> list[str]:
        return [entity.name for entity, _ in self.entities]


@dataclass(frozen=True, slots=True, repr=False)
class Compressed(Record):
    """A context before and after a compressor cut it to `budget` cl100k tokens.

    `graph` holds the kept part of the tables of `before`, `text` its written form; `tokens` and `tokens_before` are the
    lengths of both. `hops`: (name, hop) of every entity reached, nearest first; `seeds` are those at hop 0. `kept`: the
    contents of the text by part, as (heading, hop or None, ids of units or names). `fallback`: why the context was left
    unchanged.
    """

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
        """The parts of the tables that were not kept."""
        before, after = self.before, self.graph
        return ContextGraph(
            _without(before.entities, after.entities),
            _without(before.relations, after.relations),
            _without(before.sources, after.sources),
            _without(before.chunks, after.chunks),
            _without(before.paths, after.paths),
            before.layout,
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
    """A pattern and the fact that it matches. `score` is in [0, 1]: the similarity of predicate and terms, 1 if the
    labels agree (`exact`); `turned`: subject and object are swapped."""

    pattern: Pattern
    fact: Triple
    score: float
    exact: bool = False
    turned: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Binding(Record):
    """Values of variables under which all patterns match, one match for each, and the lowest of their scores."""

    values: tuple[tuple[str, str], ...]
    matches: tuple[Match, ...]
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class Proof(Record):
    """A query executed on facts, and its verdict on an answer.

    `query` is the executed SPARQL, `patterns` its triple patterns in the order of the join, `wanted` the requested
    variable, `compare` how several values make the answer (empty: the value itself). `bindings` are complete, best
    first; `partial` are the best matches up to the hop where the chain breaks, `broken` the number of that pattern
    starting at 1, or None if no pattern breaks. `answers`: values of `wanted`, best first, with their scores. `mark` is
    the verdict on `answer`: `verified`, `contradicted`, `unsupported`, or empty without an answer. `flaw`: why there is
    nothing to execute.
    """

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
    """How an answer came about: the `prompt` that produced it; with routing, the predicted `kind` of question
    (`invalid`: the label was unknown, and the default applied); `retried`: the first prompt abstained; `flaw`: why no
    answer could be read from the reply (empty if one could); `compressor`, and the cl100k `tokens` shown."""

    prompt: str
    kind: str = ""
    invalid: bool = False
    retried: bool = False
    flaw: str = ""
    compressor: str = ""
    tokens: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Record):
    """A reader's answer to a question, and the engine that it called.

    `failure` states why there is no answer; abstaining is an answer, not a failure. `proof` is the result of executing
    the query behind it, if there is one. `reply` is the model's text if no answer could be read from it.
    """

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

    @property
    def engines(self) -> tuple[str, ...]:
        """Names of the engines that answered the reader: as its trace tells them, else `engine`."""
        answered_by = self.trace.engines_below(self.reader) if self.trace else ()
        return answered_by or ((self.engine,) if self.engine else ())


def _without(rows: tuple[T, ...], removed: tuple[T, ...]) -> tuple[T, ...]:
    left = set(removed)
    return tuple(row for row in rows if row not in left)


def ranked(items: Sequence[T], scores: Sequence[float]) -> tuple[Scored[T], ...]:
    """Pair items with plain Python floats, in the given order."""
    return tuple(Scored(item, float(score)) for item, score in zip(items, scores, strict=True))


def by_place(items: Iterable[T]) -> tuple[Scored[T], ...]:
    """Pair items with 1 / rank, in the given order."""
    return tuple(Scored(item, 1 / rank) for rank, item in enumerate(items, 1))


def record_of(kind: type, plain: Mapping[str, Any]) -> Any:
    """Restore a record that `dataclasses.asdict` and JSON made plain: sequences become tuples again."""
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()})
