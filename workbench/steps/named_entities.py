"""Step `named_entities`: the named entities of a passage (HippoRAG 2, arXiv 2502.14802; our wording), in at most 2048
new tokens."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    title: str
    text: str


class Output(BaseModel):
    """Years come as numbers from some models; anything else that is no string is left to fail."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    named_entities: list[str]


STEP = Step.from_text("named_entities", Input, Output, max_tokens=2048, version=2, most=100, longest=200)
