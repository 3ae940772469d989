"""Layer `entity_summaries`: a short text about each phrase that many facts speak of (CatRAG's entity contexts).

A summary hangs on the phrase and its facts alone, so an insert or delete rewrites only those whose facts changed; the
released code never refreshes them (`docs/traps.md`, CatRAG).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench import tokens
from workbench.index.facts import FactsLayer
from workbench.index.journal import Answer, StepJournal, counts, counts_after, lines, maker, may_stand, request_key
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


class Written(NamedTuple):
    """The line of an answer, and the summary that it gives, if it did not fail."""

    line: str
    summary: str | None

    @classmethod
    def of(cls, answer: Answer, limit: int) -> Written:
        return cls(lines([answer.row()]), answer.output and tokens.cut(answer.output["summary"], limit))

    @property
    def answer(self) -> Answer:
        return Answer(**json.loads(self.line))


class EntitySummariesLayer(Layer):
    """`summaries`: phrase → text. `failures`: phrase → why it has none."""

    kind = "entity_summaries"
    steps = ("summarise_entity",)
    needs = ("facts",)
    old_must_share = ()

    @classmethod
    def identity(cls, build: Build, settings: Settings) -> dict:
        return {"maker": maker(build.writer, summarising.ENTITY)}

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: EntitySummariesLayer | None) -> dict:
        engine, facts = build.writer, build.layers["facts"]
        described = np.flatnonzero(facts.degrees > settings.tau)
        stands = _standing(build, settings, maker(engine, summarising.ENTITY))
        kept = _unchanged(stands, described, build) if stands else {}
        entities, inputs = {facts.phrases[row]: row for row in described.tolist()}, {}
        for entity, row in entities.items():
            if entity not in kept:
                asked = entity, tuple(facts.in_words(facts.about(row))), settings.limit
                inputs[request_key(*asked)] = summarising.EntityInput(*asked)
        # Where a layer stands, its journal has nothing for a phrase whose facts changed: the key is made of them.
        journal = StepJournal(folder, _ANSWERS, engine, summarising.ENTITY, None if stands else old, build.progress)
        answers = journal.run(inputs, lambda group: engine.run(summarising.ENTITY, group), "summarise entities")
        new = {inputs[key].entity: Written.of(answer, settings.limit) for key, answer in answers.items()}
        known = kept | new
        written = {entity: known[entity] for entity in entities}
        journal.settle("".join(one.line for one in written.values()))
        summaries = {entity: one.summary for entity, one in written.items() if one.summary is not None}
        write_table(
            folder / "table.parquet",
            phrase=np.array(list(summaries), dtype=object),
            summary=np.array(list(summaries.values()), dtype=object),
        )
        counted = counts(answers.values())
        if kept:
            gone = [one.answer for entity, one in stands.written.items() if entity not in kept]
            counted = counts_after(stands.metadata, counted, counts(gone))
        return {"summaries": len(summaries), "asked": journal.asked, **counted}

    def __init__(self, folder: Path):
        super().__init__(folder)
        table = read_table(folder / "table.parquet", strings=("phrase", "summary"))
        self.summaries: dict[str, str] = dict(zip(table["phrase"], table["summary"]))

    @cached_property
    def written(self) -> dict[str, Written]:
        """What stands of each phrase, where nothing failed."""
        raw = (self.folder / _ANSWERS).read_text("ascii").splitlines(keepends=True)
        return {entity: Written(line, said) for (entity, said), line in zip(self.summaries.items(), raw, strict=True)}

    def context(self, facts: FactsLayer, phrase: int) -> str:
        """C(v) of a phrase by its row: its summary, or its facts one after another (Eq. 2)."""
        if (summary := self.summaries.get(facts.phrases[phrase])) is not None:
            return summary
        return " ".join(map(statement, facts.in_words(facts.about(phrase))))

    def __repr__(self) -> str:
        return f"EntitySummariesLayer({len(self.summaries):,} summaries)"


def _standing(build: Build, settings: Settings, made_by: str) -> EntitySummariesLayer | None:
    """The layer whose summaries of unchanged phrases an insert or a delete takes over; None where another has to write
    them, or where some failed, and all answers are looked through one by one."""
    stands = build.kept.layers.get("entity_summaries") if build.kept else None
    if stands is None or stands.metadata["settings"] != asdict(settings) or stands.metadata["failures"]:
        return None
    makers = stands.metadata["made_by"]  # of several, which made what is left would not be known
    return stands if len(makers) == 1 and may_stand(makers[0], made_by) else None


def _unchanged(stands: EntitySummariesLayer, described: np.ndarray, build: Build) -> dict[str, Written]:
    """What stands of the phrases, of those that are `described` (rows), that have the same facts as before."""
    facts: FactsLayer = build.layers["facts"]
    changed = facts.changed(build.kept.layers["facts"])
    same = {facts.phrases[row] for row in described[~changed[described]].tolist()}
    return {entity: one for entity, one in stands.written.items() if entity in same}
