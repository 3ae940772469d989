"""DOTs, read off the trace of a DotRAG retrieval: what was anchored, ruled, searched, judged and kept.

A DOT is what DotRAG makes of one concept of the question: anchors in the graph, a region around them, rules that say
which paths count, and a few iterations of search. Nothing is computed again, so a saved trace is enough: neither index
nor engine is needed. The events are those of `workbench.methods.dotrag`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.errors import DataError, SettingError
from workbench.graph.neighbourhood import Edge, Node, Subgraph
from workbench.graph.region import region
from workbench.index import Index
from workbench.records import Evidence, Record
from workbench.trace import Event, Trace

Hop = tuple[tuple[str, bool], ...]  # the parallel relations of one hop: (label, whether the hop follows its direction)
LABELS = ("complete", "partial", "irrelevant")


class Concept(NamedTuple):
    """A part of the question's wording, what it probably is, and its type where one was said."""

    span: str
    description: str = ""
    type: str | None = None


class Anchor(NamedTuple):
    """A node that a concept stands for; `exact` where its name is the concept's wording."""

    name: str
    type: str
    similarity: float
    exact: bool = False


class Candidate(NamedTuple):
    """A node that a query found; `query` is the position of that query in its iteration."""

    name: str
    type: str
    similarity: float
    query: int = 0


class Rules(NamedTuple):
    """What counts in one DOT: on the way, at the end, and which types of nodes belong to its region."""

    constraints: str
    intermediate: tuple[str, ...]
    terminal: tuple[str, ...]
    types: tuple[str, ...]
    query: str
    failure: str | None = None


class Region(NamedTuple):
    """The size of the graph around the anchors. `hops` counts nodes first met at 0, 1, … hops; `pruned` counts those
    that were left out, by type."""

    hops: tuple[int, ...]
    nodes: int
    edges: int
    pruned: Mapping[str, int]
    relaxed: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class JudgedPath(Record):
    """A path from an anchor to a candidate. `passage` is it in sentences.

    `label` and `confidence` are the judge's, empty and 0 where it was not judged. `fate` is what became of it when its
    DOT ended: `kept`, `irrelevant`, `prefix`, `superseded`, `unjudged`, or `cut` where there were too many to judge."""

    id: str
    nodes: tuple[str, ...]
    relations: tuple[Hop, ...]
    similarity: float
    passage: str = ""
    label: str = ""
    confidence: float = 0.0
    justification: str = ""
    next_question: str = ""
    fate: str = "unjudged"

    @property
    def kept(self) -> bool:
        return self.fate == "kept"


@dataclass(frozen=True, slots=True, repr=False)
class Iteration(Record):
    """One round of search in a DOT.

    queries   (origin, text): `initial`, `partial:<id of a path>` or `fallback`; `repeated` ones had been asked before
    excluded  how many nodes were left out because paths to them had been judged
    without   candidates to which no path leads
    kept      ids of the paths that are kept after it, those of earlier iterations included
    dropped   id → why a path of this iteration is not kept, or one of an earlier iteration no longer
    """

    number: int
    queries: tuple[tuple[str, str], ...]
    repeated: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    excluded: int = 0
    paths: tuple[JudgedPath, ...] = ()
    without: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    dropped: Mapping[str, str] = field(default_factory=dict, hash=False)
    failure: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Dot(Record):
    """A concept (`level` low: named; high: a topic), its anchors, rules, region and iterations, and why it ended.
    `weak` says that no node was similar enough, and the best one was taken."""

    number: int
    concept: str
    level: str
    anchors: tuple[Anchor, ...] = ()
    weak: bool = False
    rules: Rules | None = None
    region: Region | None = field(default=None, hash=False)
    iterations: tuple[Iteration, ...] = ()
    reason: str = ""
    failure: str | None = None

    @property
    def paths(self) -> tuple[JudgedPath, ...]:
        return tuple(path for iteration in self.iterations for path in iteration.paths)

    @property
    def kept(self) -> tuple[JudgedPath, ...]:
        """The paths that are kept when it ends, in the order in which they were found."""
        return tuple(path for path in self.paths if path.kept)


