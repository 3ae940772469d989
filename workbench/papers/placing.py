"""The row of a paper's tables that a method of a run belongs to, and what was measured there: its rows, its values, and
the judgements of its answers. Whether the numbers are comparable is decided by `conditions.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple, TypeVar

from workbench.evaluation.pairs import DIMENSIONS, Judgement, on_disk, wins
from workbench.evaluation.run import Run
from workbench.evaluation.significance import mean_of_repeats, paired_test
from workbench.measures import UNDEFINED_AS_A_WHOLE
from workbench.methods import METHODS
from workbench.papers.condition import model_of, named
from workbench.settings import parse_spec, settle

T = TypeVar("T")
Terms = Mapping[str, Any]
STATIC = "Original"  # as a paper calls its backbones alone
CONTEXT = "context"  # the row of what a reader starts from
SEED = 0  # of the resampling
COVERED = " of covered"  # ends a measure that is taken over the questions whose answer was retrieved
COVERAGE = "coverage:substring"
DIMENSION = {"logicality": "logicity"}  # as Table 3 of DotRAG spells it


class Place(NamedTuple):
    """The place of a method of a run in a paper's tables, in the paper's names, and what the row itself stands for.

    `name`: our method. `asked`: the settings of it that make the row, over those of `[settings]`. `under`: our name of
    its backbone, its settings, and what the row asks of them. `written`: the layers that a model writes; `layers`: the
    settings of layers that make the row, over those of `[layers]`. `hops`: only the run's questions of so many hops
    count. `model`: names of the row's language model. `reading`: the settings of the reader that make the row. `why`:
    what is known to differ already. `encoder`: names of the encoder, "" for none, None where the paper does not say it.
    `measures`: what the paper calls a measure → ours that stands for it in this run; None where the names are ours.
    `types`: a measure of the paper → the type of the questions over which it is taken, where it is not all.
    `made_by`: the settings by which the row is told apart from others of the method."""

    backbone: str
    method: str
    data: str
    name: str
    asked: Mapping[str, Any] = {}
    under: tuple[str, Mapping[str, Any], Mapping[str, Any]] | None = None
    written: Sequence[str] = ()
    layers: Mapping[str, Mapping[str, Any]] = {}
    hops: int | None = None
    model: Sequence[str] = ()
    reading: Mapping[str, Any] | None = None
    why: tuple[str, ...] = ()
    encoder: Sequence[str] | str | None = None
    measures: Mapping[str, str | None] | None = None
    types: Mapping[str, str] = {}
    made_by: Mapping[str, Any] = {}

    def ours(self, measure: str) -> str | None:
        """Our measure for a measure of the paper."""
        return measure if self.measures is None else self.measures.get(measure)


def places(terms: Terms, run: Run, label: str, stands_for: str | None = None) -> Iterator[Place]:
    """The places of a method of the run: none, one, one for each number of hops where the tables are by hops, or where
    the reader makes the row, that of the context and that of the answers. A run belongs to the data set whose name
    begins that of its own, or to the one that it `stands_for`."""
    place = _of_method(terms, run.config["methods"][label])
    if place is None:
        return
    name = run.config["data"]["name"].lower()
    if "hops" in terms:
        whole = {source: data for data, source in terms["data"].items() if data not in terms["hops"]}
        if data := stands_for if stands_for in whole.values() else stands_for is None and whole.get(name):
            yield place._replace(data=data)
            return
        hops_asked = {row.get("hops") for row in run.rows}
        yield from (place._replace(data=data, hops=hops) for data, hops in terms["hops"].items() if hops in hops_asked)
        return
    for data in terms["data"]:
        if data == stands_for or (stands_for is None and name.startswith(data)):
            here = _of_model(terms, run, place._replace(data=data)) if "models" in terms else place._replace(data=data)
            yield from _of_reader(terms, run, here) if "readers" in terms else [here]


def rows(terms: Terms) -> Iterator[Place]:
    """The rows that a method of ours makes, without data: each backbone alone, and each method over each of them."""
    encoder, backbones = terms.get("encoder"), terms.get("backbones", ())
    for backbone in backbones:
        options = backbone.get("asked", {})
        yield Place(
            backbone["called"], STATIC, "", backbone["name"], options, written=backbone["written"], encoder=encoder
        )
    for backbone, under in product(terms.get("methods", ()), backbones or (None,)):
        made_by = backbone.get("is", {})
        yield Place(
            under["called"] if under else "",
            backbone["called"],
            "",
            backbone["name"],
            {key: value for key, value in made_by.items() if key != "encoder"} | backbone.get("asked", {}),
            under=(under["name"], {}, under.get("asked", {})) if under else None,
            written=(*(under["written"] if under else ()), *backbone.get("written", ())),
            layers=backbone.get("layers", {}),
            encoder=backbone.get("encoder", encoder),
            why=tuple(backbone.get("why", ())),
            made_by=made_by,
        )


def _of_method(terms: Terms, described: Mapping[str, Any]) -> Place | None:
    """The row of a method, without its data."""
    name, settings = described["label"].partition("[")[0], described["settings"]
    inner = str(settings.get("backbone") or "")
    settings_and_encoder = settings | {"encoder": model_of(described.get("encoder") or "").partition("[")[0]}
    for row in rows(terms):
        under = row.under and row.under[0]
        is_it = row.name == name and under in (None, inner.partition("[")[0])
        if is_it and all(settings_and_encoder.get(key) == value for key, value in row.made_by.items()):
            return row._replace(under=(row.under[0], settings_of(inner), row.under[2])) if row.under else row
    return None


def settings_of(spec: str) -> dict[str, Any]:
    """All settings of the method of this SPEC, those of its profile and the defaults as well."""
    name, given = parse_spec(spec)
    made = METHODS.look_up(name)
    return asdict(settle(name, made.Settings, given, made.profiles))


def _of_model(terms: Terms, run: Run, place: Place) -> Place:
    """The place among the rows of the model that answers. Where a measure is named by a depth and a mode: the measures
    of the run's, if the paper prints any of the data."""
    answering = (run.config.get("reading") or {}).get("engine") or run.config["engine"]
    model = row_of_model(terms, answering)
    place = place._replace(model=named(model["engine"]), reading=model.get("reading"))
    if "readers" in terms:
        return place._replace(method=model["called"])  # to which the reader is added
    types = {name: term["type"] for name, term in terms["measured"].items() if "type" in term}
    return place._replace(backbone=model["called"], measures=_measured(terms, run, place), types=types)


