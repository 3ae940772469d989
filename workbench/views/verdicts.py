"""The views of what stands behind a cell of a paper's tables: conditions, questions, claims."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.display import html
from workbench.papers.comparable import Conditions, Questions
from workbench.papers.condition import DIFFERS, SAME, UNKNOWN, Condition
from workbench.papers.tables import NOT_COMPARABLE, NOT_MEASURED, REPRODUCED, Cell, Claims
from workbench.text import clean, counted, short
from workbench.views.base import NAME, Markup, details, esc, number, page, table
from workbench.views.run import interval_picture
from workbench.views.tables import MARKS, interval_text, printed_text

MARK = MARKS | {NOT_MEASURED: "–", SAME: "✓", UNKNOWN: "?", True: "✓", False: "✗", None: "–"}
KIND = {  # what a state or a verdict looks like
    REPRODUCED: "same", SAME: "same", True: "same", DIFFERS: "differs", False: "differs",  # of numbers, of conditions
    NOT_COMPARABLE: "unknown", UNKNOWN: "unknown", NOT_MEASURED: "none", None: "none",
}  # fmt: skip
SHOWN = 200  # questions of a cell that are listed
LONG = 1_000  # characters of a condition or a note


def mark(state: Any, words: str | None = None) -> Markup:
    """The mark of a verdict, of a condition's state or of whether a claim holds, with its word."""
    said = words or {True: "holds", False: "fails", None: "not measured"}.get(state, state)
    return Markup(f"<span class='mark {KIND[state]}'>{MARK[state]} {esc(said, NAME)}</span>")


def chips(counts: dict[str, int]) -> str:
    """How many there are of each verdict or state."""
    return " ".join(mark(state, f"{count:,} {state}") for state, count in counts.items())


def heading(cell: Cell) -> str:
    """What a cell is, the printed number beside ours, and its verdict."""
    names = " · ".join(filter(None, (f"Table {cell.table}", cell.backbone, cell.method, cell.data, cell.measure)))
    ours = "" if cell.ours is None else f", ours <b>{cell.ours:.4f}</b> [{interval_text(cell)}], n={cell.n:,}"
    p = "" if cell.p is None else f", p={cell.p:.3f} ({cell.p_holm:.3f} corrected) against the baseline"
    return (
        f"<p><b>{esc(names, 2 * NAME)}</b> &nbsp; {mark(cell.verdict)}</p>"
        f"<p>published <b>{printed_text(cell)}</b>{ours}{p} {interval(cell)}</p>"
    )


def interval(cell: Cell) -> str:
    """Our mean with its interval as a bar, the published number as a diamond, from 0 to 1 or, of a difference, -1."""
    if cell.ours is None:
        return ""
    ends = [cell.published, cell.ours, *(end for end in (cell.low, cell.high) if end is not None)]
    least, most = (-1.0, 1.0) if min(ends) < 0 else (0.0, max(1.0, *ends))
    drawn = interval_picture(cell.low, cell.ours, cell.high, least, most, cell.published)
    return f"{drawn} <span class='q'>● ours, ◇ published</span>"


# -- conditions -------------------------------------------------------------------------------------------------------


html.register(Conditions, lambda shown: page(heading(shown.cell), conditions_part(shown)))
html.register(Questions, lambda shown: page(heading(shown.cell), questions_part(shown)))
html.register(Claims, lambda shown: page(claims_part(shown)))


def conditions_part(shown: Conditions) -> str:
    if not shown.rows:
        why = f" ({'; '.join(shown.cell.why)})" if shown.cell.why else ""
        said = f"No run can fill this cell{why[:LONG]}: there is no method, measure or data set of ours for it."
        return f"<p>{esc(said)}</p>"
    ours = "ours" if shown.cell.run else "a run of ours for it"
    unlike = [row for row in shown.rows if row.state != SAME]
    alike = [row for row in shown.rows if row.state == SAME]
    return "".join(
        (
            f"<p>{chips(shown.counts())}</p><p class='q'>{esc(_whose(shown), LONG)}</p>",
            f"<p class='q'>the table itself: {esc(shown.note, LONG)}</p>" if shown.note else "",
            _sides(unlike, ours) if unlike else "<p>All conditions are the same.</p>",
            details(f"{len(alike)} conditions that are the same", _sides(alike, ours)) if alike else "",
        )
    )


def _sides(rows: Iterable[Condition], ours: str) -> str:
    rows = [(clean(row.name, NAME), _said(row.theirs), _said(row.ours), mark(row.state)) for row in rows]
    return table(["condition", "the paper", ours, ""], rows)


def _said(value: str) -> Markup:
    value = "none" if value == "None" else value  # as a paper's conditions spell it
    return Markup(esc(value, LONG)) if value else Markup("<span class='q'>not said</span>")


def _whose(shown: Conditions) -> str:
    made = " and ".join(short(one, LONG // 2) for one in shown.of)
    if shown.cell.run:
        return f"measured as {made}, in {short(shown.cell.run, NAME)}"
    return f"not measured; the paper's conditions ask for {made}"


# -- questions, claims, and what a number takes -----------------------------------------------------------------------


def questions_part(shown: Questions) -> str:
    if not shown.rows:
        return "<p>No question was asked for this cell.</p>"
    several = len(shown.sides) > 1
    scores = ["first side", "second side"] if several else [clean(shown.measure, NAME)]
    rows = [
        (*one.scores, one.question_id, one.question, one.answer, " · ".join(one.gold)) for one in shown.rows[:SHOWN]
    ]
    more = len(shown.rows) - SHOWN
    return (
        f"<p class='q'>{counted(len(shown.rows), 'question')}, the lowest {'difference' if several else 'score'} first"
        f"{f'; {more:,} more are not listed' if more > 0 else ''}</p>"
        + table([*scores, "id", "question", "answer", "gold"], rows, 300)
    )


def claims_part(shown: Claims) -> str:
    def held(holds: bool | None, value: Any) -> Markup:
        said = number(value) if isinstance(value, float) else str(value)
        return Markup(mark(holds) + ("" if holds is None else f" <span class='q'>{esc(said, 200)}</span>"))

    rows = [
        (clean(one.name, 300), clean(one.where, NAME), held(one.own, one.own_value), held(one.ours, one.our_value))
        for one in shown.claims
    ]
    counts = ", ".join(f"{count} {what}" for what, count in shown.counts().items())
    flaws = table(["where", "what does not agree"], shown.inconsistencies, LONG)
    return (
        f"<p><b>{esc(shown.title, NAME)}</b>: {esc(counts)}</p>"
        + (table(["claim", "place", "by its own numbers", "by ours"], rows) if rows else "<p>No claim is listed.</p>")
        + details(f"{len(shown.inconsistencies)} inconsistencies of the source", flaws, open=True)
    )
