"""The prompts of a reader, by the names used in settings and results; and routing, the choice among them by the kind of
the question ("The Reasoning Bottleneck in Graph-RAG", section 3.5)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from workbench.llm.engine import Engine
from workbench.llm.step import Result, Step
from workbench.measures.abstained import is_abstention
from workbench.steps import answer, final_answer
from workbench.steps.final_answer import CUT, Extracted, last_line, whole
from workbench.trace import Trace


class Prompt(NamedTuple):
    """`extract` reads an answer off a result, by an extraction; `input_of` makes the Step's input of the usual one."""

    step: Step
    extract: Callable[[Result, str], Extracted]
    input_of: Callable[[answer.Input], Any] = lambda given: given


def _thought(result: Result, extraction: str) -> Extracted:
    """The reply's own thought and answer."""
    output = result.value
    return Extracted(output.answer, output.abstained, output.thought)


def _label(result: Result, extraction: str) -> Extracted:
    """A claim has one of two labels; abstention is impossible."""
    return Extracted(result.value.label, thought=result.value.thought)


def _essay(result: Result, extraction: str) -> Extracted:
    """The whole reply, in one way; a cut one as well, which counts for as much as there is. An essay may say that one
    thing is unknown; a reply of a sentence that says so abstains."""
    text, flaw = result.value.reply, CUT if result.parse == "cut" else ""
    if is_abstention(text) and len(text.split()) <= _SENTENCE:
        return Extracted(abstained=True)
    return Extracted(text, flaw=flaw)


_SENTENCE = 30  # words


def _read(how: Callable[..., Extracted]) -> Callable[[Result, str], Extracted]:
    return lambda result, extraction: how(result.value.reply, extraction, cut=result.parse == "cut")


PROMPTS: dict[str, Prompt] = {
    "thought": Prompt(answer.STEP, _thought),
    "brief": Prompt(final_answer.BRIEF, _read(whole)),
    "sparql": Prompt(final_answer.SPARQL, _read(last_line), partial(final_answer.SparqlInput.of, example=True)),
    "sparql-thesis": Prompt(final_answer.SPARQL, _read(last_line), partial(final_answer.SparqlInput.of, example=False)),
    "cot": Prompt(final_answer.STEPWISE, _read(last_line)),
    "claim": Prompt(answer.CLAIM, _label),
    "essay": Prompt(final_answer.ESSAY, _essay),
    "knowledge": Prompt(final_answer.KNOWLEDGE, _read(whole)),
}


def step_of(prompt: str, mode: str, extraction: str = "strict") -> Step:
    """The Step of a prompt, with the messages of a mode, and the parser of an extraction."""
    chosen = PROMPTS[prompt]
    step = chosen.step.opened if mode == "open" else chosen.step
    first = extraction == "hipporag2" and prompt == "thought"
    return replace(step, read=answer.read_first) if first else step


# -- routing ----------------------------------------------------------------------------------------------------------

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
    """The other one of the two prompts between which questions are routed."""
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
