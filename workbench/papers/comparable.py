"""What separates a cell from a comparable number: the conditions on both sides, and the questions behind it.

`side_by_side` holds a cell's measurement against the paper; a cell without one, the run that the paper asks for.
`asked_for` lists the questions behind a measurement."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from workbench import published
from workbench.evaluation.claims import STEPS
from workbench.evaluation.estimate import Unasked
from workbench.evaluation.identity import of_judge, of_reader
from workbench.evaluation.pairs import DIMENSIONS, Judgement
from workbench.evaluation.run import Run
from workbench.evaluation.significance import FEWEST
from workbench.index.building import LAYERS, OPTIONS, closure
from workbench.index.usage import ARTICLES
from workbench.measures.graphrag_bench import JUDGED
from workbench.methods import METHODS
from workbench.papers.condition import DIFFERS, SAME, UNKNOWN, Condition, expected_of, named, of_data
from workbench.papers.conditions import conditions, known_of
from workbench.papers.figures import Measurement, measurements_of
from workbench.papers.placing import Measured, places, settings_of
from workbench.papers.recipes import Recipe, recipes_of
from workbench.papers.tables import Cell, Tables, interval_of
from workbench.published import Paper
from workbench.reading import reader
from workbench.records import Record
from workbench.settings import parse_spec
from workbench.steps import catalogue


@dataclass(frozen=True, slots=True, repr=False)
class Conditions(Record):
    """The conditions of a cell side by side. `of`: the label of our method, with its run, or of the method that would
    be run; for a difference, of both sides. `note`: what the table itself says against a comparison."""

    cell: Cell
    of: tuple[str, ...]
    rows: tuple[Condition, ...]
    note: str = ""

    def counts(self) -> dict[str, int]:
        states = [row.state for row in self.rows]
        return {state: states.count(state) for state in (SAME, DIFFERS, UNKNOWN)}

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(
            [(row.name, row.theirs, row.ours, row.state, row.why) for row in self.rows],
            columns=["condition", "theirs", "ours", "state", "why"],
        )


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """A question behind a cell: its scores, one for each side, the answer (of the first side) and the gold."""

    question_id: str
    question: str
    scores: tuple[float, ...]
    answer: str = ""
    gold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Questions(Record):
    """The questions behind a cell, the lowest score first, or the lowest difference. `sides`: what is measured."""

    cell: Cell
    measure: str
    sides: tuple[str, ...]
    rows: tuple[QuestionScores, ...]


def side_by_side(tables: Tables, cell: Cell) -> Conditions:
    """The conditions of a cell of these tables: those of its measurement, or without one, those of the run that the
    paper asks for."""
    source = published.paper(tables.paper)
    if cell.run is None:
        return _of(source, cell, next(_foreseen(source, cell), None))
    return _of(source, cell, measurement(tables, cell))


def measurement(tables: Tables, cell: Cell) -> Measurement | None:
    """What was measured for a cell; None without a run."""
    source = published.paper(tables.paper)
    matching = (
        measurement
        for row in _printed(source, cell).itertuples()
        for measurement in measurements_of(source, row, tables.measurements)
        if (str(measurement.of.run.folder), measurement.of.label) == (cell.run, cell.label)
        and measurement.mean == cell.ours
    )
    return next(matching, None)


def asked_for(tables: Tables, cell: Cell) -> Questions:
    """The questions behind a cell; none without a run."""
    measured = measurement(tables, cell)
    if measured is None:
        return Questions(cell, cell.measure, (), ())
    scores = [side.scores(measured.measure) for side in measured.sides]
    gold = {question.id: question for question in measured.of.run.questions}
    rows = []
    for row in measured.of.rows:
        if all((name := row["question_id"]) in of for of in scores):
            own, values = gold.get(name), tuple(of[name] for of in scores)
            answer = "(abstained)" if row["abstained"] else row["failure"] or row["answer"] or ""
            text, answers = (own.question, own.answers) if own else ("", ())
            rows.append(QuestionScores(name, text, values, answer, answers))
    rows.sort(key=lambda row: (row.scores[0] - sum(row.scores[1:]), row.question_id))
    return Questions(cell, measured.measure, tuple(_name_of(side) for side in measured.sides), tuple(rows))


def _of(source: Paper, cell: Cell, measured: Measurement | None) -> Conditions:
    note = "; ".join(dict.fromkeys(filter(None, _printed(source, cell)["note"])))
    sides = measured.sides if measured else ()
    rows = dict.fromkeys(row for side in sides for row in conditions(side, source.terms, measured.measure))
    labels = dict.fromkeys(_name_of(side) for side in sides)
    return Conditions(
        cell, tuple(labels), (*rows, *([_interval(cell, measured)] if measured and cell.run else [])), note
    )


def _interval(cell: Cell, measured: Measurement) -> Condition:
    """Whether our number has an interval, without which there is no verdict."""
    *_, why = interval_of(measured)
    ours = "none" if cell.low is None or cell.high is None else f"{cell.low:.3f}, {cell.high:.3f}"
    return Condition("our interval", f"over at least {FEWEST} questions that differ", ours, why)


def _name_of(side: Measured) -> str:
    reads = side.run.config["reader"]
    return f"{side.label}, read by {reads}" if reads else side.label


def _printed(source: Paper, cell: Cell) -> pd.DataFrame:
    """The rows of a cell as the paper prints them; usually one."""
    printed = source.printed
    for name in ("table", "backbone", "method", "data", "measure"):
        printed = printed[printed[name] == getattr(cell, name)]
    return printed[printed["value"] == cell.published]


# -- the run that the paper asks for ----------------------------------------------------------------------------------


class Foreseen(Run):
    """The run of one reader of a recipe as it would be if nothing failed, without scores. The engines are the paper's;
    where it names none for a part, one that it names for another. `model`: the names of the row's own. `kind`: the type
    of the questions that count, if only one does."""

    repeats, timed, questions, warnings = 1, (), (), ()

    def __init__(self, source: Paper, recipe: Recipe, spec: str | None, model: Sequence[str], kind: str = ""):
        self.folder, self.recipe, self._terms, self._model, self._kind = Path(), recipe, source.terms, model, kind
        by = self._engine("judge") if recipe.judged and spec else None
        read = of_reader(reader(spec, Unasked(self._engine("reader")))) if spec else None
        judging = of_judge(Unasked(by), STEPS if {*JUDGED} & {*recipe.measures} else ()) if by else None
        identity = known_of(self._terms, recipe.data)
        self.config = {
            "data": {
                "name": recipe.source,
                "fingerprint": identity.passages,
                OPTIONS: dict(recipe.options),
                **{kind: options for kind, options in recipe.layers.items() if kind == ARTICLES},
            },
            "questions": {"n": of_data(self._terms["questions"], recipe.data) or 0, "hash": identity.questions},
            "methods": {label: self._described(label) for label in recipe.methods},
            "measures": dict.fromkeys(recipe.measures),
            "reader": spec,
            "reading": read and read.description,
            "judging": judging and judging.description,
            "judge": by,
            "engine": self._engine("reader" if spec else "method"),
            "k": recipe.k,
            "budget": None,
        }

    def _engine(self, part: str) -> str:
        parts = (part, "reader", "method", "index")
        names = next(filter(None, (expected_of(self._model, self._terms, part) for part in parts)), self._model)
        return f"openai:{names[0]}"

    def _described(self, label: str) -> dict[str, Any]:
        settings, used = settings_of(label), [METHODS[parse_spec(label)[0]]]
        if inner := settings.get("backbone") or settings.get("over"):
            used.append(METHODS[parse_spec(str(inner))[0]])
        steps_by_name, built = catalogue(), set(self.recipe.layers)
        steps = sorted({step for method in used for step in method.steps})
        return {
            "label": label,
            "settings": settings,
            "engine": self._engine("method") if steps else None,
            "encoder": self.recipe.encoder,
            "layers": {
                kind: self._layer(kind) for kind in closure({kind for method in used for kind in method.layers}, built)
            },
            "prompts": {step: f"{steps_by_name[step].identity} {steps_by_name[step].prompt_hash}" for step in steps},
        }

    def _layer(self, kind: str) -> dict[str, Any]:
        settings = json.loads(json.dumps(asdict(LAYERS[kind][1]()))) | dict(self.recipe.layers.get(kind, {}))
        steps = [step.identity for step in LAYERS[kind][0].steps]
        made_by = [f"{self._engine('index')} ({', '.join(steps)})"]
        passages = {"passages": of_data(self._terms["passages"], self.recipe.data)} if kind == "passages" else {}
        return {"settings": settings, "made_by": made_by, **passages}

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        hops = self._terms.get("hops", {}).get(self.recipe.data)
        scores = dict.fromkeys(self.measures, 0.0) | {"coverage:substring": 1.0}  # wrong answers that were covered
        row = {"type": self._kind or None, "hops": hops, "selected": 0, "failure": None, "fallback": None, "usage": {}}
        if "free_in_own_context" in self._terms["reader"]:
            row["layout"] = "the method's own"
        return [
            {**row, "question_id": f"q{at}", "method": label, "scores": scores}
            for at in range(self.config["questions"]["n"] or 1)
            for label in self.methods
        ]

    def judgements(self, a: str, b: str) -> tuple[str, list[Judgement]]:
        """As of a run whose pairs were judged."""
        judge, outcomes = self._engine("judge"), {name: {"winner": 1, "reason": ""} for name in DIMENSIONS}
        ids = [row["question_id"] for row in self.rows if row["method"] == a]
        return judge, [Judgement("", judge, None, None, a, b, id, True, outcomes) for id in ids]


def _foreseen(source: Paper, cell: Cell) -> Iterator[Measurement]:
    """For each recipe of a cell, the measurement as it would be."""
    printed = _printed(source, cell)
    models = {model["called"]: named(model["engine"]) for model in source.terms.get("models", ())} or {None: ()}
    kind = cell.data.partition(": ")[2] or source.terms.get("measured", {}).get(cell.measure, {}).get("type", "")
    wanted: dict[tuple[str, str | None, str], list[Measured]] = {}
    for called, model in models.items():
        for recipe in recipes_of(source, printed, called):
            measured = wanted.setdefault((recipe.data, recipe.encoder, recipe.variant), [])
            runs = (Foreseen(source, recipe, spec, model, kind) for spec in recipe.readers or (None,))
            measured += [
                Measured(run, label, place)
                for run in runs
                for label in run.methods
                for place in places(source.terms, run, label, recipe.data)
            ]
    for measured in wanted.values():
        for row in printed.itertuples():
            yield from measurements_of(source, row, measured)
