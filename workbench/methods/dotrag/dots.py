"""DOTs, read from the trace of a DotRAG retrieval: anchors, rules, searches, verdicts and kept paths.

A DOT belongs to one concept of the question: it has anchors in the graph, a region around them, rules that decide which
paths count, and a few iterations of search. Nothing is recomputed, so a saved trace suffices, without index or engine.
`workbench.methods.dotrag` writes the events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import SettingError
from workbench.index import Index
from workbench.methods.dotrag.events import (
    Aggregation,
    AnchorsEvent,
    Candidates,
    Concept,
    DotEvent,
    DrawnPaths,
    IterationEvent,
    JudgedPath,
    KeptPaths,
    Ranking,
    Region,
    Rules,
    SelectedDot,
    Selection,
    Verdicts,
)
from workbench.methods.events import read_as_written, root_of, trace_of
from workbench.operators.neighbourhood import Edge, Node, Subgraph
from workbench.operators.region import region
from workbench.operators.types import types_of
from workbench.records import Evidence, Record
from workbench.trace import Event, Trace

if TYPE_CHECKING:
    import pandas as pd


class Candidate(NamedTuple):
    """A node that a query found; `query` is the position of that query in its iteration."""

    name: str
    type: str
    similarity: float
    query: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Iteration(Record):
    """One round of search in a DOT.

    queries   (origin, text): `initial`, `partial:<id of a path>` or `fallback`; `repeated` ones were searched before
    excluded  number of nodes left out because paths to them had been judged
    without   candidates to which no path leads
    kept      ids of the paths kept after the iteration, including those of earlier iterations
    dropped   id → why a path of this or of an earlier iteration is not, or no longer, kept
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
class Dot(SelectedDot):
    """A DOT with its rules, region and iterations, and why its search ended."""

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
        """The paths kept at its end, in the order in which they were found."""
        return tuple(path for path in self.paths if path.kept)


@dataclass(frozen=True, slots=True, repr=False)
class Dots(Record):
    """A whole retrieval. `concepts` and `topics` were found in the question, `accepted` are those that became DOTs, as
    (level, concept), and `named` are the names of the graph in the question, as (span, type).

    `final` are the paths of all DOTs, best first, with their final verdicts; `chunks` are the passages at the end, as
    (id, similarity). `gold` are names of nodes given by the caller; the method does not see them. `engines` answered
    the Steps."""

    question: str
    method: str
    concepts: tuple[Concept, ...]
    topics: tuple[str, ...]
    routing: int
    accepted: tuple[tuple[str, str], ...]
    named: tuple[tuple[str, str], ...]
    dots: tuple[Dot, ...]
    final: tuple[JudgedPath, ...]
    chunks: Ranking
    no_paths: bool = False
    gold: tuple[str, ...] = ()
    fallback: str | None = None
    failure: str | None = None
    engines: tuple[str, ...] = ()

    @property
    def types(self) -> dict[str, str]:
        """Name → type, of the anchors and candidates of all DOTs."""
        nodes = (node for dot in self.dots for node in (*dot.anchors, *_candidates(dot)))
        return {node.name: node.type for node in nodes}

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
        import pandas as pd

        rows = [
            (path.id, dot.concept, iteration.number, " → ".join(path.nodes), len(path.relations), path.query_similarity,
             path.label, path.confidence, path.fate)
            for dot in self.dots
            for iteration in dot.iterations
            for path in iteration.paths
        ]  # fmt: skip
        columns = ["path", "concept", "iteration", "nodes", "hops", "similarity", "label", "confidence", "fate"]
        return pd.DataFrame(rows, columns=columns).set_index("path")

    def diff(self, other: Dots) -> DotsDiff:
        """The gains and losses of another retrieval of the same question; DOTs are matched by their concept."""
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
    """One concept in two retrievals: the nodes per hop of its regions (empty without a DOT), and its anchors."""

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
    """The paths that a retrieval with other settings gains and loses, and its regions next to the first one's."""

    before: str
    after: str
    dots: tuple[DotDiff, ...]
    gained: tuple[JudgedPath, ...]
    lost: tuple[JudgedPath, ...]

    def __bool__(self) -> bool:
        """Whether anything differs besides the settings."""
        moved = any(dot.before != dot.after or dot.gained or dot.lost for dot in self.dots)
        return bool(moved or self.gained or self.lost)

    def frame(self) -> pd.DataFrame:
        """One row per concept and hop: how many nodes the region gains there, before and after."""
        import pandas as pd

        rows = []
        for dot in self.dots:
            for hop in range(max(len(dot.before), len(dot.after))):
                counts = [sizes[hop] if hop < len(sizes) else 0 for sizes in (dot.before, dot.after)]
                rows.append((dot.concept, hop, *counts))
        return pd.DataFrame(rows, columns=["concept", "hop", "before", "after"]).set_index(["concept", "hop"])


