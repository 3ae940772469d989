"""Step `directions`: which relations of which entities are worth exploring next (Think-on-Graph, arXiv 2307.07697, as
"Beyond Static Retrieval" adapts it to documents; its prompt is an image, the wording is ours)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, FiniteFloat

from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """The best passages so far as (title, text), and the directions explored before; the reply names at most
    `width`."""

    question: str
    passages: tuple[tuple[str, str], ...]
    before: tuple[str, ...] = ()
    width: int = 3


class Target(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    entity: str
    relation: str
    score: FiniteFloat


class Output(BaseModel):
    sufficient: bool
    targets: list[Target]


STEP = Step.from_text("directions", Input, Output, max_tokens=256, most=10, longest=200)
