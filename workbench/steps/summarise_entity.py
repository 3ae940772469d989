"""Step `summarise_entity`: what a graph says of an entity, as one short text (the entity context C(v) of CatRAG, arXiv
2602.01965, Eq. 2; our wording)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """`limit`: the most cl100k tokens of the summary."""

    entity: str
    facts: tuple[tuple[str, str, str], ...]
    limit: int = 150


class Output(BaseModel):
    summary: str


def statement(fact: tuple[str, str, str]) -> str:
    """A fact as words.

    >>> statement(("lake mira", "lies in", "orsby"))
    'lake mira lies in orsby.'
    """
    return " ".join(part for part in fact if part) + "."


def derived(value: Input) -> dict[str, Any]:
    return {"statements": list(map(statement, value.facts))}


STEP = Step.from_text("summarise_entity", Input, Output, derived, max_tokens=256, longest=1200)
