"""Step `curate_cluster`: which of a few entities with similar descriptions are one thing (DotRAG, entity resolution on
UltraDomain; our wording).

Every member is in one group, and a group is called as one of its members: a name made up could be that of another
entity."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.shapes import Identifier
from workbench.llm.step import Step

MOST = 20  # members


class Group(BaseModel):
    canonical_label: str
    member_ids: list[Identifier]


class Output(BaseModel):
    groups: list[Group]


@dataclass(frozen=True)
class Member:
    id: str
    label: str
    type: str
    description: str


@dataclass(frozen=True)
class Input:
    """`objection`: what was wrong with the last reply."""

    members: tuple[Member, ...]
    objection: str = ""


def flaw(value: Input, output: Output) -> str:
    """What of a reply does not fit: ids that are missing, said twice or unknown, a label of none of the members."""
    labels = {member.id: member.label for member in value.members}
    said = Counter(id for group in output.groups for id in group.member_ids)
    wrong = [
        *(f"the id {id!r} is in no group" for id in labels if id not in said),
        *(f"the id {id!r} is in {many} groups" for id, many in said.items() if many > 1 and id in labels),
        *(f"there is no id {id!r}" for id in said if id not in labels),
        *(
            f"{group.canonical_label!r} is the label of none of the members {', '.join(group.member_ids)}"
            for group in output.groups
            if group.canonical_label not in {labels.get(id) for id in group.member_ids}
        ),
    ]
    return "; ".join(wrong[:3])


STEP = Step.from_text("curate_cluster", Input, Output, max_tokens=1024, longest=300)
