"""An engine whose Steps are run by the workers of a cluster, where one is open (`workbench.spread`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from workbench.llm.engine import Engine, note
from workbench.llm.step import Result, Step
from workbench.spread import by_size, is_spread, spread
from workbench.trace import Trace

PIECE = 16  # inputs of a piece, or twice as many as an engine is asked at a time, if that is more


class SpreadEngine:
    """Everything of another engine but `run`, which divides its inputs over the workers. What they ask is counted by
    the engine's own meter, and kept in its own recording."""

    def __init__(self, engine: Engine):
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        pieces = list(by_size(list(inputs), max(PIECE, 2 * getattr(self._engine, "concurrency", 1))))
        if len(pieces) < 2:
            return self._engine.run(step, inputs, trace=trace)
        results = [result for part in spread(pieces, partial(_run, self._engine, step)) for result in part]
        note(trace, self.name, step, results)
        return results


def spread_out(engine: Engine | None) -> Engine | None:
    """The engine, spread over the workers of the cluster that is open; without one, itself."""
    return engine if engine is None or not is_spread() else SpreadEngine(engine)


def _run(engine: Engine, step: Step, inputs: Sequence[Any]) -> list[Result]:
    return engine.run(step, inputs)
