"""Step `generation`: an answer with brief reasoning from the documents at hand, right or wrong; it becomes the next
query (ITER-RETGEN, arXiv 2305.15294; our words)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """The best passages so far as (title, text)."""

    question: str
    passages: tuple[tuple[str, str], ...]


class Output(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    reasoning: str
    answer: str


STEP = Step.from_text("generation", Input, Output, max_tokens=384, longest=1200)
