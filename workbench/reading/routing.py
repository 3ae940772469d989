"""Which prompt a question is asked with, by its kind ("The Reasoning Bottleneck in Graph-RAG", section 3.5)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from workbench.llm.engine import Engine
from workbench.steps import final_answer
from workbench.trace import Trace

STEP = final_answer.CLASSIFY
TOKENS = STEP.max_tokens
POLICY = {"bridge": "sparql", "comparison": "cot", "inference": "cot"}
ROUTERS = ("model", "heuristic")


class Route(NamedTuple):
    """The prompt, the kind of question that it was chosen for, and whether that kind is the default because the router
    gave none."""

    prompt: str
    kind: str = ""
    invalid: bool = False


def route(question: str, engine: Engine, router: str, trace: Trace, tokens: int = TOKENS) -> Route:
    """Asks the engine (`model`), or reads the question's form (`heuristic`). A router that fails is one that gave no
    kind; why is in the trace. Of fewer `tokens` than by default the label is asked for as a word, because an object
    around it would not be whole."""
    with trace.span("CHAIN", "route", router=router) as span:
        if router == "heuristic":
            kind, invalid = heuristic(question), False
        else:
            step = replace(STEP, max_tokens=tokens, labels=STEP.labels if tokens >= TOKENS else ())
            (result,) = engine.run(step, [final_answer.RoutedQuestion(question)], trace=trace)
            output = result.value or final_answer.read_kind("")
            kind, invalid = output.kind, output.invalid
        chosen = Route(POLICY[kind], kind, invalid)
        span.set(kind=kind, prompt=chosen.prompt, **({"invalid": True} if invalid else {}))
    return chosen


def other(prompt: str) -> str:
    """The other one of the two prompts that questions are routed to."""
    return "cot" if prompt == "sparql" else "sparql"


_COMPARES = re.compile(
    r"\bboth\b|\bshares?\b|\bin common\b|\bsame\b|\bmore\b.*\bthan\b|\beither\b|\b(?:these|the) two\b|^between\b"
    r"|^(?:who|whom|whose|what|which|when|where|why|how)\b.*\bor\b"
    r"|\bborn (?:first|earlier|before)\b|\bdied first\b|\blived longer\b",
    re.DOTALL,
)


def heuristic(question: str) -> str:
    """`comparison` or `bridge` by the words of a question, as in the paper's companion code; it knows no `inference`.

    >>> heuristic("Are Ada Lind and Bo Rask of the same town?"), heuristic("Where was the father of Bo Rask born?")
    ('comparison', 'bridge')
    """
    return "comparison" if _COMPARES.search(" ".join(question.lower().split())) else "bridge"
