"""Step `judge_answer`: is an answer right? 1 or 0, without a third verdict (the judge of Youtu-GraphRAG, arXiv
2508.19855; our wording).

The released code counts a reply that is literally "1" alone; ours takes the first digit, so that "1." counts as well. A
reply without a 0 or a 1 is unreadable, not wrong."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps.judge import Input
from workbench.steps.prose import plain


class Output(BaseModel):
    verdict: Literal[0, 1]


_SYSTEM = texts("judge_answer")["system"]

_EXAMPLES = (
    (Input("Where was the founder of Kestrel FM born?", ("Alderby",), "She was born in the town of Alderby."), "1"),
    (Input("Who founded Kestrel FM?", ("Nora Whitlock",), "her brother, Jonas Whitlock"), "0"),
)


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, ((_asked(example), verdict) for example, verdict in _EXAMPLES), _asked(value))


def _asked(value: Input) -> str:
    return f"Question: {value.question}\nGold answers: {' | '.join(value.gold)}\nPredicted answer: {value.prediction}"


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


STEP = Step("judge_answer", Output, prompt, read=read, max_tokens=32, labels=("1", "0"))
