"""A valid input and a valid reply of every Step, from the questions of a trial."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import get_type_hints

from trial_questions import QUESTIONS, Question

from workbench.llm.step import Step
from workbench.steps import catalogue


def question_of_each_step() -> dict[str, Question]:
    """Step → its question; AssertionError where a Step of the catalogue has none."""
    questions = {one.step: one for one in QUESTIONS}
    assert not (missing := catalogue().keys() - questions.keys()), f"no question of a trial asks {sorted(missing)}"
    return questions


def checks_of(step: Step) -> list[Callable]:
    """The functions beside a Step that hold its output against its input."""
    module = import_module(step.output.__module__)
    beside = [each for each in vars(module).values() if isinstance(each, FunctionType)]
    functions = [function for function in beside if function.__module__ == module.__name__]
    return [function for function in functions if _takes(function) == [step.prompt.input, step.output]]


def _takes(function: Callable) -> list[type]:
    return [kind for name, kind in get_type_hints(function).items() if name != "return"]
