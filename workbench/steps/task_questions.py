"""Step `task_questions`: the questions that a user with a task would ask of a corpus (the questions of GraphRAG's and
LightRAG's evaluations; our wording)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Step


class Output(BaseModel):
    questions: list[str]


@dataclass(frozen=True)
class Input:
    """`description` and `titles` as in `personas`. `objection`: what was wrong with the last reply."""

    description: str
    titles: tuple[str, ...]
    user: str
    task: str
    many: int = 5
    objection: str = ""


def flaw(value: Input, output: Output) -> str:
    """What of a reply does not fit: another number, the same question twice, what is no question."""
    if len(output.questions) != value.many:
        return f"{value.many} questions are wanted, and there are {len(output.questions)}"
    if len({" ".join(one.casefold().split()) for one in output.questions}) < value.many:
        return "two of the questions are the same"
    odd = next((one for one in output.questions if not one.strip().endswith("?")), None)
    return f"{odd!r} does not end as a question" if odd is not None else ""


STEP = Step.from_text("task_questions", Input, Output, max_tokens=1024, longest=400)
