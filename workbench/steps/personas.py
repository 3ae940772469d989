"""Step `personas`: who would use a corpus, and for which tasks (the questions of GraphRAG's and LightRAG's
evaluations; our wording)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import example, texts
from workbench.steps.objecting import objected


class Persona(BaseModel):
    user: str
    tasks: list[str]


class Output(BaseModel):
    users: list[Persona]


@dataclass(frozen=True)
class Input:
    """`description`: what the corpus is; `titles`: of what it holds, some of them. `objection`: what was wrong with the
    last reply."""

    description: str
    titles: tuple[str, ...]
    users: int = 5
    tasks: int = 5
    objection: str = ""


_TEXTS = texts("personas")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = Input("Notices of a local radio station.", ("Kestrel FM", "Night Ferry"), 1, 2)
_EXAMPLE_ANSWER = example(_TEXTS["example answer"], Output)


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(_asked(_EXAMPLE), _EXAMPLE_ANSWER.model_dump_json())], _asked(value))


def _asked(value: Input) -> str:
    fields = {
        "users_wanted": value.users,
        "tasks_wanted_of_each": value.tasks,
        "description": value.description,
        "holds": list(value.titles),
    }
    return json.dumps(objected(fields, value.objection), ensure_ascii=False)


def flaw(value: Input, output: Output) -> str:
    """What of a reply does not fit: other numbers, an empty text, the same twice."""
    if len(output.users) != value.users:
        return f"{value.users} users are wanted, and there are {len(output.users)}"
    if odd := [one for one in output.users if len(one.tasks) != value.tasks]:
        return f"{value.tasks} tasks are wanted of each user, and {odd[0].user!r} has {len(odd[0].tasks)}"
    texts = [text.strip() for one in output.users for text in (one.user, *one.tasks)]
    if not all(texts):
        return "a user or a task is empty"
    if len({one.user.strip() for one in output.users}) < value.users:
        return "two users are the same"
    same = next((one for one in output.users if len({*map(str.strip, one.tasks)}) < value.tasks), None)
    return f"two tasks of {same.user!r} are the same" if same else ""


STEP = Step("personas", Output, prompt, max_tokens=2048, longest=400)
