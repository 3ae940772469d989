"""Stage 1, neighbourhood selection: from the question to DOTs with anchors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from workbench.graph.anchors import exact, named
from workbench.methods.dotrag.context import DotContext
from workbench.methods.dotrag.events import Anchor, Concept, SelectedDot, Selection
from workbench.ranking.similarity import top
from workbench.steps import select_regions
from workbench.trace import Trace


def select(context: DotContext, question: str, trace: Trace) -> tuple[list[SelectedDot], list[str]]:
    """The DOTs of a question, and what failed, in words."""
    with Selection.open(trace) as write:
        names = dict.fromkeys((text, context.typed.types[row]) for text, row in named(context.typed, question))
        value = select_regions.Input(question, context.about, context.types, context.relations, tuple(names))
        result = context.ask(select_regions.STEP, value, trace)
        output = result.value or select_regions.Output(anchors=[], topics=[], routing=0)
        chosen = select_regions.checked(value, output)
        concepts = accepted(chosen, context.settings)
        dots = divide(context, concepts, question)
        pairs = [(concept.level, concept.span) for concept in concepts]
        write(**chosen.model_dump(), accepted=pairs, named=list(names), failure=result.failure or None)
    notes = [f"no region was selected ({result.failure}): the question is its own topic"]
    return dots, notes if result.failure else []


def accepted(chosen: select_regions.Output, settings) -> list[Concept]:
    """The names of a specific question; of a broad one its topics as well, or alone (`broad`)."""
    low = [Concept(one.span, one.description, one.type) for one in chosen.anchors[: settings.max_concepts]]
    high = [Concept(topic, level="high") for topic in dict.fromkeys(chosen.topics)]
    if chosen.routing and low:
        return low
    return low + high if settings.broad == "both" else high


def divide(context: DotContext, concepts: Sequence[Concept], question: str) -> list[SelectedDot]:
    """One DOT per concept; concepts of the same anchors share one. Where there is no concept, one of the question."""
    concepts = list(concepts) or [Concept(question, level="high")]
    cosines = context.typed.entity_vectors @ context.encode([concept.query for concept in concepts]).T
    dots: dict[frozenset[int], SelectedDot] = {}
    for concept, similar in zip(concepts, np.ascontiguousarray(cosines.T)):
        anchors, weak = anchored(context, concept, similar)
        same = dots.get(key := frozenset(anchor.row for anchor in anchors))
        if same is None:
            dots[key] = SelectedDot(len(dots), concept.span, concept.level, tuple(anchors), weak)
        elif concept.span not in same.concept.split("; "):
            dots[key] = replace(same, concept=f"{same.concept}; {concept.span}")
    return list(dots.values())


def anchored(context: DotContext, concept: Concept, similar: np.ndarray) -> tuple[list[Anchor], bool]:
    """The anchors of a concept, and whether they are weak. `similar` are the cosines of all entities, (n,).

    A topic: the `k_high` most similar entities. A name: the entities of that name, those of the expected type first;
    where there are none (or `exact_alone` is off) those with a cosine of at least `tau`; else the most similar one."""
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
