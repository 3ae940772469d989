"""Step `relabel_entities`: the type of each of a few entities, of a given list (DotRAG, UltraDomain; our wording)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.shapes import Identifier
from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps.objecting import objected

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


_SYSTEM = texts("relabel_entities")["system"]

_EXAMPLE = Input(
    (Entity("1", "Kestrel FM", "A radio station of Alderby."), Entity("2", "Nora Whitlock", "Its first announcer.")),
    (("person", "a human being, real or of fiction"), ("organization", "a group with a name and a purpose")),
)
_EXAMPLE_ANSWER = Output(entities=[Typed(id="1", type="organization"), Typed(id="2", type="person")])


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(_asked(_EXAMPLE), _EXAMPLE_ANSWER.model_dump_json())], _asked(value))


def _asked(value: Input) -> str:
    fields = {
        "types": dict(value.types),
        "entities": [{"id": e.id, "label": e.label, "description": e.description} for e in value.entities],
    }
    return json.dumps(objected(fields, value.objection), ensure_ascii=False)


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


STEP = Step("relabel_entities", Output, prompt, max_tokens=1024, longest=120)
