"""Step `enough`: do the facts found so far suffice to answer the question? (Think-on-Graph's question after each depth;
the wording is ours. The released code shows the facts of the last depth only, ours shows all.)"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """Facts in the order in which they were found."""

    question: str
    facts: tuple[tuple[str, str, str], ...]


class Output(BaseModel):
    enough: bool


STEP = Step.from_text("enough", Input, Output, max_tokens=256)
