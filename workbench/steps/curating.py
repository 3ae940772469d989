"""Step `curate_cluster`: which of a few entities with similar descriptions are one thing (DotRAG, entity resolution on
UltraDomain; our wording).

Every member is in one group, and a group is called as one of its members: a name made up could be that of another
entity.

Step `relabel_entities`: the type of each of a few entities, of a given list (DotRAG, UltraDomain; our wording)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.shapes import Identifier
from workbench.llm.step import Step

MOST = 20  # members


class Group(BaseModel):
    canonical_label: str
    member_ids: list[Identifier]


class ClusterOutput(BaseModel):
    groups: list[Group]


@dataclass(frozen=True)
class Member:
    id: str
    label: str
    type: str
    description: str


@dataclass(frozen=True)
class ClusterInput:
    """`objection`: what was wrong with the last reply."""

    members: tuple[Member, ...]
    objection: str = ""


def _wrong_ids(given: Iterable[str], named: Sequence[str], has: str, what: str) -> Iterator[str]:
    """In words, the ids that a reply should name once each, and does not."""
    given, times = list(given), Counter(named)
    yield from (f"the id {id!r} {has} no {what}" for id in given if id not in times)
    yield from (f"the id {id!r} {has} {many} {what}s" for id, many in times.items() if many > 1 and id in given)
    yield from (f"there is no id {id!r}" for id in times if id not in given)


def cluster_flaw(value: ClusterInput, output: ClusterOutput) -> str:
    """What of a reply does not fit: ids that are missing, said twice or unknown, a label of none of the members."""
    labels = {member.id: member.label for member in value.members}
    named = [id for group in output.groups for id in group.member_ids]
    wrong = [
        *_wrong_ids(labels, named, "is in", "group"),
        *(
            f"{group.canonical_label!r} is the label of none of the members {', '.join(group.member_ids)}"
            for group in output.groups
            if group.canonical_label not in {labels.get(id) for id in group.member_ids}
        ),
    ]
    return "; ".join(wrong[:3])


CLUSTER = Step.from_text("curate_cluster", ClusterInput, ClusterOutput, max_tokens=1024, longest=300)


UNSURE = "unsure"  # which is always a type


class Typed(BaseModel):
    id: Identifier
    type: str


class TypesOutput(BaseModel):
    entities: list[Typed]


@dataclass(frozen=True)
class Entity:
    """`type` is what the graph says so far; rules alone read it."""

    id: str
    label: str
    description: str
    type: str = ""


@dataclass(frozen=True)
class TypesInput:
    """`types`: (name, definition); `objection`: what was wrong with the last reply."""

    entities: tuple[Entity, ...]
    types: tuple[tuple[str, str], ...]
    objection: str = ""

    @property
    def definitions(self) -> dict[str, str]:
        return dict(self.types)


def types_flaw(value: TypesInput, output: TypesOutput) -> str:
    """What of a reply does not fit: ids that are missing, said twice or unknown, a type that is none."""
    types = {name for name, _ in value.types} | {UNSURE}
    wrong = [
        *_wrong_ids([entity.id for entity in value.entities], [typed.id for typed in output.entities], "has", "type"),
        *(f"{typed.type!r} is no type of the list" for typed in output.entities if typed.type not in types),
    ]
    return "; ".join(wrong[:3])


TYPES = Step.from_text("relabel_entities", TypesInput, TypesOutput, max_tokens=1024, longest=120)
