"""The views of analyses, of an estimate, of regression runs (what moved, from what to what), and of a grid and a
diagnosis: why the answers of a run are wrong, counted and case by case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from workbench.analyses import Analysis
from workbench.analyses.base import cautions_of
from workbench.analyses.diagnose import CAUSES, Case, Diagnosis
from workbench.display import text
from workbench.evaluation.estimate import Cost, Estimate, Range
from workbench.evaluation.grid import Grid
from workbench.notebooks.regression import Checked, Finding, Regression
from workbench.text import clean, counted, short
from workbench.views.parts import (
    NAME,
    Part,
    bad,
    details,
    fold,
    group,
    italic,
    line,
    number,
    quiet,
    strong,
    table,
    tag,
    view,
    warned,
)

ROWS = 60  # rows of a table; frame() has all


@view.register
def _(analysis: Analysis) -> Part | None:
    tables = (part for title, frame in analysis.tables().items() for part in (line(title), frame_part(frame)))
    return group(line(strong(analysis.title, limit=NAME)), *tables, quiet(*analysis.notes, limit=400))


def frame_part(frame: pd.DataFrame) -> Part | None:
    """A pandas table without its index; long texts are shortened."""
    plain = frame.astype(object).where(frame.notna(), None).values
    rows = [
        [short(cell, 100) if isinstance(cell, str) else cell.item() if hasattr(cell, "item") else cell for cell in row]
        for row in plain
    ]
    return table([str(name).replace("_", " ") for name in frame], rows, most=ROWS)


# -- estimates -------------------------------------------------------------------------------------------------------

_HEADERS = ("part", "step", "calls", "prompt tokens", "completion tokens", "US dollars", "in batches", "time")
_BATCHED = _HEADERS.index("in batches")


@view.register
def _(estimate: Estimate) -> Part | None:
    headers, *rows, total = _rows(estimate)
    rules = "rules ask no model: no calls, no money" if estimate.engine == "rules" else ""
    notes = quiet(rules, *estimate.measured, *estimate.unknown, limit=500)
    return group(
        line(strong(f"Estimate for {clean(estimate.what, NAME)}, engine {clean(estimate.engine, NAME)}")),
        table(headers, [total, *rows]),
        details("what it was measured on, and what is not known", notes, open=True),
    )


def _rows(estimate: Estimate) -> list[tuple[str, ...]]:
    """The headers, a row per cost, and the total. The price in batches is a column only if it differs."""
    rows = [_HEADERS, *(_row(cost) for cost in [*estimate.costs, estimate.total])]
    if any(cost.batched != cost.money for cost in estimate.costs):
        return rows
    return [row[:_BATCHED] + row[_BATCHED + 1 :] for row in rows]


def _row(cost: Cost) -> tuple[str, ...]:
    counts = (_range(value, "{:,.0f}".format) for value in (cost.calls, cost.prompt_tokens, cost.completion_tokens))
    money = (_range(value, _dollars) for value in (cost.money, cost.batched))
    return clean(cost.part, NAME), clean(cost.step, NAME), *counts, *money, _range(cost.seconds, _time)


def _range(value: Range | None, form) -> str:
    """The number, and its range if that differs; an unknown number is not shown as 0."""
    if value is None:
        return "unknown"
    middle = form(value.value)
    if value.low is None or value.high is None:
        return f"{middle} (spread unknown)"
    ends = form(value.low), form(value.high)
    return middle if set(ends) == {middle} else f"{middle} ({ends[0]} to {ends[1]})"


def _dollars(value: float) -> str:
    return f"{value:,.2f}" if value >= 1 else f"{value:.4f}" if value else "0"


def _time(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{seconds:.1f} s" if seconds else "0"


# -- regression -------------------------------------------------------------------------------------------------------

MOST = 40  # findings of a notebook that are shown
LONGEST = 160  # characters of a value
ACCEPT = (
    "If all of this is meant, `workbench run --accept` records it; --only takes single notebooks, and a failed one is "
    "never recorded."
)


@view.register
def _(regression: Regression) -> Part | None:
    return group(*map(view, regression.notebooks), *map(line, _ending(regression)))


@view.register
def _(checked: Checked) -> Part | None:
    outcome = counted(len(checked.findings), "finding") if checked.findings else "nothing moved"
    compared = f" ({checked.compared:,} compared)" if checked.compared else ""
    listed = table(["", "of", "name", "before → now", "by"], map(_cells, checked.findings), most=MOST)
    return group(line(strong(f"{checked.notebook}: {outcome}{compared}")), listed)


@text.register
def _(finding: Finding) -> str:
    return "  ".join(filter(None, _cells(finding)))


def _ending(regression: Regression) -> list[str]:
    moved = sum(bool(checked.findings) for checked in regression.notebooks)
    if not moved and not regression.accepted:
        return [f"Nothing moved in {counted(len(regression.notebooks), 'notebook')}."]
    if regression.accepted:
        baselines = counted(len(regression.accepted), "baseline")
        return [f"Recorded {baselines} in {regression.accepted[0].parent}; see `git diff`."]
    return [f"{moved} of {counted(len(regression.notebooks), 'notebook')} moved. {ACCEPT}"]


def _cells(finding: Finding) -> tuple[str, str, str, str, str]:
    """Kind, subject, name, values, and difference."""
    by = "" if finding.by is None else f"by {finding.by:+.6g}"
    return finding.kind, finding.of, clean(finding.name, LONGEST), _values(finding), by


def _values(finding: Finding) -> str:
    if finding.kind == "no baseline":
        return "`workbench run --accept` records one"
    if finding.kind in ("new", "failed"):
        return _value(finding.after)
    if finding.kind == "vanished":
        return "" if finding.before is None else f"was {_value(finding.before)}"
    more = "; there is no baseline for it" if finding.kind == "other parameters" else ""
    return f"{_value(finding.before)} → {_value(finding.after)}{more}"


def _value(value: Any) -> str:
    if isinstance(value, dict) and {"value", "holds"} <= value.keys():  # a check
        return f"{_value(value['value'])} ({'holds' if value['holds'] else 'fails'}, expected {value['expected']})"
    if isinstance(value, list) and len(value) == 3 and all(isinstance(item, float) for item in value):
        return "{} [{}, {}]".format(*map(number, value))
    return f"{value:.8g}" if isinstance(value, float) else clean(value, LONGEST)


# -- diagnosis --------------------------------------------------------------------------------------------------------

OF_GRID = ("accuracy", "em", "f1", "coverage", "coverage:read", "read_tokens", "abstained", "questions", "failures")
SHOWN = 30  # cases of one cause that are listed; frame() has all


@view.register
def _(grid: Grid) -> Part | None:
    """The means, then recomputed rows and cautions, except those among the warnings at the top."""
    begun = {warning for run in grid.runs.values() for warning in run.warnings}
    notes = [f"{label}: {note}" for label, run in grid.runs.items() for note in run.notes]
    notes += [caution for caution in cautions_of(grid) if caution not in begun]
    means = grid.table()
    sizes = f"{counted(len(grid.methods), 'method')} × {counted(len(grid.readers), 'reader')}"
    return group(
        warned(grid.warnings),
        line(strong(f"Grid in {grid.folder}: {sizes}", limit=NAME)),
        frame_part(means[[name for name in OF_GRID if name in means]].reset_index()),
        quiet(*notes, limit=400),
    )


@view.register
def _(diagnosis: Diagnosis) -> Part | None:
    return group(warned(diagnosis.run.warnings), diagnosis_part(diagnosis), cases_part(diagnosis.cases))


def diagnosis_part(diagnosis: Diagnosis) -> Part | None:
    """The counts, without the cases."""
    total, reader = sum(count for _, count in diagnosis.asked), diagnosis.run.config["reader"]
    title = f"Why {len(diagnosis.cases):,} of {total:,} answers by {reader} are wrong"
    tables = (
        # The column `reader` is the same in every row, and part of the title.
        group(line(strong(name, limit=NAME)), frame_part(frame.drop(columns="reader", errors="ignore")))
        for name, frame in diagnosis.tables().items()
    )
    return group(line(strong(title, limit=NAME)), *tables, quiet(*diagnosis.notes, limit=400))


@view.register
def case_part(case: Case) -> Part | None:
    """One wrong answer: the question, the answer, the gold, the cause, and its basis."""
    gold = clean(" · ".join(case.gold), NAME) or "not in the corpus"
    return group(
        line(clean(case.question, 400), tag(case.question_id, limit=NAME)),
        line(strong(case.answer, limit=NAME) or italic("no answer"), f"gold: {gold}", sep=" \u00a0 "),
        line(bad(_where(case), limit=NAME), f": {clean(case.explanation, 600)}", sep=""),
        quiet(f"rests on {clean(case.rests_on, NAME)}; {clean(case.method, NAME)}, {clean(case.reader, NAME)}"),
    )


def cases_part(cases: Sequence[Case]) -> Part | None:
    """The cases by cause, each collapsible."""
    parts = []
    for cause in CAUSES:
        rows = [
            (*(short(cell, 160) for cell in (case.question_id, case.question, case.answer, " · ".join(case.gold))),
             case.hop, case.explanation)
            for case in cases
            if case.cause == cause
        ]  # fmt: skip
        listed = table(["id", "question", "answer", "gold", "hop", "why"], rows, 300, SHOWN)
        parts.append(fold([f"{len(rows):,} ×", strong(cause)], listed))
    return group(*parts)


def _where(case: Case) -> str:
    return case.cause + (f", step {case.hop}" if case.hop else "")
