"""A paper's tables next to measured numbers, each with its verdict.

    reproduced       comparable, and the published number lies within the tolerance
    differs          comparable, and it does not
    not comparable   measured under other conditions; `why` names them. Rules are never comparable with a model
    not measured     no run has it

The tolerance is half the width of the 95 % bootstrap interval of our mean: what other questions of the same kind would
move it by. What has to agree (questions, corpus, model, rounds …) is in `published/<paper>.toml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.experiments.analyses.base import frame_of
from workbench.experiments.published import CLAIMS, Key, Paper, paper
from workbench.experiments.run import Run
from workbench.experiments.significance import bootstrap_interval, paired_test
from workbench.experiments.verdict import Verdict
from workbench.records import Record

REPRODUCED, DIFFERS = "reproduced", "differs"
NOT_COMPARABLE, NOT_MEASURED = "not comparable", "not measured"
SEED = 0  # of the resampling


@dataclass(frozen=True, slots=True)
class Cell:
    """One score of a table. `p` is that of the paired test against the static backbone in the same run."""

    table: str
    backbone: str
    method: str
    data: str
    measure: str
    published: float
    run: str | None = None
    label: str | None = None
    ours: float | None = None
    tolerance: float | None = None
    n: int | None = None
    seed: int | None = None
    p: float | None = None
    verdict: str = NOT_MEASURED
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Tables(Record):
    """`claims`: what the paper's own tables say of its claims; `measured`: what ours say, where there are any.
    `inconsistencies`: (where, what) of the source. `notes`: what the paper does not say, which runs have no place."""

    paper: str
    title: str
    cells: tuple[Cell, ...]
    claims: Verdict | None = field(default=None, hash=False)
    measured: Verdict | None = field(default=None, hash=False)
    inconsistencies: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def frame(self) -> pd.DataFrame:
        """One row per cell and measurement."""
        return frame_of({**asdict(cell), "why": "; ".join(cell.why)} for cell in self.cells)

    def counts(self) -> dict[str, int]:
        """How many cells have each verdict."""
        verdicts = [cell.verdict for cell in self.cells]
        return {name: verdicts.count(name) for name in (REPRODUCED, DIFFERS, NOT_COMPARABLE, NOT_MEASURED)}


def tables(paper_name: str = "bdtr", runs: Iterable[Run | str | Path] = ()) -> Tables:
    """The tables of a paper next to what the runs (or their folders) measured. :class:`SettingError` for a paper that
    is not known."""
    source = paper(paper_name)
    measurements, notes = [], []
    for run in (run if isinstance(run, Run) else Run(run) for run in runs):
        found = [Measured(run, label, place) for label in run.methods if (place := _place(source, run, label))]
        measurements += found
        if left := [label for label in run.methods if label not in {one.label for one in found}]:
            notes.append(f"{run.folder} on {run.config['data']['name']}: no place for {', '.join(left)}")
    cells = [cell for row in source.scores.itertuples() for cell in _cells(source, row, measurements)]
    claims = CLAIMS.get(source.name)
    ours: dict[Key, float] = {}
    for cell in cells:
        if cell.ours is not None:
            ours.setdefault(Key(cell.backbone, cell.method, cell.data, cell.measure), cell.ours)
    measured = claims(ours) if claims else None
    return Tables(
        source.name,
        source.terms["title"],
        tuple(cells),
        claims and replace(claims(source.values, source.printed), title="The paper's claims, by its own tables"),
        replace(measured, title="The paper's claims, by our numbers") if measured and measured.checks else None,
        tuple((one["where"], one["says"]) for one in source.terms["inconsistencies"]),
        (f"The paper does not say: {'; '.join(source.terms['not_given'])}.", *notes),
    )


def compare(run: Run | str | Path, paper_name: str = "bdtr") -> Tables:
    """The cells of a paper's tables that the run measured."""
    found = tables(paper_name, [run])
    return replace(found, cells=tuple(cell for cell in found.cells if cell.verdict != NOT_MEASURED))


