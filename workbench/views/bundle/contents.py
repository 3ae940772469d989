"""What a bundle says of runs: columns to put side by side, an entry for each question, and its details on demand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from workbench import published
from workbench.analyses.diagnose import CAUSES, Case, Diagnosis, diagnose
from workbench.errors import DataError, SettingError
from workbench.evaluation.grid import Grid
from workbench.evaluation.run import Run
from workbench.index import Index
from workbench.measures import needs_reader
from workbench.papers.tables import NOT_MEASURED, Tables, tables
from workbench.places import is_locked
from workbench.records import Passage, Question, Reading
from workbench.text import clean, counted, short
from workbench.trace import Trace
from workbench.views.bundle.parts import ranking_part, traced_parts
from workbench.views.bundle.store import bare
from workbench.views.contexts import Marks, texts_part
from workbench.views.parts import NAME
from workbench.views.records import reading_text, steps_table
from workbench.views.render import data_of

# An answer is right if it scores 1 in the first of these that the run has; the page offers the others as well.
JUDGED_BY = ("accuracy", "accuracy:thesis", "accuracy:heuristic", "judged", "em", "f1", "all_gold@5", "recall@5")
COUNTS = ("tokens", "cost", "calls", "read", "read_tokens", "context_tokens")  # not a matter of right and wrong
FLAGS = {"abstained": "abstained", "failed": "failure", "fallback": "fallback"}  # filter → field of a row


class Column(NamedTuple):
    """A method of a run. `name` is unique in the bundle, `short` stands in lists, `by` names the engines."""

    run: Run
    method: str
    name: str
    short: str
    by: str

    @property
    def config(self) -> Mapping[str, Any]:
        return self.run.config["methods"][self.method]


@dataclass(frozen=True)
class Contents:
    """The runs of a bundle, and their `names`, which are unique."""

    runs: tuple[Run, ...]
    names: tuple[str, ...]
    index: Index | None
    stands_for: Mapping[str, str]

    @classmethod
    def of(
        cls,
        sources: Iterable[Run | Grid | str | Path],
        index: Index | None = None,
        stands_for: Mapping[str, str] | None = None,
    ) -> Contents:
        """Opens and checks the runs; the folder of a grid stands for all of its runs. Raises :class:`SettingError` for
        a run that another process writes, and :class:`DataError` for one with damaged rows."""
        runs = [run for source in sources for run in _opened(source)]
        if not runs:
            raise SettingError("a bundle needs a run; give the folder of one, such as runs/first")
        for run in runs:
            check(run)
        return cls(tuple(runs), tuple(_named([run.folder.resolve() for run in runs])), index, stands_for or {})

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        several = len(self.runs) > 1
        names = [
            (run, method, f"{label}: {bare(method)}" if several else bare(method))
            for run, label in zip(self.runs, self.names)
            for method in run.methods
        ]
        shorts = _shortened([name for *_, name in names])
        return tuple(
            Column(run, method, name, abbreviated, made_by(run, method))
            for (run, method, name), abbreviated in zip(names, shorts)
        )

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The questions of all runs. Raises :class:`SettingError` if an id stands for two questions."""
        by_id: dict[str, Question] = {}
        for run in self.runs:
            of_run = {question.id: question for question in run.questions}
            for name in dict.fromkeys([*of_run, *(row["question_id"] for row in run.rows)]):
                question = of_run.get(name, Question(name, ""))
                if by_id.setdefault(name, question).question != question.question:
                    raise SettingError(
                        f"the runs {', '.join(self.names)} are not about the same questions: {name!r} is another one "
                        f"in {run.folder}; make a bundle of each"
                    )
        return tuple(by_id.values())

    @cached_property
    def rows(self) -> tuple[tuple[dict[str, dict], ...], ...]:
        """Column → repeat → question id → row."""
        return tuple(tuple(_rows_of(run, column.method) for run in column.run.repeated) for column in self.columns)

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The measures by which an answer can be right; the first decides the verdicts."""
        names = dict.fromkeys(name for run in self.runs for name in run.measures)
        judging = [name for name in names if name.split(":")[0] not in COUNTS]
        return tuple(sorted(judging, key=lambda name: JUDGED_BY.index(name) if name in JUDGED_BY else len(JUDGED_BY)))

    @cached_property
    def diagnoses(self) -> tuple[Diagnosis | str, ...]:
        """The diagnosis of each run, or in words why it has none."""
        return tuple(_diagnosed(run, self.index) for run in self.runs)

    @cached_property
    def cases(self) -> dict[tuple[Path, int, str, str], Case]:
        """(folder of a run, repeat, method, question id) → why the answer is wrong."""
        repeats = [_diagnosed(again, self.index) for run in self.runs for again in run.repeated[1:]]
        return {
            (diagnosis.run.folder, diagnosis.run.repeat, case.method, case.question_id): case
            for diagnosis in (*self.diagnoses, *repeats)
            if isinstance(diagnosis, Diagnosis)
            for case in diagnosis.cases
        }

    @cached_property
    def passages(self) -> dict[str, Passage]:
        return {passage.id: passage for passage in self.index.passages.passages} if self.index else {}

    def papers(self) -> Iterator[Tables]:
        """The papers' tables in which a run has a place: the cells that were measured."""
        for paper in published.papers():
            of_paper = tables(paper, self.runs, stands_for=self.stands_for)
            cells = tuple(cell for cell in of_paper.cells if cell.verdict != NOT_MEASURED)
            if cells:
                yield replace(of_paper, cells=cells, left_out=len(of_paper.cells) - len(cells))

    # -- the page -----------------------------------------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """The list of questions with what filters and search look at."""
        causes = {case.cause for case in self.cases.values()}
        return {
            "columns": [{"name": column.name, "short": column.short, "by": column.by} for column in self.columns],
            "measures": list(self.measures),
            "questions": [
                {"id": question.id, "text": clean(question.question),
                 "gold": [clean(gold, NAME) for gold in question.answers], "kinds": kinds(question)}
                for question in self.questions
            ],
            "answered": any(run.config["reader"] for run in self.runs),
            "causes": [cause for cause in CAUSES if cause in causes],
            "cells": [
                [self._brief(column, rows.get(question.id)) for question in self.questions]
                for column, (rows, *_) in zip(self.columns, self.rows)
            ],
        }  # fmt: skip

    def _brief(self, column: Column, row: dict | None) -> dict[str, Any] | None:
        if row is None:
            return None
        case, scores = self._case(column, row), row["scores"]
        return {
            "answer": None if row.get("answer") is None else short(row["answer"], NAME),
            **{name: bool(row[key]) for name, key in FLAGS.items()},
            "cause": case.cause if case else "",
            "scores": [_finite(scores.get(name)) for name in self.measures],
        }

    def _case(self, column: Column, row: dict) -> Case | None:
        return self.cases.get((column.run.folder, column.run.repeat, column.method, row["question_id"]))

    def details(self, question: Question) -> dict[str, Any]:
        """What the page shows of one question: its gold steps, and for each column a cell, with those of further
        repeats where there are any."""
        cells = []
        for column, times in zip(self.columns, self.rows):
            first, *repeats = (
                self._cell(column._replace(run=run), rows.get(question.id), question)
                for run, rows in zip(column.run.repeated, times)
            )
            cells.append(first | {"repeats": repeats} if first and any(repeats) else first)
        return {"gold": data_of(steps_table(question)), "cells": cells}

    def _cell(self, column: Column, row: dict | None, question: Question) -> dict[str, Any] | None:
        if row is None:
            return None
        run, judge = column.run, row["judge"]
        case = self._case(column, row)
        before, after = (_context(run, row, whole) for whole in (True, False))
        parts = [
            ("ranking", ranking_part(row, question, self.passages)),
            *([("context", texts_part(before, after, Marks(gold=question.answers)))] if after else []),
            *traced_parts(column.config, self._trace(run, row), question, self.passages),
        ]
        return {
            "answer": None if (answer := row.get("answer")) is None else clean(answer),
            "short": clean(row.get("short") or "", NAME),
            "abstained": bool(row["abstained"]),
            "failure": row["failure"] and bare(clean(row["failure"])),
            "fallback": row["fallback"] and bare(clean(row["fallback"], 400)),
            "cause": case and [case.cause, case.hop, clean(case.explanation, 600), case.rests_on],
            "reading": reading_text(Reading(**row["reading"])) if row["reading"] else "",
            "judge": _judged(judge) if judge else "",
            "scores": {name: score for name, score in row["scores"].items() if _finite(score) is not None},
            "parts": [(title, data_of(part)) for title, part in parts],
        }

    def _trace(self, run: Run, row: Mapping[str, Any]) -> Trace | None:
        if run.config["trace"] == "off":
            return None
        try:
            return run.trace(row["question_id"], row["method"])
        except FileNotFoundError:
            raise DataError(
                f"{run.folder} has no trace of question {row['question_id']!r} by {row['method']}, although the run "
                "keeps traces; evaluate into the same folder again, or bring its folder traces/ along"
            ) from None


