"""The prompts that a reader can ask about a context, by the names that settings and results know them by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from workbench.llm.step import Result, Step
from workbench.measures.abstained import is_abstention
from workbench.steps import answer, final_answer
from workbench.steps.final_answer import CUT, Extracted, last_line, whole


class Prompt(NamedTuple):
    """`extract` reads an answer off a result, by an extraction; `input_of` makes the Step's input of the usual one."""

    step: Step
    extract: Callable[[Result, str], Extracted]
    input_of: Callable[[answer.Input], Any] = lambda given: given


def _thought(result: Result, extraction: str) -> Extracted:
    """The Step reads its own answers, in one way."""
    output = result.value
    return Extracted(output.answer, output.abstained, output.thought)


def _label(result: Result, extraction: str) -> Extracted:
    """A claim has one of two labels; there is no abstention."""
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
