"""Step `personas`: who would use a corpus, and for which tasks (the questions of GraphRAG's and LightRAG's
evaluations; our wording).

Step `task_questions`: the questions that a user with a task would ask of a corpus (the questions of GraphRAG's and
LightRAG's evaluations; our wording).

Step `path_questions`: questions that lead from the first entity of a path to its last one (DotRAG, the questions on
UltraDomain, Figure 13; our wording).

What can be checked is: the first entity is named, those between are not, no word of the answer occurs, the answer is
the last entity, and no two questions are the same."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.language.pipeline import content_words
from workbench.llm.step import Step
from workbench.text import words


class Persona(BaseModel):
    user: str
    tasks: list[str]


class PersonasOutput(BaseModel):
    users: list[Persona]


@dataclass(frozen=True)
class PersonasInput:
    """`description`: what the corpus is; `titles`: of what it holds, some of them. `objection`: what was wrong with the
    last reply."""

    description: str
    titles: tuple[str, ...]
    users: int = 5
    tasks: int = 5
    objection: str = ""


def personas_flaw(value: PersonasInput, output: PersonasOutput) -> str:
    """What of a reply does not fit: other numbers, an empty text, the same twice."""
    if len(output.users) != value.users:
        return f"{value.users} users are wanted, and there are {len(output.users)}"
    if odd := [user for user in output.users if len(user.tasks) != value.tasks]:
        return f"{value.tasks} tasks are wanted of each user, and {odd[0].user!r} has {len(odd[0].tasks)}"
    texts = [text.strip() for user in output.users for text in (user.user, *user.tasks)]
    if not all(texts):
        return "a user or a task is empty"
    if len({user.user.strip() for user in output.users}) < value.users:
        return "two users are the same"
    same = next((user for user in output.users if len({*map(str.strip, user.tasks)}) < value.tasks), None)
    return f"two tasks of {same.user!r} are the same" if same else ""


PERSONAS = Step.from_text("personas", PersonasInput, PersonasOutput, max_tokens=2048, longest=400)


class TasksOutput(BaseModel):
    questions: list[str]


@dataclass(frozen=True)
class TasksInput:
    """`description` and `titles` as in `personas`. `objection`: what was wrong with the last reply."""

    description: str
    titles: tuple[str, ...]
    user: str
    task: str
    many: int = 5
    objection: str = ""


def tasks_flaw(value: TasksInput, output: TasksOutput) -> str:
    """What of a reply does not fit: another number, the same question twice, what is no question."""
    if len(output.questions) != value.many:
        return f"{value.many} questions are wanted, and there are {len(output.questions)}"
    if len({" ".join(question.casefold().split()) for question in output.questions}) < value.many:
        return "two of the questions are the same"
    odd = next((question for question in output.questions if not question.strip().endswith("?")), None)
    return f"{odd!r} does not end as a question" if odd is not None else ""


TASKS = Step.from_text("task_questions", TasksInput, TasksOutput, max_tokens=1024, longest=400)


class Asked(BaseModel):
    question: str
    answer: str


class PathOutput(BaseModel):
    questions: list[Asked]


@dataclass(frozen=True)
class PathInput:
    """`names` and `types` of the entities of the path, in order; `text` says what each is and what joins them;
    `many` questions are wanted. `objection`: what was wrong with the last reply."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    text: str
    many: int = 5
    objection: str = ""

    @property
    def path(self) -> list[dict[str, str]]:
        return [{"name": name, "type": type} for name, type in zip(self.names, self.types)]


def path_flaw(value: PathInput, output: PathOutput) -> str:
    """What of a reply does not fit, of the first question with which something is wrong.

    >>> path = PathInput(("Marl Viaduct", "Ines Tolland", "Kestrel FM", "Nora Whitlock"), ("",) * 4, "", 1)
    >>> asked = Asked(question="Who is Nora of the Marl Viaduct?", answer="Nora Whitlock")
    >>> path_flaw(path, PathOutput(questions=[asked]))
    "'Who is Nora of the Marl Viaduct?' holds the word 'nora' of the answer"
    """
    if len(output.questions) != value.many:
        return f"{value.many} questions are wanted, and there are {len(output.questions)}"
    if len({_plain(question.question) for question in output.questions}) < value.many:
        return "two of the questions are the same"
    return next(filter(None, (_flaw_of(value, question) for question in output.questions)), "")


def _flaw_of(value: PathInput, asked_question: Asked) -> str:
    start, *between, end = value.names
    quoted = f"{asked_question.question!r}"
    if _plain(asked_question.answer) != _plain(end):
        return f"the answer is {end!r}, not {asked_question.answer!r}"
    if not _named(start, asked_question.question):
        return f"{quoted} does not name the start, {start!r}"
    if named := [name for name in (*between, end) if _named(name, asked_question.question)]:
        return f"{quoted} names {named[0]!r}"
    shared = sorted(content_words(end) & content_words(asked_question.question))
    return f"{quoted} holds the word {shared[0]!r} of the answer" if shared else ""


def _plain(text: str) -> str:
    return " ".join(words(text))


def _named(name: str, text: str) -> bool:
    """Whether a name stands in a text, as whole words."""
    return f" {_plain(name)} " in f" {_plain(text)} " if _plain(name) else name in text


PATH = Step.from_text("path_questions", PathInput, PathOutput, max_tokens=1024, longest=400)