@dataclass(frozen=True, slots=True, repr=False)
class Dots(Record):
    """A whole retrieval. `concepts` and `topics` are what was read out of the question, `accepted` those of them that
    were followed, as (level, concept), and `named` the names of the graph in it, as (span, type).

    `final` are the paths of all DOTs, best first, with the verdict that stood; `chunks` the passages at the end as
    (id, similarity). `gold` are names of nodes that the caller knows, not the method."""

    question: str
    method: str
    concepts: tuple[Concept, ...]
    topics: tuple[str, ...]
    routing: int
    accepted: tuple[tuple[str, str], ...]
    named: tuple[tuple[str, str], ...]
    dots: tuple[Dot, ...]
    final: tuple[JudgedPath, ...]
    chunks: tuple[tuple[str, float], ...]
    no_paths: bool = False
    gold: tuple[str, ...] = ()
    fallback: str | None = None
    failure: str | None = None

    @property
    def types(self) -> dict[str, str]:
        """Name → type, of the anchors and candidates of all DOTs."""
        found = (node for dot in self.dots for node in (*dot.anchors, *_candidates(dot)))
        return {node.name: node.type for node in found}

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes on the final paths, those of the best path first."""
        return tuple(dict.fromkeys(node for path in self.final for node in path.nodes))

    def dot(self, number: int) -> Dot:
        for dot in self.dots:
            if dot.number == number:
                return dot
        raise SettingError(f"there is no DOT {number!r}; there are {', '.join(str(d.number) for d in self.dots)}")

    def path(self, path_id: str) -> JudgedPath:
        for dot in self.dots:
            for path in dot.paths:
                if path.id == path_id:
                    return path
        raise SettingError(f"there is no path {path_id!r}; they are called <dot>.<iteration>.<number>, such as 0.1.2")

    def frame(self) -> pd.DataFrame:
        """One row per path, in the order in which they were found."""
        rows = [
            (path.id, dot.concept, iteration.number, " → ".join(path.nodes), len(path.relations), path.similarity,
             path.label, path.confidence, path.fate)
            for dot in self.dots
            for iteration in dot.iterations
            for path in iteration.paths
        ]  # fmt: skip
        columns = ["path", "concept", "iteration", "nodes", "hops", "similarity", "label", "confidence", "fate"]
        return pd.DataFrame(rows, columns=columns).set_index("path")

    def diff(self, other: Dots) -> DotsDiff:
        """What another retrieval of the same question has more and less; DOTs are matched by their concept."""
        left, right = ({dot.concept: dot for dot in dots.dots} for dots in (self, other))
        rows = [DotDiff.of(concept, left.get(concept), right.get(concept)) for concept in {**left, **right}]
        paths = [{path.nodes: path for path in dots.final} for dots in (self, other)]
        return DotsDiff(
            self.method,
            other.method,
            tuple(rows),
            tuple(path for nodes, path in paths[1].items() if nodes not in paths[0]),
            tuple(path for nodes, path in paths[0].items() if nodes not in paths[1]),
        )


class DotDiff(NamedTuple):
    """One concept in two retrievals: the nodes per hop of its regions (none where it has no DOT), and its anchors."""

    concept: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]

    @classmethod
    def of(cls, concept: str, before: Dot | None, after: Dot | None) -> DotDiff:
        hops = [dot.region.hops if dot and dot.region else () for dot in (before, after)]
        names = [[anchor.name for anchor in dot.anchors] if dot else [] for dot in (before, after)]
        gained, lost = (tuple(n for n in mine if n not in other) for mine, other in (names[::-1], names))
        return cls(concept, *hops, gained, lost)


@dataclass(frozen=True, slots=True, repr=False)
class DotsDiff(Record):
    """What a retrieval with other settings has more (`gained`) and less (`lost`), and its regions beside the first
    one's."""

    before: str
    after: str
    dots: tuple[DotDiff, ...]
    gained: tuple[JudgedPath, ...]
    lost: tuple[JudgedPath, ...]

    def __bool__(self) -> bool:
        """Whether anything but the settings differs."""
        moved = any(dot.before != dot.after or dot.gained or dot.lost for dot in self.dots)
        return bool(moved or self.gained or self.lost)

    def frame(self) -> pd.DataFrame:
        """One row per concept and hop: how many nodes the region gains there, before and after."""
        rows = []
        for dot in self.dots:
            for hop in range(max(len(dot.before), len(dot.after))):
                counts = [sizes[hop] if hop < len(sizes) else 0 for sizes in (dot.before, dot.after)]
                rows.append((dot.concept, hop, *counts))
        return pd.DataFrame(rows, columns=["concept", "hop", "before", "after"]).set_index(["concept", "hop"])


