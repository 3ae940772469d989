"""Step `triples`: facts of a passage as subject, relation, object, given its named entities (HippoRAG 2, arXiv
2502.14802; our wording)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, model_validator
from pydantic.json_schema import SkipJsonSchema

from workbench.llm.shapes import Rows
from workbench.llm.step import Step


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


STEP = Step.from_text("triples", Input, Output, max_tokens=2048, version=2, most=100, longest=300)
