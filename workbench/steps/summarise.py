"""Step `summarise`: one text that keeps what several texts say (RAPTOR, arXiv 2401.18059; our wording)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from workbench.llm.step import Step
from workbench.steps.prose import plain
from workbench.text import storable


@dataclass(frozen=True)
class Input:
    """`texts` have one line each; the prompt asks for a summary of at most `limit` cl100k tokens."""

    texts: tuple[str, ...]
    limit: int


class Output(BaseModel):
    summary: str


def read(text: str) -> Output:
    """The reply on one line. A reply without a word is unreadable."""
    summary = " ".join(storable(plain(text, "summary", names=["summary"])).split())
    if not any(map(str.isalnum, summary)):
        raise ValueError("no word in the reply")
    return Output(summary=summary)


def derived(value: Input) -> dict[str, Any]:
    """`words` of English: a reply of more than `limit` tokens is cut off."""
    return {"words": max(1, value.limit * 3 // 4)}


STEP = Step.from_text("summarise", Input, Output, derived, read=read, max_tokens=100)
