"""Step `path_questions`: questions that lead from the first entity of a path to its last one (DotRAG, the questions on
UltraDomain, Figure 13; our wording).

What can be checked is: the first entity is named, those between are not, no word of the answer occurs, the answer is
the last entity, and no two questions are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from workbench.language.pipeline import content_words
from workbench.llm.step import Step
from workbench.text import words


class Asked(BaseModel):
    question: str
    answer: str


class Output(BaseModel):
    questions: list[Asked]


@dataclass(frozen=True)
class Input:
    """`names` and `types` of the entities of the path, in order; `text` says what each is and what joins them;
    `many` questions are wanted. `objection`: what was wrong with the last reply."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    text: str
    many: int = 5
    objection: str = ""


def flaw(value: Input, output: Output) -> str:
    """What of a reply does not fit, of the first question with which something is wrong.

    >>> path = Input(("Marl Viaduct", "Ines Tolland", "Kestrel FM", "Nora Whitlock"), ("",) * 4, "", 1)
    >>> flaw(path, Output(questions=[Asked(question="Who is Nora of the Marl Viaduct?", answer="Nora Whitlock")]))
    "'Who is Nora of the Marl Viaduct?' holds the word 'nora' of the answer"
    """
    if len(output.questions) != value.many:
        return f"{value.many} questions are wanted, and there are {len(output.questions)}"
    if len({_plain(one.question) for one in output.questions}) < value.many:
        return "two of the questions are the same"
    return next(filter(None, (_flaw_of(value, one) for one in output.questions)), "")


def _flaw_of(value: Input, one: Asked) -> str:
    start, *between, end = value.names
    asked = f"{one.question!r}"
    if _plain(one.answer) != _plain(end):
        return f"the answer is {end!r}, not {one.answer!r}"
    if not _named(start, one.question):
        return f"{asked} does not name the start, {start!r}"
    if named := [name for name in (*between, end) if _named(name, one.question)]:
        return f"{asked} names {named[0]!r}"
    told = sorted(content_words(end) & content_words(one.question))
    return f"{asked} holds the word {told[0]!r} of the answer" if told else ""


def _plain(text: str) -> str:
    return " ".join(words(text))


def _named(name: str, text: str) -> bool:
    """Whether a name stands in a text, as whole words."""
    return f" {_plain(name)} " in f" {_plain(text)} " if _plain(name) else name in text


def derived(value: Input) -> dict[str, Any]:
    return {"path": [{"name": name, "type": type} for name, type in zip(value.names, value.types)]}


STEP = Step.from_text("path_questions", Input, Output, derived, max_tokens=1024, longest=400)
