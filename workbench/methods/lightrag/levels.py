"""The two levels of a question: its keywords, and the entities and edges close to them."""

from __future__ import annotations

from typing import NamedTuple

from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods.lightrag.graph import EdgeGraph
from workbench.operators.linking import named
from workbench.steps import keywords as step
from workbench.trace import Trace

TRACED = 10  # of what was found


class Keywords(NamedTuple):
    """The keywords of each level as one string, as they are encoded, and why there are none if the Step failed."""

    high: str
    low: str
    failure: str | None = None


def keywords_of(question: str, graph: EdgeGraph, engine: Engine, trace: Trace) -> Keywords:
    """One call of the Step `keywords`."""
    spans = tuple((span, graph.typed.types[row]) for span, row in named(graph.typed, question))
    (result,) = engine.run(step.STEP, [step.Input(question, spans, graph.schema)], trace=trace)
    if result.failure:
        return Keywords("", "", result.failure)
    return Keywords(", ".join(result.value.high_level), ", ".join(result.value.low_level))


def low_level(words: str, index: Index, graph: EdgeGraph, k: int, least: float, trace: Trace) -> list[int]:
    """The k entities closest to the keywords, best first; empty without keywords."""
    if not words:
        return []
    with trace.span("RETRIEVER", "low level", keywords=words) as span:
        rows, cosines = graph.nearest_entities(index.encode_query(words, "entities"), k, least)
        span.set(found=len(rows))
        span.score((graph.typed.names[row], cosine) for row, cosine in zip(rows[:TRACED].tolist(), cosines))
    return rows.tolist()


def high_level(words: str, index: Index, graph: EdgeGraph, k: int, least: float, trace: Trace) -> list[int]:
    """The k edges closest to the keywords, best first; empty without keywords."""
    if not words:
        return []
    with trace.span("RETRIEVER", "high level", keywords=words) as span:
        rows, cosines = graph.nearest_edges(index.encode_query(words, "relations"), k, least)
        span.set(found=len(rows))
        span.score((graph.name(edge), cosine) for edge, cosine in zip(rows[:TRACED].tolist(), cosines))
    return rows.tolist()
