"""Step `verify_claim`: whether passages support a claim, after a thought (the reader of CatRAG for HoVer, arXiv
2602.01965; our wording, with two worked examples as in the source).

As in HoVer, a claim that the passages contradict and one that they do not settle have the same label. A reply whose
last "Answer:" is not followed by one of the labels is unreadable.
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel

from workbench.llm.step import Step
from workbench.steps.answer import Input, after_cue

SUPPORTED, NOT_SUPPORTED = "SUPPORTED", "NOT_SUPPORTED"


class Output(BaseModel):
    thought: str
    label: Literal["SUPPORTED", "NOT_SUPPORTED"]


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


STEP = Step.from_text("verify_claim", Input, Output, read=read, max_tokens=512)
