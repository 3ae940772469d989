"""The records passed between the stages of DotRAG (concepts, anchors, paths) and the events of their trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from workbench.methods.events import TraceEvent, read_record
from workbench.records import Record
from workbench.steps.judge_paths import PathShown, Verdict

Hop = tuple[tuple[str, bool], ...]  # the parallel relations of one hop: (label, whether the hop follows its direction)
Rows = tuple[int, ...]  # of the layer `typed`
Ranking = tuple[tuple[str, float], ...]  # (name or id, score), best first


class Concept(NamedTuple):
    """The concept of a DOT: a name as written in the question (`low`), with a probable description and type, or a topic
    (`high`)."""

    span: str
    description: str = ""
    type: str | None = None
    level: str = "low"

    @property
    def query(self) -> str:
        return f"{self.span}: {self.description}" if self.description else self.span


class Anchor(NamedTuple):
    """An entity that a concept denotes; `exact` if its name is the wording of the concept. `row` in the layer `typed`
    is not in the trace."""

    name: str
    type: str
    similarity: float
    exact: bool = False
    row: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class SelectedDot(Record):
    """A division of thought: a concept (`level` low: named; high: a topic) and its anchors, best first. `weak`: no
    entity was similar enough, so the anchor is the most similar one."""

    number: int
    concept: str
    level: str
    anchors: tuple[Anchor, ...] = ()
    weak: bool = False

    @property
    def rows(self) -> list[int]:
        return [anchor.row for anchor in self.anchors]


@dataclass(frozen=True, repr=False)
class JudgedPath(Record, PathShown):
    """A path from an anchor to a candidate: what the judge sees of it, the verdict, and its fate.

    query_similarity   cosine of the candidate at its end and the nearest query
    label, confidence  the verdict; empty and 0 if it was not judged
    fate               its state at the end of its DOT: `kept`, `irrelevant`, `prefix`, `superseded`, `unjudged`, or
                       `cut` if there were too many to judge
    entities, facts    rows of its nodes, and of the relations of each hop; like the `types` of its nodes, not in the
                       trace"""

    query_similarity: float = 0.0
    label: str = ""
    confidence: float = 0.0
    justification: str = ""
    next_question: str = ""
    fate: str = "unjudged"
    entities: Rows = ()
    facts: tuple[Rows, ...] = ()

    @property
    def dot(self) -> int:
        return int(self.id.partition(".")[0])

    @property
    def kept(self) -> bool:
        return self.fate == "kept"

    @property
    def complete(self) -> bool:
        return self.label == "complete"

    @property
    def order(self) -> tuple:
        """Sort key: complete before partial, then by confidence, then by length, then by entities."""
        return (not self.complete, -self.confidence, len(self.entities), self.entities)

    def judged(self, verdict: Verdict) -> JudgedPath:
        return replace(self, **verdict.model_dump(exclude={"id"}))


@dataclass(frozen=True, slots=True, repr=False)
class Selection(TraceEvent):
    """Stage 1: `anchors` (fields of `Concept`) and `topics` of the question; `accepted`: those that become DOTs, as
    (level, concept); `named`: the names of the graph in the question, as (span, type)."""

    step = "select regions"

    anchors: tuple[Mapping[str, Any], ...] = ()
    topics: tuple[str, ...] = ()
    routing: int = 0
    accepted: tuple[tuple[str, str], ...] = ()
    named: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class DotEvent(TraceEvent):
    """Stages 2 and 3 of one DOT: why its search ended, and the number of paths kept."""

    step = "dot"
    inputs = ("dot", "concept", "level")

    dot: int
    concept: str
    level: str
    reason: str = ""
    kept: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class AnchorsEvent(TraceEvent):
    """The anchors of a DOT: (name, similarity), the names that are `exact`, and the type of each."""

    kind, step, scores = "RETRIEVER", "anchors", "similarities"

    weak: bool = False
    exact: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict, hash=False)
    similarities: Ranking = ()

    @property
    def anchors(self) -> tuple[Anchor, ...]:
        return tuple(
            Anchor(name, self.types.get(name, ""), similarity, name in self.exact)
            for name, similarity in self.similarities
        )


@dataclass(frozen=True, slots=True, repr=False)
class Rules(TraceEvent):
    """Stage 2: the rules of one DOT for intermediate and terminal nodes, and the types of entities in its region;
    `beyond` is what of the question they leave to a search, in words."""

    step = "rules"

    query_constraints: str = ""
    intermediate_rules: tuple[str, ...] = ()
    terminal_rules: tuple[str, ...] = ()
    allowed_types: tuple[str, ...] = ()
    initial_query: str = ""
    beyond: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Region(TraceEvent):
    """Stage 2: the size of the graph around the anchors. `hops` counts the entities at a distance of 0, 1, … hops;
    `pruned` counts the excluded ones by type. `only_typed`: whether entities without a type were left out."""

    step = "region"

    hops: tuple[int, ...]
    nodes: int
    edges: int
    pruned: Mapping[str, int] = field(default_factory=dict, hash=False)
    filter_relaxed: bool = False
    truncated: bool = False
    only_typed: bool | None = None  # only where they were


@dataclass(frozen=True, slots=True, repr=False)
class IterationEvent(TraceEvent):
    """Stage 3: an iteration of search with its queries (origin, text); the `dropped` ones were searched before."""

    step = "iteration"
    inputs = ("iteration", "queries", "dropped")

    iteration: int
    queries: tuple[tuple[str, str], ...]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Candidates(TraceEvent):
    """The entities found: (name, similarity), with their types and the position of the nearest query of each;
    `excluded` counts those that were evaluated before."""

    kind, step, scores = "RETRIEVER", "candidates", "similarities"

    types: Mapping[str, str] = field(default_factory=dict, hash=False)
    excluded: int = 0
    query: Mapping[str, int] = field(default_factory=dict, hash=False)
    similarities: Ranking = ()


@dataclass(frozen=True, slots=True, repr=False)
class DrawnPaths(TraceEvent):
    """The paths by id, the ids of those `cut` off, and the names of candidates `without` a path."""

    step = "paths"

    paths: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    cut: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @staticmethod
    def stored(path: JudgedPath) -> dict[str, Any]:
        return {"nodes": path.nodes, "relations": path.relations, "similarity": path.query_similarity}

    def path(self, id: str, verdicts: Verdicts) -> JudgedPath:
        """A path with the judge's verdict."""
        drawn, judged = self.paths[id], (verdicts.passages.get(id, ""), verdicts.similarities.get(id, 0.0))
        stored = {**drawn, "query_similarity": drawn["similarity"]} | dict(zip(("passage", "similarity"), judged))
        return read_record(JudgedPath, {"id": id, "types": (), **stored, **verdicts.verdicts.get(id, {})})