class Found(NamedTuple):
    """What a method found: ids of passages, names of nodes, the nodes of its paths; each best first."""

    method: str
    passages: tuple[str, ...]
    nodes: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Beside(Record):
    """What several methods found for one question. `gold` are names of nodes that the caller knows."""

    question: str
    found: tuple[Found, ...]
    gold: tuple[str, ...] = ()

    @property
    def common(self) -> frozenset[str]:
        """The nodes that more than one of the methods found."""
        return _shared(one.nodes for one in self.found)

    @property
    def common_passages(self) -> frozenset[str]:
        """The ids of the passages that more than one of the methods found."""
        return _shared(one.passages for one in self.found)

    def frame(self) -> pd.DataFrame:
        """A row per method: how much it found, how many nodes it shares with another, how many of the gold it has."""
        rows = {
            one.method: {
                "passages": len(one.passages),
                "nodes": len(one.nodes),
                "paths": len(one.paths),
                "shared nodes": len(self.common.intersection(one.nodes)),
                "gold nodes": len(set(self.gold).intersection(one.nodes)) if self.gold else None,
            }
            for one in self.found
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def dots(source: Trace | Evidence, gold: Sequence[str] = ()) -> Dots:
    """The DOTs of a retrieval: of its evidence, or of its trace, in memory or opened from a file. `gold` are names of
    nodes to be marked.

    Raises SettingError for evidence without a trace, DataError for a trace of another method and for one whose events
    are not as DotRAG writes them."""
    trace = source.trace if isinstance(source, Evidence) else source
    if trace is None:
        raise SettingError(f"the evidence of {source.method} has no trace; retrieve with trace='full'")
    chosen = next(iter(trace.find("select regions")), None)
    if chosen is None or chosen.parent is None:
        made_by = f"the trace of {trace[0].step}" if len(trace) else f"an empty trace (level {trace.level})"
        why = f": {trace[0].outputs['fallback']}" if len(trace) and "fallback" in trace[0].outputs else ""
        raise DataError(f"{made_by} has no DOTs{why}; take the trace of dotrag, recorded at level full or ids")
    root = trace[chosen.parent]
    try:
        said, ended = chosen.outputs, _part(trace, root, "aggregate")
        made = Dots(
            root.inputs["question"],
            root.step,
            tuple(Concept(one["span"], one.get("description", ""), one.get("type")) for one in said.get("anchors", ())),
            tuple(said.get("topics", ())),
            said.get("routing", 0),
            tuple((level, concept) for level, concept in said.get("accepted", ())),
            tuple((span, kind) for span, kind in said.get("named", ())),
            tuple(_dot(trace, event) for event in trace.children(root.id) if event.step == "dot"),
            (),
            ended.scores if ended else (),
            bool(ended and ended.outputs.get("no_paths")),
            tuple(gold),
            root.outputs.get("fallback"),
            root.failure or chosen.failure,
        )
        return replace(made, final=tuple(_final(made, ended.outputs.get("paths", ()))) if ended else ())
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"the trace of {root.step} is not as dotrag writes it ({type(error).__name__}: {error}); record it again"
        ) from error


def whole_region(index: Index, dot: Dot, most: int | None = None) -> Subgraph:
    """The region of a DOT, which a trace tells only the size of, computed again from the graph of the index. Rows are
    those of the layer `typed`. Of more than `most` nodes those near the anchors stay, well-connected ones first.

    Raises SettingError for a DOT that has no region, or whose anchors the index does not have."""
    row = index.typed.row
    strange = [anchor.name for anchor in dot.anchors if anchor.name not in row]
    if dot.region is None or dot.rules is None or strange:
        why = f"no node of the index is called {strange[0]!r}" if strange else "its search broke before there was one"
        raise SettingError(f"DOT {dot.number} has no region to draw: {why}")
    part = region(
        index.typed, [row[anchor.name] for anchor in dot.anchors], dot.rules.types, len(dot.region.hops) - 1, None
    )
    degrees = index.typed.degrees[part.rows]
    shown = np.lexsort((part.rows, -degrees, part.hops))[:most]
    names, inside = index.typed.names, part.graph[shown][:, shown].tocoo()
    nodes = (
        Node(
            int(part.rows[at]),
            "phrase",
            names[part.rows[at]],
            names[part.rows[at]],
            int(part.hops[at]),
            int(degrees[at]),
        )
        for at in shown
    )
    ends = zip(inside.row.tolist(), inside.col.tolist())
    edges = (Edge(source, target, "relation", 1.0) for source, target in ends if source < target)
    return Subgraph(dot.concept, tuple(nodes), tuple(edges), len(part.rows) - len(shown))


