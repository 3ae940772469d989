"""Gleaning, shared by the extractions of GraphRAG and LightRAG: further requests for the records that a reply
missed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from workbench.llm.engine import Engine
from workbench.llm.step import Result, Step
from workbench.trace import Trace

T = TypeVar("T")


def gleaned(
    engine: Engine, step: Step, inputs: Sequence[Any], rounds: int, joined: Callable[[T, T], T], trace: Trace | None
) -> list[Result[T]]:
    """One Result per input: the first reply joined with up to `rounds` further ones. A further request passes the names
    of the known `entities` in the input's `found`. A further reply that fails changes nothing. The rules run once,
    because they would find the same again."""
    results = list(engine.run(step, inputs, trace=trace))
    for _ in range(0 if engine.name == "rules" else rounds):
        asked = [at for at, result in enumerate(results) if result.value is not None]
        further = [replace(inputs[at], found=_names(results[at].value)) for at in asked]
        for at, more in zip(asked, engine.run(step, further, trace=trace) if further else ()):
            if more.value is not None:
                results[at] = replace(results[at], value=joined(results[at].value, more.value))
    return results


def _names(said: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entity.name for entity in said.entities))
