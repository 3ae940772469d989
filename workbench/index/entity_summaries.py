"""Layer `entity_summaries`: a short text about each phrase that many facts speak of (CatRAG's entity contexts).

A summary hangs on the phrase and its facts alone, so an insert or delete rewrites only those whose facts changed; the
released code never refreshes them (`docs/traps.md`, CatRAG).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from workbench import tokens
from workbench.data import Dataset
from workbench.index.facts import FactsLayer
from workbench.index.forecast import Forecast, Range, Requests, exactly, prompt_tokens
from workbench.index.journal import StepJournal, counts, maker, request_key
from workbench.index.layer import Build, Layer
from workbench.index.store import read_table, write_table
from workbench.llm.engine import Engine, RulesEngine
from workbench.settings import Budget, Natural, validated
from workbench.steps import summarise_entity
from workbench.steps.summarise_entity import statement

SUMMARISED = Range(0.13, 0.05, 0.3)  # phrases with more than three facts, per fact: 2,247 of 17,036 in MuSiQue
FACT_TOKENS = Range(12, 8, 20)  # of a fact in a prompt: assumed
FACTS = Range(10, 5, 20)  # of such a phrase: assumed


@validated
class Settings:
    """`tau`: a phrase with more facts than this has a summary; the facts of the others are their context. The paper
    leaves it open; 3 is the released code's. `limit`: cl100k tokens of a summary, as published."""

    tau: Natural = 3
    limit: Budget = 150


class EntitySummariesLayer(Layer):
    """`summaries`: phrase → text. `failures`: phrase → why it has none."""

    kind = "entity_summaries"
    needs = ("facts",)
    old_must_share = ()

    @classmethod
    def identity(cls, build: Build, settings: Settings) -> dict:
        return {"maker": maker(_engine(build), summarise_entity.STEP)}

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: EntitySummariesLayer | None) -> dict:
        engine = _engine(build)
        inputs = {
            request_key(phrase, facts, settings.limit): summarise_entity.Input(phrase, facts, settings.limit)
            for phrase, facts in _summarised(build.layers["facts"], settings.tau)
        }
        journal = StepJournal(folder, "summaries.jsonl", engine, summarise_entity.STEP, old, build.progress)
        answers = journal.run(inputs, lambda group: engine.run(summarise_entity.STEP, group), "summarise entities")
        journal.settle()
        written = {inputs[key].entity: answer.output["summary"] for key, answer in answers.items() if answer.output}
        write_table(
            folder / "table.parquet",
            phrase=np.array(list(written), dtype=object),
            summary=np.array([tokens.cut(text, settings.limit) for text in written.values()], dtype=object),
        )
        return {"summaries": len(written), "asked": journal.asked, **counts(answers.values())}

    @classmethod
    def forecast(cls, data: Dataset, settings: Settings, facts: Range) -> Forecast:
        step, count = summarise_entity.STEP, facts.times(SUMMARISED)
        empty = exactly(prompt_tokens(step, summarise_entity.Input("", (), settings.limit)))
        prompt = count.times(empty + FACTS.times(FACT_TOKENS))
        completion = count.times(Range(settings.limit / 2, settings.limit / 4, settings.limit))
        basis = (
            f"entity summaries: the number is known once the graph is there; {SUMMARISED.words} for each of "
            f"{facts.words} facts, as in MuSiQue; each from {FACTS.words} facts of {FACT_TOKENS.words} tokens, assumed"
        )
        return Forecast((Requests(step, count, prompt, completion),), basis)

    def __init__(self, folder: Path):
        super().__init__(folder)
        table = read_table(folder / "table.parquet", strings=("phrase", "summary"))
        self.summaries: dict[str, str] = dict(zip(table["phrase"], table["summary"]))

    def context(self, facts: FactsLayer, phrase: int) -> str:
        """C(v) of a phrase by its row: its summary, or its facts one after another (Eq. 2)."""
        if (summary := self.summaries.get(facts.phrases[phrase])) is not None:
            return summary
        return " ".join(statement(facts.facts[row]) for row in facts.about(phrase))

    def __repr__(self) -> str:
        return f"EntitySummariesLayer({len(self.summaries):,} summaries)"


def _summarised(facts: FactsLayer, tau: int) -> Iterator[tuple[str, tuple[tuple[str, str, str], ...]]]:
    """The phrases with more than `tau` facts, with these, both in their order; a fact whose ends are one phrase counts
    once."""
    by_phrase: dict[int, list[int]] = defaultdict(list)
    for row, ends in enumerate(zip(facts.subjects.tolist(), facts.objects.tolist())):
        for phrase in dict.fromkeys(ends):
            by_phrase[phrase].append(row)
    for phrase, rows in sorted(by_phrase.items()):
        if len(rows) > tau:
            yield facts.phrases[phrase], tuple(facts.facts[row] for row in rows)


def _engine(build: Build) -> Engine:
    """Who writes what is missing."""
    return build.engine or RulesEngine()
