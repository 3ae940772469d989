"""Estimates of extraction: the layer's own code extracts a sample, and the rest is assumed to be similar."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench import tokens
from workbench.evaluation.estimate.ranges import Range, exactly, extrapolated, latency_of, priced, stratified
from workbench.evaluation.estimate.record import Cost, sample_note
from workbench.index import extractions, facts, journal
from workbench.index.extractions import ASSUMED, FACTS
from workbench.index.forecast import prompt_tokens
from workbench.llm.engine import Engine
from workbench.llm.step import Result, Step, Usage
from workbench.records import Passage
from workbench.steps import named_entities, triples

STEPS = (named_entities.STEP, triples.STEP)


class _Metered:
    """An engine that records the usage of each input. The rules process a whole batch at once, so each input gets its
    share of the time."""

    def __init__(self, engine: Engine):
        self.engine, self.name, self.by_step = engine, engine.name, defaultdict(list)

    def run(self, step: Step, inputs: Sequence) -> list[Result]:
        started = time.perf_counter()
        results = self.engine.run(step, inputs)
        each = (time.perf_counter() - started) / len(inputs)
        usages = [result.usage for result in results]
        self.by_step[step.name] += [replace(u, seconds=each) for u in usages] if self.name == "rules" else usages
        return results


@dataclass(frozen=True)
class Sample:
    """`left`: the passages without an extraction; `passages`: the extracted ones among them, with the usage of each by
    Step and its triples."""

    engine: Engine
    left: Sequence[Passage]
    seed: int
    passages: Sequence[Passage] = ()
    by_step: Mapping[str, Sequence[Usage]] = ()
    triples: Sequence[Sequence[tuple[str, ...]]] = ()

    @classmethod
    def of(cls, engine: Engine, left: Sequence[Passage], n: int, seed: int) -> Sample:
        """The sample of `n` passages, spread over their lengths, extracted."""
        chosen = stratified(left, n, lambda passage: (_size(passage), passage.id), seed)
        if not chosen:
            return cls(engine, left, seed)
        if engine.name == "rules":
            engine.run(named_entities.STEP, [named_entities.Input("", "Warm.")])  # loads the pipeline
        metered = _Metered(engine)
        found = [extracted.record.triples for extracted in extractions.extract(metered, chosen)]
        return cls(engine, left, seed, chosen, metered.by_step, found)

    @property
    def usages(self) -> list[Usage]:
        return [usage for step in STEPS for usage in self.by_step[step.name]] if self.passages else []

    @property
    def scale(self) -> float:
        """The tokens of all passages left, in multiples of those of the sample; 0 if none is left."""
        return sum(map(_size, self.left)) / sum(map(_size, self.passages)) if self.left else 0.0

    @property
    def basis(self) -> list[str]:
        """The basis of the numbers."""
        if self.passages:
            counts = len(self.passages), len(self.left)
            return [sample_note(*counts, "passages without an extraction", "lengths", self.seed)]
        assumed = ", ".join(f"{low:g} to {high:g} ({value:g}) tokens" for value, low, high in ASSUMED.values())
        return [
            f"no passage was asked: prompts are counted, and answers assumed to have {assumed} per token of the "
            "passage for names and facts, as gpt-3.5-turbo-1106's of MuSiQue have"
        ] * bool(self.left)

    def costs(self) -> list[Cost]:
        return [self._cost(step) for step in STEPS] if self.left else []

    def facts(self, known: Iterable[Sequence[Sequence[str]]]) -> Range:
        """The number of facts in the graph: counted for the `known` triples, extrapolated for the rest."""
        counted = exactly(len(distinct(known)))
        if not self.passages:
            return counted + FACTS.times(len(self.left))
        found, sizes = [len(distinct([stated])) for stated in self.triples], list(map(_size, self.passages))
        return counted + extrapolated(found, sizes, sum(map(_size, self.left)) - sum(sizes), self.seed)

    def _cost(self, step: Step) -> Cost:
        if self.engine.name == "rules":
            return Cost("extraction", step.name, seconds=self._seconds_of_rules(step))
        prompt, completion, seconds = self._extrapolated(step) if self.passages else self._assumed(step)
        dollars = priced(self.engine.name, prompt, completion)
        calls = exactly(len(self.left))
        return Cost("extraction", step.name, calls, prompt, completion, dollars.singly, seconds, dollars.batched)

    def _seconds_of_rules(self, step: Step) -> Range | None:
        """Seconds from one batch, which has no spread."""
        if not self.passages:
            return None
        return Range(sum(usage.seconds for usage in self.by_step[step.name]) * self.scale, None, None)

    def _assumed(self, step: Step) -> tuple[Range, Range, None]:
        size = sum(map(_size, self.left))
        prompt = exactly(sum(_prompt(step, passage) for passage in self.left))
        if step is triples.STEP:  # its prompt shows the names that were found
            prompt += ASSUMED[named_entities.STEP.name].times(size)
        return prompt, ASSUMED[step.name].times(size), None

    def _extrapolated(self, step: Step) -> tuple[Range, Range | None, Range | None]:
        usages, prompts = self.by_step[step.name], {passage.id: _prompt(step, passage) for passage in self.left}
        latency = latency_of(usages, self.seed)
        seconds = latency and latency.times(self._rounds())
        if not any(usage.prompt_tokens for usage in usages):  # the endpoint does not tell
            return exactly(sum(prompts.values())), None, seconds
        sizes = {passage.id: _size(passage) for passage in self.left}
        prompt = self._whole([usage.prompt_tokens for usage in usages], prompts)
        return prompt, self._whole([usage.completion_tokens for usage in usages], sizes), seconds

    def _whole(self, values: list[int], sizes: Mapping[str, int]) -> Range:
        """The sum of the sample's `values`, extrapolated to all passages in proportion to `sizes`."""
        sampled = [sizes[passage.id] for passage in self.passages]
        return extrapolated(values, sampled, sum(sizes.values()) - sum(sampled), self.seed)

    def _rounds(self) -> int:
        """The number of sequential rounds of requests to the endpoint."""
        groups = [min(journal.GROUP, len(self.left) - start) for start in range(0, len(self.left), journal.GROUP)]
        return sum(math.ceil(group / getattr(self.engine, "concurrency", 1)) for group in groups)


def distinct(found: Iterable[Iterable[Sequence[str]]]) -> set[tuple[str, str, str]]:
    """The facts of triples by the default settings of the layer `facts`."""
    return {fact for stated in found for fact in facts.normalised(stated, facts.Settings())}


def _size(passage: Passage) -> int:
    return max(1, tokens.count(passage.content))


def _prompt(step: Step, passage: Passage) -> int:
    """Tokens of the prompt, for `triples` without the names."""
    return prompt_tokens(step, extractions.inputs(passage)[step])
