"""Engines: what runs Steps. `engine("rules")`, `engine("openai:gpt-4o-mini")`, `engine("replay:first.sqlite")`.

`run(step, inputs)` gives one Result per input, in their order. One bad input is a failed Result; an engine that cannot
go on at all raises an `EngineError`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from workbench.errors import SettingError
from workbench.llm.meter import Meter
from workbench.llm.step import Result, Step, Usage
from workbench.records import Record
from workbench.trace import Trace


class Engine(Protocol):
    """`name` identifies what answers: `rules`, or the kind and the model."""

    name: str
    meter: Meter

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]: ...


class RulesEngine(Record):
    """Runs the rule bodies: deterministic, no key, no network. Its results are rules' results and are labelled so."""

    name = "rules"
    workers = 1  # how many questions are worth asking side by side

    def __init__(self):
        self.meter = Meter()

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        started = time.perf_counter()
        results = _by_rule(step, inputs)
        self.meter.add(step.name, Usage(calls=len(inputs), seconds=time.perf_counter() - started))
        note(trace, self.name, step, results)
        return results

    def __repr__(self) -> str:
        return f"RulesEngine({self.meter.total.calls:,} Steps run)"


def _by_rule(step: Step, inputs: Sequence[Any]) -> list[Result]:
    """The whole batch at once; where that fails, one by one, so that a bad input fails alone."""
    try:
        outputs = list(step.rule(inputs))
        if len(outputs) != len(inputs):
            raise ValueError(f"the rule body gave {len(outputs)} outputs for {len(inputs)} inputs")
        return [Result(value, parse="rules", usage=Usage(calls=1)) for value in outputs]
    except Exception as error:
        if len(inputs) == 1:
            return [Result(None, failure=f"{type(error).__name__}: {error}", usage=Usage(calls=1))]
        return [_by_rule(step, [value])[0] for value in inputs]


def note(trace: Trace | None, engine: str, step: Step, results: Sequence[Result]) -> None:
    """One LLM event per result, in their order, whatever order the answers came in."""
    if not trace:
        return
    for result in results:
        messages = [dict(message) for message in result.messages]
        with trace.span("LLM", step.name, engine=engine, messages=messages) as span:
            if result.failure:
                span.set(failure=result.failure, text=result.text)
            else:
                span.set(**result.value.model_dump(), parse=result.parse)
            if result.usage.prompt_tokens or result.usage.completion_tokens:
                span.tokens(prompt=result.usage.prompt_tokens, completion=result.usage.completion_tokens)


def engine(spec: str | Engine = "rules", **options: Any) -> Engine:
    """The engine that a SPEC names.

    rules                         the rule bodies
    openai:MODEL[@BASE_URL]       any OpenAI-compatible endpoint; the key from `api_key` or OPENAI_API_KEY
    replay:FILE                   recorded answers only

    `options` go to the engine: for `openai` `record=FILE`, `concurrency=8`, `attempts=5`, `structured="json_schema"`, …
    (see `workbench.llm.chat.openai_engine` and `workbench.llm.endpoint.endpoint`).
    """
    if not isinstance(spec, str):
        return spec
    kind, _, rest = spec.partition(":")
    if kind not in KINDS:
        # Only the kind is named: the rest may be an address with a password.
        raise SettingError(f"engine {kind!r} is unknown; use rules, openai:<model>[@<base url>] or replay:<file>")
    return KINDS[kind](rest, **options)


def _rules(rest: str, **options: Any) -> Engine:
    if rest or options:
        got = ", ".join([*([repr(rest)] if rest else []), *options])  # names alone: a value may be a key
        raise SettingError(f"the engine 'rules' takes no model and no options; got {got}")
    return RulesEngine()


def _openai(rest: str, **options: Any) -> Engine:
    from workbench.llm.chat import openai_engine

    return openai_engine(rest, **options)


def _replay(rest: str, **options: Any) -> Engine:
    from workbench.llm.chat import replay_engine

    return replay_engine(rest, **options)


KINDS: dict[str, Callable[..., Engine]] = {"rules": _rules, "openai": _openai, "replay": _replay}
