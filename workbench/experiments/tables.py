"""A paper's tables next to measured numbers, each with its verdict.

    reproduced       comparable, and the published number is within the tolerance
    differs          comparable, and it is not
    not comparable   measured under other conditions, named in `why`. Rules are never comparable with a model
    not measured     no run has it

The tolerance is half the width of the 95 % bootstrap interval of our mean: its variation over questions of the same
kind. `published/<paper>.toml` lists the conditions that must agree (questions, corpus, model, rounds …)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.experiments import conditions, published
from workbench.experiments.analyses.base import frame_of
from workbench.experiments.published import CLAIMS, Key, Paper
from workbench.experiments.run import Run
from workbench.experiments.significance import bootstrap_interval, paired_test
from workbench.experiments.verdict import Verdict
from workbench.methods import METHODS
from workbench.records import Record
from workbench.settings import defaults
from workbench.spec import parse_spec

REPRODUCED, DIFFERS = "reproduced", "differs"
NOT_COMPARABLE, NOT_MEASURED = "not comparable", "not measured"
SEED = 0  # of the resampling


@dataclass(frozen=True, slots=True)
class Cell:
    """One score of a table. `p` is that of the paired test, in the same run, against the baseline named in the paper's
    terms, by default the static backbone."""

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
    """`claims`: the paper's claims checked against its own tables; `measured`: against ours, if any. `inconsistencies`:
    (where, what) of the source. `notes`: what the paper does not state, and which runs have no place. `left_out`: the
    number of published scores that no run has and that are not among the cells."""

    paper: str
    title: str
    cells: tuple[Cell, ...]
    claims: Verdict | None = field(default=None, hash=False)
    measured: Verdict | None = field(default=None, hash=False)
    inconsistencies: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    left_out: int = 0

    def frame(self) -> pd.DataFrame:
        """One row per cell and measurement."""
        rows = ({**asdict(cell), "why": "; ".join(cell.why)} for cell in self.cells)
        return frame_of(rows).reindex(columns=list(Cell.__dataclass_fields__))

    def counts(self) -> dict[str, int]:
        """The number of cells with each verdict; `not measured` includes those left out."""
        verdicts = [cell.verdict for cell in self.cells] + [NOT_MEASURED] * self.left_out
        return {name: verdicts.count(name) for name in (REPRODUCED, DIFFERS, NOT_COMPARABLE, NOT_MEASURED)}


def tables(paper: str = "bdtr", runs: Iterable[Run | str | Path] = ()) -> Tables:
    """The tables of a paper next to the measurements of runs (or their folders). Raises :class:`SettingError` for an
    unknown paper."""
    source = published.paper(paper)
    measurements, notes = [], []
    for run in (run if isinstance(run, Run) else Run(run) for run in runs):
        found = [Measured(run, label, place) for label in run.methods for place in _places(source.terms, run, label)]
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
        (f"The paper does not say: {'; '.join(source.terms['not_given'])}.", *_absent(source.terms), *notes),
    )


def _absent(terms: Mapping[str, Any]) -> Iterator[str]:
    """Which rows no run can fill."""
    absent = terms.get("absent", {})
    for why in dict.fromkeys(absent.values()):
        yield f"No run can fill ({why}): {', '.join(name for name, one in absent.items() if one == why)}."


def compare(run: Run | str | Path, paper: str = "bdtr") -> Tables:
    """The cells of a paper's tables that the run measured; the others are only counted."""
    found = tables(paper, [run])
    cells = tuple(cell for cell in found.cells if cell.verdict != NOT_MEASURED)
    return replace(found, cells=cells, left_out=len(found.cells) - len(cells))


class Place(NamedTuple):
    """The place of a method of a run in a paper's tables; its settings, and the layers that a model wrote; the number
    of hops, if only these questions of the run count. If the reader determines the row: its model, and the differences
    in how it reads. `encoder` is the model that the paper names, or all names of it, if it does and the method has one.
    `measures`: what the paper calls a measure → ours that stands for it in this run; None where the names are ours."""

    backbone: str
    method: str
    data: str
    asked: Mapping[str, Any]
    written: Sequence[str]
    hops: int | None = None
    engine: str | None = None
    why: tuple[str, ...] = ()
    encoder: str | Sequence[str] | None = None
    measures: Mapping[str, str] | None = None

    def ours(self, measure: str) -> str | None:
        """Our measure for one of the paper's."""
        return measure if self.measures is None else self.measures.get(measure)


COVERED = " of covered"  # ends a measure that is taken over the questions whose answer was retrieved
_COVERAGE = "coverage:substring"


