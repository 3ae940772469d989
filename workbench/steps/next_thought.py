"""Step `next_thought`: one thought of a chain of reasoning, for the current step only (IRCoT, arXiv 2212.10509).

"Beyond Static Retrieval" shows its prompt as an image only, and gives one worked example per data set; the wording is
ours, with one invented example for all.

Step `missing_evidence`: the information that is still missing, and nothing else (Graph-CoT, arXiv 2404.07103, as
"Beyond Static Retrieval" adapts it to documents).

The paper gives one worked example per data set; the wording is ours, with one invented example for all.

Step `generation`: an answer with brief reasoning from the documents at hand, right or wrong; it becomes the next
query (ITER-RETGEN, arXiv 2305.15294; our words)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

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


MISSING = Step.from_text("missing_evidence", Input, Output, read=read, max_tokens=128)


@dataclass(frozen=True)
class GenerationInput:
    """The best passages so far as (title, text)."""

    question: str
    passages: tuple[tuple[str, str], ...]


class Generation(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    reasoning: str
    answer: str


GENERATION = Step.from_text("generation", GenerationInput, Generation, max_tokens=384, longest=1_200)
