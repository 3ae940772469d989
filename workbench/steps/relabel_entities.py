"""Step `relabel_entities`: the type of each of a few entities, of a given list (DotRAG, UltraDomain; our wording)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from workbench.llm.shapes import Identifier
from workbench.llm.step import Step

UNSURE = "unsure"  # which is always a type


class Typed(BaseModel):
    id: Identifier
    type: str


class Output(BaseModel):
    entities: list[Typed]


@dataclass(frozen=True)
class Entity:
    """`type` is what the graph says so far; rules alone read it."""

    id: str
    label: str
    description: str
    type: str = ""


@dataclass(frozen=True)
class Input:
    """`types`: (name, definition); `objection`: what was wrong with the last reply."""

    entities: tuple[Entity, ...]
    types: tuple[tuple[str, str], ...]
    objection: str = ""


def flaw(value: Input, output: Output) -> str:
    """What of a reply does not fit: ids that are missing, said twice or unknown, a type that is none."""
    known, types = {entity.id for entity in value.entities}, {name for name, _ in value.types} | {UNSURE}
    said = Counter(one.id for one in output.entities)
    wrong = [
        *(f"the id {one.id!r} has no type" for one in value.entities if one.id not in said),
        *(f"the id {id!r} has {many} types" for id, many in said.items() if many > 1 and id in known),
        *(f"there is no id {id!r}" for id in said if id not in known),
        *(f"{one.type!r} is no type of the list" for one in output.entities if one.type not in types),
    ]
    return "; ".join(wrong[:3])


def derived(value: Input) -> dict[str, Any]:
    return {"definitions": dict(value.types)}


STEP = Step.from_text("relabel_entities", Input, Output, derived, max_tokens=1024, longest=120)
