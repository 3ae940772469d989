"""Step `judge_pair`: which of two answers to a question is better, in four dimensions and overall (DotRAG's
comparison on UltraDomain). The paper's prompt is an image; the dimensions are the paper's, the wording is ours. The
engine `rules` refuses: see `rules.judging`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, field_validator

from workbench.llm.shapes import Blank
from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """The answers, in the order shown. `objection`: why the last reply could not be read."""

    question: str
    answer_1: str
    answer_2: str
    objection: str = ""


class Choice(BaseModel):
    winner: Literal[1, 2]
    reason: Blank

    @field_validator("winner", mode="before")
    @classmethod
    def _number(cls, value):
        match = re.fullmatch(r"\s*(?:answer[\s_]*)?([12])\s*", str(value), re.IGNORECASE)
        return int(match[1]) if match else None


class Output(BaseModel):
    comprehensiveness: Choice
    logicity: Choice
    relevance: Choice
    coherence: Choice
    overall: Choice


STEP = Step.from_text("judge_pair", Input, Output, max_tokens=600, longest=300)
