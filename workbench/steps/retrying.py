"""Further requests: for outputs that do not fit their input, with the flaw stated in the request; and for records that
a reply missed (the gleaning of GraphRAG and LightRAG)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from workbench.llm.deferrals import each
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.step import Result, Step
from workbench.trace import Trace

T = TypeVar("T")

GROUP = 64  # inputs between two looks at a bar


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


def ask_in_groups(
    engine: Engine,
    step: Step,
    inputs: Sequence[Any],
    flaw: Callable[[Any, Any], str],
    times: int,
    *,
    label: str,
    progress: bool = False,
) -> list[Result]:
    """`ask` for many inputs, `GROUP` at a time, with a bar. Of a batch, all groups are collected."""
    from workbench.display import tqdm

    groups = [inputs[at : at + GROUP] for at in range(0, len(inputs), GROUP)]
    bar = tqdm(groups, desc=label, unit="group", disable=not progress)
    return [result for results in each(lambda some: ask(engine, step, some, flaw, times), bar) for result in results]


def _checked(value: Any, result: Result, flaw: Callable[[Any, Any], str]) -> Result:
    if result.value is None or not (wrong := flaw(value, result.value)):
        return result
    return replace(result, value=None, failure=f"the reply does not fit what was asked: {wrong}")


def gleaned(
    engine: Engine, step: Step, inputs: Sequence[Any], rounds: int, joined: Callable[[T, T], T], trace: Trace | None
) -> list[Result[T]]:
    """One Result per input: the first reply joined with up to `rounds` further ones. A further request passes the names
    of the known `entities` in the input's `found`. A further reply that fails changes nothing. The rules run once,
    because they would find the same again."""
    results = list(engine.run(step, inputs, trace=trace))
    for _ in range(0 if engine.name == RulesEngine.name else rounds):
        positions = [at for at, result in enumerate(results) if result.value is not None]
        further = [replace(inputs[at], found=_names(results[at].value)) for at in positions]
        for at, more in zip(positions, engine.run(step, further, trace=trace) if further else ()):
            if more.value is not None:
                results[at] = replace(results[at], value=joined(results[at].value, more.value))
    return results


def _names(output: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entity.name for entity in output.entities))
