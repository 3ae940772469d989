"""What stands in the place of a model in an estimate: an engine that cannot be asked, and one that counts what it would
be asked, in copies of the methods and readers that ask it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workbench import tokens
from workbench.errors import SettingError
from workbench.evaluation.retrieved import Retrieved
from workbench.llm.engine import Engine, EngineBase, by_rule, no_model, nominal, note
from workbench.llm.engine import engine as known_engine
from workbench.llm.step import Result, Step, Usage
from workbench.llm.wording import worded
from workbench.trace import Trace

ENGINE = {"engine", "_engine"}  # what methods, readers, and what these consist of, call theirs


class Unasked(EngineBase):
    """An engine with the name of a SPEC's model that sends no request. It stands for the model in an estimate, without
    a key; otherwise it refuses to run, because what rules answer must not enter an index or a run under that name."""

    def __init__(self, spec: str, why: str = ""):
        super().__init__()
        self.name, self.why, self.workers = nominal(spec), why, 1

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        raise SettingError(
            f"{self.name} is not asked here{self.why and f' ({self.why})'}, and {step.name} is: build the layers that "
            "a method or reader needs before the run is estimated; estimate the build with workbench estimate DATA "
            "--layers …"
        )


def unasked(engine: Engine | str) -> Engine:
    """Of the SPEC of a model only the name is needed: nothing is connected."""
    if not isinstance(engine, str):
        return engine
    return known_engine(engine) if no_model(engine) else Unasked(engine)


class Counting(EngineBase):
    """The rules under the name of another engine, with its wording and its window; its meter has what that one would be
    asked."""

    def __init__(self, of: Engine):
        super().__init__()
        self.name, self.workers = of.name, 1
        self.prompts, self._window = getattr(of, "prompts", {}), getattr(of, "window", None)

    @property
    def window(self) -> int | None:
        return self._window

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        asked = worded(step, self.prompts)
        results = [
            replace(result, usage=_usage(asked, value, result)) for value, result in zip(inputs, by_rule(step, inputs))
        ]
        for result in results:
            self.meter.add(step.name, result.usage)
        note(trace, self.name, step, results)
        return results


def _usage(step: Step, value: Any, result: Result) -> Usage:
    completion = tokens.count(result.value.model_dump_json()) if result.value is not None else 0
    return Usage(1, prompt_tokens(step, value), min(completion, step.max_tokens), failed=result.usage.failed)


def prompt_tokens(step: Step, value: Any) -> int:
    """cl100k tokens of the prompt for one input."""
    return sum(tokens.count(message["content"]) for message in step.messages(value))


def in_place_of(engine: Engine, counting: dict[int, Counting]) -> Engine:
    """What answers for an engine: one that counts; engines that ask no model answer themselves."""
    return engine if no_model(engine.name) else counting.setdefault(id(engine), Counting(engine))


def _asks(value: Any) -> bool:
    """Whether a part has an engine of its own."""
    return not ENGINE.isdisjoint(getattr(value, "__dict__", ()))


def counted_by(counting: dict[int, Counting], part: Any) -> Any:
    """A copy of a method or a reader, and of what it consists of, whose engines count."""
    if part is None:
        return None
    part = copy.copy(part.method if isinstance(part, Retrieved) else part)
    for name, value in vars(part).items():
        if isinstance(value, EngineBase) or name in ENGINE:
            vars(part)[name] = in_place_of(value, counting)
        elif _asks(value):  # what was prepared with the engine
            vars(part)[name] = counted_by(counting, value)
        elif isinstance(value, tuple) and any(map(_asks, value)):  # the methods that it is over
            vars(part)[name] = tuple(counted_by(counting, one) if _asks(one) else one for one in value)
    return part
