"""Rule bodies of `path_questions`, `personas` and `task_questions`: forms that are filled in.

They exercise what works with questions. They test no reasoning: the types on the way, and titles, are all they say."""

from __future__ import annotations

from workbench.steps import corpus_questions

_FORMS = (
    "Going out from {start}, over {between}, which {end} is reached?",
    "Which {end} is joined to {start} by {between}?",
    "To which {end} does {between} lead from {start}?",
    "What is the {end} that lies behind {between} of {start}?",
    "If one follows {between} from {start}, at which {end} does one arrive?",
)
_TASKS = ("compare", "explain", "trace", "summarise", "question")


def path_questions(value: corpus_questions.PathInput) -> corpus_questions.PathOutput:
    """The forms with the start by name and the others by their types.

    >>> types = ("", "person", "station", "person")
    >>> path = corpus_questions.PathInput(("Marl Viaduct", "Ines", "Kestrel FM", "Nora"), types, "", 1)
    >>> path_questions(path).questions[0].question
    'Going out from Marl Viaduct, over a person and a station, which person is reached?'
    """
    kinds = [kind.replace("_", " ") or "entity" for kind in value.types] or ["entity"]
    start, end = (value.names[at] if value.names else "" for at in (0, -1))
    between = " and ".join(f"{_article(kind)} {kind}" for kind in kinds[1:-1]) or "one step"
    said = (form.format(start=start, between=between, end=kinds[-1]) for form in _forms(value.many))
    questions = [corpus_questions.Asked(question=question, answer=end) for question in said]
    return corpus_questions.PathOutput(questions=questions)


def personas(value: corpus_questions.PersonasInput) -> corpus_questions.PersonasOutput:
    """A user for each of the first titles, with the same tasks."""
    return corpus_questions.PersonasOutput(
        users=[
            corpus_questions.Persona(
                user=f"rules: reader {at + 1}, who knows {_title(value.titles, at)}",
                tasks=[
                    f"rules: {_TASKS[n % len(_TASKS)]} what is said of {_title(value.titles, at)}, {n + 1}"
                    for n in range(value.tasks)
                ],
            )
            for at in range(value.users)
        ]
    )


def task_questions(value: corpus_questions.TasksInput) -> corpus_questions.TasksOutput:
    """What is said of a title, for this task, over and over."""
    return corpus_questions.TasksOutput(
        questions=[
            f"For the task “{value.task}” of “{value.user}”, what is said of {_title(value.titles, at)} ({at + 1})?"
            for at in range(value.many)
        ]
    )


def _forms(many: int) -> list[str]:
    """So many forms; beyond those that there are, with a number."""
    more = (f"{_FORMS[at % len(_FORMS)][:-1]} ({at + 1})?" for at in range(len(_FORMS), many))
    return [*_FORMS[:many], *more]


def _title(titles: tuple[str, ...], at: int) -> str:
    return titles[at % len(titles)] if titles else "the corpus"


def _article(kind: str) -> str:
    return "an" if kind[:1].casefold() in "aeiou" else "a"
