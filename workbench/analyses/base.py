"""Shared by the analyses: their result and the checks of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench import display
from workbench.data.curated import CURATED
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.evaluation.significance import bootstrap_interval, defined
from workbench.index.store import key_of
from workbench.llm.engine import no_model
from workbench.measures import WHOLE
from workbench.records import Question, Record
from workbench.text import storable

if TYPE_CHECKING:
    from workbench.views.charts import Picture


@dataclass(frozen=True, slots=True, repr=False)
class Analysis(Record):
    """`rows` map columns to values, None if a number is undefined or unknown; `notes` are cautions about the numbers;
    `draw` makes the figure: the name of a picture (:mod:`workbench.display`), or a function of the analysis."""

    title: str
    rows: tuple[Mapping[str, Any], ...] = field(hash=False)
    notes: tuple[str, ...] = ()
    draw: str | Callable[..., Picture] | None = field(default=None, kw_only=True, compare=False)

    def frame(self) -> pd.DataFrame:
        return frame_of(self.rows)

    def tables(self) -> dict[str, pd.DataFrame]:
        """The displayed tables by title."""
        return {"": self.frame()}

    def figure(self) -> Picture:
        if self.draw is None:
            raise NotImplementedError("this Analysis has no figure; give it one that draws it: draw=…")
        made = display.picture(self.draw, self) if isinstance(self.draw, str) else self.draw(self)
        made.data = self.frame() if made.data is None else made.data
        return made


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows for pandas, which does not accept lone surrogates."""
    return pd.DataFrame([{k: storable(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows])


def known_methods(run: Run, methods: Iterable[str] | None) -> list[str]:
    """The requested methods, by default all of the run."""
    chosen = run.methods if methods is None else list(methods)
    if unknown := [name for name in chosen if name not in run.methods]:
        raise SettingError(f"the run {run.folder} has no method {unknown[0]!r}; it has {', '.join(run.methods)}")
    return chosen


Runs = Run | str | Path | Mapping[str, Run] | Iterable[Any] | Any  # folders of runs too, and what has `runs`, as grids


def runs_of(given: Runs) -> dict[str, Run]:
    """Label → run, for one run or its folder, several, or a grid. A run without a label is named by its reader, or by
    its folder if two have the same reader."""
    given = getattr(given, "runs", given)
    if isinstance(given, Mapping):
        return dict(given)
    parts = [given] if isinstance(given, Run | str | Path) else list(given)
    opened = (Run(part) if isinstance(part, str | Path) else part for part in parts)
    several = [run for part in opened for run in getattr(part, "runs", (part,))]
    readers = [run.config["reader"] or "" for run in several]
    return {
        reader if readers.count(reader) == 1 else str(run.folder): run
        for reader, run in zip(readers, several, strict=True)
    }


def of_runs(given: Runs, methods: Iterable[str] | None = None) -> Iterator[tuple[str, Run, str]]:
    """(label, run, method): all configurations of the runs."""
    methods = None if methods is None else list(methods)
    for label, run in runs_of(given).items():
        yield from ((label, run, method) for method in known_methods(run, methods))


def questions_of(run: Run, questions: Iterable[Question] | None = None) -> dict[str, Question]:
    """The questions of the run by id, by default those that it stores. Additional questions are allowed; raises
    :class:`SettingError` unless all of the run's are given, with the gold that it was measured with."""
    given = {question.id: question for question in (run.questions if questions is None else questions)}
    ids = list(dict.fromkeys(row["question_id"] for row in run.rows))
    if missing := [id for id in ids if id not in given]:
        raise SettingError(
            f"question {missing[0]!r} of the run {run.folder} is not among the {len(given):,} given "
            f"({len(missing):,} are missing); pass the questions that it was asked"
        )
    mine = {id: given[id] for id in ids}
    whole = len(ids) == run.config["questions"]["n"]
    if whole and key_of(questions=[asdict(question) for question in mine.values()]) != run.config["questions"]["hash"]:
        raise SettingError(
            f"the questions have the same ids as those of the run {run.folder}, but other texts, gold or types; "
            "pass the questions as they were when it was made"
        )
    return mine


def same_questions(first: Run, *others: Run) -> None:
    """Raise :class:`SettingError` unless all runs were asked the same questions."""
    for run in others:
        if run.config["questions"] != first.config["questions"]:
            raise SettingError(
                f"the runs {first.folder} and {run.folder} have different questions; pass runs over the same questions"
            )


def kinds_among(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any, set[str]]]:
    """(`type` or `hops`, a kind, the ids of its questions) of rows with `question_id`, `type` and `hops`."""
    rows = list(rows)
    for by in ("type", "hops"):
        for kind in sorted({row[by] for row in rows} - {None}):
            yield by, kind, {row["question_id"] for row in rows if row[by] == kind}


def among(values: Mapping[str, Any], ids: Container[str]) -> dict[str, Any]:
    """The values of these questions."""
    return {id: value for id, value in values.items() if id in ids}


def paired(ours: Mapping[str, float], base: Mapping[str, float]) -> dict[str, float | None]:
    """The mean difference over the questions of both, and its 95 % bootstrap interval, None for too few questions."""
    common = sorted(ours.keys() & base.keys())
    if not common:
        return {"difference": None, "low": None, "high": None}
    differences = np.array([ours[question] - base[question] for question in common])
    low, high = bootstrap_interval(differences)
    return {"difference": float(differences.mean()), "low": defined(low), "high": defined(high)}


def cautions_of(runs: Runs) -> tuple[str, ...]:
    """The cautions that apply to every number of the runs, each once."""
    return tuple(dict.fromkeys(note for run in runs_of(runs).values() for note in cautions(run)))


def cautions(run: Run) -> Iterator[str]:
    """The cautions that apply to every number of a run, its warnings first."""
    yield from run.warnings
    yield from made_with(run)
    if len(run.rows) < run.config["questions"]["n"] * len(run.methods):
        yield "The run is not finished; what it has so far is shown."
    if run.repeats > 1:
        yield f"Scores are means of {run.repeats} repeats; what is read from rows and traces is of the first."


def made_with(run: Run) -> Iterator[str]:
    """What of a run no language model made: the answers of Steps, the facts."""
    for label in dict.fromkeys(filter(None, map(no_model, run.config["engine"].split(", ")))):
        yield f"Made with {label}, not with a language model."
    layers = (layer for method in run.config["methods"].values() for layer in method.get("layers", {}).values())
    makers = {maker for layer in layers for maker in layer.get("made_by") or ()}
    for label in filter(makers.__contains__, CURATED):
        yield f"The facts of the graph were brought by the data ({label}), not extracted."


def unreachable(run: Run, measures: Iterable[str]) -> Iterator[str]:
    """How many questions have more gold passages than the k of `all_gold@k` and `joint@k`, which are 0 for them
    whatever is retrieved (`docs/traps.md`, HippoRAG 2 and CatRAG: T29). Nothing is said if there are none."""
    for name in measures:
        base, _, k = name.partition("@")
        count = sum(len(question.support) > int(k) for question in run.questions) if base in WHOLE else 0
        if count:
            whole = len(run.questions)
            yield f"{name} is 0 for {count:,} of {whole:,} questions, which have more than {k} gold passages."


def measured(run: Run, measures: Sequence[str]) -> list[str]:
    """The measures that the run has; raises :class:`SettingError` if it has none of them."""
    available = [name for name in measures if name in run.measures]
    if not available:
        raise SettingError(
            f"the run {run.folder} has none of {', '.join(measures)}; it has {', '.join(run.measures)}. Answers are "
            "measured where a reader is given: wb.evaluate(…, reader)"
        )
    return available
