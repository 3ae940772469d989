"""Estimates of what an engine writes for an index beside extractions: the layers are really built, in a temporary
folder, by rules, and of each Step a sample of the inputs is asked of the engine as well.

How many requests a layer makes depends on clusters, communities and merged records, which no formula knows. So it is
built: on at most `SLICE` passages, from the extractions that there are, by rules for the rest. Where the engine's lists
are shorter than the rules' in the sample, those of the rest are shortened alike, because fewer records are merged less
often. A request made again because the reply did not fit counts with the one before it (`steps/objecting.py`)."""

from __future__ import annotations

import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel
from tqdm.auto import tqdm

from workbench import tokens
from workbench.data import Dataset, Extraction
from workbench.encoding import Encoder
from workbench.evaluation.estimate.extraction import STEPS as EXTRACTING
from workbench.evaluation.estimate.ranges import (
    Range,
    exactly,
    extrapolated,
    latency_of,
    priced,
    stratified,
    summed,
)
from workbench.evaluation.estimate.record import Cost
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
    place), with their usage; and how many members the lists of their outputs have, by the engine and by the rules."""

    prompts: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    asked: dict[int, Usage] = field(default_factory=dict)
    written: Counter[str] = field(default_factory=Counter)
    ruled: Counter[str] = field(default_factory=Counter)

    def compare(self, written: BaseModel, ruled: BaseModel) -> None:
        self.written += _lengths(written)
        self.ruled += _lengths(ruled)

    def shortened(self, output: BaseModel) -> BaseModel:
        """An output of the rules with its lists as long as the engine's, in the mean."""
        kept = {}
        for name, length in _lengths(output).items():
            share = self.written[name] / self.ruled[name] if self.ruled[name] else 1
            if share < 1:
                members = getattr(output, name)
                kept[name] = [one for at, one in enumerate(members) if _drawn(at, one) < share]
        return output.model_copy(update=kept) if kept else output


def _lengths(output: BaseModel) -> Counter[str]:
    return Counter({name: len(value) for name, value in output if isinstance(value, list) and value})


def _drawn(at: int, member: Any) -> float:
    """A number from 0 to 1, the same for the same member at the same place."""
    return zlib.crc32(f"{at} {member!r}".encode()) / 2**32


class _Rehearsing(EngineBase):
    """Runs the rules under the name of `engine`, which is asked `sample` of the inputs of each form: of one Step, with
    the same fields filled, so that a further round over a text is not taken for the first."""

    def __init__(self, engine: Engine, sample: int, seed: int):
        super().__init__()
        self.engine, self.name, self.sample, self.seed = engine, engine.name, sample, seed
        self.workers, self.prompts = 1, getattr(engine, "prompts", {})
        self.forms: dict[tuple[str, ...], _Inputs] = defaultdict(_Inputs)
        self.firsts: dict[tuple[str, Any], tuple[_Inputs, int]] = {}  # asked of a Step that can be asked again

    @property
    def window(self) -> int | None:
        return getattr(self.engine, "window", None)

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        results = by_rule(step, inputs)
        if step in EXTRACTING or not inputs:
            return results
        whole = hasattr(inputs[0], "objection")  # what leaves something out is asked for again
        places = defaultdict(list)
        for at, value in enumerate(inputs):
            if whole and value.objection:
                results[at] = self._again(step, value, results[at])
            else:
                places[(step.name, *(name for name, given in vars(value).items() if given))].append(at)
        for form, rows in places.items():
            known = self.forms[form]
            asked = dict(self._asked(step, inputs, rows, known))
            for at, result in asked.items():
                if result.value is not None and results[at].value is not None:
                    known.compare(result.value, results[at].value)
            for at in rows:
                if at in asked:
                    results[at] = asked[at] if whole or asked[at].value is not None else results[at]
                elif results[at].value is not None and not whole:
                    results[at] = replace(results[at], value=known.shortened(results[at].value))
        return results

    def _again(self, step: Step, value: Any, by_rules: Result) -> Result:
        """The answer to an objection, by whoever said what was objected to."""
        first = self.firsts.get((step.name, replace(value, objection="")))
        if first is None:
            return by_rules
        (result,) = self.engine.run(step, [value])
        known, at = first
        known.asked[at] += result.usage
        return result

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
        if hasattr(inputs[rows[0]], "objection"):
            self.firsts |= {(step.name, inputs[rows[n]]): (known, first + n) for n in chosen}
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
            how = {"encoder": encoder, "layers": [kind], "keep_going": True, "progress": False}
            built = Index.build(small, runner, folder, **how)  # replies to a sample say nothing of the whole
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
    dollars = priced(runner.name, prompt, completion)
    return Cost(kind, step, calls, prompt, completion, dollars.singly, seconds, dollars.batched)


def _whole(inputs: _Inputs, what: str, sizes: Sequence[int], seed: int) -> Range:
    """Over all inputs of a form, in proportion to `sizes`."""
    values = [getattr(usage, what) for usage in inputs.asked.values()]
    sampled = [max(1, sizes[at]) for at in inputs.asked]
    return extrapolated(values, sampled, sum(max(1, size) for size in sizes) - sum(sampled), seed)
