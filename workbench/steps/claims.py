"""Steps of a judge of claims, for the measures of GraphRAG-Bench (arXiv 2506.05690, section 3.3 and Appendix F; our
wordings). A claim is a statement that can be checked without the rest of its text.

Step `state_claims`: the claims of an answer or of a gold answer.

Step `support_claims`: which claims a text supports. The text is a gold answer, an answer or a context, so this one Step
serves factual correctness, evidence coverage, faithfulness and evidence recall. The released code has a prompt for each
of them, and sorts the claims of both answers in one request.

Step `rate_context`: how much of what a question needs stands in a context, from 0 to 2, as in the released code, which
asks twice for the mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from workbench.llm.shapes import Number
from workbench.llm.step import Step


@dataclass(frozen=True)
class Text:
    """An answer or a context."""

    question: str
    text: str


class Claims(BaseModel):
    claims: list[str]


STATE = Step.from_text("state_claims", Text, Claims, max_tokens=1500)


@dataclass(frozen=True)
class SupportInput:
    question: str
    claims: tuple[str, ...]
    text: str


class Supported(BaseModel):
    """Numbers of the claims that the text supports, from 1 on."""

    supported: list[Number]


SUPPORT = Step.from_text("support_claims", SupportInput, Supported, max_tokens=512)


class Rating(BaseModel):
    """0: nothing that the question needs; 1: a part; 2: all."""

    rating: Literal[0, 1, 2]


RATE = Step.from_text("rate_context", Text, Rating, max_tokens=64)
