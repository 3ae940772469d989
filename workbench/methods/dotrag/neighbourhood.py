"""Stages 1 and 2, neighbourhood selection and construction: from the question to DOTs with anchors, and from each DOT
to its rules, the region around its anchors, and the store of its vectors."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from workbench.data.schemas import of_paper
from workbench.encoding.similarity import top
from workbench.index import Index
from workbench.index.typed import TypedLayer
from workbench.llm.engine import Engine
from workbench.llm.step import Result, Step
from workbench.methods.dotrag.events import Anchor, AnchorsEvent, Concept, Rules, SelectedDot, Selection
from workbench.methods.dotrag.events import Region as RegionEvent
from workbench.operators.linking import exact, named
from workbench.operators.region import ALWAYS, Region, region
from workbench.steps import dot_rules, select_regions, select_regions_paper
from workbench.trace import Trace

# Step → the one that shows and asks no more than the paper's (`prompts=paper`).
PAPERS = {"select_regions": "select_regions_paper", "dot_rules": "dot_rules_paper"}
NAMES, SHARE = 50, 0.95  # names that tau is calibrated on; the share of them that must find their node
_taus: WeakKeyDictionary[TypedLayer, float] = WeakKeyDictionary()


class DotContext:
    """The index, the engine, the settings, and the description of the graph for prompts."""

    def __init__(self, index: Index, engine: Engine, settings):
        self.index, self.typed, self.engine, self.settings = index, index.typed, engine, settings
        schema, counts = self.typed.schema, self.typed.type_counts
        if settings.metadata == "paper":
            schema = of_paper(schema) or schema
        self.about = schema.description
        self.types = tuple((t.name, t.definition, counts.get(t.name, 0)) for t in schema.entity_types)
        self.relations = self.typed.relations
        self.as_paper = settings.prompts == "paper"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit rows, float32, one per text."""
        return self.index.encode(texts)

    def encode_question(self, question: str) -> np.ndarray:
        return self.index.encode_query(question, "passages")

    def ask(self, step: Step, value, trace: Trace) -> Result:
        return self.engine.run(step, [value], trace=trace)[0]

    def label(self, relation: int) -> str:
        """The name of a relation (row), or its keywords if it has none."""
        return self.typed.labels[relation] or ", ".join(self.typed.keywords[relation])

    def stating(self, relations: Iterable[int]) -> tuple[str, ...]:
        """Ids of the passages that state one of the relations (rows)."""
        rows = columns(self.typed.relation_stated, relations)
        return tuple(self.index.passages.passages[row].id for row in rows)


def columns(table: sp.csr_array, rows: Iterable[int]) -> np.ndarray:
    """The ascending columns in which some of these rows are not 0; a hundred times faster than slicing the table."""
    parts = [table.indices[table.indptr[row] : table.indptr[row + 1]] for row in rows]
    return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)


# -- stage 1: selection ------------------------------------------------------------------------------------------------


def select(context: DotContext, question: str, trace: Trace) -> tuple[list[SelectedDot], list[str]]:
    """The DOTs of a question, and failures in words."""
    with Selection.open(trace) as write:
        names = dict.fromkeys((text, context.typed.types[row]) for text, row in named(context.typed, question))
        value = select_regions.Input(question, context.about, context.types, context.relations, tuple(names))
        result = context.ask(select_regions_paper.STEP if context.as_paper else select_regions.STEP, value, trace)
        chosen = _chosen(value, result.value)
        concepts = accepted(chosen, context.settings)
        dots = divide(context, concepts)
        without = [concept.span for concept in concepts if not dots]
        dots = dots or divide(context, [Concept(question, level="high")])
        pairs = [(concept.level, concept.span) for concept in concepts]
        write(**chosen.model_dump(), accepted=pairs, named=list(names), failure=result.failure or None)
    notes = [f"no region was selected ({result.failure}): the question is its own topic"] if result.failure else []
    if without:
        notes.append(f"no entity is similar enough to {', '.join(without)}: the question is its own topic")
    return dots, notes


