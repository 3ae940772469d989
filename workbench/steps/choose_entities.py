"""Step `choose_entities`: how much each entity at the end of a relation helps, as scores (Think-on-Graph's entity
pruning; temperature 0.4 and 256 tokens as released, the wording is ours)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel, FiniteFloat

from workbench.llm.step import Message, Step
from workbench.llm.wording import example, texts

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


_TEXTS = texts("choose_entities")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = example(_TEXTS["example"], Input)
_EXAMPLE_ANSWER = Output(scores=[0.7, 0.3, 0.0])


def prompt(value: Input) -> list[Message]:
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _asked(_EXAMPLE)},
        {"role": "assistant", "content": json.dumps(_EXAMPLE_ANSWER.model_dump())},
        {"role": "user", "content": _asked(value)},
    ]


def _asked(value: Input) -> str:
    fields = {
        "question": value.question, "path": value.path, "relation": value.pattern, "entities": value.entities,
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=False)


STEP = Step("choose_entities", Output, prompt, max_tokens=256, temperature=0.4, most=100)
