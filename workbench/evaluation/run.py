"""A run on disk: its rows, tables and comparisons. `docs/architecture.md` lists the files; their field names are
stable."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from workbench.errors import SettingError
from workbench.evaluation import sums
from workbench.evaluation.makers import NOBODY, made_by
from workbench.evaluation.significance import (
    Differences,
    bootstrap_interval,
    compared,
    corrected,
    defined,
    deviation,
    mean_of,
    mean_of_repeats,
)
from workbench.index.layer import warnings_of
from workbench.index.store import key_of
from workbench.llm.record import used
from workbench.measures import COSTS, UNDEFINED_AS_A_WHOLE
from workbench.measures.cost import seconds as seconds_of
from workbench.methods.base import CUT_TO_K
from workbench.records import Question, Record
from workbench.text import table_cell, text_hash
from workbench.trace import Trace

HYPOTHESES = ("recall@5", "all_gold@5", "em", "f1")  # measures that a comparison tests by default


class Run(Record):
    """An evaluation, opened from its folder; needs neither index nor engine.

    `methods`, `questions` (ids), `measures` and `repeats` (their number) select a part of it, in their order, because a
    folder may contain more than one call requested. `notes` are remarks on the run.

    A run with repeats has asked each question several times, each time with another seed. What it says of a question is
    then the mean of its repeats; `rows`, traces and contexts are those of the first, and `repeated` has them all."""

    repeat = 0  # the number of the repeat whose rows, traces and contexts these are

    def __init__(
        self,
        folder: str | Path,
        *,
        methods: Iterable[str] | None = None,
        questions: Iterable[str] | None = None,
        measures: Iterable[str] | None = None,
        repeats: int | None = None,
        notes: Iterable[str] = (),
    ):
        self.folder, self._notes = Path(folder), tuple(notes)
        if not (self.folder / "run.json").exists():
            raise SettingError(
                f"{folder} is not a run: it has no run.json; make one with wb.evaluate(…, out={str(folder)!r})"
            )
        self.config: dict = sums.read_config(self.folder)
        self.repeats: int = min(repeats or self.config.get("repeats", 1), self.config.get("repeats", 1))
        self._chosen = None if questions is None else list(questions)
        self.config |= {
            part: {name: self.config[part][name] for name in chosen}
            for part, chosen in (("methods", methods), ("measures", measures))
            if chosen is not None
        }
        if methods is not None or questions is not None:
            self.config = summed(self.config, self.questions)

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        return cls(folder)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks: rows that were asked again and why, and servers that changed while they were asked."""
        return (*self._notes, *_served(self.all_rows))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes numbers of the run look like results that they are not: failed questions, a method that fell back
        on most of its questions, and failed requests for the layers that the methods read. Every display begins with
        them."""
        layers: dict[str, Mapping[str, Any]] = {}
        for method in self.config["methods"].values():
            layers |= method.get("layers", {})
        return (*(warning for outcome in self._outcomes for warning in outcome.warnings()), *warnings_of(layers))

    @property
    def mostly_failed(self) -> bool:
        """Whether a method or its reader failed on most questions, or fell back on them after failed requests."""
        layers = [method.get("layers", {}) for method in self.config["methods"].values()]
        return any(outcome.mostly_failed(bool(warnings_of(used))) for outcome, used in zip(self._outcomes, layers))

    @property
    def _outcomes(self) -> list[Outcomes]:
        return [Outcomes.of(name, self._all_of(name)) for name in self.methods]

    @property
    def methods(self) -> list[str]:
        return list(self.config["methods"])

    @property
    def measures(self) -> list[str]:
        return list(self.config["measures"])

    def made_by(self, method: str) -> str:
        """Who made the numbers of a method: `method openai:8b; extractions by rules; reader openai:70b`."""
        return made_by(self.config, method)

    @property
    def judge(self) -> str | None:
        """The name of the judging engine, if any."""
        return self.config.get("judge")

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The questions of the run, with their gold."""
        stored = sums.read_questions_of(self.folder)
        if self._chosen is None:
            return stored
        by_id = {question.id: question for question in stored}
        return tuple(by_id[id_] for id_ in self._chosen)

    @cached_property
    def rows(self) -> list[dict]:
        """The rows of results.jsonl, one for each question and method: question_id, type, hops, method, key, ranking,
        selected, nodes, context, retrieved, context_tokens, read, read_tokens, answer, abstained, scores, scored,
        judge, reading, proof, failure, fallback, usage; `short` as well if the answer was rewritten, and `repeat` but
        in the first."""
        return self._rows_of(self.repeat)

    def _rows_of(self, repeat: int) -> list[dict]:
        cells = ((question.id, name, repeat) for question in self.questions for name in self.methods)
        return [self._cells[cell] for cell in cells if cell in self._cells]

    @cached_property
    def _cells(self) -> dict[sums.Cell, dict]:
        return sums.by_cell(self.folder / sums.ROWS)

    @property
    def all_rows(self) -> list[dict]:
        """The rows of all repeats."""
        return [row for run in self.repeated for row in run.rows]

    def _all_of(self, method: str) -> list[dict]:
        return [row for row in self.all_rows if row["method"] == method]

    @property
    def repeated(self) -> tuple[Run, ...]:
        """The run as each repeat has it, the first of which is this one. A repeat has the methods that can vary."""
        return (self, *self._others)

    @cached_property
    def _others(self) -> tuple[Run, ...]:
        return tuple(run for run in map(self._as_repeat, range(1, self.repeats)) if run.rows)

    def _as_repeat(self, number: int) -> Run:
        run, varying = copy(self), [name for name in self.methods if not self.deterministic(name)]
        run.repeat, run.repeats = number, 1
        run.config = {**self.config, "methods": {name: self.config["methods"][name] for name in varying}}
        run.rows = run._rows_of(number)
        return run

    def deterministic(self, method: str) -> bool:
        """Whether a repeat cannot differ: no model is asked, neither by the method nor by the reader or the judge."""
        parts = (self.config["methods"][method], self.config.get("reading"), self.config.get("judging"))
        return all("engine" in part and not varies(part["engine"]) for part in parts if part)

    def frame(self) -> pd.DataFrame:
        """One row per question and method, and with repeats, per `repeat`; measures are numeric columns, NaN if
        undefined."""
        rows = [
            {**row, **row["scores"], **({"repeat": run.repeat} if self.repeats > 1 else {})}
            for run in self.repeated
            for row in run.rows
        ]
        frame = pd.DataFrame(rows).drop(columns="scores", errors="ignore")
        return frame.astype({name: float for name in self.measures if name in frame})

    def scores(self, measure: str, method: str) -> dict[str, float]:
        """Question id → value, the mean of its repeats, for the questions for which the measure is defined. A failed
        question counts as 0. For costs, one unknown value empties the result: the others would not be the cost of the
        method."""
        values = self.values(measure, method)
        return {
            question: mean_of_repeats(several) if len(several) > 1 else several[0]
            for question, several in values.items()
        }

    def values(self, measure: str, method: str) -> dict[str, list[float]]:
        """Question id → the value of each repeat, as in `scores`; one value where repeats cannot differ."""
        if measure not in self.measures or method not in self.methods:
            raise SettingError(
                f"the run {self.folder} has no {measure!r} of {method!r}; its measures are {', '.join(self.measures)}, "
                f"its methods {', '.join(self.methods)}"
            )
        by_question: dict[str, list[float | None]] = {}
        for row in self._all_of(method):
            by_question.setdefault(row["question_id"], []).append(row["scores"].get(measure))
        if measure in UNDEFINED_AS_A_WHOLE and any(None in several for several in by_question.values()):
            return {}
        defined = {
            question: [value for value in several if value is not None] for question, several in by_question.items()
        }
        return {question: several for question, several in defined.items() if several}

    def intervals(self, measures: Sequence[str] | None = None) -> pd.DataFrame:
        """How certain the means are: a row per method and measure (by default `HYPOTHESES`), with n, mean, `low` and
        `high` of its 95 % interval over questions and repeats (`bootstrap_interval`; none below its `FEWEST`
        questions), the number of `repeats`, and the `deviation` between them, which is 0 where `deterministic`, and
        unknown without repeats."""
        rows = []
        for method, measure in ((method, name) for method in self.methods for name in self.tested(measures)):
            values = self.values(measure, method)
            low, high = bootstrap_interval(list(values.values()))
            rows.append(
                {"method": method, "measure": measure, "n": len(values),
                 "mean": mean_of(self.scores(measure, method).values()),
                 "low": defined(low), "high": defined(high), "repeats": self.asked(method),
                 "deviation": 0.0 if self.deterministic(method) else deviation(values.values()),
                 "deterministic": self.deterministic(method)}
            )  # fmt: skip
        return pd.DataFrame(rows)

    def asked(self, method: str) -> int:
        """How many times every question was asked; an unfinished repeat does not count. A deterministic method is asked
        once, which stands for all repeats."""
        if self.deterministic(method):
            return self.repeats
        counts = Counter(row["question_id"] for row in self._all_of(method))
        return min(counts.values(), default=0)

    def tested(self, measures: Sequence[str] | None) -> list[str]:
        """The measures asked for; by default the hypotheses among the run's measures, or without any, all that are not
        costs."""
        if measures is not None:
            return list(measures)
        hypotheses = [name for name in HYPOTHESES if name in self.measures]
        return hypotheses or [name for name in self.measures if name not in COSTS]

    def table(self, *, seconds: bool = False) -> pd.DataFrame:
        """Means over the questions, of the means over their repeats: a row per method, a column per measure, then the
        numbers of questions and failures; with a judge, its name and its failures; with repeats, how many times every
        question was asked, and the number of failures among them all; `by`: who made them (`made_by`). `seconds` adds
        the mean time of a question, which differs between runs, and `reused`, the number of questions whose time omits
        work of another row: the encoding of a text, or in a grid the retrieval, which then counts with its original
        seconds."""
        rows = {}
        for method in self.methods:
            mine = self._all_of(method)
            rows[method] = {measure: mean_of(self.scores(measure, method).values()) for measure in self.measures}
            rows[method] |= {"abstained": rows[method].get("abstained", mean_of(row["abstained"] for row in mine))}
            if seconds:
                rows[method] |= self._seconds(method)
            question_ids = len({row["question_id"] for row in mine})
            rows[method] |= {"questions": question_ids, "failures": sum(row["failure"] is not None for row in mine)}
            if self.judge:
                failed = sum(bool(row["judge"] and row["judge"]["failure"]) for row in mine)
                rows[method] |= {"judge": self.judge, "judge_failures": failed}
            if self.repeats > 1:
                rows[method] |= {"repeats": self.asked(method)}
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
        typed = table.astype({name: float for name in (*self.measures, "abstained") if name in table})
        return typed.assign(by=[self.made_by(method) for method in typed.index])

    def counts(self) -> pd.DataFrame:
        """The number of questions for which each measure is defined: a row per method, a column per measure."""
        rows = {m: {measure: len(self.scores(measure, m)) for measure in self.measures} for m in self.methods}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")

    def compare(self, baseline: str | None = None, measures: Sequence[str] | None = None) -> Differences:
        """Each method against the baseline (by default the first method), by question: difference of means with its
        95 % bootstrap interval, p of the paired randomisation test, and `p_holm`, that p after Holm's correction over
        all rows of the table: over the `measures` asked for, by default `HYPOTHESES`. The interval is that of one
        difference and is not corrected."""
        baseline = baseline or self.methods[0]
        rows = []
        for measure in self.tested(measures):
            base = self.values(measure, baseline)
            for method in self.methods:
                if method == baseline or not (comparison := compared(self.values(measure, method), base)):
                    continue
                names = {"measure": measure, "method": method, "baseline": baseline}
                means = {"n": comparison["n"], "value": comparison["value"], "baseline_value": comparison["baseline"]}
                rows.append(names | means | {name: comparison[name] for name in ("difference", "low", "high", "p")})
        return Differences({**row, "by": self.made_by(row["method"])} for row in corrected(rows))

    def trace(self, question_id: str, method: str) -> Trace:
        """The stored trace of one question and method."""
        return read_trace(self.folder, question_id, method, self.repeat)

    def context(self, row: Mapping, *, retrieved: bool = False) -> str | None:
        """The text that the reader saw for a row, or with `retrieved` the text before compression."""
        name = row.get("retrieved" if retrieved else "context")
        return sums.read_context(self.folder, name) if name else None

    def seconds(self) -> pd.DataFrame:
        """Seconds per question, method and stage."""
        return pd.DataFrame(
            [
                {"question_id": row["question_id"], "method": row["method"], "stage": stage, "seconds": seconds}
                for row in self.timed
                for stage, seconds in row["seconds"].items()
            ]
        )

    def _seconds(self, method: str) -> dict[str, float | None]:
        question_ids = {row["question_id"] for row in self.rows if row["method"] == method}
        timed = self.timed
        mine = [row for row in timed if row["method"] == method and row["question_id"] in question_ids]
        mean = {"seconds": mean_of(seconds_of(row["seconds"]) for row in mine)}
        reused = {"reused": sum(row.get("reused", False) for row in mine)}
        return mean | (reused if any(row.get("reused") for row in timed) else {})

    @property
    def timed(self) -> list[dict]:
        """The seconds of each question and method, by stage; empty if they were not kept."""
        path = self.folder / sums.TIMINGS
        rows = sums.read_rows(path)
        for number, row in enumerate(rows, 1):
            seconds = row.get("seconds")
            if not {"question_id", "method"} <= row.keys() or not isinstance(seconds, dict):
                raise sums.damaged(path, f"is damaged: line {number} says no seconds", "delete this line")
        return [row for row in rows if row.get("repeat", 0) == self.repeat]

    @property
    def recordings(self) -> dict[Path, set[str]]:
        """Recording → keys of the requests that it answered, of all rows and repeats (`workbench.llm.record.export`).
        Rows of an earlier version do not say it."""
        return used(sums.read_rows(self.folder / sums.TIMINGS), self.folder)

    def save_summaries(self) -> None:
        """usage.json and table.csv, both derived from the rows."""
        sums.write_new(self.folder / "usage.json", json.dumps(_usage(self.all_rows), indent=1) + "\n")
        out = io.StringIO()
        self.table().rename(index=table_cell).to_csv(out, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
        sums.write_new(self.folder / "table.csv", out.getvalue())


class Outcomes(NamedTuple):
    """How the questions of a method ended: why each that failed did, and why each that fell back did."""

    method: str
    questions: int
    failures: list[str]
    fallbacks: list[str]

    @classmethod
    def of(cls, method: str, rows: Sequence[Mapping[str, Any]]) -> Outcomes:
        """A ranking that was only cut is no fall-back."""
        failures = [row["failure"] for row in rows if row["failure"] is not None]
        remarks = [row["fallback"] for row in rows if row["failure"] is None and row["fallback"]]
        fallbacks = [remark for remark in remarks if any(CUT_TO_K not in part for part in remark.split("; "))]
        return cls(method, len(rows), failures, fallbacks)

    def warnings(self) -> Iterator[str]:
        if self.failures:
            yield (
                f"{self.method}: {len(self.failures):,} of {self.questions:,} questions failed and count as 0 "
                f"({_most_frequent(self.failures)})"
            )
        if 2 * len(self.fallbacks) > self.questions:
            yield (
                f"{self.method}: fell back on {len(self.fallbacks):,} of {self.questions:,} questions "
                f"({_most_frequent(self.fallbacks)})"
            )

    def mostly_failed(self, index_lacks: bool) -> bool:
        """Whether most questions failed, or fell back because something failed: a request, or those for the index."""
        fell_back = sum(index_lacks or "failed" in fallback for fallback in self.fallbacks)
        return 2 * (len(self.failures) + fell_back) > self.questions


def _most_frequent(reasons: Sequence[str]) -> str:
    """The most frequent reason, the first of equals, in at most 200 characters."""
    return Counter(reasons).most_common(1)[0][0][:200]


def trace_name(question_id: str, method: str, repeat: int = 0) -> str:
    """A valid file name for any question and method, with the number of a repeat behind it."""
    return f"{text_hash(json.dumps([question_id, method]))}{f'-{repeat}' if repeat else ''}.jsonl"


def read_trace(folder: Path, question_id: str, method: str, repeat: int) -> Trace:
    """The stored trace of a row of the run in a folder."""
    name = f"traces/{trace_name(question_id, method, repeat)}"
    sums.content(folder, name)
    return Trace.open(folder / name)


def varies(engines: str | None) -> bool:
    """Whether the engines named by a part of a run can answer differently to another seed; rules cannot.

    >>> varies("openai:gpt-4o-mini, rules"), varies("rules"), varies(None)
    (True, False, False)
    """
    return any(engine != "rules" for engine in (engines or "").split(", ") if engine)


def _served(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Remarks on servers whose reported configuration changed."""
    served: dict[str, Counter[str]] = {}
    for row in rows:
        for engine, fingerprints in row.get("fingerprints", {}).items():
            served.setdefault(engine, Counter()).update(fingerprints)
    for engine, counts in served.items():
        if len(counts) > 1:
            served_by = ", ".join(f"{fingerprint} in {count:,} rows" for fingerprint, count in sorted(counts.items()))
            yield f"the server of {engine} changed while the run was made (system fingerprints: {served_by})"


def summed(config: Mapping[str, Any], questions: Iterable[Question]) -> dict[str, Any]:
    """A configuration completed with what follows from its methods, reader, judge and questions: the number of
    questions, the engines and the prompts."""
    stored = [asdict(question) for question in questions]
    parts = [*config["methods"].values(), config.get("reading"), config.get("judging")]
    engines = {name for part in parts[:-1] if part for name in (part.get("engine") or "").split(", ") if name}
    prompts = {name: prompt for part in parts if part for name, prompt in part.get("prompts", {}).items()}
    return {
        **config,
        "questions": {"n": len(stored), "hash": key_of(questions=stored)},
        "engine": ", ".join(sorted(engines)) or NOBODY,
        "prompts": dict(sorted(prompts.items())),
        "judge": (config.get("judging") or {}).get("engine"),
    }


def alike(runs: Mapping[str, Run]) -> dict[tuple[str, str], list[str]]:
    """(the first label, method) → the labels of the runs whose readers gave the same answers to the same texts."""
    same: dict[tuple, list[str]] = {}
    for label, run in runs.items():
        for method in run.methods:
            mine = [row for row in run.rows if row["method"] == method]
            outcomes = tuple(tuple(map(row.get, ("question_id", "answer", "failure", "context"))) for row in mine)
            same.setdefault((method, outcomes), []).append(label)
    return {(labels[0], method): labels for (method, _), labels in same.items()}


def _usage(rows: Sequence[Mapping]) -> dict[str, dict[str, dict[str, Any]]]:
    """method → Step → calls, tokens, money. Money is None if any price is unknown."""
    total: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        steps = total.setdefault(row["method"], {})
        for step, usage in row["usage"].items():
            so_far = steps.setdefault(step, {})
            for name, value in usage.items():  # a row has `by_rules` only where rules stood in
                before = so_far.get(name, 0)
                so_far[name] = None if value is None or before is None else before + value
    return total