def _chosen(
    value: select_regions.Input, reply: select_regions.Output | select_regions_paper.Output | None
) -> select_regions.Output:
    """The usable part of a reply; the question as its own topic without one."""
    if reply is None:
        return select_regions.checked(value, select_regions.Output(anchors=[], topics=[], routing=0))
    anchors = [select_regions.Anchor(**{"type": None, **anchor.model_dump()}) for anchor in reply.anchors]
    output = select_regions.Output(anchors=anchors, topics=reply.topics, routing=reply.routing)
    return select_regions.checked(value, output)


def accepted(chosen: select_regions.Output, settings) -> list[Concept]:
    """The names in a specific question; for a broad one, its topics as well, or alone (`broad`)."""
    low = [Concept(anchor.span, anchor.description, anchor.type) for anchor in chosen.anchors[: settings.max_concepts]]
    high = [Concept(topic, level="high") for topic in dict.fromkeys(chosen.topics)]
    if chosen.routing and low:
        return low
    return low + high if settings.broad == "both" else high


def divide(context: DotContext, concepts: Sequence[Concept]) -> list[SelectedDot]:
    """One DOT per concept that has anchors; with `merge_anchors`, concepts with the same anchors share one."""
    if not concepts:
        return []
    cosines = context.typed.entity_vectors @ context.encode([concept.query for concept in concepts]).T
    dots: dict[Hashable, SelectedDot] = {}
    for concept, similar in zip(concepts, np.ascontiguousarray(cosines.T)):
        anchors, weak = anchored(context, concept, similar)
        if weak and not context.settings.weak_anchor:
            continue
        key = frozenset(anchor.row for anchor in anchors) if context.settings.merge_anchors else concept
        same = dots.get(key)
        if same is None:
            dots[key] = SelectedDot(len(dots), concept.span, concept.level, tuple(anchors), weak)
        elif concept.span not in same.concept.split("; "):
            dots[key] = replace(same, concept=f"{same.concept}; {concept.span}")
    return list(dots.values())


def anchored(context: DotContext, concept: Concept, similar: np.ndarray) -> tuple[list[Anchor], bool]:
    """The anchors of a concept, and whether they are weak. `similar` are the cosines of all entities, (n,).

    Topic: the `k_high` most similar entities. Name: the entities of that name, those of the expected type first; if
    there are none (or `exact_alone` is off) those with a cosine of at least `tau`; otherwise the most similar one."""
    settings, typed = context.settings, context.typed

    def anchors(rows: Iterable[int], exact: bool = False) -> list[Anchor]:
        return [Anchor(typed.names[row], typed.types[row], float(similar[row]), exact, int(row)) for row in rows]

    if concept.level == "high":
        return anchors(top(similar, settings.k_high)), False
    same = exact(typed, concept.span) if settings.exact_anchor else []
    same.sort(key=lambda row: (typed.types[row] != concept.type, row))
    near: list[int] = []
    if not (same and settings.exact_alone):
        rows = np.flatnonzero(similar >= settings.tau)
        near = [row for row in rows[np.argsort(-similar[rows], kind="stable")] if row not in same]
    chosen = anchors(same, exact=True) + anchors(near)
    return (chosen[: settings.max_sources], False) if chosen else (anchors(top(similar, 1)), True)


def calibrated_tau(context: DotContext) -> float:
    """The least cosine of a name and its node: the greatest step of 0.01 at which `SHARE` of some of the index's own
    names, each asked for as a concept, reach the node of their name. Scales of cosines differ between encoders."""
    typed = context.typed
    if typed not in _taus:
        rows = np.linspace(0, len(typed.names) - 1, min(NAMES, len(typed.names))).astype(int) if typed.names else []
        concepts = [Concept(typed.names[row], f"{typed.names[row]} is a {typed.types[row]}.") for row in rows]
        vectors = context.encode([concept.query for concept in concepts]) if concepts else np.ones((1, 1), np.float32)
        own = typed.entity_vectors[rows] if concepts else vectors
        cosines = np.sort(np.einsum("nd,nd->n", own, vectors))
        lowest = float(cosines[int((1 - SHARE) * len(cosines))])
        _taus[typed] = min(1.0, max(0.0, math.floor(100 * lowest + 1e-4) / 100))
    return _taus[typed]


