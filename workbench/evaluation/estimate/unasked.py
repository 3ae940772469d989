"""A model that is estimated without a request, because a key is missing or a sample should cost nothing.

The rules run in its place, so that the prompts are those of real questions, and are counted. The length of the model's
answers is assumed: that of the rules' answers (range: `SHORTER` of it to the Step's limit)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from workbench import tokens
from workbench.errors import SettingError
from workbench.evaluation.estimate.loops import End, decided
from workbench.evaluation.estimate.ranges import Range
from workbench.llm.engine import EngineBase, by_rule, nominal, note
from workbench.llm.step import Result, Step, Usage
from workbench.trace import Trace

REHEARSED, MOST_REHEARSED = 8, 32  # questions, unless another sample is asked for: they cost no money
SHORTER = 0.5  # of the rules' answer: the low end of what is assumed


class Unasked(EngineBase):
    """An engine with the name of a SPEC's model that sends no request. Only an estimate can run it, because answers of
    the rules must not enter an index or a run under a model's name. `why` states why the model is not asked.

    `limits`: Step → maximum tokens of an answer, for the Steps that were run."""

    def __init__(self, spec: str, why: str = "no sample was wanted"):
        super().__init__()
        self.name, self.why, self.workers = nominal(spec), why, 1
        self.limits: dict[str, int] = {}
        self.end: End | None = None  # of every loop; None: as the rules say
        self._rehearsing = False

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        if not self._rehearsing:
            raise SettingError(
                f"{self.name} is not asked here ({self.why}), and {step.name} is: build the layers that a method or "
                "reader needs before the run is estimated; estimate the build with workbench estimate DATA --layers …"
            )
        self.limits[step.name] = step.max_tokens
        started = time.perf_counter()
        results = by_rule(step, inputs)
        if self.end is not None:
            results = [
                one if one.value is None else replace(one, value=decided(step, value, one.value, self.end))
                for value, one in zip(inputs, results)
            ]
        each = (time.perf_counter() - started) / max(1, len(inputs))
        results = [
            replace(result, usage=replace(_usage(step, value, result), seconds=each))
            for value, result in zip(inputs, results)
        ]
        for result in results:
            self.meter.add(step.name, result.usage)
        note(trace, self.name, step, results)
        return results

    @contextmanager
    def _open(self, end: End | None) -> Iterator[None]:
        self._rehearsing, self.end = True, end
        try:
            yield
        finally:
            self._rehearsing, self.end = False, None

    def __repr__(self) -> str:
        return f"Unasked({self.name}: {self.why})"


def _usage(step: Step, value: Any, result: Result) -> Usage:
    """The usage of a request to the model. It counts as recorded, because it has no information on the model's
    latency."""
    prompt = sum(tokens.count(message["content"]) for message in step.messages(value))
    completion = tokens.count(result.value.model_dump_json()) if result.value is not None else 0
    return Usage(1, prompt, min(completion, step.max_tokens), failed=result.usage.failed, recorded=1)


@contextmanager
def rehearsing(engines: Iterable[Unasked], end: End | None = None) -> Iterator[None]:
    """Inside this block, these engines can run, and end the loops of methods as they say."""
    with ExitStack() as stack:
        for engine in engines:
            stack.enter_context(engine._open(end))
        yield


def assumed(completion: Range, calls: Range, limit: int) -> Range:
    """The assumed length of unwritten answers; low and high are assumptions, not from a sample."""
    high = None if calls.high is None else max(completion.value, calls.high * limit)
    return Range(completion.value, completion.low and completion.low * SHORTER, high)


def assumptions(engines: Sequence[Unasked], n: int, of: int, seed: int) -> list[str]:
    """The basis of an estimate without a model."""
    names = ", ".join(dict.fromkeys(engine.name for engine in engines))
    return [
        f"measured: the prompts of {n:,} of {of:,} questions, spread over hops, types and lengths (seed {seed}), "
        "counted as cl100k tokens; they were made with the answers of rules",
        f"assumed: {names} asks as often as the rules do, and its answers are as long as theirs as JSON "
        f"({SHORTER:g} of that to the limit of the Step); where its replies end a loop, low and high are a model that "
        "ends it at once, and one that never does",
    ]
