"""A trial of a model: every Step is asked fixed questions, before a run is paid for.

    wb.try_model("openai:gpt-4o-mini")          a table: how each Step was read, right or wrong, tokens, seconds
    wb.try_model(engine).carries()              which methods, readers and layers this model can carry

A model that answers all of a method's Steps readably can carry the method; how good it is there, only a run tells: one
or two questions a Step show a format that is not kept, and no more.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from tqdm.auto import tqdm

from workbench.errors import SettingError
from workbench.evaluation.trial.questions import QUESTIONS, Question
from workbench.llm.chat import side_by_side
from workbench.llm.engine import Engine, engine
from workbench.llm.step import Result, Usage
from workbench.methods import METHODS
from workbench.reading import READERS
from workbench.records import Record
from workbench.steps import catalogue

SECONDS = 120.0
_LONGEST = 768  # tokens; a right reply has fewer, and one that runs away should not take minutes
# Layers that a model may make, and the Steps that it is asked for them.
LAYERS = {
    "extractions": ("named_entities", "triples"),
    "typed": ("entity_relations", "fuse_descriptions"),
    "resolved": ("curate_cluster",),
    "relabelled": ("relabel_entities",),
    "summaries": ("summarise",),
    "communities": ("community_report",),
    "entity_summaries": ("summarise_entity",),
    "skeleton": ("graph_records", "fuse_descriptions"),
    "schema_graph": ("schema_extraction",),
    "tree": ("name_communities",),
}


@dataclass(frozen=True, slots=True, repr=False)
class Tried(Record):
    """A question and what became of it. `right` is None where nothing could be read, `result` where it was not asked,
    because the time was up."""

    question: Question
    result: Result | None
    right: bool | None
    seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class Trial(Record):
    """What a model made of the questions. `sent`: how the endpoint had to be asked otherwise; `window`: tokens of
    prompt and answer together, if known; `seconds`: of the whole trial."""

    engine: str
    tried: tuple[Tried, ...]
    sent: tuple[str, ...]
    window: int | None
    seconds: float

    def rows(self) -> list[dict[str, Any]]:
        """A row for each Step: how its replies were read, how many were right, tokens, seconds, and what failed."""
        return [_row(step, tried) for step, tried in _by_step(self.tried).items()]

    def frame(self) -> pd.DataFrame:
        """The rows as a table."""
        return pd.DataFrame(self.rows())

    def carries(self) -> list[dict[str, Any]]:
        """A row for each method, reader and layer: `yes`, `wrong` (all replies were readable, not all right), `no`, or
        `not asked`, and the Steps that this is for."""
        asking = {
            **{("method", name): tuple(method.steps) for name, method in METHODS.items()},
            **{("reader", name): tuple(dict.fromkeys(one.asked(one.Settings()))) for name, one in READERS.items()},
            **{("layer", name): steps for name, steps in LAYERS.items()},
        }
        states = {step: _state(tried) for step, tried in _by_step(self.tried).items()}
        return [{"kind": kind, "name": name, **_carried(steps, states)} for (kind, name), steps in asking.items()]


def try_model(
    model: Engine | str, *, steps: Iterable[str] | None = None, seconds: float = SECONDS, progress: bool = True
) -> Trial:
    """Ask a model, or its SPEC, the fixed questions of all Steps, or of those named. After `seconds` no further
    question begins; what was not asked is said. Errors that concern every request (no key, no server) are raised."""
    known = catalogue()
    wanted = list(known) if steps is None else list(steps)
    if unknown := [name for name in wanted if name not in known]:
        raise SettingError(f"there is no Step {unknown[0]!r}; there are {', '.join(sorted(known))}")
    asked = [one for one in QUESTIONS if one.step in wanted]
    runner, started = engine(model), time.monotonic()
    with tqdm(total=len(asked), desc="trial", unit="question", disable=not progress) as bar:

        def ask(one: Question) -> Tried:
            if (begun := time.monotonic()) - started > seconds:
                return Tried(one, None, None, 0.0)
            step = known[one.step]
            (result,) = runner.run(replace(step, max_tokens=min(step.max_tokens, _LONGEST)), [one.input])
            bar.update()
            right = None if result.value is None else one.right(result.value)
            return Tried(one, result, right, time.monotonic() - begun)

        try:
            workers = getattr(runner, "workers", 1)
            short_first = sorted(asked, key=lambda one: known[one.step].max_tokens)  # so that a slow model shows most
            tried = side_by_side(ask, short_first, workers, getattr(runner, "close", lambda: None))
        finally:
            if runner is not model:
                getattr(runner, "close", lambda: None)()
    tried.sort(key=lambda one: asked.index(one.question))
    window = getattr(runner, "window", None)
    return Trial(runner.name, tuple(tried), getattr(runner, "sent", ()), window, time.monotonic() - started)


def _by_step(tried: Iterable[Tried]) -> dict[str, list[Tried]]:
    steps: dict[str, list[Tried]] = {}
    for one in tried:
        steps.setdefault(one.question.step, []).append(one)
    return steps


def _row(step: str, tried: list[Tried]) -> dict[str, Any]:
    results = [one.result for one in tried if one.result is not None]
    usage = sum((result.usage for result in results), Usage())
    failures = [result.failure for result in results if result.failure]
    return {
        "step": step,
        "read": ", ".join(dict.fromkeys(result.parse or "not read" for result in results)) or "not asked",
        "right": f"{sum(bool(one.right) for one in tried)} of {len(tried)}",
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "seconds": round(sum(one.seconds for one in tried), 1),
        "failed": failures[0] if failures else "",
    }


def _state(tried: list[Tried]) -> str:
    if any(one.result is None for one in tried):
        return "not asked"
    if any(one.result.failure for one in tried):
        return "no"
    return "yes" if all(one.right for one in tried) else "wrong"


_WORST = ("no", "not asked", "wrong", "yes")


def _carried(steps: Iterable[str], states: dict[str, str]) -> dict[str, str]:
    found = {step: states.get(step, "not asked") for step in steps}
    worst = min(found.values(), key=_WORST.index, default="yes")
    which = ", ".join(step for step, state in found.items() if state == worst != "yes")
    return {"carries": worst, "because": which or ("" if found else "asks no model")}
