"""Passages of three topics that share no word, and an engine that summarises them: what a tree of summaries is for."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from workbench.data import Dataset
from workbench.llm.meter import Meter
from workbench.llm.step import Result, Step
from workbench.records import Passage
from workbench.steps import summarising

TOPICS = {
    "sea": ("harbour", "tide", "anchor", "sail", "reef", "gull", "lighthouse", "herring"),
    "law": ("court", "judge", "verdict", "statute", "appeal", "jury", "clerk", "oath"),
    "music": ("violin", "choir", "sonata", "tempo", "chord", "organ", "ballad", "opera"),
}


def planted(each: int = 20, seed: int = 1) -> Dataset:
    """`each` passages per topic, of ten words each, the topics one after the other; `sea 3` is the id of one."""
    words = random.Random(seed)
    passages = tuple(
        Passage(f"{topic} {number}", "", " ".join(words.choices(vocabulary, k=10)) + ".")
        for topic, vocabulary in TOPICS.items()
        for number in range(each)
    )
    return Dataset("planted", passages)


class Summariser:
    """Says how many texts it was given and begins with the first. It may be told to break off at one of its calls, or
    to fail where `fails` holds of a cluster's texts."""

    name = "tiny"

    def __init__(
        self,
        fail_at: int | None = None,
        error: type[BaseException] = RuntimeError,
        fails: Callable[[Sequence[str]], bool] = lambda texts: False,
        says: Callable[[Sequence[str]], str] = lambda texts: f"{' '.join(texts)[:80]} and so {len(texts)}",
    ):
        self.meter = Meter()
        self.calls: list[list[tuple[str, ...]]] = []
        self.fail_at, self.error, self.fails, self.says = fail_at, error, fails, says

    @property
    def asked(self) -> list[tuple[str, ...]]:
        return [texts for call in self.calls for texts in call]

    def run(self, step: Step, inputs: Sequence[summarising.Texts], *, trace=None) -> list[Result]:
        if len(self.calls) == self.fail_at:
            raise self.error("injected")
        self.calls.append([value.texts for value in inputs])
        return [
            Result(None, failure="told to fail")
            if self.fails(value.texts)
            else Result(step.output(summary=self.says(value.texts)))
            for value in inputs
        ]