@dataclass(frozen=True, eq=False)
class Measured:
    """A method of a run with a place in the tables."""

    run: Run
    label: str
    place: Place

    @cached_property
    def rows(self) -> list[dict]:
        mine = [row for row in self.run.rows if row["method"] == self.label]
        return [row for row in mine if self.place.hops in (None, row.get("hops"))]

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

    def scores(self, measure: str) -> dict[str, float]:
        measure, covered, _ = (self.place.ours(measure) or "").partition(COVERED)
        if measure not in self.run.measures or (covered and _COVERAGE not in self.run.measures):
            return {}
        rows = [row for row in self.rows if not covered or row["scores"].get(_COVERAGE) == 1]
        ids = {row["question_id"] for row in rows}
        return {one: score for one, score in self.run.scores(measure, self.label).items() if one in ids}

    def mean(self, measure: str) -> tuple[float, float]:
        """The mean, and half the width of its interval."""
        values = list(self.scores(measure).values())
        low, high = bootstrap_interval(values, seed=SEED)
        return float(np.mean(values)), (high - low) / 2

    def p(self, measure: str, other: Measured) -> float | None:
        ours, theirs = self.scores(measure), other.scores(measure)
        common = sorted(ours.keys() & theirs.keys())
        return paired_test([ours[q] for q in common], [theirs[q] for q in common], seed=SEED) if common else None

    def differences(self, terms: Mapping[str, Any], measure: str) -> Iterator[str]:
        """The reasons why its number of a measure is not comparable with the paper's, in words."""
        config, strict = self.run.config, "reader" in terms
        yield from conditions.models(self, terms, measure) if strict else self._engines(terms)
        yield from self.place.why
        for layer in self.place.written:
            makers = self.layers.get(layer, {"made_by": ()}).get("made_by")
            if makers is None:
                yield f"{layer}: brought by the data, which do not say who wrote them"
            elif any(maker.startswith("rules") for maker in makers):
                yield f"{layer}: made by rules, not by a model"
        if config["data"]["name"] != (expected := terms["data"][self.place.data]):
            yield f"split and corpus: {config['data']['name']}, there {expected}"
        n = config["questions"]["n"] if self.place.hops is None else len(self.rows)
        if n != (there := conditions.of_data(terms["questions"], self.place.data)):
            yield f"questions: {n:,}, there {conditions.number_there(there)}"
        for key, value in (self.place.asked | conditions.depth_of(self, terms, measure)).items():
            if not conditions.same(ours := self.described["settings"].get(key), value):
                yield f"{key}: {ours}, there {value}"
        if len(self.run.rows) < (whole := config["questions"]["n"] * len(self.run.methods)):
            yield f"unfinished: {len(self.run.rows):,} of {whole:,} questions asked"
        if failed := sum(row["failure"] is not None for row in self.rows):
            yield f"failures: {failed:,} questions broke and count as 0"
        if sizes := self.scores(terms.get("size", "")).values():
            passages = np.mean([len(row["ranking"]) for row in self.rows])
            yield f"{np.mean([*sizes]):.0f} nodes and {passages:.0f} passages a question; there it is not said"
        if strict:
            yield from conditions.others(self, terms, measure)

    def _engines(self, terms: Mapping[str, Any]) -> Iterator[str]:
        for engine in self.run.config["engine"].split(", "):
            if engine == "rules":
                yield "rules, not a model"
            elif (expected := self.place.engine or terms["engine"]) not in engine:
                yield f"model: {engine}, there {expected}"


def _places(terms: Mapping[str, Any], run: Run, label: str) -> Iterator[Place]:
    """One, none, or where the tables are by hops one for each number of hops that the run's questions have."""
    if "readers" in terms:
        yield from _of_reader(terms, run, label)
        return
    place = _place(terms, run.config["methods"][label])
    if place and "hops" in terms:
        found = {row.get("hops") for row in run.rows}
        yield from (place._replace(data=data, hops=hops) for data, hops in terms["hops"].items() if hops in found)
    elif place:
        name = run.config["data"]["name"].lower()
        places = (place._replace(data=data) for data in terms["data"] if name.startswith(data))
        yield from (_of_model(terms, run, one) for one in places) if "models" in terms else places


def _of_model(terms: Mapping[str, Any], run: Run, place: Place) -> Place:
    """The place among the rows of the run's model, and the measures of the run's depth and mode: those that the paper
    prints of the data, where it prints none of this mode."""
    asked, reader = run.config["engine"], parse_spec(run.config["reader"] or "none")[1]
    model = next((one for one in terms["models"] if one["engine"] in asked.casefold()), terms["models"][-1])
    there = {name: one for name, one in terms["measured"].items() if place.data in one.get("data", (place.data,))}
    for key, value in (("k", _depth(run, reader)), ("mode", reader.get("mode", "reject"))):
        there = {name: one for name, one in there.items() if one["asked"][key] == value} or there
    ours = {name: next((known for known in one["as"] if known in run.measures), None) for name, one in there.items()}
    return place._replace(backbone=model["called"], engine=model["engine"], measures=ours)


