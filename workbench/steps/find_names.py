"""Step `find_names`: the names in a passage that are to become placeholders, with their types (the first step of
AnonyRAG's construction; Youtu-GraphRAG, arXiv 2508.19855; our wording)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Step

TYPES = ("person", "place")


@dataclass(frozen=True)
class Input:
    """`types` are those asked for."""

    title: str
    text: str
    types: tuple[str, ...] = TYPES


class Found(BaseModel):
    name: str
    type: str


class Output(BaseModel):
    names: list[Found]


STEP = Step.from_text("find_names", Input, Output, max_tokens=1024, most=100, longest=200)
