"""Sentences that several notebooks share in their verdicts and conclusions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from workbench.evaluation.run import Run
from workbench.evaluation.verdict import Verdict
from workbench.measures.answers import exact_match
from workbench.records import Question
from workbench.text import counted


def state_run(verdict: Verdict, run: Run | None) -> None:
    """Check that no question of a run failed, and state its means; nothing without one."""
    if run:
        table = run.table()
        verdict.none("failed questions", int(table["failures"].sum()))
        verdict.state(**{f"{m} {measure}": table.loc[m, measure] for m in run.methods for measure in run.measures})


def over(questions: int, made_by: str) -> str:
    """The beginning of whether it helped, over so many questions."""
    return f"Did it help? Over {counted(questions, 'question')}, {made_by}"


def helped(run: Run | None, measures: Sequence[str], method: str = "") -> str:
    """Whether a `method` of a run, by default the last, did better than its first, by each of the `measures`."""
    if not run:
        return "Did it help? There are no questions with gold to say so."
    method = method if method in run.methods else run.methods[-1]
    rows = run.compare(measures=measures).to_dict("records")
    differences = "; ".join(_difference(row) for row in rows if row["method"] == method) or "nothing was measured"
    return f"{over(len(run.questions), run.made_by(method))}: {differences}."


def decided(row: Mapping[str, Any]) -> str:
    """What the interval of a difference says: "better", "worse" or "undecided"; "" where there is none, because there
    are too few questions."""
    if pd.isna(row["low"]):
        return ""
    return "better" if row["low"] > 0 else "worse" if row["high"] < 0 else "undecided"


def answered(question: Question, answer: str) -> str:
    """How a question ended, beside its gold where it has some."""
    ending = f"ends in {answer or '(no answer)'}"
    if not question.answers:
        return ending
    right = "right" if exact_match(answer, question.answers) else f"wrong: the gold is {question.answers[0]}"
    return f"{ending}, which is {right}"


def _difference(row: Mapping[str, Any]) -> str:
    says = decided(row)
    interval = f", 95 % {row['low']:+.3f} to {row['high']:+.3f}" if says else ""
    return (
        f"{row['measure']} is {row['value']:.3f} with {row['method']} and {row['baseline_value']:.3f} with "
        f"{row['baseline']} (difference {row['difference']:+.3f}{interval}: {says or 'undecided'})"
    )
