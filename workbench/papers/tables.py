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
from functools import cached_property
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench import published
from workbench.analyses.base import frame_of
from workbench.analyses.decomposition import kinds, routed
from workbench.analyses.depth import makespan
from workbench.errors import SettingError
from workbench.evaluation.makers import without_model
from workbench.evaluation.pairs import Judgement, on_disk, said_of_failures, wins
from workbench.evaluation.run import Run
from workbench.evaluation.significance import (
    FEWEST,
    Value,
    bootstrap_interval,
    deviation,
    holm,
    mean_of_repeats,
    paired_test,
)
from workbench.evaluation.verdict import Verdict
from workbench.llm import fingerprints
from workbench.measures import UNDEFINED_AS_A_WHOLE, needs_reader
from workbench.papers import figures
from workbench.papers.conditions import differences
from workbench.papers.placing import Place, misplaced, places
from workbench.published import Key, Paper, stands_for
from workbench.published.claims import check_claims, is_by_us
from workbench.records import Record

REPRODUCED, DIFFERS = "reproduced", "differs"
NOT_COMPARABLE, NOT_MEASURED = "not comparable", "not measured"
SEED = 0  # of the resampling
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
        own, ours = ([getattr(one, side) for one in self.claims if not one.recomputed] for side in ("own", "ours"))
        recomputed = [one.own for one in self.claims if one.recomputed]
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
        return tuple({str(one.run.folder): one.run for one in self.measurements}.values())

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of its runs, each with the folder."""
        return tuple(f"{run.folder}: {said}" for run in self.runs for said in run.warnings)

    def frame(self) -> pd.DataFrame:
        """One row per cell and measurement."""
        rows = ({**asdict(cell), "why": "; ".join(cell.why)} for cell in self.cells)
        return frame_of(rows).reindex(columns=list(Cell.__dataclass_fields__))

    def of_claims(self) -> Claims:
        """The claims by the paper's own numbers beside those by ours."""
        own, ours = ({check.name: check for check in one.checks} if one else {} for one in (self.claims, self.measured))
        claims = []
        for name in dict.fromkeys([*own, *ours]):
            a, b = own.get(name), ours.get(name)
            where = (a or b).where
            held = (one and one.holds for one in (a, b))
            claims.append(Claim(name, where, *held, *(one and one.value for one in (a, b))))
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
    for run in (run if isinstance(run, Run) else Run(run) for run in runs):
        of = stands_for.get(str(run.folder))
        left: dict[str, list[str]] = {}
        for name in run.methods:
            found = list(places(source.terms, run, name, of))
            measurements += [Measured(run, name, place) for place in found]
            if why := misplaced(source.terms, run, name, found, of):
                left.setdefault(why, []).append(name)
        for why, names in left.items():
            notes.append(f"{run.folder} on {run.config['data']['name']}: no place for {', '.join(names)}; {why}")
    measurable = source.printed["kind"].isin(list(_FOUND))
    printed = source.printed[measurable]
    cells = _corrected([cell for row in printed.itertuples() for cell in _cells(source, row, measurements)])
    ours: dict[Key, float] = {}
    for cell in cells:
        if cell.ours is not None and cell.kind not in figures.KINDS:
            ours.setdefault(Key(cell.backbone, cell.method, cell.data, cell.measure), cell.ours)
    title = f"The paper's claims, by our numbers{_parts_of_no_model(measurements)}"
    measured = check_claims(source.terms["claims"], ours, title)
    return Tables(
        source.name,
        source.terms["title"],
        tuple(cells),
        source.own_claims,
        measured if measured.checks else None,
        tuple((one["where"], one["says"]) for one in source.terms["inconsistencies"]),
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


def _parts_of_no_model(measurements: Iterable[Measured]) -> str:
    """What had a part in our numbers that is no model's, and in which methods'."""
    parts: dict[str, set[str]] = {}
    for one in measurements:
        for part in without_model(one.run.config, one.label):
            parts.setdefault(part, set()).add(one.label)
    said = (f"{part} ({', '.join(sorted(labels))})" for part, labels in sorted(parts.items()))
    return f", in which these had a part: {'; '.join(said)}" if parts else ""


def _with_prompts(source: Paper, prompts: tuple[str, ...]) -> Paper:
    prompts = tuple(fingerprints.read(one)[0] for one in prompts)
    if ours := [one for one in prompts if not FROM_FILE.fullmatch(one)]:
        raise SettingError(
            f"source_prompts: {ours[0]!r}; it should name a wording from a file, as run.json does, such as "
            "'answer v2 file 0123456789ab'"
        )
    known = {"source": [*source.terms["prompts"]["source"], *prompts]}
    return replace(source, terms={**source.terms, "prompts": known}) if prompts else source


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
        said = ", ".join(map(str, several))
        yield f"Means of {said} repeats, intervals over questions and repeats. Without a model, repeats cannot differ."


def judged_pairs(
    source: Paper, measurements: Sequence[Measured]
) -> Iterator[tuple[Run, str, str, str, list[Judgement]]]:
    """(run, two methods of it that the paper compares, the judge, what it said of their answers)."""
    compared = {row.method for row in source.printed.itertuples() if row.kind == "win"}
    wanted = dict.fromkeys(source.compared(method) for method in sorted(compared))
    told = {
        (one.run.folder, one.label, other.label): one.run
        for one in measurements
        for first, second in wanted
        for other in measurements
        if other.run is one.run and (one.place.method, other.place.method) == (first, second)
    }
    for (_, a, b), run in told.items():
        yield run, a, b, *on_disk(run, a, b)


def _of_judges(source: Paper, measurements: Sequence[Measured]) -> Iterator[str]:
    """How far the judges of pairs can be relied on, a line for each run and pair of methods."""
    from workbench.analyses.judging import said_of_judge

    for run, a, b, judge, found in judged_pairs(source, measurements):
        if said := " ".join([*said_of_judge(found), *said_of_failures(run, found)]):
            yield f"{a} against {b}, judged by {judge}: {said}"


def _absent(terms: Mapping[str, Any]) -> Iterator[str]:
    """Which rows no run can fill."""
    absent = terms.get("absent", {})
    for why in dict.fromkeys(absent.values()):
        yield f"No run can fill ({why}): {', '.join(name for name, one in absent.items() if one == why)}."


def compare(run: Run | str | Path, paper: str = "bdtr") -> Tables:
    """The cells of a paper's tables that the run measured; the others are only counted."""
    found = tables(paper, [run])
    cells = tuple(cell for cell in found.cells if cell.verdict != NOT_MEASURED)
    return replace(found, cells=cells, left_out=len(found.cells) - len(cells), stated=found.stated[:0])


COVERED = " of covered"  # ends a measure that is taken over the questions whose answer was retrieved
_COVERAGE = "coverage:substring"
_ACCURACY, _ABSTAINED = "accuracy:thesis", "abstained:thesis"
MEAN = "mean of the three"  # what a column over all data sets is called
PARALLEL, WORKERS = " parallel", 8  # ends a method with so many questions in flight


@dataclass(frozen=True, eq=False)
class Measured:
    """A method of a run with a place in the tables."""

    run: Run
    label: str
    place: Place

    @property
    def repeats(self) -> int:
        return self.run.repeats

    @property
    def deterministic(self) -> bool:
        """Whether repeats cannot differ."""
        return self.run.deterministic(self.label)

    @property
    def rows(self) -> list[dict]:
        """Those of the first repeat."""
        return self.repeated[0]

    @cached_property
    def repeated(self) -> list[list[dict]]:
        """The rows of each repeat."""
        mine = [[row for row in run.rows if row["method"] == self.label] for run in self.run.repeated]
        return [[row for row in rows if self.place.hops in (None, row.get("hops"))] for rows in mine]

    @property
    def every(self) -> list[dict]:
        """The rows of all repeats."""
        return [row for rows in self.repeated for row in rows]

    @property
    def described(self) -> dict:
        return self.run.config["methods"][self.label]

    @property
    def layers(self) -> dict[str, dict]:
        return self.described["layers"]

    @property
    def reading(self) -> dict:
        """What the run says of its reader; nothing in earlier formats."""
        return self.run.config.get("reading") or {}

    def counted(self, measure: str) -> list[dict]:
        """The rows over which a measure is taken."""
        covered = (self.place.ours(measure) or "").endswith(COVERED)
        return [row for row in self.every if not covered or row["scores"].get(_COVERAGE) == 1]

    def values(self, measure: str) -> dict[str, list[float]]:
        """Question id → the values of its repeats, where the measure is defined."""
        ours, covered, _ = (self.place.ours(measure) or "").partition(COVERED)
        if ours not in self.run.measures or (covered and _COVERAGE not in self.run.measures):
            return {}
        if ours in UNDEFINED_AS_A_WHOLE and not self.run.scores(ours, self.label):
            return {}
        found: dict[str, list[float]] = {}
        for row in self.counted(measure):
            if (value := row["scores"].get(ours)) is not None:
                found.setdefault(row["question_id"], []).append(value)
        return found

    def scores(self, measure: str) -> dict[str, float]:
        """Question id → the mean of its repeats."""
        return {one: mean_of_repeats(several) for one, several in self.values(measure).items()}

    def p(self, measure: str, other: Measured) -> float | None:
        ours, theirs = self.scores(measure), other.scores(measure)
        common = sorted(ours.keys() & theirs.keys())
        return paired_test([ours[q] for q in common], [theirs[q] for q in common], seed=SEED) if common else None


def _cells(source: Paper, row: Any, measurements: Sequence[Measured]) -> Iterator[Cell]:
    """The cells of one published number: one per measurement, or one without any."""
    cell = Cell(row.table, row.backbone, row.method, row.data, row.measure, row.value, kind=row.kind)
    found = list(found_of(source, row, measurements))
    if not found:
        absent = source.terms.get("absent", {}).get(row.method)
        yield replace(cell, why=(absent,)) if absent else cell
    half = source.rounding[row.table, stands_for(row)] + (getattr(row, "plus_minus", 0) or 0)
    for each in found:
        one, values, base, sides, measure, p = each
        low, high, unknown = interval_of(each)
        reasons = [reason for side in sides for reason in differences(side, source.terms, measure)]
        why = tuple(dict.fromkeys([*reasons, *_remarks(row.note, len(values)), *([unknown] if unknown else [])]))
        overlap = not unknown and low <= row.value + half and row.value - half <= high
        yield replace(
            cell,
            run=str(one.run.folder),
            label=one.label,
            ours=each.mean,
            low=low,
            high=high,
            n=len(values),
            seed=SEED,
            p=p,
            verdict=NOT_COMPARABLE if why else REPRODUCED if overlap else DIFFERS,
            why=why,
            repeats=one.repeats,
            deviation=_deviation(one, values, base),
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


def _deviation(one: Measured, values: Sequence[Value], base: Sequence[Value] | None) -> float | None:
    """That between repeats, of a single number; 0 where no model is asked."""
    if one.repeats > 1 and one.deterministic:
        return 0.0
    return None if base else deviation(values)


class Found(NamedTuple):
    """A measurement of a published number: of which method, the values of its questions with those of the method that
    they are the difference from, the methods whose conditions of which measure count, and p of the test against the
    baseline."""

    of: Measured
    values: Sequence[Value]
    base: Sequence[Value] | None
    sides: tuple[Measured, ...]
    measure: str
    p: float | None

    @property
    def mean(self) -> float:
        """Over the questions, of the means of their repeats; less that of the base."""
        ours, *base = (
            float(np.mean([mean_of_repeats(value) for value in side])) for side in (self.values, self.base) if side
        )
        return ours - sum(base)


def interval_of(found: Found) -> tuple[float | None, float | None, str]:
    """(low, high, why there is none)."""
    n = len(found.values)
    if n < FEWEST:
        return None, None, f"too few questions for an interval: {n}, it takes {FEWEST}"
    low, high = bootstrap_interval(found.values, found.base, seed=SEED)
    if low == high:
        return None, None, f"no interval: all {n:,} questions have the same value"
    return low, high, ""


def found_of(source: Paper, row: Any, measurements: Sequence[Measured]) -> Iterator[Found]:
    """The measurements of a printed number, a row of `source.printed`."""
    return _FOUND[row.kind](source, row, measurements)


def _at(measurements: Sequence[Measured], *place: str) -> list[Measured]:
    return [one for one in measurements if one.place[:3] == place]


def _scores(source: Paper, row: Any, measurements: Sequence[Measured]) -> Iterator[Found]:
    for one in _at(measurements, row.backbone, row.method, row.data):
        if values := one.values(row.measure):
            static = next((other for other in measurements if _is_baseline(source.terms, other, one)), one)
            p = one.p(row.measure, static) if static is not one else None
            yield Found(one, list(values.values()), None, (one,), row.measure, p)


def _difference(source: Paper, row: Any, measurements: Sequence[Measured]) -> Iterator[Found]:
    """`A - B, model` over the questions of both, of one type where the data are called `musique: 3-hop`; the mean of
    all data sets, each of which counts the same, where they are called `mean of the three`."""
    first, _, second = row.method.partition(" - ")
    first = first if ", " in first else f"{first}, {second.rpartition(', ')[2]}"
    if row.data == MEAN:
        each = [next(_difference(source, row._replace(data=one), measurements), None) for one in source.terms["data"]]
        if None not in each:
            n = sum(len(one.values) for one in each)
            weights = [n / (len(each) * len(one.values)) for one in each]
            ours, base = (
                [[part * weight for part in value] for one, weight in zip(each, weights) for value in side(one)]
                for side in (attrgetter("values"), attrgetter("base"))
            )
            yield Found(each[0].of, ours, base, tuple(side for one in each for side in one.sides), row.measure, None)
        return
    data, _, kind = row.data.partition(": ")
    for one in _at(measurements, row.backbone, first, data):
        for base in _at(measurements, row.backbone, second, data):
            ours, theirs = one.values(row.measure), base.values(row.measure)
            of_kind = {each["question_id"] for each in one.rows if kind in ("", _kind(each))}
            if common := sorted(ours.keys() & theirs.keys() & of_kind):
                a, b = [ours[q] for q in common], [theirs[q] for q in common]
                p = paired_test(*([mean_of_repeats(value) for value in side] for side in (a, b)), seed=SEED)
                yield Found(one, a, b, (one, base), row.measure, p)


def _kind(row: Mapping[str, Any]) -> str:
    """The type of a question, or where it has none its hops."""
    return row.get("type") or f"{row.get('hops')}-hop"


@dataclass(frozen=True, eq=False)
class Compared(Measured):
    """A method whose answers were judged against those of `other`, which has its place in the same run."""

    other: Measured
    first: bool  # whether the win rate is of this method

    @cached_property
    def judgements(self) -> tuple[str, list[Judgement]]:
        """(the judge, what it said) of the pairs on disk; those of the place's hops."""
        a, b = (self, self.other) if self.first else (self.other, self)
        ids = {row["question_id"] for row in self.rows}
        judge, found = on_disk(self.run, a.label, b.label)
        return judge, [one for one in found if one.question_id in ids]

    @property
    def repeats(self) -> int:
        """How many were judged."""
        return 1 + max((one.repeat for one in self.judgements[1]), default=0)

    @property
    def deterministic(self) -> bool:
        return super().deterministic and self.other.deterministic

    def values(self, measure: str) -> dict[str, list[float]]:
        """Question id → whether it won, of each repeat that was judged."""
        won = wins(self.judgements[1], DIMENSION.get(measure, measure))
        return {one: [value if self.first else 1 - value for value in several] for one, several in won.items()}


DIMENSION = {"logicality": "logicity"}  # as Table 3 of DotRAG spells it


def _wins(source: Paper, row: Any, measurements: Sequence[Measured]) -> Iterator[Found]:
    """The share of the questions on which a judge preferred the first method's answer, of the pairs on disk."""
    first, second = source.compared(row.method)
    for one in _at(measurements, row.backbone, first, row.data):
        for other in _at(measurements, row.backbone, second, row.data):
            if other.run is not one.run:
                continue
            sides = (
                Compared(one.run, one.label, one.place, other, True),
                Compared(other.run, other.label, other.place, one, False),
            )
            if values := sides[0].values(row.measure):
                yield Found(sides[0], list(values.values()), None, sides, row.measure, None)


def _share(source: Paper, row: Any, measurements: Sequence[Measured]) -> Iterator[Found]:
    """Of the wrong answers the share whose answer was in the context."""
    for one in _at(measurements, row.backbone, row.method, row.data):
        wrong: dict[str, list[float]] = {}
        for scores, question in ((row["scores"], row["question_id"]) for row in one.every):
            if scores.get(_ACCURACY) == 0 and scores.get(_COVERAGE) is not None:
                wrong.setdefault(question, []).append(scores[_COVERAGE])
        if wrong:
            yield Found(one, list(wrong.values()), None, (one,), _ACCURACY, None)


def _recomputed(source: Paper, row: Any, measurements: Sequence[Measured]) -> Iterator[Found]:
    """Routing from the runs of both prompts, and the labels that a run of the router gave to the same questions."""
    model = row.method.rpartition(", ")[2]
    sparql, cot, live = (
        _at(measurements, row.backbone, f"{one}, {model}", row.data) for one in ("SPARQL", "Generic CoT", "Routing")
    )
    for sides in product(sparql, cot, [*live, *_at(measurements, row.backbone, f"Routing+GW, {model}", row.data)]):
        first, second, labels = sides
        same = len({(side.label, str(side.run.config["questions"])) for side in sides}) == 1
        if same and first.scores(_ACCURACY) and second.scores(_ACCURACY):
            answers = routed(
                {"sparql": first.run, "cot": second.run}, first.label, kinds(labels.run, labels.label), _ACCURACY
            )
            of = "abstained" if row.measure == _ABSTAINED else "score"
            if values := [float(one[of]) for one in answers.values() if one[of] is not None]:
                yield Found(labels, values, None, sides, _ACCURACY, None)


def _time(source: Paper, row: Any, measurements: Sequence[Measured]) -> Iterator[Found]:
    """Hours of retrieval for all questions, one after the other or laid out over `WORKERS`, or how many times faster
    these are. The values are each question's part."""
    parallel = row.method.endswith(PARALLEL)
    for one in _at(measurements, row.backbone, row.method.removesuffix(PARALLEL), row.data):
        root, ids = one.described["label"], {each["question_id"] for each in one.rows}
        timed = one.run.timed
        mine = [each for each in timed if each["method"] == one.label and each["question_id"] in ids]
        taken = [each["seconds"][root] for each in mine if root in each["seconds"]]
        retrieval = next((measure for measure in one.run.measures if not needs_reader(measure)), None)
        if not taken or not sum(taken) or retrieval is None:
            continue
        lasts = makespan(taken, WORKERS if parallel else 1)
        of_one = [seconds * len(taken) / 3600 * lasts / sum(taken) for seconds in taken]  # whose mean is all hours
        values = [sum(taken) / lasts] * len(taken) if row.measure == "speed-up" else of_one
        yield Found(one, values, None, (one,), retrieval, None)


def _figure(source: Paper, row: Any, measurements: Sequence[Measured]) -> Iterator[Found]:
    """A number that is no score of one method."""
    for one in figures.found(source.terms, row, measurements):
        yield Found(one.of[0], one.values, one.base, one.of, one.measure, None)


_FOUND = {
    "score": _scores, "win": _wins, "difference": _difference, "share": _share, "recomputed": _recomputed,
    "time": _time, **dict.fromkeys(figures.KINDS, _figure),
}  # fmt: skip


def _is_baseline(terms: Mapping[str, Any], other: Measured, one: Measured) -> bool:
    """Whether `other` is the baseline of `one`: in the same run, or, if the reader determines the row, in a run of the
    same questions."""
    name = terms.get("baseline", "Original")
    if "readers" not in terms:
        return other.run is one.run and other.place[:3] == (one.place.backbone, name, one.place.data)
    model = one.place.method.rpartition(", ")[2]
    same = other.run.config["questions"] == one.run.config["questions"]
    rows = one.place.method != "context" and (one.place.backbone, f"{name}, {model}", one.place.data)
    return same and other.place[:3] == rows and other.place.method != one.place.method
