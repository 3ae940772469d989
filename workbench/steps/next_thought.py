"""Step `next_thought`: one thought of a chain of reasoning, for the current step only (IRCoT, arXiv 2212.10509).

"Beyond Static Retrieval" shows its prompt as an image only, and gives one worked example per data set; the wording is
ours, with one invented example for all."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps.passage_list import FOUNDER, QUESTION, STATION, numbered
from workbench.steps.prose import query


@dataclass(frozen=True)
class Input:
    """The best passages so far as (title, text), and the thoughts of the rounds before."""

    question: str
    passages: tuple[tuple[str, str], ...]
    thoughts: tuple[str, ...] = ()


class Output(BaseModel):
    thought: str


CONCLUSION = "So the answer is:"  # begins a thought that ends the chain


_SYSTEM = texts("next_thought")["system"]

_FIRST = "Kestrel FM was founded by Nora Whitlock. I need to know where Nora Whitlock was born."
_EXAMPLE = (
    (Input(QUESTION, (STATION,)), _FIRST),
    (Input(QUESTION, (FOUNDER, STATION), (_FIRST,)), f"{CONCLUSION} Norway"),
)


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, ((_asked(example), thought) for example, thought in _EXAMPLE), _asked(value))


def _asked(value: Input) -> str:
    thoughts = " ".join(value.thoughts) or "none"
    return f"Documents:\n{numbered(value.passages)}\n\nQuestion: {value.question}\n\nThoughts so far: {thoughts}"


def read(text: str) -> Output:
    """The whole reply, without a label such as "Thought:"; empty if it says that nothing is missing."""
    return Output(thought=query(text))


STEP = Step("next_thought", Output, prompt, read=read, max_tokens=256)
