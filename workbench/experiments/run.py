"""A run on disk: its rows, tables and comparisons. `docs/architecture.md` lists the files; their field names are
stable."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workbench.errors import DataError, SettingError
from workbench.experiments.makers import NOBODY, made_by
from workbench.experiments.significance import bootstrap_interval, holm, paired_test
from workbench.index.store import cut_torn_line, key_of, write_atomically
from workbench.measures import UNDEFINED_AS_A_WHOLE
from workbench.measures.seconds import seconds as seconds_of
from workbench.records import Question, Record, record_of
from workbench.text import text_hash
from workbench.trace import Trace

FORMAT = 4  # of run.json and of the rows
# Fields missing from rows of earlier formats.
_SINCE = {
    "type": None, "hops": None, "key": None, "selected": None, "nodes": (), "retrieved": None, "read": None,
    "read_tokens": None, "scored": None, "reading": None, "proof": None, "fallback": None,
}  # fmt: skip


class Run(Record):
    """An evaluation, opened from its folder; needs neither index nor engine.

    `methods`, `questions` (ids) and `measures` select a part of it, in their order, because a folder may contain more
    than one call requested. `notes` are remarks on the run."""

    def __init__(
        self,
        folder: str | Path,
        *,
        methods: Iterable[str] | None = None,
        questions: Iterable[str] | None = None,
        measures: Iterable[str] | None = None,
        notes: Iterable[str] = (),
    ):
        self.folder, self.notes = Path(folder), tuple(notes)
        if not (self.folder / "run.json").exists():
            raise SettingError(
                f"{folder} is not a run: it has no run.json; make one with wb.evaluate(…, out={str(folder)!r})"
            )
        self.config: dict = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        if self.config.get("format", 1) > FORMAT:
            raise DataError(
                f"{folder} has run format {self.config['format']}; this version reads up to {FORMAT}: upgrade hopscope"
            )
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
        """The questions of the run, with their gold; empty for an earlier format."""
        kept = read_questions_of(self.folder)
        if self._chosen is None:
            return kept
        known = {question.id: question for question in kept}
        return tuple(known[one] for one in self._chosen)

    @cached_property
    def rows(self) -> list[dict]:
        """The rows of results.jsonl, one for each question and method: question_id, type, hops, method, key, ranking,
        selected, nodes, context, retrieved, context_tokens, read, read_tokens, answer, abstained, scores, scored,
        judge, reading, proof, failure, fallback, usage; `short` as well if the answer was rewritten. Fields missing
        from an earlier format are None."""
        found = {cell: {**_SINCE, **row} for cell, row in by_cell(self.folder / "results.jsonl").items()}
        asked = [question.id for question in self.questions]
        if not asked:  # of an earlier format
            return list(found.values())
        return [found[one, name] for one in asked for name in self.methods if (one, name) in found]

    def frame(self) -> pd.DataFrame:
        """One row per question and method; measures are numeric columns, NaN if undefined."""
        rows = [{**row, **row["scores"]} for row in self.rows]
        frame = pd.DataFrame(rows).drop(columns="scores", errors="ignore")
        return frame.astype({name: float for name in self.measures if name in frame})

    def scores(self, measure: str, method: str) -> dict[str, float]:
        """Question id → value, for the questions for which the measure is defined. A failed question counts as 0. For
        costs, one unknown value empties the result: the others would not be the cost of the method."""
        if measure not in self.measures or method not in self.methods:
            raise SettingError(f"the run has the measures {self.measures} and the methods {self.methods}")
        values = {row["question_id"]: row["scores"].get(measure) for row in self.rows if row["method"] == method}
        if measure in UNDEFINED_AS_A_WHOLE and None in values.values():
            return {}
        return {question: value for question, value in values.items() if value is not None}

    def table(self, *, seconds: bool = False) -> pd.DataFrame:
        """Means over the questions: a row per method, a column per measure, then the numbers of questions and failures;
        with a judge, its name and its failures; `by`: who made them (`made_by`). `seconds` adds the mean time of a
        question, which differs between runs, and `reused`, the number of questions whose time omits work of another
        row: the encoding of a text, or in a grid the retrieval, which then counts with its original seconds."""
        rows = {}
        for method in self.methods:
            mine = [row for row in self.rows if row["method"] == method]
            rows[method] = {measure: _mean(self.scores(measure, method)) for measure in self.measures}
            rows[method] |= {"abstained": rows[method].get("abstained", _mean_of(row["abstained"] for row in mine))}
            if seconds:
                rows[method] |= self._seconds(method)
            rows[method] |= {"questions": len(mine), "failures": sum(row["failure"] is not None for row in mine)}
            if self.judge:
                failed = sum(bool(row["judge"] and row["judge"]["failure"]) for row in mine)
                rows[method] |= {"judge": self.judge, "judge_failures": failed}
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
        typed = table.astype({name: float for name in (*self.measures, "abstained") if name in table})
        return typed.assign(by=[self.made_by(method) for method in typed.index])

    def counts(self) -> pd.DataFrame:
        """The number of questions for which each measure is defined: a row per method, a column per measure."""
        rows = {m: {measure: len(self.scores(measure, m)) for measure in self.measures} for m in self.methods}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")

    def compare(self, baseline: str | None = None, measures: Sequence[str] | None = None) -> pd.DataFrame:
        """Each method against the baseline (by default the first method): difference of means with a 95 % bootstrap
        interval, p of the paired randomisation test, and p after Holm's correction over all rows of the table."""
        baseline = baseline or self.methods[0]
        rows = []
        for measure in measures or self.measures:
            base = self.scores(measure, baseline)
            for method in self.methods:
                mine = self.scores(measure, method)
                common = sorted(base.keys() & mine.keys())
                if method == baseline or not common:
                    continue
                a, b = np.array([mine[q] for q in common]), np.array([base[q] for q in common])
                low, high = bootstrap_interval(a - b)
                rows.append(
                    {"measure": measure, "method": method, "baseline": baseline, "n": len(common), "value": a.mean(),
                     "baseline_value": b.mean(), "difference": (a - b).mean(), "low": low, "high": high,
                     "p": paired_test(a, b)}
                )  # fmt: skip
        frame = pd.DataFrame(rows)
        by = [self.made_by(method) for method in frame.get("method", ())]
        return frame.assign(p_holm=holm(frame["p"].tolist()), by=by) if len(frame) else frame

    def trace(self, question_id: str, method: str) -> Trace:
        """The stored trace of one question and method."""
        return Trace.open(self.folder / "traces" / trace_name(question_id, method))

    def context(self, row: Mapping, *, retrieved: bool = False) -> str | None:
        """The text that the reader saw for a row, or with `retrieved` the text before compression."""
        name = row.get("retrieved" if retrieved else "context")
        return (self.folder / "contexts" / name).read_text(encoding="utf-8") if name else None

    def seconds(self) -> pd.DataFrame:
        """Seconds per question, method and stage."""
        return pd.DataFrame(
            [
                {"question_id": row["question_id"], "method": row["method"], "stage": stage, "seconds": seconds}
                for row in self._timed
                for stage, seconds in row["seconds"].items()
            ]
        )

    def _seconds(self, method: str) -> dict[str, float | None]:
        asked = {row["question_id"] for row in self.rows if row["method"] == method}
        timed = self._timed
        mine = [row for row in timed if row["method"] == method and row["question_id"] in asked]
        mean = {"seconds": _mean_of(seconds_of(row["seconds"]) for row in mine)}
        reused = {"reused": sum(row.get("reused", False) for row in mine)}
        return mean | (reused if any(row.get("reused") for row in timed) else {})

    @property
    def _timed(self) -> list[dict]:
        return read_rows(self.folder / "timings.jsonl")

    def save_summaries(self) -> None:
        """usage.json and table.csv, both derived from the rows."""
        write_new(self.folder / "usage.json", json.dumps(_usage(self.rows), indent=1) + "\n")
        out = io.StringIO()
        self.table().to_csv(out, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
        write_new(self.folder / "table.csv", out.getvalue())


def trace_name(question_id: str, method: str) -> str:
    """A valid file name for any question and method."""
    return f"{text_hash(json.dumps([question_id, method]))}.jsonl"


def write_new(path: Path, text: str) -> None:
    """Write a file if its content changes, so that a run without new rows modifies nothing."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, text)


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


def read_questions_of(folder: Path) -> tuple[Question, ...]:
    """The questions that a run stores, if any."""
    return tuple(record_of(Question, row) for row in read_rows(folder / "questions.jsonl"))


def read_rows(path: Path, *, mend: bool = False) -> list[dict]:
    """The rows of a JSON Lines file. `mend` removes the torn last line of a killed process."""
    if not path.exists():
        return []
    if mend:
        cut_torn_line(path)
    raw = path.read_bytes()
    return [json.loads(line) for line in raw[: raw.rfind(b"\n") + 1].splitlines()]


def by_cell(path: Path) -> dict[tuple[str, str], dict]:
    """(question id, method) → the last such row of a JSON Lines file."""
    return {(row["question_id"], row["method"]): row for row in read_rows(path)}


def _mean(scores: Mapping[str, float]) -> float | None:
    return _mean_of(scores.values())


def _mean_of(values: Iterable[float | None]) -> float | None:
    """The mean of the defined values."""
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


def _usage(rows: Sequence[Mapping]) -> dict[str, dict[str, dict[str, Any]]]:
    """method → Step → calls, tokens, money. Money is None if any price is unknown."""
    total: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        steps = total.setdefault(row["method"], {})
        for step, usage in row["usage"].items():
            so_far = steps.setdefault(step, dict.fromkeys(usage, 0))
            for name, value in usage.items():
                so_far[name] = None if value is None or so_far[name] is None else so_far[name] + value
    return total
