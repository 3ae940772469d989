"""Runs the configurations that a file of worked replies was written for (`llm/worked.py`)."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.llm.worked import Ask, Example
from workbench.methods import method
from workbench.reading import reader
from workbench.records import Answer, Record

K = 10  # passages that are retrieved, as `workbench ask` does


@dataclass(frozen=True, repr=False)
class Endings(Record):
    """Where the configurations of an example end: an answer for each of its `asks`."""

    example: Example
    answers: tuple[Answer, ...]

    @property
    def otherwise(self) -> tuple[Ask, ...]:
        """The configurations that end differently from what their file states."""
        return tuple(ask for ask, answer in zip(self.example.asks, self.answers) if ending(answer) != ask.answer)


def endings(example: Example, index: Index, engine: Engine) -> Endings:
    """Ask all configurations of an example; layers of the index that a method lacks are an error."""
    return Endings(example, tuple(followed(example, ask, index, engine) for ask in example.asks))


def example_of(engine: Engine, name: str) -> Example | None:
    """The worked example with this id or question; None if the engine has none such, as any engine but `worked`."""
    return next(
        (example for example in getattr(engine, "examples", ()) if name in (example.id, example.question)), None
    )


def followed(example: Example, ask: Ask, index: Index, engine: Engine) -> Answer:
    """The answer of a configuration to the question of a file."""
    evidence = method(ask.method, index, engine).retrieve(example.question, K)
    return reader(ask.reader, engine, index=index).read(example.question, evidence)


def ending(answer: Answer) -> str:
    """What an `Ask` calls the answer."""
    return answer.text or ("(abstained)" if answer.abstained else f"(failed: {answer.failure})")
