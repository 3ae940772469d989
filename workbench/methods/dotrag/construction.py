"""Stage 2, neighbourhood construction: the rules of a DOT, the region around its anchors, the store of its vectors."""

from __future__ import annotations

from dataclasses import replace

from workbench.graph.region import ALWAYS, Region, Store, region
from workbench.methods.dotrag.parts import Dot, Ground
from workbench.steps import dot_rules
from workbench.trace import Trace


def build_rules(ground: Ground, question: str, dot: Dot, trace: Trace) -> tuple[dot_rules.Output, str | None]:
    """The rules of a DOT, and why they are the general ones, where the Step failed."""
    typed = ground.typed
    with trace.span("CHAIN", "rules") as span:
        anchors = tuple((typed.names[row], typed.types[row], typed.descriptions[row]) for row in dot.rows)
        told = (anchors, ground.about, ground.types, ground.relations, ground.settings.h_max)
        value = dot_rules.Input(question, dot.concept, *told)
        result = ground.ask(dot_rules.STEP, value, trace)
        rules = dot_rules.checked(value, result.value) if result.value else dot_rules.failed(value)
        span.set(**rules.model_dump(), **({"failure": result.failure} if result.failure else {}))
    return rules, result.failure


def admitted(ground: Ground, dot: Dot, rules: dot_rules.Output) -> Dot:
    """The DOT without the anchors of other types than the rules allow, where that is asked for and leaves some."""
    types, allowed = ground.typed.types, ALWAYS.union(rules.allowed_types)
    kept = tuple(anchor for anchor in dot.anchors if types[anchor.row] in allowed)
    return replace(dot, anchors=kept) if ground.settings.filter_anchors and kept else dot


def build_region(ground: Ground, dot: Dot, rules: dot_rules.Output, trace: Trace) -> tuple[Region, Store]:
    """The admitted neighbourhood of a DOT's anchors, and the store of it alone."""
    settings = ground.settings
    with trace.span("CHAIN", "region") as span:
        part = region(ground.typed, dot.rows, rules.allowed_types, settings.h_max, settings.max_region)
        store = Store(ground.typed, part, settings.relation_boost)
        span.set(hops=part.sizes(), nodes=len(part.rows), edges=part.edges, pruned=part.pruned)
        span.set(filter_relaxed=part.filter_relaxed, truncated=part.truncated)
    return part, store