def row_of_model(terms: Terms, engines: str) -> Mapping[str, Any]:
    """The model's row that one of these engines fills; the last row stands for all other models."""
    models = {model_of(engine) for engine in engines.split(", ")}
    return next((term for term in terms["models"] if models & {*named(term["engine"])}), terms["models"][-1])


def _measured(terms: Terms, run: Run, place: Place) -> dict[str, str | None]:
    reader = parse_spec(run.config["reader"] or "none")[1]
    there = {name: term for name, term in terms["measured"].items() if place.data in term.get("data", (place.data,))}
    for key, value in (("k", reader.get("k", run.config["k"])), ("mode", reader.get("mode", "reject"))):
        there = {name: term for name, term in there.items() if term["asked"].get(key, value) == value} or there
    return {
        name: next((measure for measure in term["as"] if measure in run.measures), None) for name, term in there.items()
    }


def _of_reader(terms: Terms, run: Run, place: Place) -> Iterator[Place]:
    """The row of the context from which the reader starts, and that of the reader with its model, which may be made in
    more than one way."""
    model, how = place.method, _how(run)
    yield place._replace(method=CONTEXT)
    for term in terms["readers"]:
        row = {"prompt": None, "compress": "none", "route": False} | term
        if how == {key: row[key] for key in how}:
            reading = {key: value for key, value in row.items() if value is not None and key != "called"}
            yield place._replace(method=f"{term['called']}, {model}", reading=reading | (place.reading or {}))


def _how(run: Run) -> dict[str, Any]:
    """The settings of a run's reader that make a row."""
    reader, settings = parse_spec(run.config["reader"] or "none")
    route = bool(settings.get("route"))
    compressor = parse_spec(str(settings.get("compress") or "none"))[0]
    return {"prompt": None if route else settings.get("prompt", reader), "compress": compressor, "route": route}


# -- what was measured -------------------------------------------------------------------------------------------------


def by_question(values: Iterable[tuple[Mapping[str, Any], float | None]]) -> dict[str, list[float]]:
    """Question id → the values of its rows, given as (row, value), without None."""
    values_of: dict[str, list[float]] = {}
    for row, value in values:
        if value is not None:
            values_of.setdefault(row["question_id"], []).append(value)
    return values_of


def of_both(ours: Mapping[str, T], theirs: Mapping[str, T]) -> list[tuple[T, T]]:
    """The values of the questions that both have."""
    return [(ours[question], theirs[question]) for question in sorted(ours.keys() & theirs.keys())]


def judgements_of(run: Run, a: str, b: str) -> tuple[str, list[Judgement]]:
    """(the judge, its judgements of the answers of two methods): from disk, or as a foreseen run has them."""
    foreseen = getattr(run, "judgements", None)
    return foreseen(a, b) if foreseen else on_disk(run, a, b)


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
        """The run's description of its reader; empty without one."""
        return self.run.config.get("reading") or {}

    def counted(self, measure: str) -> list[dict]:
        """The rows over which a measure is taken."""
        covered, kind = (self.place.ours(measure) or "").endswith(COVERED), self.place.types.get(measure)
        rows = [row for row in self.every if kind in (None, row.get("type"))]
        return [row for row in rows if not covered or row["scores"].get(COVERAGE) == 1]

    def values(self, measure: str) -> dict[str, list[float]]:
        """Question id → the values of its repeats, where the measure is defined."""
        ours, covered, _ = (self.place.ours(measure) or "").partition(COVERED)
        if ours not in self.run.measures or (covered and COVERAGE not in self.run.measures):
            return {}
        if ours in UNDEFINED_AS_A_WHOLE and not self.run.scores(ours, self.label):
            return {}
        return by_question((row, row["scores"].get(ours)) for row in self.counted(measure))

    def scores(self, measure: str) -> dict[str, float]:
        """Question id → the mean of its repeats."""
        return {question: mean_of_repeats(several) for question, several in self.values(measure).items()}

    def p(self, measure: str, other: Measured) -> float | None:
        """Of the paired test against another method over the questions of both; None if they have none in common."""
        pairs = of_both(self.scores(measure), other.scores(measure))
        return paired_test(*map(list, zip(*pairs)), seed=SEED) if pairs else None


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
        judge, judgements = judgements_of(self.run, a.label, b.label)
        return judge, [judgement for judgement in judgements if judgement.question_id in ids]

    @property
    def repeats(self) -> int:
        """How many were judged."""
        return 1 + max((judgement.repeat for judgement in self.judgements[1]), default=0)

    @property
    def deterministic(self) -> bool:
        return super().deterministic and self.other.deterministic

    def values(self, measure: str) -> dict[str, list[float]]:
        """Question id → whether it won, of each repeat that was judged."""
        dimension = DIMENSION.get(measure, measure)
        won = wins(self.judgements[1], dimension) if dimension in DIMENSIONS else {}
        return {
            question: [value if self.first else 1 - value for value in several] for question, several in won.items()
        }
