"""Step `verify_claim`: whether passages support a claim, after a thought (the reader of CatRAG for HoVer, arXiv
2602.01965; our wording, with two worked examples as in the source).

As in HoVer, a claim that the passages contradict and one that they do not settle have the same label. A reply whose
last "Answer:" is not followed by one of the labels is unreadable.
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import example, texts
from workbench.steps.answer import Input, after_cue
from workbench.steps.reading_mode import opened

SUPPORTED, NOT_SUPPORTED = "SUPPORTED", "NOT_SUPPORTED"


class Output(BaseModel):
    thought: str
    label: Literal["SUPPORTED", "NOT_SUPPORTED"]


_TEXTS = texts("verify_claim")
_SYSTEM = _TEXTS["system"]
_OPEN = opened(
    _SYSTEM,
    (", and against nothing else that you know", ""),
    (
        f"{NOT_SUPPORTED} if they contradict any part or leave it open.",
        f"{NOT_SUPPORTED} if they contradict any part. What they leave open, judge from your own knowledge.",
    ),
)

_STATION = _TEXTS["station"]
_BRIDGE = _TEXTS["bridge"]

_EXAMPLES = example(_TEXTS["examples"], tuple[tuple[tuple[str, str], str], ...])


def prompt(value: Input) -> list[Message]:
    examples = [(_asked(*example), reply) for example, reply in _EXAMPLES]
    return conversation(_SYSTEM, examples, _asked(value.context, value.question))


def open_prompt(value: Input) -> list[Message]:
    examples = [(_asked(*example), reply) for example, reply in _EXAMPLES]
    return conversation(_OPEN, examples, _asked(value.context, value.question))


def _asked(context: str, claim: str) -> str:
    return f"{context}\n\nClaim: {claim}"


_LABEL = re.compile(r"[\W_]*(?P<not>not[\s_-]*)?supported(?:[\W_]*$|[.;:])", re.IGNORECASE)


def read(text: str) -> Output:
    """The label after the last `Answer:`, however it is spelt.

    >>> read("Thought: No passage names it.\\nAnswer: **Not supported**").label
    'NOT_SUPPORTED'
    """
    thought, said = after_cue(text, f"no 'Answer: {SUPPORTED}' and no 'Answer: {NOT_SUPPORTED}' in the reply")
    found = _LABEL.match(said)
    if found is None:
        raise ValueError(f"no 'Answer: {SUPPORTED}' or {NOT_SUPPORTED} in the reply, which answers {said[:80]!r}")
    return Output(thought=thought, label=NOT_SUPPORTED if found["not"] else SUPPORTED)


STEP = Step("verify_claim", Output, prompt, read=read, max_tokens=512, open=open_prompt)
