"""Step `judge`: is an answer right, given the gold answers? The last stage of `accuracy:thesis` ("The Reasoning
Bottleneck in Graph-RAG", arXiv 2603.14045, section 4.5: temperature 0, at most 160 tokens, JSON with a
verdict and a short reason, several gold answers joined by " | "). The wording is ours: the source's is not printed.

Step `judge_answer`: is an answer right? 1 or 0, without a third verdict (the judge of Youtu-GraphRAG, arXiv
2508.19855; our wording).

The released code counts a reply that is literally "1" alone; ours takes the first digit, so that "1." counts as well. A
reply without a 0 or a 1 is unreadable, not wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from workbench.llm.shapes import Blank
from workbench.llm.step import Step
from workbench.steps.prose import plain


@dataclass(frozen=True)
class Input:
    """`gold`: the answer and its aliases."""

    question: str
    gold: tuple[str, ...]
    prediction: str

    @property
    def answers(self) -> str:
        return " | ".join(self.gold)


class Output(BaseModel):
    verdict: Literal["correct", "incorrect", "unknown"]
    reason: Blank


STEP = Step.from_text("judge", Input, Output, max_tokens=160, longest=300)


class Digit(BaseModel):
    verdict: Literal[0, 1]


def read_digit(text: str) -> Digit:
    """The first digit; of an object, the digit of its verdict.

    >>> read_digit("**1.**").verdict, read_digit("Verdict: 0 (another person)").verdict
    (1, 0)
    """
    text = plain(text, names=["verdict", "label"])
    match = re.search(r"\d+", text)
    if match is None or match[0] not in ("0", "1"):
        raise ValueError(f"the verdict should be 1 or 0, and the reply is {text[:80]!r}")
    return Digit(verdict=int(match[0]))


DIGIT = Step.from_text("judge_answer", Input, Digit, read=read_digit, max_tokens=32, labels=("1", "0"))