class MethodResult(NamedTuple):
    """The results of a method: ids of passages, names of nodes, the nodes of its paths; each best first."""

    method: str
    passages: tuple[str, ...]
    nodes: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Record):
    """The results of several methods for one question. `gold` are names of nodes given by the caller."""

    question: str
    found: tuple[MethodResult, ...]
    gold: tuple[str, ...] = ()

    @property
    def common(self) -> frozenset[str]:
        """The nodes that more than one of the methods found."""
        return _shared(result.nodes for result in self.found)

    @property
    def common_passages(self) -> frozenset[str]:
        """The ids of the passages that more than one of the methods found."""
        return _shared(result.passages for result in self.found)

    def frame(self) -> pd.DataFrame:
        """A row per method: its numbers of results, of nodes shared with another method, and of gold nodes found."""
        import pandas as pd

        rows = {
            result.method: {
                "passages": len(result.passages),
                "nodes": len(result.nodes),
                "paths": len(result.paths),
                "shared nodes": len(self.common.intersection(result.nodes)),
                "gold nodes": len(set(self.gold).intersection(result.nodes)) if self.gold else None,
            }
            for result in self.found
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def dots(source: Trace | Evidence, gold: Sequence[str] = ()) -> Dots:
    """The DOTs of a retrieval, from its evidence or its trace, in memory or opened from a file. `gold` are names of
    nodes to mark.

    Raises SettingError for evidence without a trace, and DataError for a trace that DotRAG did not write."""
    trace = trace_of(source)
    root = root_of(trace, Selection.step, "DOTs", "take the trace of dotrag")
    with read_as_written(root.step, "dotrag"):
        return _dots(trace, root, tuple(gold))


def _dots(trace: Trace, root: Event, gold: tuple[str, ...]) -> Dots:
    parts = trace.children(root.id)
    selection, end = Selection.find(parts) or Selection(), Aggregation.find(parts) or Aggregation()
    searched = Dots(
        root.inputs["question"],
        root.step,
        tuple(Concept(**{"description": "", "type": None, **anchor}) for anchor in selection.anchors),
        selection.topics,
        selection.routing,
        selection.accepted,
        selection.named,
        tuple(_dot(trace, event) for event in parts if event.step == DotEvent.step),
        (),
        end.passages,
        end.no_paths,
        gold,
        root.outputs.get("fallback"),
        root.failure or selection.failure,
        trace.engines,
    )
    return replace(searched, final=tuple(_final(searched, end.paths)))


def whole_region(index: Index, dot: Dot, most: int | None = None) -> Subgraph:
    """The region of a DOT, recomputed from the graph of the index, because a trace holds only its size. Rows are those
    of the layer `typed`. If there are more than `most` nodes, the nearest to the anchors remain, ties by degree.

    Raises SettingError for a DOT that has no region, or whose anchors the index does not have."""
    row = index.typed.row
    strange = [anchor.name for anchor in dot.anchors if anchor.name not in row]
    if dot.region is None or dot.rules is None or strange:
        why = f"the index has no node {strange[0]!r}; open the index of the trace" if strange else "its search failed"
        raise SettingError(f"DOT {dot.number} has no region to draw: {why}")
    anchors = [row[anchor.name] for anchor in dot.anchors]
    searched, reached = dot.region, len(dot.region.hops) - 1
    part = region(
        index.typed,
        anchors,
        dot.rules.allowed_types,
        reached,
        None,
        relax=searched.filter_relaxed,
        untyped=not searched.only_typed,
    )
    degrees = index.typed.degrees[part.rows]
    included = np.lexsort((part.rows, -degrees, part.hops))[:most]
    names, types, inside = index.typed.names, index.typed.types, part.graph[included][:, included].tocoo()
    nodes = (
        Node(
            int(part.rows[at]),
            "phrase",
            names[part.rows[at]],
            names[part.rows[at]],
            int(part.hops[at]),
            int(degrees[at]),
            type=types[part.rows[at]],
        )
        for at in included
    )
    ends = zip(inside.row.tolist(), inside.col.tolist())
    edges = (Edge(source, target, "relation", 1.0) for source, target in ends if source < target)
    return Subgraph(dot.concept, tuple(nodes), tuple(edges), len(part.rows) - len(included), types_of(index).order)


def _final(searched: Dots, paths: Sequence[Mapping]) -> Iterator[JudgedPath]:
    """The paths at the end, with the final verdict on those that two DOTs found."""
    for path in paths:
        judged = searched.path(path["id"])
        yield replace(judged, label=path["label"], confidence=path["confidence"], fate="kept")


def _dot(trace: Trace, event: Event) -> Dot:
    start, parts = DotEvent.read(event), trace.children(event.id)
    anchors = AnchorsEvent.find(parts) or AnchorsEvent()
    iterations: list[Iteration] = []
    for part in parts:
        if part.step == IterationEvent.step:
            iterations.append(_iteration(trace, part, iterations[-1].kept if iterations else ()))
    return Dot(
        start.dot,
        start.concept,
        start.level,
        anchors.anchors,
        anchors.weak,
        Rules.find(parts),
        Region.find(parts),
        tuple(_settled(iterations)),
        start.reason,
        event.failure,
    )


def _iteration(trace: Trace, event: Event, before: tuple[str, ...]) -> Iteration:
    start, parts = IterationEvent.read(event), trace.children(event.id)
    near, drawn, judged, kept_paths = (
        kind.find(parts) or kind() for kind in (Candidates, DrawnPaths, Verdicts, KeptPaths)
    )
    dropped = dict.fromkeys(drawn.cut, "cut") | dict(kept_paths.dropped)
    return Iteration(
        start.iteration,
        start.queries,
        start.dropped,
        tuple(
            Candidate(name, near.types.get(name, ""), similarity, near.query.get(name, 0))
            for name, similarity in near.similarities
        ),
        near.excluded,
        tuple(drawn.path(id, judged) for id in drawn.paths),
        drawn.without,
        tuple(name for name in dict.fromkeys([*before, *kept_paths.kept]) if name not in dropped),
        dropped,
        event.failure or judged.failure,
    )


def _settled(iterations: Sequence[Iteration]) -> Iterator[Iteration]:
    """The iterations, with the final fate of each path."""
    fates = {name: why for iteration in iterations for name, why in iteration.dropped.items()}
    fates |= dict.fromkeys(iterations[-1].kept if iterations else (), "kept")
    for iteration in iterations:
        yield replace(
            iteration, paths=tuple(replace(path, fate=fates.get(path.id, path.fate)) for path in iteration.paths)
        )


def _candidates(dot: Dot) -> Iterator[Candidate]:
    return (candidate for iteration in dot.iterations for candidate in iteration.candidates)


def _shared(lists: Iterable[Sequence[str]]) -> frozenset[str]:
    """The items in more than one of the lists."""
    times = Counter(name for names in lists for name in set(names))
    return frozenset(name for name, count in times.items() if count > 1)
