"""Layer `entity_summaries`: a short text about each phrase that many facts speak of (CatRAG's entity contexts).

A summary hangs on the phrase and its facts alone, so an insert or delete rewrites only those whose facts changed; the
released code never refreshes them (`docs/traps.md`, CatRAG).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from workbench import tokens
from workbench.index.facts import FactsLayer
from workbench.index.journal import StepJournal, counts, request_key
from workbench.index.layer import Build, Layer
from workbench.index.store import read_table, write_table
from workbench.settings import Budget, Natural, validated
from workbench.steps import summarising
from workbench.steps.summarising import statement

_ANSWERS = "summaries.jsonl"


@validated
class Settings:
    """`tau`: a phrase with more facts than this has a summary; the facts of the others are their context. The paper
    leaves it open; 3 is the released code's. `limit`: cl100k tokens of a summary, as published."""

    tau: Natural = 3
    limit: Budget = 150


class EntitySummariesLayer(Layer):
    """`summaries`: phrase → text. `failures`: phrase → why it has none."""

    kind = "entity_summaries"
    inputs = ("facts",)
    steps = (summarising.ENTITY,)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: EntitySummariesLayer | None) -> dict:
        engine, facts = build.writer, build.layers["facts"]
        described = np.flatnonzero(facts.degrees > settings.tau)
        inputs = {}
        for row in described.tolist():
            given = facts.phrases[row], tuple(facts.in_words(facts.about(row))), settings.limit
            inputs[request_key(*given)] = summarising.EntityInput(*given)
        journal = StepJournal(folder, _ANSWERS, engine, summarising.ENTITY, old, build.progress)
        answers = journal.run(inputs, lambda group: engine.run(summarising.ENTITY, group), "summarise entities")
        journal.settle()
        summaries = {
            inputs[key].entity: tokens.cut(answer.output["summary"], settings.limit)
            for key, answer in answers.items()
            if answer.output
        }
        write_table(
            folder / "table.parquet",
            phrase=np.array(list(summaries), dtype=object),
            summary=np.array(list(summaries.values()), dtype=object),
        )
        return {"summaries": len(summaries), "asked": journal.requested, **counts(answers.values())}

    def __init__(self, folder: Path):
        super().__init__(folder)
        table = read_table(folder / "table.parquet", strings=("phrase", "summary"))
        self.summaries: dict[str, str] = dict(zip(table["phrase"], table["summary"]))

    def context(self, facts: FactsLayer, phrase: int) -> str:
        """C(v) of a phrase by its row: its summary, or its facts one after another (Eq. 2)."""
        if (summary := self.summaries.get(facts.phrases[phrase])) is not None:
            return summary
        return " ".join(map(statement, facts.in_words(facts.about(phrase))))

    def __repr__(self) -> str:
        return f"EntitySummariesLayer({len(self.summaries):,} summaries)"
