"""Step `summarise`: one text that keeps what several texts say (RAPTOR, arXiv 2401.18059; our wording)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Message, Step
from workbench.llm.wording import texts
from workbench.steps.prose import plain
from workbench.text import storable


@dataclass(frozen=True)
class Input:
    """`texts` have one line each; the prompt asks for a summary of at most `limit` cl100k tokens."""

    texts: tuple[str, ...]
    limit: int


class Output(BaseModel):
    summary: str


_SYSTEM = texts("summarise")["system"]

_EXAMPLE = (
    "Kestrel FM: Kestrel FM is a community radio station founded by Nora Whitlock.",
    "Nora Whitlock: Nora Whitlock (born 1951 in Alderby) is a broadcaster.",
)
_EXAMPLE_SUMMARY = (
    "Nora Whitlock, a broadcaster born in Alderby in 1951, founded the community radio station Kestrel FM."
)


def prompt(value: Input) -> list[Message]:
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _asked(Input(_EXAMPLE, value.limit))},
        {"role": "assistant", "content": _EXAMPLE_SUMMARY},
        {"role": "user", "content": _asked(value)},
    ]


def _asked(value: Input) -> str:
    words = max(1, value.limit * 3 // 4)  # of English; a reply of more than `limit` tokens is cut off
    return "\n\n".join([*value.texts, f"Summary, in at most {words} words:"])


def read(text: str) -> Output:
    """The reply on one line. A reply without a word is unreadable."""
    summary = " ".join(storable(plain(text, "summary", names=["summary"])).split())
    if not any(map(str.isalnum, summary)):
        raise ValueError("no word in the reply")
    return Output(summary=summary)


STEP = Step("summarise", Output, prompt, read=read, max_tokens=100)