class Place(NamedTuple):
    """Where a method of a run belongs in a paper's tables, and the settings that its numbers were got with."""

    backbone: str
    method: str
    data: str
    asked: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Measured:
    """A method of a run that has a place in the tables."""

    run: Run
    label: str
    place: Place


def _place(source: Paper, run: Run, label: str) -> Place | None:
    described = run.config["methods"][label]
    name, settings = described["label"].partition("[")[0], described["settings"]
    data = next((data for data in source.terms["data"] if run.config["data"]["name"].lower().startswith(data)), None)
    backbones = source.terms["backbones"]
    if data and name in backbones:
        return Place(backbones[name], "Original", data, {})
    backbone = backbones.get(str(settings.get("backbone")).partition("[")[0])
    for known in source.terms["methods"]:
        if known["name"] == name and all(settings.get(key) == value for key, value in known.get("is", {}).items()):
            return Place(backbone, known["called"], data, known["asked"]) if data and backbone else None
    return None


def _cells(source: Paper, row: Any, measurements: list[Measured]) -> Iterator[Cell]:
    """What was measured for one published score: a cell per measurement, or one that says there is none."""
    cell = Cell(row.table, row.backbone, row.method, row.data, row.measure, row.value)
    found = [
        one for one in measurements
        if one.place[:3] == (cell.backbone, cell.method, cell.data) and cell.measure in one.run.measures
        and one.run.scores(cell.measure, one.label)
    ]  # fmt: skip
    if not found:
        yield cell
    for one in found:
        values = one.run.scores(cell.measure, one.label)
        ours, tolerance = _mean(one.run, one.label, cell.measure)
        why = (*_differences(source, one), *([row.note] if row.note else []))
        verdict = NOT_COMPARABLE if why else REPRODUCED if abs(ours - cell.published) <= tolerance else DIFFERS
        base = (cell.backbone, "Original", cell.data)
        static = [other.label for other in measurements if other.run is one.run and other.place[:3] == base]
        yield replace(
            cell, run=str(one.run.folder), label=one.label, ours=ours, tolerance=tolerance, n=len(values), seed=SEED,
            p=_p(one.run, cell.measure, one.label, static[0]) if static and one.label not in static else None,
            verdict=verdict, why=why,
        )  # fmt: skip


def _mean(run: Run, label: str, measure: str) -> tuple[float, float]:
    values = list(run.scores(measure, label).values())
    low, high = bootstrap_interval(values, seed=SEED)
    return float(np.mean(values)), (high - low) / 2


def _p(run: Run, measure: str, label: str, other: str) -> float | None:
    ours, static = run.scores(measure, label), run.scores(measure, other)
    common = sorted(ours.keys() & static.keys())
    return paired_test([ours[q] for q in common], [static[q] for q in common], seed=SEED) if common else None


def _differences(source: Paper, one: Measured) -> Iterator[str]:
    """What keeps a measurement from being compared with the paper, in words."""
    config, terms = one.run.config, source.terms
    for engine in config["engine"].split(", "):
        if engine == "rules":
            yield "rules, not a model"
        elif terms["engine"] not in engine:
            yield f"model: {engine}, there {terms['engine']}"
    layers = config["methods"][one.label]["layers"]
    if any(maker.startswith("rules") for maker in layers.get("extractions", {}).get("made_by", ())):
        yield "facts: extracted by rules, not by a model"
    name, expected = config["data"]["name"], terms["data"][one.place.data]
    if name != expected:
        yield f"split and corpus: {name}, there {expected}"
    if config["questions"]["n"] != terms["questions"]:
        yield f"questions: {config['questions']['n']:,}, there {terms['questions']:,}"
    settings = config["methods"][one.label]["settings"]
    for key, value in one.place.asked.items():
        if str(settings.get(key)).lower() != str(value):
            yield f"{key}: {settings.get(key)}, there {value}"
    rows = [row for row in one.run.rows if row["method"] == one.label]
    if len(rows) < config["questions"]["n"]:
        yield f"unfinished: {len(rows):,} of {config['questions']['n']:,} questions asked"
    if failed := sum(row["failure"] is not None for row in rows):
        yield f"failures: {failed:,} questions broke and count as 0"
