"""Outputs that must fit their input: what does not fit is asked again, with what was wrong said in the request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.step import Result, Step
from workbench.trace import Trace


def ask(
    engine: Engine,
    step: Step,
    inputs: Sequence[Any],
    flaw: Callable[[Any, Any], str],
    times: int,
    *,
    trace: Trace | None = None,
) -> list[Result]:
    """One Result per input, whose output has no flaw. `flaw(input, output)` says in words what is wrong, "" for
    nothing. An unreadable or flawed reply is asked for again, at most `times` times, with the words as the `objection`
    of the input, so that a recorded reply is not taken twice; then it is a failure. Rules are asked once: they would
    say the same."""
    results = [_checked(value, result, flaw) for value, result in zip(inputs, engine.run(step, inputs, trace=trace))]
    for _ in range(0 if engine.name == RulesEngine.name else times):
        left = [at for at, result in enumerate(results) if result.failure]
        if not left:
            break
        again = [replace(inputs[at], objection=results[at].failure) for at in left]
        for at, value, result in zip(left, again, engine.run(step, again, trace=trace)):
            results[at] = _checked(value, result, flaw)
    return results


def objected(fields: dict[str, Any], objection: str) -> dict[str, Any]:
    """The fields of a request, with what was wrong with the last reply if there was one."""
    return fields | ({"your_last_reply_was_refused": objection} if objection else {})


def _checked(value: Any, result: Result, flaw: Callable[[Any, Any], str]) -> Result:
    if result.value is None or not (wrong := flaw(value, result.value)):
        return result
    return replace(result, value=None, failure=f"the reply does not fit what was asked: {wrong}")
