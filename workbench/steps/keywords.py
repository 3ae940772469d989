"""Step `keywords`: the keywords of a question on two levels (LightRAG, arXiv 2410.05779; PathRAG uses the same). The
wording is ours."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import BaseModel, field_validator

from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """A model sees only the question. The rule body also uses the graph: `named` are the graph's names in the question,
    as (words of the question, type), `relations` are (label, head types, tail types, definition)."""

    question: str
    named: tuple[tuple[str, str], ...] = ()
    relations: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...] = ()


class Output(BaseModel):
    high_level: list[str]
    low_level: list[str]

    @field_validator("high_level", "low_level", mode="before")
    @classmethod
    def _split(cls, value):
        """Some models write a list as one string."""
        return re.split(r"[,;\n]", value) if isinstance(value, str) else value

    @field_validator("high_level", "low_level")
    @classmethod
    def _stripped(cls, value: list[str]) -> list[str]:
        return [word for word in map(str.strip, value) if word]


STEP = Step.from_text("keywords", Input, Output, max_tokens=256, most=20, longest=100)
