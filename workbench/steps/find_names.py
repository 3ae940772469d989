"""Step `find_names`: the names in a passage that are to become placeholders, with their types (the first step of
AnonyRAG's construction; Youtu-GraphRAG, arXiv 2508.19855; our wording)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import example, texts

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


_TEXTS = texts("find_names")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = Input(
    "Kestrel FM", "Kestrel FM is a radio station in Alderby. Nora Whitlock founded it; Mrs Whitlock still runs it."
)
_EXAMPLE_ANSWER = example(_TEXTS["example answer"], Output)


def prompt(value: Input) -> list[Message]:
    example = (_asked(_EXAMPLE), json.dumps(_EXAMPLE_ANSWER.model_dump()))
    return conversation(_SYSTEM, [example], _asked(value))


def _asked(value: Input) -> str:
    return f"Types: {', '.join(value.types)}\n\n{value.title}\n{value.text}"


STEP = Step("find_names", Output, prompt, max_tokens=1024, most=100, longest=200)
