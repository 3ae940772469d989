"""Step `next_thought`: one thought of a chain of reasoning, for the current step only (IRCoT, arXiv 2212.10509).

"Beyond Static Retrieval" shows its prompt as an image only, and gives one worked example per data set; the wording is
ours, with one invented example for all."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Step
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


def read(text: str) -> Output:
    """The whole reply, without a label such as "Thought:"; empty if it says that nothing is missing."""
    return Output(thought=query(text))


STEP = Step.from_text("next_thought", Input, Output, read=read, max_tokens=256)
