"""A valid input and a valid reply of every Step, from the questions of a trial."""

from __future__ import annotations

from trial_questions import QUESTIONS, Question

from workbench.steps import catalogue


def question_of_each_step() -> dict[str, Question]:
    """Step → its question; AssertionError where a Step of the catalogue has none."""
    questions = {one.step: one for one in QUESTIONS}
    assert not (missing := catalogue().keys() - questions.keys()), f"no question of a trial asks {sorted(missing)}"
    return questions
