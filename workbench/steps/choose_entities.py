"""Step `choose_entities`: how much each entity at the end of a relation helps, as scores (Think-on-Graph's entity
pruning; temperature 0.4 and 256 tokens as released, the wording is ours)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, FiniteFloat

from workbench.llm.step import Step

Fact = tuple[str, str, str]


@dataclass(frozen=True)
class Input:
    """`path` holds the facts so far; `pattern` is the next fact, with "?" in place of the `entities`."""

    question: str
    path: tuple[Fact, ...]
    pattern: Fact
    entities: tuple[str, ...]


class Output(BaseModel):
    """One score per entity, in their order."""

    scores: list[FiniteFloat]


STEP = Step.from_text("choose_entities", Input, Output, max_tokens=256, temperature=0.4, most=100)