def check(run: Run) -> None:
    """Raises :class:`SettingError` if another process writes the run or it has no rows, :class:`DataError` where its
    rows or questions are damaged."""
    if is_locked(run.folder):
        raise SettingError(f"another process is writing the run {run.folder}; wait until it has finished")
    path = run.folder / "results.jsonl"
    raw = path.read_bytes() if path.exists() else b""
    if not raw:
        raise SettingError(f"the run {run.folder} has no rows yet; evaluate first")
    if not raw.endswith(b"\n"):
        raise DataError(f"{path} ends within a row, because the run was stopped; continue it with the same evaluation")
    _ = run.rows, run.questions  # raises if they are damaged


def unfinished(run: Run) -> str:
    """What the run has not asked yet, in words; empty if it is complete."""
    whole = run.config["questions"]["n"] * len(run.methods)
    return f"unfinished: {len(run.rows):,} of {whole:,} rows" if len(run.rows) < whole else ""


def _rows_of(run: Run, method: str) -> dict[str, dict]:
    """Question id → row."""
    return {row["question_id"]: row for row in run.rows if row["method"] == method}


def kinds(question: Question) -> list[str]:
    """Type and hops of a question, as filters name them."""
    return [str(part) for part in (question.type, question.hops and counted(question.hops, "hop")) if part]