@dataclass(frozen=True, slots=True, repr=False)
class Verdicts(TraceEvent):
    """What the judge saw of each path (`passages`, `similarities`) and its verdicts, by id."""

    step = "judge"

    verdicts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    passages: Mapping[str, str] = field(default_factory=dict, hash=False)
    unjudged: tuple[str, ...] = ()
    similarities: Mapping[str, float] = field(default_factory=dict, hash=False)

    @staticmethod
    def stored(path: JudgedPath) -> dict[str, Any]:
        return {name: getattr(path, name) for name in ("label", "confidence", "justification", "next_question")}


@dataclass(frozen=True, slots=True, repr=False)
class KeptPaths(TraceEvent):
    """Ids of the paths kept after an iteration, and why the others are not, or no longer, kept."""

    step = "keep"

    kept: tuple[str, ...] = ()
    dropped: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, repr=False)
class Aggregation(TraceEvent):
    """Stage 4: the paths of all DOTs, best first, and the passages as (id, similarity)."""

    step, scores = "aggregate", "passages"

    paths: tuple[Mapping[str, Any], ...] = ()
    no_paths: bool = False
    passages: Ranking = ()

    @staticmethod
    def stored(path: JudgedPath) -> dict[str, Any]:
        return {name: getattr(path, name)
                for name in ("id", "dot", "nodes", "relations", "label", "confidence", "passage")}  # fmt: skip
