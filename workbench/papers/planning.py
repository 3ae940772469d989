"""The cost of a paper's table, or of one cell, before anything is asked: calls, tokens, dollars and hours. Prompts are
counted on a small index that rules write."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from workbench import published
from workbench.analyses.judging import PLANTED
from workbench.data import Dataset, load
from workbench.errors import DataError
from workbench.evaluation.estimate import Estimate, estimate_build, estimate_run, prompt_tokens, unasked
from workbench.evaluation.run import varies
from workbench.index import Index
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.meter import money
from workbench.methods import method
from workbench.papers.condition import of_data
from workbench.papers.recipes import Recipe, layers_of
from workbench.papers.reproduce import (
    Engines,
    engines_by_row,
    left_to_others,
    loaded_as,
    several,
    standing_in,
    with_engines,
)
from workbench.published import Paper
from workbench.reading import reader
from workbench.records import Record
from workbench.steps import judge_pair

AMOUNTS = ("calls", "prompt_tokens", "completion_tokens", "dollars", "dollars_in_batches", "hours")
ANSWER = 300  # tokens of an answer in full, and of a judgement: assumed
BUNDLED, COUNTED = "meridian", 5  # stands in for data that are not on this machine; so many questions are counted
OVER, ASKED = 40, 8  # passages of the small index over which questions are asked, and questions of each method


@dataclass(frozen=True, repr=False)
class TablePlan(Record):
    """What a table will take. `frame`: a row for each build, and for each method and reader over each data set."""

    paper: str
    table: str
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()


def plan(
    paper: str,
    table: str,
    engine: Engine | str = "rules",
    *,
    reader_engine: Engine | str | Sequence[Engine | str] | None = None,
    judge: Engine | str | None = None,
    data: Dataset | str | Path | None = None,
    limit: int | None = None,
    repeats: int = 1,
) -> TablePlan:
    """What `reproduce` will take: calls, tokens, dollars and hours of each build and of each method with each reader,
    over all repeats. No model is asked and nothing is downloaded: for a data set that is not on this machine, prompts
    are counted on the bundled one, and the numbers scaled to the sizes that the paper states."""
    source, rows = published.paper(paper), []
    notes: list[str] = []
    steps, readers, judges = (
        [unasked(engine if isinstance(engine, str) else engine.name) for engine in several(given)]
        for given in (engine, reader_engine, judge)
    )
    asks = engines_by_row(source, steps[0], readers, *judges)
    built = set[tuple[str, str, str]]()
    counts: dict[str, list[dict[str, Any]]] = {}  # rows, once for all data sets that the same data stand in for
    for engines, recipe in standing_in(with_engines(source, table, asks), data):
        if data is not None:
            here = Counted(loaded_as(data, recipe.options), limit=limit)
        else:
            here = counted_on(source, recipe, BUNDLED, limit)
        key = (recipe.data, recipe.variant, engines.steps.name)
        by = f", {engines.reader.name}" if len(asks) > 1 else ""
        whole = here._replace(of_index=1.0, of_run=1.0)
        alike = f"{replace(recipe, data='', source='', options={})} {here.data.name} {here.data.fingerprint}"
        by_steps = f"{alike} {engines.steps.name}"
        by_all = f"{by_steps}, {engines.reader.name}, {engines.judge.name}"
        if key not in built and by_steps not in counts:
            counts[by_steps] = [of_build(recipe, whole, engines.steps)]
        if by_all not in counts:
            counts[by_all] = [*of_runs(recipe, whole, engines, repeats)]
        mine = [] if key in built else [_scaled(row, here.of_index) for row in counts[by_steps]]
        built.add(key)  # once for the rows of all models
        mine += [_scaled({**row, "reader": f"{row['reader']}{by}"}, here.of_run) for row in counts[by_all]]
        notes += here.notes
        if recipe.pairs:
            mine.append(of_judging(recipe, here, engines, repeats))
            notes.append(f"Judging: each pair in both orders, answers of {ANSWER} tokens and as long a reply assumed.")
        if not here.data.questions and recipe.generated:
            notes.append(f"{here.data.name} has no questions yet: what writing and answering them takes is not in it.")
        rows += [{**row, "data": here.data.name if data is not None else recipe.source} for row in mine]
    notes += left_to_others(source, table, asks)
    return TablePlan(paper, table, pd.DataFrame(rows), tuple(dict.fromkeys(notes)))


# -- data -------------------------------------------------------------------------------------------------------------


class Counted(NamedTuple):
    """The data on which prompts are counted; by what the costs of the index and of a run on it grow, None where the
    paper does not say how many passages or questions there are; how many questions count, and what is to be said."""

    data: Dataset
    of_index: float | None = 1.0
    of_run: float | None = 1.0
    limit: int | None = None
    notes: tuple[str, ...] = ()


def counted_on(source: Paper, recipe: Recipe, stand_in: Dataset | str, limit: int | None = None) -> Counted:
    """The paper's data set if it is on this machine, else what stands in for it, without what that brings and the
    paper's does not; the bundled one if it has no questions."""
    try:
        return Counted(load(recipe.source, offline=True, **recipe.options), limit=limit)
    except DataError:
        notes = [f"{recipe.source} is not on this machine: wb.load({recipe.source!r}) gets it, or says how."]
    data = stand_in if isinstance(stand_in, Dataset) else load(stand_in)
    if not data.questions:
        notes.append(f"{data.name} has no questions on which prompts could be counted.")
        data = load(BUNDLED)
    few = data.questions[:COUNTED] if stand_in == BUNDLED else data.questions
    data = replace(data, questions=few, extractions={}, profiles=None)
    scales = []
    for part, here in (("passages", data.passages), ("questions", data.questions)):
        there = of_data(source.terms[part], recipe.data)
        if there:
            notes.append(f"Counted on {data.name} with {len(here):,} {part}, scaled to {there:,}.")
        else:
            notes.append(
                f"The paper does not say how many {part} {recipe.data} has, so what depends on them is not known."
            )
        wanted = min(filter(None, (there, limit if part == "questions" else None)), default=None)
        scales.append(wanted and wanted / len(here))
    notes.append(f"Texts of {data.name} may be shorter or longer than the paper's: a rough estimate.")
    return Counted(data, *scales, notes=tuple(notes))


