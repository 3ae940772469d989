"""Estimates of what an engine writes for an index beside extractions: the layers are really built, in a temporary
folder, by rules, and of each Step a sample of the inputs is asked of the engine as well.

How many requests a layer makes depends on clusters, communities and merged records, which no formula knows. So it is
built: on at most `SLICE` passages, from the extractions that there are, by rules for the rest."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tqdm.auto import tqdm

from workbench import tokens
from workbench.data import Dataset, Extraction
from workbench.encoding import Encoder
from workbench.experiments.estimate.extraction import STEPS as EXTRACTING
from workbench.experiments.estimate.ranges import (
    Range,
    exactly,
    extrapolated,
    latency_of,
    priced,
    stratified,
    summed,
)
from workbench.experiments.estimate.record import Cost
from workbench.index import Index
from workbench.index.forecast import prompt_tokens
from workbench.index.index import LAYERS
from workbench.llm.engine import Engine, EngineBase, by_rule
from workbench.llm.step import Result, Step, Usage
from workbench.llm.wording import worded
from workbench.trace import Trace

SLICE = 200  # passages


@dataclass
class _Inputs:
    """The inputs of one form: how long the prompt of each is, and what is asked in it; those that were asked (by their
    place), with their usage."""

    prompts: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    asked: dict[int, Usage] = field(default_factory=dict)


class _Rehearsing(EngineBase):
    """Runs the rules under the name of `engine`, which is asked `sample` of the inputs of each form: of one Step, with
    the same fields filled, so that a further round over a text is not taken for the first."""

    def __init__(self, engine: Engine, sample: int, seed: int):
        super().__init__()
        self.engine, self.name, self.sample, self.seed = engine, engine.name, sample, seed
        self.workers, self.prompts = 1, getattr(engine, "prompts", {})
        self.forms: dict[tuple[str, ...], _Inputs] = defaultdict(_Inputs)

    @property
    def window(self) -> int | None:
        return getattr(self.engine, "window", None)

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        results = by_rule(step, inputs)
        if step in EXTRACTING:
            return results
        places = defaultdict(list)
        for at, value in enumerate(inputs):
            places[(step.name, *(name for name, given in vars(value).items() if given))].append(at)
        for form, rows in places.items():
            for at, result in self._asked(step, inputs, rows, self.forms[form]):
                results[at] = result if result.value is not None else results[at]
        return results

    def _asked(
        self, step: Step, inputs: Sequence[Any], rows: list[int], known: _Inputs
    ) -> Iterable[tuple[int, Result]]:
        asked, first = worded(step, self.prompts), len(known.sizes)
        known.prompts += [prompt_tokens(asked, inputs[at]) for at in rows]
        known.sizes += [tokens.count(asked.prompt(inputs[at])[-1]["content"]) for at in rows]
        chosen = stratified(
            range(len(rows)), self.sample - len(known.asked), lambda n: (known.sizes[first + n], n), self.seed
        )
        results = self.engine.run(step, [inputs[rows[n]] for n in chosen]) if chosen else []
        known.asked |= {first + n: result.usage for n, result in zip(chosen, results)}
        return [(rows[n], result) for n, result in zip(chosen, results)]


@dataclass(frozen=True)
class Rehearsal:
    """The costs of the layers, what they rest on, and the usage of what was asked."""

    costs: Sequence[Cost]
    basis: Sequence[str]
    usages: Sequence[Usage]


def rehearse(
    kinds: Iterable[str],
    data: Dataset,
    records: Mapping[str, Extraction],
    facts: Range,
    encoder: Encoder,
    engine: Engine,
    sample: int,
    seed: int,
    progress: bool,
) -> Rehearsal:
    """What the layers `kinds` of all of `data` will take. `records`: passage → its extraction, where there is one;
    `facts`: how many the whole graph is expected to have."""
    chosen = {
        passage.id for passage in stratified(data.passages, SLICE, lambda p: (tokens.count(p.content), p.id), seed)
    }
    passages = tuple(passage for passage in data.passages if passage.id in chosen)
    known = tuple(records[passage.id] for passage in passages if passage.id in records)
    small = replace(data, passages=passages, questions=(), extractions=known, graph=None)
    kinds, costs, usages = [kind for kind in LAYERS if kind in kinds], [], []
    longer = _size(data) / max(1, _size(small))
    with tempfile.TemporaryDirectory() as folder:
        for kind in tqdm(kinds, desc="rehearse", unit="layer", disable=not progress):
            runner = _Rehearsing(engine, sample, seed)
            built = Index.build(small, runner, folder, encoder=encoder, layers=[kind], progress=False)
            of_facts = "facts" in LAYERS[kind][0].needs
            scale = facts.times(1 / max(1, len(built.facts.facts))) if of_facts else exactly(longer)
            costs += _costs(kind, runner, scale)
            usages += [usage for inputs in runner.forms.values() for usage in inputs.asked.values()]
    basis = (
        f"{', '.join(kinds)}: built for the count by rules, from {len(passages):,} of {len(data.passages):,} passages, "
        f"and scaled by tokens or facts; of each Step at most {sample} requests of a kind were asked, spread over "
        f"lengths (seed {seed})"
    )
    return Rehearsal(costs, [basis], usages)


def _size(data: Dataset) -> int:
    return sum(tokens.count(passage.content) for passage in data.passages)


def _costs(kind: str, runner: _Rehearsing, scale: Range) -> list[Cost]:
    steps = dict.fromkeys(form[0] for form in runner.forms)
    return [
        _cost(kind, step, [inputs for form, inputs in runner.forms.items() if form[0] == step], runner, scale)
        for step in steps
    ]


def _cost(kind: str, step: str, forms: Sequence[_Inputs], runner: _Rehearsing, scale: Range) -> Cost:
    usages = [usage for one in forms for usage in one.asked.values()]
    told = any(usage.prompt_tokens for usage in usages)
    calls = summed([_whole(one, "calls", [1] * len(one.sizes), runner.seed) for one in forms]).times(scale)
    prompt = summed([_whole(one, "prompt_tokens", one.prompts, runner.seed) for one in forms]).times(scale)
    completion = summed([_whole(one, "completion_tokens", one.sizes, runner.seed) for one in forms]).times(scale)
    if not told:
        prompt, completion = exactly(sum(sum(one.prompts) for one in forms)).times(scale), None
    latency = latency_of(usages, runner.seed)
    seconds = latency and latency.times(calls).times(1 / getattr(runner.engine, "concurrency", 1))
    return Cost(kind, step, calls, prompt, completion, priced(runner.name, prompt, completion), seconds)


def _whole(inputs: _Inputs, what: str, sizes: Sequence[int], seed: int) -> Range:
    """Over all inputs of a form, in proportion to `sizes`."""
    values = [getattr(usage, what) for usage in inputs.asked.values()]
    sampled = [max(1, sizes[at]) for at in inputs.asked]
    return extrapolated(values, sampled, sum(max(1, size) for size in sizes) - sum(sampled), seed)
