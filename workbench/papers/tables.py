"""A paper's tables next to measured numbers, each with its verdict.

    reproduced       comparable, and the interval of the published number and ours overlap
    differs          comparable, and they do not
    not comparable   another condition, or one that the run or the paper leaves open, or no interval: each is in `why`
    not measured     no run has it

Ours is the 95 % bootstrap interval of our mean: its variation over questions of the same kind, and over repeats if the
run has them (`significance.bootstrap_interval`). There is none below `FEWEST` questions, nor where all values are
equal, because a width of zero would only say that the sample shows no variation. A published number stands for all that
round to it, and where the paper prints how far it is certain (`plus_minus`, half of its interval), for these as well.
`published/<paper>.toml` states every condition; `conditions.py` checks them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, overload

import pandas as pd

from workbench import published
from workbench.analyses.base import Runs, frame_of
from workbench.analyses.cost_quality import CostQuality, at_equal_budgets
from workbench.errors import SettingError
from workbench.evaluation.makers import without_model
from workbench.evaluation.pairs import Judgement, said_of_failures
from workbench.evaluation.run import Run
from workbench.evaluation.significance import FEWEST, Value, bootstrap_interval, deviation, holm
from workbench.evaluation.verdict import Verdict
from workbench.llm import fingerprints
from workbench.papers.conditions import differences, parts_behind
from workbench.papers.figures import KINDS, NEEDED, SCORES, Measurement, measurements_of
from workbench.papers.placing import CONTEXT, SEED, Measured, judgements_of, places
from workbench.published import Key, Paper, stands_for
from workbench.published.claims import check_claims, is_by_us
from workbench.records import Record

REPRODUCED, DIFFERS = "reproduced", "differs"
NOT_COMPARABLE, NOT_MEASURED = "not comparable", "not measured"
FROM_FILE = re.compile(r"\w+ v\d+ file [0-9a-f]{12}")  # how a run names a wording that a user brought


@dataclass(frozen=True, slots=True)
class Cell:
    """One score of a table. `low`, `high`: the 95 % interval of `ours`, None without one; it is not corrected for the
    number of cells. `p` is that of the paired test, in the same run, against the baseline named in the paper's terms,
    by default the static backbone; `p_holm` is corrected over all cells that have one. `repeats`: how often each
    question was asked; `deviation`: that between repeats, None without any. `published_low`, `published_high`: what the
    published number stands for. `kind`: what is printed, a score or a gain in percent beside it."""

    table: str
    backbone: str
    method: str
    data: str
    measure: str
    published: float
    run: str | None = None
    label: str | None = None
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    seed: int | None = None
    p: float | None = None
    p_holm: float | None = None
    verdict: str = NOT_MEASURED
    why: tuple[str, ...] = ()
    repeats: int | None = None
    deviation: float | None = None
    published_low: float | None = None
    published_high: float | None = None
    kind: str = "score"


class Claim(NamedTuple):
    """A claim of a paper, and whether it holds by the paper's own numbers and by ours, with what was found; None where
    nothing can be said."""

    name: str
    where: str
    own: bool | None
    ours: bool | None
    own_value: Any = None
    our_value: Any = None

    @property
    def recomputed(self) -> bool:
        """Whether it is what we recompute from its tables, which the paper does not claim."""
        return is_by_us(self.where)


@dataclass(frozen=True, slots=True, repr=False)
class Claims(Record):
    """The claims of a paper, and (where, what) in it does not agree with itself."""

    title: str
    claims: tuple[Claim, ...]
    inconsistencies: tuple[tuple[str, str], ...] = ()

    def counts(self) -> dict[str, int]:
        """Of the authors' claims, and apart from them of what we recompute from their tables."""
        own, ours = (
            [getattr(claim, side) for claim in self.claims if not claim.recomputed] for side in ("own", "ours")
        )
        recomputed = [claim.own for claim in self.claims if claim.recomputed]
        return {
            "held by its own numbers": own.count(True), "failed by its own numbers": own.count(False),
            "held by ours": ours.count(True), "failed by ours": ours.count(False),
            "recomputed, held": recomputed.count(True), "recomputed, failed": recomputed.count(False),
            "inconsistencies": len(self.inconsistencies),
        }  # fmt: skip

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.claims, columns=Claim._fields)