def _final(made: Dots, said: Sequence[Mapping]) -> Iterator[JudgedPath]:
    """The paths at the end: what was read of them, with the verdict that stood where two DOTs found the same."""
    for one in said:
        yield replace(made.path(one["id"]), label=one["label"], confidence=one["confidence"], fate="kept")


def _dot(trace: Trace, event: Event) -> Dot:
    anchored, ruled, region = (_part(trace, event, step) for step in ("anchors", "rules", "region"))
    rounds = [part for part in trace.children(event.id) if part.step == "iteration"]
    iterations: list[Iteration] = []
    for part in rounds:
        iterations.append(_iteration(trace, part, iterations[-1].kept if iterations else ()))
    return Dot(
        event.inputs["dot"],
        event.inputs["concept"],
        event.inputs["level"],
        _anchors(anchored) if anchored else (),
        bool(anchored and anchored.outputs.get("weak")),
        _rules(ruled) if ruled else None,
        _region(region) if region and "hops" in region.outputs else None,
        tuple(_settled(iterations)),
        event.outputs.get("reason", ""),
        event.failure,
    )


def _anchors(event: Event) -> tuple[Anchor, ...]:
    types, exact = event.outputs.get("types", {}), event.outputs.get("exact", ())
    return tuple(Anchor(name, types.get(name, ""), score, name in exact) for name, score in event.scores)


def _rules(event: Event) -> Rules:
    said = event.outputs
    lists = (tuple(said.get(name, ())) for name in ("intermediate_rules", "terminal_rules", "allowed_types"))
    return Rules(said.get("query_constraints", ""), *lists, said.get("initial_query", ""), event.failure)


def _region(event: Event) -> Region:
    said = event.outputs
    flags = (bool(said.get(name)) for name in ("filter_relaxed", "truncated"))
    return Region(tuple(said["hops"]), said["nodes"], said["edges"], dict(said.get("pruned", {})), *flags)


def _iteration(trace: Trace, event: Event, before: tuple[str, ...]) -> Iteration:
    parts = {part.step: part for part in trace.children(event.id)}
    found, drawn, judged, kept = ({} if (part := parts.get(step)) is None else part.outputs
                                  for step in ("candidates", "paths", "judge", "keep"))  # fmt: skip
    types, query = found.get("types", {}), found.get("query", {})
    scores = parts["candidates"].scores if "candidates" in parts else ()
    dropped = dict.fromkeys(drawn.get("cut", ()), "cut") | dict(kept.get("dropped", {}))
    return Iteration(
        event.inputs["iteration"],
        tuple((origin, text) for origin, text in event.inputs["queries"]),
        tuple(event.inputs.get("dropped", ())),
        tuple(Candidate(name, types.get(name, ""), score, query.get(name, 0)) for name, score in scores),
        found.get("excluded", 0),
        tuple(_path(name, one, judged) for name, one in drawn.get("paths", {}).items()),
        tuple(drawn.get("without", ())),
        tuple(name for name in dict.fromkeys([*before, *kept.get("kept", ())]) if name not in dropped),
        dropped,
        event.failure or (parts["judge"].failure if "judge" in parts else None),
    )


def _path(name: str, drawn: Mapping, judged: Mapping) -> JudgedPath:
    said = judged.get("verdicts", {}).get(name, {})
    hops = tuple(tuple((label, bool(forward)) for label, forward in hop) for hop in drawn["relations"])
    return JudgedPath(
        name,
        tuple(drawn["nodes"]),
        hops,
        drawn["similarity"],
        judged.get("passages", {}).get(name, ""),
        said.get("label", ""),
        float(said.get("confidence", 0.0)),
        said.get("justification", ""),
        said.get("next_question", ""),
    )


def _settled(iterations: Sequence[Iteration]) -> Iterator[Iteration]:
    """The iterations, with what became of each path in the end."""
    fates = {name: why for one in iterations for name, why in one.dropped.items()}
    fates |= dict.fromkeys(iterations[-1].kept if iterations else (), "kept")
    for one in iterations:
        yield replace(one, paths=tuple(replace(path, fate=fates.get(path.id, path.fate)) for path in one.paths))


def _candidates(dot: Dot) -> Iterator[Candidate]:
    return (candidate for iteration in dot.iterations for candidate in iteration.candidates)


def _shared(lists: Iterable[Sequence[str]]) -> frozenset[str]:
    """What is in more than one of the lists."""
    times = Counter(name for names in lists for name in set(names))
    return frozenset(name for name, count in times.items() if count > 1)


def _part(trace: Trace, event: Event, step: str) -> Event | None:
    return next((part for part in trace.children(event.id) if part.step == step), None)