def _depth(run: Run, reader: Mapping[str, Any]) -> int:
    """The passages read, or else ranked."""
    return reader.get("k", run.config["k"])


def _of_reader(terms: Mapping[str, Any], run: Run, label: str) -> Iterator[Place]:
    """The row of the run's reader and model, and that of the context from which it starts."""
    described, name = run.config["methods"][label], run.config["data"]["name"].lower()
    known = {one["name"]: one for one in terms["backbones"]}.get(described["label"].partition("[")[0])
    data = next((one for one in terms["data"] if name.startswith(one)), None)
    if known is None or data is None:
        return
    model = next((one for one in terms["models"] if one["engine"] in run.config["engine"]), terms["models"][-1])
    place = Place(known["called"], "context", data, known["asked"], known["written"], engine=model["engine"])
    yield place
    reader, settings = parse_spec(run.config["reader"] or "none")
    compressor, compression = parse_spec(settings.get("compress") or "none")
    how = {
        "prompt": None if settings.get("route") else settings.get("prompt", reader),
        "compress": None if compressor == "none" else compressor,
        "route": bool(settings.get("route")),
    }
    defaults = {"prompt": None, "compress": None, "route": False}
    for one in terms["readers"]:
        if how == {key: one.get(key, default) for key, default in defaults.items()}:
            asked = [(terms["reading"], settings), (terms["compression"] if how["compress"] else {}, compression)]
            why = tuple(
                f"{key}: {given.get(key, 'the default')}, there {value}"
                for wanted, given in asked
                for key, value in wanted.items()
                if given.get(key) != value
            )
            yield place._replace(method=f"{one['called']}, {model['called']}", why=why)


def _place(terms: Mapping[str, Any], described: Mapping[str, Any]) -> Place | None:
    """The row of a method, without its data."""
    name, settings = described["label"].partition("[")[0], described["settings"]
    backbones = {one["name"]: one for one in terms.get("backbones", ())}
    if known := backbones.get(name):
        return Place(known["called"], "Original", "", {}, known["written"], why=_weights(known, settings))
    inner = parse_spec(str(settings.get("backbone")))
    backbone = backbones.get(inner[0])
    if backbones and not backbone:
        return None
    backbone = backbone or {"called": "", "written": ()}
    told = settings | {"encoder": conditions.model_of(described.get("encoder") or "").partition("[")[0]}
    for known in terms["methods"]:
        if known["name"] == name and all(told.get(key) == value for key, value in known.get("is", {}).items()):
            written = (*backbone["written"], *known.get("written", ()))
            asked = terms.get("settings", {}).get(name, {}) | known.get("asked", {})
            encoder = known.get("encoder", terms.get("encoder"))
            why = _weights(backbone, inner[1])
            return Place(backbone["called"], known["called"], "", asked, written, why=why, encoder=encoder)
    return None


def _weights(known: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Why a method that runs on weights is another one: they are not the published ones."""
    if (published := known.get("checkpoint")) is None:
        return ()
    ours = settings.get("checkpoint", defaults(METHODS[known["name"]])["checkpoint"])
    return () if str(ours).partition("@")[0] == published else (f"another checkpoint: {ours}, there {published}",)


def _cells(source: Paper, row: Any, measurements: Sequence[Measured]) -> Iterator[Cell]:
    """The cells of one published score: one per measurement, or one without any."""
    cell = Cell(row.table, row.backbone, row.method, row.data, row.measure, row.value)
    here = [one for one in measurements if one.place[:3] == (row.backbone, row.method, row.data)]
    found = [one for one in here if one.scores(row.measure)]
    if not found:
        absent = source.terms.get("absent", {}).get(row.method)
        yield replace(cell, why=(absent,)) if absent else cell
    for one in found:
        ours, tolerance = one.mean(row.measure)
        why = (*one.differences(source.terms, row.measure), *([row.note] if row.note else []))
        static = next((other for other in measurements if _is_baseline(source.terms, other, one)), one)
        yield replace(
            cell,
            run=str(one.run.folder),
            label=one.label,
            ours=ours,
            tolerance=tolerance,
            n=len(one.scores(row.measure)),
            seed=SEED,
            p=one.p(row.measure, static) if static is not one else None,
            verdict=NOT_COMPARABLE if why else REPRODUCED if abs(ours - row.value) <= tolerance else DIFFERS,
            why=why,
        )


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
