"""Paired differences of means as a terminal shows them: a row each, with its interval and p-values."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workbench.display import text
from workbench.evaluation.significance import FEWEST, UNCORRECTED, Differences
from workbench.text import clean
from workbench.views.terminal import printed

_LEAD = ("measure", "reader", "method")  # what names a row
# What is shown of a row, and where a frame has it: `baseline` is a name in some, and a mean in others.
_SHOWN = {
    "against": ("against", "baseline"), "n": ("n",), "mean": ("value",), "baseline": ("baseline_value", "baseline"),
    "difference": ("difference",), "low": ("low",), "high": ("high",), "p": ("p",), "p_holm": ("p_holm",),
}  # fmt: skip


def shown_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Who is held against whom, over how many questions, both means, their difference, its interval, p and p after
    Holm's correction: a row each, None where there is no interval."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [
        {name: row[name] for name in _LEAD if name in row}
        | {shown: next(row[name] for name in names if name in row) for shown, names in _SHOWN.items()}
        for row in rows
    ]


def notes(frame: pd.DataFrame) -> list[str]:
    """What the numbers do not say by themselves."""
    few = len(frame) and frame["low"].isna().any()
    makers = frame["by"].unique() if "by" in frame else ()
    return [
        "low and high: the 95 % interval of the difference, by paired bootstrap"
        + (f" (– of fewer than {FEWEST} questions, of which it would say too little)." if few else "."),
        UNCORRECTED,
        *(["Made by: " + "; or ".join(clean(one, 300) for one in makers)] if len(makers) else []),
    ]


@text.register
def _(frame: Differences) -> str:
    if not len(frame):
        return "No differences: there is one method alone, or no measure that both have."
    return "\n".join([printed(shown_rows(frame), len([name for name in _LEAD if name in frame])), *notes(frame)])
