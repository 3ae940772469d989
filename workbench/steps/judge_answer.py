"""Step `judge_answer`: is an answer right? 1 or 0, without a third verdict (the judge of Youtu-GraphRAG, arXiv
2508.19855; our wording).

The released code counts a reply that is literally "1" alone; ours takes the first digit, so that "1." counts as well. A
reply without a 0 or a 1 is unreadable, not wrong."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel

from workbench.llm.step import Step
from workbench.steps.judge import Input
from workbench.steps.prose import plain


class Output(BaseModel):
    verdict: Literal[0, 1]


def read(text: str) -> Output:
    """The first digit; of an object, the digit of its verdict.

    >>> read("**1.**").verdict, read("Verdict: 0 (another person)").verdict
    (1, 0)
    """
    text = plain(text, names=["verdict", "label"])
    found = re.search(r"\d+", text)
    if found is None or found[0] not in ("0", "1"):
        raise ValueError(f"the verdict should be 1 or 0, and the reply is {text[:80]!r}")
    return Output(verdict=int(found[0]))


STEP = Step.from_text("judge_answer", Input, Output, read=read, max_tokens=32, labels=("1", "0"))