@dataclass(frozen=True, slots=True, repr=False)
class Tables(Record):
    """`claims`: the paper's claims checked against its own tables; `measured`: against ours, if any. `inconsistencies`:
    (where, what) of the source. `notes`: what the paper does not state, and which runs have no place. `left_out`: the
    number of published scores that no run has and that are not among the cells. `measurements`: the methods of the runs
    with a place in them. `stated`: the printed numbers that no run measures, as in `Paper.printed`: facts, counts,
    settings, prices, quotations."""

    paper: str
    title: str
    cells: tuple[Cell, ...]
    claims: Verdict | None = field(default=None, hash=False)
    measured: Verdict | None = field(default=None, hash=False)
    inconsistencies: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    left_out: int = 0
    measurements: tuple[Measured, ...] = field(default=(), compare=False)
    stated: pd.DataFrame = field(default_factory=pd.DataFrame, compare=False)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs of the measurements, each once."""
        return tuple({str(measurement.run.folder): measurement.run for measurement in self.measurements}.values())

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of its runs, each with the folder."""
        return tuple(f"{run.folder}: {warning}" for run in self.runs for warning in run.warnings)

    def frame(self) -> pd.DataFrame:
        """One row per cell and measurement."""
        rows = ({**asdict(cell), "why": "; ".join(cell.why)} for cell in self.cells)
        return frame_of(rows).reindex(columns=list(Cell.__dataclass_fields__))

    def of_claims(self) -> Claims:
        """The claims by the paper's own numbers beside the claims by ours."""
        own, ours = (
            {check.name: check for check in part.checks} if part else {} for part in (self.claims, self.measured)
        )
        claims = []
        for name in dict.fromkeys([*own, *ours]):
            a, b = own.get(name), ours.get(name)
            where = (a or b).where
            held = (claim and claim.holds for claim in (a, b))
            claims.append(Claim(name, where, *held, *(claim and claim.value for claim in (a, b))))
        return Claims(self.title, tuple(claims), self.inconsistencies)

    def counts(self) -> dict[str, int]:
        """The number of cells with each verdict; `not measured` includes those left out."""
        verdicts = [cell.verdict for cell in self.cells] + [NOT_MEASURED] * self.left_out
        return {name: verdicts.count(name) for name in (REPRODUCED, DIFFERS, NOT_COMPARABLE, NOT_MEASURED)}


def tables(
    paper: str = "bdtr",
    runs: Iterable[Run | str | Path] = (),
    *,
    stands_for: Mapping[str, str] | None = None,
    source_prompts: Iterable[str] = (),
) -> Tables:
    """The tables of a paper next to the measurements of runs (or their folders). `stands_for`: folder of a run → the
    data set of the paper in whose column it is shown, although it is over another. `source_prompts`: wordings from
    files that are the source's, as a run names them ("answer v2 file 0123456789ab"; `workbench.llm.wording`). Raises
    :class:`SettingError` for an unknown paper, and for a prompt that is not from a file: ours are not the source's."""
    source, stands_for = _with_prompts(published.paper(paper), tuple(source_prompts)), stands_for or {}
    measurements, notes = [], []
    for run in (Run(run) if isinstance(run, str | Path) else run for run in runs):
        of = stands_for.get(str(run.folder))
        left = []
        for name in run.methods:
            placed = list(places(source.terms, run, name, of))
            measurements += [Measured(run, name, place) for place in placed]
            if all(place.method == CONTEXT and run.config["reader"] for place in placed):
                left.append(name)
        if left:
            notes.append(
                f"{run.folder} on {run.config['data']['name']}: no place for {', '.join(left)}; no row is of such a "
                "method, backbone, reader and data set"
            )
    measurable = source.printed["kind"].isin([*KINDS])
    printed = source.printed[measurable]
    cells = _corrected([cell for row in printed.itertuples() for cell in _cells(source, row, measurements)])
    ours: dict[Key, float] = {}
    for cell in cells:
        if cell.ours is not None and cell.kind in SCORES:
            ours.setdefault(Key(cell.backbone, cell.method, cell.data, cell.measure), cell.ours)
    title = f"The paper's claims, by our numbers{_parts_of_no_model(source.terms, cells, measurements)}"
    measured = check_claims(source.terms["claims"], ours, title)
    return Tables(
        source.name,
        source.terms["title"],
        tuple(cells),
        source.own_claims,
        measured if measured.checks else None,
        tuple((term["where"], term["says"]) for term in source.terms["inconsistencies"]),
        (
            f"The paper does not say: {'; '.join(source.terms['not_given'])}.",
            *_absent(source.terms),
            *_tested(cells),
            *_of_judges(source, measurements),
            *notes,
        ),
        measurements=tuple(measurements),
        stated=source.printed[~measurable],
    )