# -- counts -----------------------------------------------------------------------------------------------------------


def of_build(recipe: Recipe, here: Counted, engine: Engine) -> dict[str, Any]:
    """The row of a plan for the index."""
    kinds, _ = layers_of(recipe, here.data)
    build = estimate_build(here.data, engine, layers=kinds)
    what = f"index{f' for {recipe.variant}' if recipe.variant else ''}: {', '.join(kinds)}"
    return {"data": here.data.name, "what": what, "reader": "", **_times(_cost(build), here.of_index)}


def of_runs(recipe: Recipe, here: Counted, engines: Engines, repeats: int = 1) -> Iterator[dict[str, Any]]:
    """The rows of a plan for the methods, each with each reader."""
    small = replace(here.data, passages=here.data.passages[:OVER], questions=(), extractions={}, profiles=None)
    engine = engines.reader if recipe.answered else RulesEngine()
    with tempfile.TemporaryDirectory() as folder:
        index = Index.build(small, RulesEngine(), folder, layers=layers_of(recipe, small)[0], progress=False)
        for spec, read_by in recipe.read_by.items():
            for of in read_by or (None,):
                read = reader(of, engine, index=index) if of else None
                judge = engines.judge if recipe.judged and of else None
                made = [method(spec, index, engines.steps)]
                questions = list(here.data.questions)[: here.limit]
                cost = _cost(estimate_run(questions, made, read, ASKED, judge=judge, k=recipe.k))
                amounts = _times(_times(cost, repeats), here.of_run)
                yield {"data": here.data.name, "what": spec, "reader": of or "", **amounts}


def of_judging(recipe: Recipe, here: Counted, engines: Engines, repeats: int = 1) -> dict[str, Any]:
    """The row of a plan for the pairs: both orders of each, in every repeat if answers can vary, and of those that are
    planted."""
    questions, judge = len(here.data.questions[: here.limit]), engines.judge
    judged = repeats if varies(f"{engines.steps.name}, {engines.reader.name}") else 1
    calls = 2 * (judged * len(recipe.pairs) * questions + min(PLANTED, questions))
    prompt = calls * (prompt_tokens(judge_pair.STEP, judge_pair.Input("", "", "")) + 2 * ANSWER)
    completion = calls * ANSWER
    amounts = {
        "calls": calls, "prompt_tokens": prompt, "completion_tokens": completion,
        "dollars": money(judge.name, prompt, completion),
        "dollars_in_batches": money(judge.name, prompt, completion, batch=True), "hours": None,
    }  # fmt: skip
    return {"data": here.data.name, "what": "judge: pairs of answers", "reader": "", **_times(amounts, here.of_run)}


def _scaled(row: dict[str, Any], factor: float | None) -> dict[str, Any]:
    return {**row, **_times({name: row[name] for name in AMOUNTS}, factor)}


def _times(amounts: dict[str, Any], factor: float | None) -> dict[str, Any]:
    """Amounts multiplied; None if they or the factor are unknown."""
    return {name: None if None in (amount, factor) else amount * factor for name, amount in amounts.items()}


def _cost(estimate: Estimate) -> dict[str, Any]:
    total = estimate.total
    names = ("calls", "prompt_tokens", "completion_tokens", "money", "batched", "seconds")
    middle = [None if (value := getattr(total, name)) is None else value.value for name in names]
    *amounts, seconds = middle
    return dict(zip(AMOUNTS, (*amounts, None if seconds is None else seconds / 3600)))
