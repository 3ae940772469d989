"""Step `triples`: facts of a passage as subject, relation, object, given its named entities (HippoRAG 2, arXiv
2502.14802; our wording)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel, model_validator
from pydantic.json_schema import SkipJsonSchema

from workbench.llm.shapes import Rows
from workbench.llm.step import Message, Step
from workbench.llm.wording import texts


@dataclass(frozen=True)
class Input:
    title: str
    text: str
    entities: tuple[str, ...]


class Output(BaseModel):
    """`dropped` counts members of the list that were no triple of plain values; it is counted here, never asked for."""

    triples: Rows
    dropped: SkipJsonSchema[int] = 0

    @model_validator(mode="before")
    @classmethod
    def _only_triples(cls, value):
        if not isinstance(value, dict) or not isinstance(value.get("triples"), list):
            return value
        good = [t for t in value["triples"] if isinstance(t, list | tuple) and len(t) == 3 and all(map(_plain, t))]
        return {"triples": [[str(m) for m in t] for t in good], "dropped": len(value["triples"]) - len(good)}


def _plain(member) -> bool:
    return isinstance(member, str | int | float) and not isinstance(member, bool)


_TEXTS = texts("triples")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = _TEXTS["example"]

_EXAMPLE_ANSWER = _TEXTS["example answer"]


def prompt(value: Input) -> list[Message]:
    entities = json.dumps(list(value.entities), ensure_ascii=False)
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _EXAMPLE},
        {"role": "assistant", "content": _EXAMPLE_ANSWER},
        {"role": "user", "content": f"Passage:\n{value.title}\n{value.text}\n\nNamed entities: {entities}"},
    ]


STEP = Step("triples", Output, prompt, max_tokens=2048, version=2, most=100, longest=300)