def made_without_model(
    terms: Mapping[str, Any], cells: Iterable[Cell], measurements: Iterable[Measured]
) -> dict[tuple[str, str], tuple[str, ...]]:
    """(run, label) → what took part in the numbers of these cells that is no model's."""
    after: dict[tuple[str | None, str | None], set[str]] = {}
    for cell in cells:
        after.setdefault((cell.run, cell.label), set()).update(parts_behind(terms, NEEDED.get(cell.kind, cell.measure)))
    there = {(str(measurement.run.folder), measurement.label): measurement.run.config for measurement in measurements}
    return {place: without_model(there[place], place[1], parts) for place, parts in after.items() if place in there}


def _parts_of_no_model(terms: Mapping[str, Any], cells: Iterable[Cell], measurements: Iterable[Measured]) -> str:
    """What had a part in our numbers that is no model's, and in which methods'."""
    parts: dict[str, set[str]] = {}
    for (_, label), makers in made_without_model(terms, cells, measurements).items():
        for maker in makers:
            parts.setdefault(maker, set()).add(label)
    phrases = (f"{part} ({', '.join(sorted(labels))})" for part, labels in sorted(parts.items()))
    return f", in which these had a part: {'; '.join(phrases)}" if parts else ""


def _with_prompts(source: Paper, prompts: tuple[str, ...]) -> Paper:
    prompts = tuple(fingerprints.read(prompt)[0] for prompt in prompts)
    if ours := [prompt for prompt in prompts if not FROM_FILE.fullmatch(prompt)]:
        raise SettingError(
            f"source_prompts: {ours[0]!r}; it should name a wording from a file, as run.json does, such as "
            "'answer v2 file 0123456789ab'"
        )
    stated = {"source": [*source.terms["prompts"]["source"], *prompts]}
    return replace(source, terms={**source.terms, "prompts": stated}) if prompts else source


def _corrected(cells: Sequence[Cell]) -> list[Cell]:
    """The cells with their p corrected for testing all of them."""
    tested = [cell.p for cell in cells if cell.p is not None]
    corrected = iter(holm(tested))
    return [cell if cell.p is None else replace(cell, p_holm=next(corrected)) for cell in cells]


def _tested(cells: Sequence[Cell]) -> Iterator[str]:
    """What p, intervals and repeats of the cells are."""
    if tests := sum(cell.p is not None for cell in cells):
        yield f"p is that of one test, p_holm is corrected over the {tests:,} cells that have one; intervals are not."
    if several := sorted({cell.repeats for cell in cells if (cell.repeats or 1) > 1}):
        many = ", ".join(map(str, several))
        yield f"Means of {many} repeats, intervals over questions and repeats. Without a model, repeats cannot differ."


def judged_pairs(
    source: Paper, measurements: Sequence[Measured]
) -> Iterator[tuple[Run, str, str, str, list[Judgement]]]:
    """(run, the two methods that the paper compares, the judge, its judgements of their answers)."""
    compared = {row.method for row in source.printed.itertuples() if row.kind == "win"}
    wanted = dict.fromkeys(source.compared(method) for method in sorted(compared))
    judged = {
        (measurement.run.folder, measurement.label, other.label): measurement.run
        for measurement in measurements
        for first, second in wanted
        for other in measurements
        if other.run is measurement.run and (measurement.place.method, other.place.method) == (first, second)
    }
    for (_, a, b), run in judged.items():
        yield run, a, b, *judgements_of(run, a, b)