def made_by(run: Run, method: str) -> str:
    """Who answered: rules are labelled as rules."""
    parts = {
        "retrieval": run.config["methods"][method].get("engine"),
        "answers": (run.config.get("reading") or {}).get("engine"),
    }
    engines = {what: bare(name) for what, name in parts.items() if name}
    if not engines:
        return "no model"
    if len(set(engines.values())) == 1:
        return f"by {next(iter(engines.values()))}"
    return ", ".join(f"{what} by {name}" for what, name in engines.items())


def _opened(source: Run | Grid | str | Path) -> list[Run]:
    if isinstance(source, Run):
        return [source]
    if not isinstance(source, Grid):
        if not (Path(source) / "grid.json").exists():
            return [Run(source)]
        source = Grid(source)
    return list(source.runs.values())


def _named(folders: Sequence[Path]) -> list[str]:
    """The last parts of the folders, as many as make the names unique."""
    for depth in range(1, 4):
        names = ["/".join(folder.parts[-depth:]) for folder in folders]
        if len(set(names)) == len(names):
            return names
    return [f"{folder.name} ({number})" for number, folder in enumerate(folders, 1)]


def _shortened(names: Sequence[str], letters: int = 26) -> list[str]:
    """Names for lists, without their settings if they are unique without them."""
    shorts = [short(re.sub(r"\[.*\]", "", name), letters) for name in names]
    return shorts if len(set(shorts)) == len(names) else [short(name, NAME) for name in names]


def _diagnosed(run: Run, index: Index | None) -> Diagnosis | str:
    if run.config["reader"] is None:
        return "The run has no reader, so there are no answers to diagnose."
    judging = next((name for name in JUDGED_BY if name in run.measures and needs_reader(name)), None)
    if judging is None or "coverage" not in run.measures:
        return "The run has no measure of right answers and of coverage, which a diagnosis needs."
    return diagnose(run, index=index, measure=judging)


def _finite(score: float | None) -> float | None:
    """A score to four places; None for what JSON cannot hold."""
    return None if score is None or not isfinite(score) else round(score, 4)


def _judged(judge: Mapping[str, Any]) -> str:
    outcome = judge.get("failure") or judge.get("verdict")
    return clean("; ".join(str(part) for part in (outcome, judge.get("reason")) if part is not None), 400)


def _context(run: Run, row: Mapping[str, Any], whole: bool) -> str | None:
    try:
        return run.context(row, retrieved=whole)
    except FileNotFoundError as error:
        raise DataError(
            f"{run.folder} has no file {Path(error.filename).name} in contexts/, which question {row['question_id']!r} "
            f"by {row['method']} names; bring the folder along, or evaluate again"
        ) from None
