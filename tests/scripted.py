"""An engine that says what a test tells it, Step by Step, and remembers what it was asked."""

from __future__ import annotations

from typing import Any

from workbench.llm.meter import Meter
from workbench.llm.step import Result


class Scripted:
    """`said`: Step → what is said to an input: a function of it, a list to be said one after the other, or one thing
    always. A dictionary is the fields of the output, a text a reply that the Step reads; an Exception, or a text that
    begins with "!", is a failure; a text that begins with "…" was cut. `asked` are names of Steps and inputs."""

    name = "scripted"

    def __init__(self, workers: int = 1, **said: Any):
        self.said = {step: list(one) if isinstance(one, list | tuple) else one for step, one in said.items()}
        self.workers, self.meter, self.asked, self.steps = workers, Meter(), [], []

    def run(self, step, inputs, *, trace=None):
        self.asked += [(step.name, value) for value in inputs]
        self.steps += [step] * len(inputs)
        return [self._result(step, value) for value in inputs]

    def _result(self, step, value) -> Result:
        said = self.said[step.name]
        said = said.pop(0) if isinstance(said, list) else said(value) if callable(said) else said
        if isinstance(said, Exception):
            return Result(None, str(said))
        if not isinstance(said, str):
            return Result(step.output.model_validate(said), parse="strict")
        if said.startswith("!"):
            return Result(None, said[1:])
        try:
            return Result(step.read(said.lstrip("…")), parse="cut" if said.startswith("…") else "text", text=said)
        except ValueError as error:
            return Result(None, str(error), text=said)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.asked]

    def inputs(self, step: str) -> list:
        return [value for name, value in self.asked if name == step]
