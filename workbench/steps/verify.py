"""Step `verify`: which documents support a chain of reasoning (the verifier of BDTR, Eq. 5).

The paper's prompt is an image (figure 9); this one is ours. It selects and gives no scores. A batch of one document is
the literal reading of Eq. 5; the method shuffles larger batches, because models prefer the first documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from workbench.llm.shapes import Number
from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """The chain, its steps and bridges, and a batch of passages as (title, text), of which the prompt shows at most
    `words` words each (None: all)."""

    question: str
    chain: str
    steps: tuple[str, ...]
    bridges: tuple[str, ...]
    passages: tuple[tuple[str, str], ...]
    words: int | None = None


class Output(BaseModel):
    """Numbers of the supporting documents, from 1 on."""

    documents: list[Number]


def beginning(text: str, words: int | None) -> str:
    """At most so many words of a text; all of it for None."""
    parts = text.split(" ", words) if words else [text]
    return text if not words or len(parts) <= words else " ".join(parts[:words]) + " …"


def derived(value: Input) -> dict[str, Any]:
    """`shown`: the passages, with as many words as the input asks for."""
    return {"shown": [(title, beginning(text, value.words)) for title, text in value.passages]}


STEP = Step.from_text("verify", Input, Output, derived, max_tokens=256, most=60)