# -- stage 2: construction ---------------------------------------------------------------------------------------------


def show_anchors(dot: SelectedDot, trace: Trace) -> None:
    """Write the anchors of a DOT into its trace."""
    with AnchorsEvent.open(trace) as write:
        names = [anchor.name for anchor in dot.anchors if anchor.exact]
        types = {anchor.name: anchor.type for anchor in dot.anchors}
        similarities = tuple((anchor.name, anchor.similarity) for anchor in dot.anchors)
        write(weak=dot.weak, exact=names, types=types, similarities=similarities)


def build_rules(
    context: DotContext, question: str, dot: SelectedDot, trace: Trace, others: Sequence[str] = ()
) -> tuple[dot_rules.Output, str | None]:
    """The rules of a DOT, and if the Step failed, why they are the general ones. `others`: names with other DOTs."""
    typed = context.typed
    with Rules.open(trace) as write:
        anchors = tuple((anchor.name, anchor.type, typed.descriptions[anchor.row]) for anchor in dot.anchors)
        graph = (context.about, context.types, context.relations)
        met = (typed.leaving(dot.rows), typed.joins)
        value = dot_rules.Input(question, dot.concept, anchors, *graph, context.settings.h_max, *met, tuple(others))
        result = context.ask(dot_rules.PAPER if context.as_paper else dot_rules.STEP, value, trace)
        output = result.value
        if output and context.as_paper:  # no first query is asked for
            output = dot_rules.Output(**output.model_dump(), initial_query="").saying(output.beyond, output.meets)
        rules = dot_rules.checked(value, output) if output else dot_rules.failed(value)
        write(**rules.model_dump(), beyond=rules.beyond, failure=result.failure or None)
    return rules, result.failure


def admitted(context: DotContext, dot: SelectedDot, rules: dot_rules.Output) -> SelectedDot:
    """The DOT with only the anchors of types that the rules allow, if `filter_anchors` is set and any remain."""
    allowed = {*rules.allowed_types, *(ALWAYS if context.settings.untyped else ())}
    anchors = tuple(anchor for anchor in dot.anchors if anchor.type in allowed)
    return replace(dot, anchors=anchors) if context.settings.filter_anchors and anchors else dot


def build_region(context: DotContext, dot: SelectedDot, rules: dot_rules.Output, trace: Trace) -> tuple[Region, Store]:
    """The admitted neighbourhood of a DOT's anchors, and a store of this region alone."""
    settings = context.settings
    with RegionEvent.open(trace) as write:
        part = region(
            context.typed,
            dot.rows,
            rules.allowed_types,
            settings.h_max,
            settings.max_region,
            relax=settings.relax,
            untyped=settings.untyped,
        )
        store = Store(context.typed, part, settings.relation_boost)
        write(
            hops=part.sizes(), nodes=len(part.rows), edges=part.edges, pruned=part.pruned,
            filter_relaxed=part.filter_relaxed, truncated=part.truncated,
            only_typed=None if settings.untyped else True,
        )  # fmt: skip
    return part, store


class Store:
    """The vectors of the entities and relations of one region: a slice of the index's, dropped with this object.

    A search returns entities. With `relation_boost`, the similarity of an entity is the maximum of its own and those of
    its relations inside the region; without, the relations take no part in it."""

    def __init__(self, typed: TypedLayer, part: Region, relation_boost: bool = False):
        self.rows, self.relations = part.rows, _Relations(typed, part)
        self._vectors, self._boost = typed.entity_vectors[part.rows], relation_boost

    def search(self, queries: np.ndarray, k: int, without: Collection[int] = ()) -> list[list[tuple[int, float]]]:
        """For each query, a row of unit vectors (q, d): at most `k` (entity, cosine), best first, equal ones in the
        order of their rows. Entities of `without` are left out."""
        cosines = self._vectors @ queries.T
        if self._boost:
            self.relations.lift(cosines, queries)
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
        self._ends, self.vectors = [end[rows] for end in ends], typed.relation_vectors[rows]

    def lift(self, cosines: np.ndarray, queries: np.ndarray) -> None:
        best = self.vectors @ queries.T
        for end in self._ends:
            np.maximum.at(cosines, end, best)
