"""Step `personas`: who would use a corpus, and for which tasks (the questions of GraphRAG's and LightRAG's
evaluations; our wording)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Step


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


STEP = Step.from_text("personas", Input, Output, max_tokens=2048, longest=400)
