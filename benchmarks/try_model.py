"""Ask a model fixed questions for every Step, before a run is paid for: what is read, right, and what it carries.

    python benchmarks/try_model.py openai:qwen3@http://127.0.0.1:8000/v1 [--step enough] [--seconds 120] [--record F]

The questions are those of `tests/trial_questions.py`. A model that answers all of a method's Steps readably can carry
the method; how good it is there, only a run tells: one or two questions a Step show a format that is not kept, no more.
Exits with 1 if a question was not asked, read or answered rightly.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.llm.engine import Engine
from workbench.llm.step import Result, Usage
from workbench.methods import METHODS
from workbench.reading import READERS
from workbench.steps import catalogue
from workbench.text import storable
from workbench.threads import in_order

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from trial_questions import QUESTIONS, Question

LONGEST = 768  # tokens; a right reply has fewer, and one that runs away should not take minutes
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
WORST = ("no", "not asked", "wrong", "yes")


@dataclass(frozen=True)
class Tried:
    """A question and what became of it. `right` is None where nothing could be read, `result` where it was not asked,
    because the time was up."""

    question: Question
    result: Result | None
    right: bool | None
    seconds: float


def try_model(runner: Engine, steps: Iterable[str], seconds: float) -> list[Tried]:
    """The questions of these Steps, asked. After `seconds` no further question begins."""
    asked, known, started = [one for one in QUESTIONS if one.step in steps], catalogue(), time.monotonic()

    def ask(one: Question) -> Tried:
        if (begun := time.monotonic()) - started > seconds:
            return Tried(one, None, None, 0.0)
        step = known[one.step]
        (result,) = runner.run(replace(step, max_tokens=min(step.max_tokens, LONGEST)), [one.input])
        right = None if result.value is None else one.right(result.value)
        return Tried(one, result, right, time.monotonic() - begun)

    short_first = sorted(asked, key=lambda one: known[one.step].max_tokens)  # so that a slow model shows most
    tried = list(in_order(ask, short_first, getattr(runner, "workers", 1), getattr(runner, "close", lambda: None)))
    return sorted(tried, key=lambda one: asked.index(one.question))


def by_step(tried: Iterable[Tried]) -> dict[str, list[Tried]]:
    steps: dict[str, list[Tried]] = {}
    for one in tried:
        steps.setdefault(one.question.step, []).append(one)
    return steps


def row_of(step: str, tried: list[Tried]) -> str:
    results = [one.result for one in tried if one.result is not None]
    usage = sum((result.usage for result in results), Usage())
    read = ", ".join(dict.fromkeys(result.parse or "not read" for result in results)) or "not asked"
    right = f"{sum(bool(one.right) for one in tried)} of {len(tried)}"
    failure = next((result.failure for result in results if result.failure), "")
    amounts = f"{usage.prompt_tokens:>7,} {usage.completion_tokens:>7,} {sum(one.seconds for one in tried):6.1f}"
    return f"{step:24} {read:18} {right:8} {amounts}  {storable(failure)[:100]!r}".removesuffix("  ''")


def state_of(tried: list[Tried]) -> str:
    if any(one.result is None for one in tried):
        return "not asked"
    if any(one.result.failure for one in tried):
        return "no"
    return "yes" if all(one.right for one in tried) else "wrong"


def carries(tried: Iterable[Tried]) -> list[tuple[str, str, str, str]]:
    """For each method, reader and layer: its kind and name, `yes`, `wrong` (all replies were readable, not all right),
    `no` or `not asked`, and the Steps that this is for."""
    asking: dict[tuple[str, str], Any] = {
        **{("method", name): method.steps for name, method in METHODS.items()},
        **{("reader", name): one.asked(one.Settings()) for name, one in READERS.items()},
        **{("layer", name): steps for name, steps in LAYERS.items()},
    }
    states = {step: state_of(mine) for step, mine in by_step(tried).items()}
    rows = []
    for (kind, name), steps in asking.items():
        found = {step: states.get(step, "not asked") for step in steps}
        worst = min(found.values(), key=WORST.index, default="yes")
        because = ", ".join(step for step, state in found.items() if state == worst != "yes")
        rows.append((kind, name, worst, because or ("" if found else "asks no model")))
    return rows


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", help="its SPEC, such as openai:gpt-4o-mini")
    parser.add_argument("--step", action="append", choices=sorted(catalogue()), help="only this Step; repeatable")
    parser.add_argument("--seconds", type=float, default=120.0, help="after which no further question is asked")
    parser.add_argument("--record", type=Path, help="a file that keeps the answers")
    given = parser.parse_args(arguments)
    with wb.engine(given.engine, **({"record": given.record} if given.record else {})) as runner:
        tried = try_model(runner, given.step or catalogue(), given.seconds)
        sent, window = getattr(runner, "sent", ()), getattr(runner, "window", None)
    print(f"{'step':24} {'read':18} {'right':8} {'prompt':>7} {'reply':>7} {'s':>6}  failed")
    for step, mine in by_step(tried).items():
        print(row_of(step, mine))
    if sent:
        print(f"asked with {'; '.join(sent)}")
    if window:
        print(f"its window: {window:,} tokens")
    for kind, name, state, because in carries(tried):
        print(f"{kind:8} {name:20} {state:10} {because}")
    return int(not all(one.right for one in tried))


if __name__ == "__main__":
    sys.exit(main())
