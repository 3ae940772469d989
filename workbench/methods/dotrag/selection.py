"""Stage 1, neighbourhood selection: from the question to DOTs with anchors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.graph.anchors import exact, named
from workbench.methods.dotrag.parts import Anchor, Concept, Dot, Ground
from workbench.ranking.similarity import top
from workbench.steps import select_regions
from workbench.trace import Trace


def select(ground: Ground, question: str, trace: Trace) -> tuple[list[Dot], list[str]]:
    """The DOTs of a question, and what failed, in words."""
    with trace.span("CHAIN", "select regions") as span:
        names = dict.fromkeys((text, ground.typed.types[row]) for text, row in named(ground.typed, question))
        value = select_regions.Input(question, ground.about, ground.types, ground.relations, tuple(names))
        result = ground.ask(select_regions.STEP, value, trace)
        said = result.value or select_regions.Output(anchors=[], topics=[], routing=0)
        chosen = select_regions.checked(value, said)
        concepts = accepted(chosen, ground.settings)
        dots = divide(ground, concepts, question)
        span.set(**chosen.model_dump(), accepted=[[concept.level, concept.text] for concept in concepts])
        span.set(named=list(names), **({"failure": result.failure} if result.failure else {}))
    return dots, [f"no region was selected ({result.failure}): the question is its own topic"] * bool(result.failure)


def accepted(chosen: select_regions.Output, settings) -> list[Concept]:
    """The names of a specific question; of a broad one its topics as well, or alone (`broad`)."""
    low = [Concept("low", one.span, one.description, one.type) for one in chosen.anchors[: settings.max_concepts]]
    high = [Concept("high", topic) for topic in dict.fromkeys(chosen.topics)]
    if chosen.routing and low:
        return low
    return low + high if settings.broad == "both" else high


def divide(ground: Ground, concepts: Sequence[Concept], question: str) -> list[Dot]:
    """One DOT per concept; concepts of the same anchors share one. Where there is no concept, one of the question."""
    concepts = list(concepts) or [Concept("high", question)]
    cosines = ground.typed.entity_vectors @ ground.encode([concept.query for concept in concepts]).T
    dots: dict[frozenset[int], Dot] = {}
    for concept, similar in zip(concepts, np.ascontiguousarray(cosines.T)):
        anchors, weak = anchored(ground, concept, similar)
        same = dots.get(key := frozenset(anchor.row for anchor in anchors))
        if same is None:
            dots[key] = Dot(len(dots), concept.text, concept.level, tuple(anchors), weak)
        elif concept.text not in same.concept.split("; "):
            dots[key] = Dot(same.number, f"{same.concept}; {concept.text}", same.level, same.anchors, same.weak)
    return list(dots.values())


def anchored(ground: Ground, concept: Concept, similar: np.ndarray) -> tuple[list[Anchor], bool]:
    """The anchors of a concept, and whether they are weak. `similar` are the cosines of all entities, (n,).

    A topic: the `k_high` most similar entities. A name: the entities of that name, those of the expected type first;
    where there are none (or `exact_alone` is off) those with a cosine of at least `tau`; else the most similar one."""
    settings, typed = ground.settings, ground.typed
    if concept.level == "high":
        return [Anchor(int(row), float(similar[row])) for row in top(similar, settings.k_high)], False
    same = exact(typed, concept.text) if settings.exact_anchor else []
    same.sort(key=lambda row: (typed.types[row] != concept.type, row))
    anchors = [Anchor(row, float(similar[row]), True) for row in same]
    if not (same and settings.exact_alone):
        near = np.flatnonzero(similar >= settings.tau)
        anchors += [Anchor(int(row), float(similar[row])) for row in near[np.argsort(-similar[near], kind="stable")]
                    if row not in same]  # fmt: skip
    if anchors:
        return anchors[: settings.max_sources], False
    return [Anchor(int(row), float(similar[row])) for row in top(similar, 1)], True


def show(ground: Ground, dot: Dot, trace: Trace) -> None:
    """Write the anchors of a DOT into its trace."""
    names, types = ground.typed.names, ground.typed.types
    with trace.span("RETRIEVER", "anchors") as span:
        span.set(weak=dot.weak, exact=[names[anchor.row] for anchor in dot.anchors if anchor.exact])
        span.set(types={names[anchor.row]: types[anchor.row] for anchor in dot.anchors})
        span.score((names[anchor.row], anchor.similarity) for anchor in dot.anchors)
