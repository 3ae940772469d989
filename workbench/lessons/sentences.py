"""What the closing sentences of several notebooks have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from workbench.experiments.run import Run
from workbench.measures.em import exact_match
from workbench.records import Question


def helped(run: Run | None, measures: tuple[str, ...]) -> str:
    """Whether the methods of a run did better than its first one, by a comparison for each of the `measures`."""
    if run is None:
        return "Did it help? There are no questions with gold to say so."
    rows = run.compare(measures=measures).to_dict("records")
    told = "; ".join(map(_difference, rows)) or "nothing was measured"
    return f"Did it help? Over {len(run.questions):,} questions, {run.made_by(run.methods[-1])}: {told}."


def answered(question: Question, answer: str) -> str:
    """How a question ended, beside its gold where it has some."""
    said = f"ends in {answer or '(no answer)'}"
    if not question.answers:
        return said
    right = "right" if exact_match(answer, question.answers) else f"wrong: the gold is {question.answers[0]}"
    return f"{said}, which is {right}"


def _difference(row: Mapping[str, Any]) -> str:
    interval = "" if pd.isna(row["low"]) else f", 95 % {row['low']:+.3f} to {row['high']:+.3f}"
    return (
        f"{row['measure']} is {row['value']:.3f} with {row['method']} and {row['baseline_value']:.3f} with "
        f"{row['baseline']} (difference {row['difference']:+.3f}{interval})"
    )