def _of_judges(source: Paper, measurements: Sequence[Measured]) -> Iterator[str]:
    """How far the judges of pairs can be relied on, a line for each run and pair of methods."""
    from workbench.analyses.judging import said_of_judge

    for run, a, b, judge, judgements in judged_pairs(source, measurements):
        if remarks := " ".join([*said_of_judge(judgements), *said_of_failures(run, judgements)]):
            yield f"{a} against {b}, judged by {judge}: {remarks}"


def _absent(terms: Mapping[str, Any]) -> Iterator[str]:
    """Which rows no run can fill."""
    absent = terms.get("absent", {})
    for why in dict.fromkeys(absent.values()):
        yield f"No run can fill ({why}): {', '.join(name for name, reason in absent.items() if reason == why)}."


@overload
def compare(runs: Run | str | Path, paper: str = "bdtr") -> Tables: ...
@overload
def compare(runs: Runs, *, at: str, measure: str | None = None) -> CostQuality: ...
def compare(
    runs: Runs, paper: str = "bdtr", *, at: str | None = None, measure: str | None = None
) -> Tables | CostQuality:
    """The cells of a paper's tables that a run measured; the others are only counted. With `at`, all configurations of
    the runs at equal `tokens` of context, `requests` or `dollars`, with the front that no other surpasses
    (:func:`workbench.analyses.cost_quality`)."""
    if at is not None:
        return at_equal_budgets(runs, at, measure)
    result = tables(paper, [runs])
    cells = tuple(cell for cell in result.cells if cell.verdict != NOT_MEASURED)
    return replace(result, cells=cells, left_out=len(result.cells) - len(cells), stated=result.stated[:0])


def _cells(source: Paper, row: Any, measurements: Sequence[Measured]) -> Iterator[Cell]:
    """The cells of one published number: one per measurement, or one without any."""
    cell = Cell(row.table, row.backbone, row.method, row.data, row.measure, row.value, kind=row.kind)
    results = list(measurements_of(source, row, measurements))
    if not results:
        absent = source.terms.get("absent", {}).get(row.method)
        yield replace(cell, why=(absent,)) if absent else cell
    half = source.rounding[row.table, stands_for(row)] + (getattr(row, "plus_minus", 0) or 0)
    for result in results:
        measured, values, base, sides, measure, p = result
        low, high, unknown = interval_of(result)
        reasons = [reason for side in sides for reason in differences(side, source.terms, measure)]
        why = tuple(dict.fromkeys([*reasons, *_remarks(row.note, len(values)), *([unknown] if unknown else [])]))
        overlap = not unknown and low <= row.value + half and row.value - half <= high
        yield replace(
            cell,
            run=str(measured.run.folder),
            label=measured.label,
            ours=result.mean,
            low=low,
            high=high,
            n=len(values),
            seed=SEED,
            p=p,
            verdict=NOT_COMPARABLE if why else REPRODUCED if overlap else DIFFERS,
            why=why,
            repeats=measured.repeats,
            deviation=_deviation(measured, values, base),
            published_low=row.value - half,
            published_high=row.value + half,
        )


def _remarks(note: str, n: int) -> Iterator[str]:
    """Why a printed number is not strictly comparable. `398 questions` says of how many it is the mean."""
    many = re.fullmatch(r"(\d+) questions", note)
    if many and n != int(many[1]):
        yield f"questions of this type: {n:,}, there {int(many[1]):,}"
    elif note and not many:
        yield note


def _deviation(measured: Measured, values: Sequence[Value], base: Sequence[Value] | None) -> float | None:
    """The deviation of a number between repeats; 0 if no model is asked."""
    if measured.repeats > 1 and measured.deterministic:
        return 0.0
    return None if base else deviation(values)


def interval_of(measured: Measurement) -> tuple[float | None, float | None, str]:
    """(low, high, why there is none)."""
    n = len(measured.values)
    if n < FEWEST:
        return None, None, f"too few questions for an interval: {n}, it takes {FEWEST}"
    low, high = bootstrap_interval(measured.values, measured.base, seed=SEED)
    if low == high:
        return None, None, f"no interval: all {n:,} questions have the same value"
    return low, high, ""
