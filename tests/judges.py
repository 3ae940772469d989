"""A judge of pairs that follows a rule of the test instead of a model."""

from __future__ import annotations

from workbench.evaluation.pairs import DIMENSIONS
from workbench.llm import Result
from workbench.llm.meter import Meter
from workbench.steps import judge_pair


class Judge:
    """Prefers by `better(shown, dimension)`: 1 or 2; None fails. Its `reason` is written of each dimension, and `seen`
    is what it was shown."""

    name, workers = "openai:judge", 1

    def __init__(self, better, reason="{}"):
        self.better, self.reason, self.meter, self.seen = better, reason, Meter(), []

    def run(self, step, inputs, *, trace=None):
        assert step is judge_pair.STEP
        self.seen += inputs
        return [self._one(value) for value in inputs]

    def _one(self, value):
        chosen = {name: self.better(value, name) for name in DIMENSIONS}
        if None in chosen.values():
            return Result(None, failure="told to fail")
        said = {name: {"winner": winner, "reason": self.reason.format(name)} for name, winner in chosen.items()}
        return Result(judge_pair.Output(**said))
