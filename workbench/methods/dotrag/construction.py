"""Stage 2, neighbourhood construction: the rules of a DOT, the region around its anchors, the store of its vectors."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from workbench.graph.region import ALWAYS, Region, region
from workbench.index.typed import TypedLayer
from workbench.methods.dotrag import events
from workbench.methods.dotrag.context import DotContext
from workbench.methods.dotrag.events import AnchorsEvent, SelectedDot
from workbench.ranking.similarity import top
from workbench.steps import dot_rules
from workbench.trace import Trace


def show_anchors(dot: SelectedDot, trace: Trace) -> None:
    """Write the anchors of a DOT into its trace."""
    with AnchorsEvent.open(trace) as write:
        names = [anchor.name for anchor in dot.anchors if anchor.exact]
        types = {anchor.name: anchor.type for anchor in dot.anchors}
        similarities = tuple((anchor.name, anchor.similarity) for anchor in dot.anchors)
        write(weak=dot.weak, exact=names, types=types, similarities=similarities)


def build_rules(
    context: DotContext, question: str, dot: SelectedDot, trace: Trace
) -> tuple[dot_rules.Output, str | None]:
    """The rules of a DOT, and why they are the general ones, where the Step failed."""
    typed = context.typed
    with events.Rules.open(trace) as write:
        anchors = tuple((anchor.name, anchor.type, typed.descriptions[anchor.row]) for anchor in dot.anchors)
        graph = (context.about, context.types, context.relations)
        value = dot_rules.Input(question, dot.concept, anchors, *graph, context.settings.h_max)
        result = context.ask(dot_rules.STEP, value, trace)
        rules = dot_rules.checked(value, result.value) if result.value else dot_rules.failed(value)
        write(**rules.model_dump(), failure=result.failure or None)
    return rules, result.failure


def admitted(context: DotContext, dot: SelectedDot, rules: dot_rules.Output) -> SelectedDot:
    """The DOT without the anchors of other types than the rules allow, where that is asked for and leaves some."""
    allowed = ALWAYS.union(rules.allowed_types)
    anchors = tuple(anchor for anchor in dot.anchors if anchor.type in allowed)
    return replace(dot, anchors=anchors) if context.settings.filter_anchors and anchors else dot


def build_region(context: DotContext, dot: SelectedDot, rules: dot_rules.Output, trace: Trace) -> tuple[Region, Store]:
    """The admitted neighbourhood of a DOT's anchors, and the store of it alone."""
    settings = context.settings
    with events.Region.open(trace) as write:
        part = region(context.typed, dot.rows, rules.allowed_types, settings.h_max, settings.max_region)
        store = Store(context.typed, part, settings.relation_boost)
        write(
            hops=part.sizes(), nodes=len(part.rows), edges=part.edges, pruned=part.pruned,
            filter_relaxed=part.filter_relaxed, truncated=part.truncated,
        )  # fmt: skip
    return part, store


class Store:
    """The vectors of a region and of nothing else: a slice of the index's, dropped with this object.

    With `relation_boost` an entity is as similar as itself or the most similar of its relations inside the region."""

    def __init__(self, typed: TypedLayer, part: Region, relation_boost: bool = False):
        self.rows = part.rows
        self._vectors = typed.entity_vectors[part.rows]
        self._relations = _Relations(typed, part) if relation_boost else None

    def search(self, queries: np.ndarray, k: int, without: Collection[int] = ()) -> list[list[tuple[int, float]]]:
        """For each query, a row of unit vectors (q, d): at most `k` (entity, cosine), best first, equal ones in the
        order of their rows. Entities of `without` are left out."""
        cosines = self._vectors @ queries.T
        if self._relations is not None:
            self._relations.lift(cosines, queries)
        eligible = ~np.isin(self.rows, list(without))
        rows = self.rows[eligible]
        return [[(int(rows[at]), float(column[at])) for at in top(column, k)] for column in cosines[eligible].T]


class _Relations:
    """The relations inside a region: their vectors, and the positions of their ends."""

    def __init__(self, typed: TypedLayer, part: Region):
        inside = np.full(len(typed.names), -1, dtype=np.int64)
        inside[part.rows] = np.arange(len(part.rows))
        ends = inside[typed.sources], inside[typed.targets]
        rows = np.flatnonzero((ends[0] >= 0) & (ends[1] >= 0))
        self._ends, self._vectors = [end[rows] for end in ends], typed.relation_vectors[rows]

    def lift(self, cosines: np.ndarray, queries: np.ndarray) -> None:
        best = self._vectors @ queries.T
        for end in self._ends:
            np.maximum.at(cosines, end, best)
