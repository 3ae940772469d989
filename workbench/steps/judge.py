"""Step `judge`: is an answer right, given the gold answers? The last stage of `accuracy:thesis` ("The Reasoning
Bottleneck in Graph-RAG", arXiv 2603.14045, section 4.5: temperature 0, at most 160 tokens, JSON with a
verdict and a short reason, several gold answers joined by " | "). The wording is ours: the source's is not printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, field_validator

from workbench.llm.shapes import Blank
from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """`gold`: the answer and its aliases."""

    question: str
    gold: tuple[str, ...]
    prediction: str


class Output(BaseModel):
    verdict: Literal["correct", "incorrect", "unknown"]
    reason: Blank

    @field_validator("verdict", mode="before")
    @classmethod
    def _plain(cls, value):
        return value.strip().casefold() if isinstance(value, str) else value


def derived(value: Input) -> dict[str, Any]:
    return {"answers": " | ".join(value.gold)}


STEP = Step.from_text("judge", Input, Output, derived, max_tokens=160, longest=300)
