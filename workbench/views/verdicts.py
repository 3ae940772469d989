"""The views of what stands behind a cell of a paper's tables: conditions, questions, claims."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.papers.comparable import Conditions, Questions
from workbench.papers.condition import DIFFERS, SAME, UNKNOWN, Condition
from workbench.papers.tables import NOT_COMPARABLE, NOT_MEASURED, REPRODUCED, Cell, Claims
from workbench.text import clean, counted, short
from workbench.views.parts import (
    NAME,
    Part,
    Words,
    details,
    faint,
    fold,
    group,
    interval,
    line,
    marked,
    number,
    quiet,
    strong,
    table,
    view,
    words,
)
from workbench.views.tables import MARKS, interval_text, printed_text

MARK = MARKS | {NOT_MEASURED: "–", SAME: "✓", UNKNOWN: "?", True: "✓", False: "✗", None: "–"}
KIND = {  # what a state or a verdict looks like
    REPRODUCED: "same", SAME: "same", True: "same", DIFFERS: "differs", False: "differs",  # of numbers, of conditions
    NOT_COMPARABLE: "unknown", UNKNOWN: "unknown", NOT_MEASURED: "none", None: "none",
}  # fmt: skip
SHOWN = 200  # questions of a cell that are listed
LONG = 1_000  # characters of a condition or a note


def mark(state: Any, said: str = "") -> Part | None:
    """The mark of a verdict, of a condition's state or of whether a claim holds, with its word."""
    said = said or {True: "holds", False: "fails", None: "not measured"}.get(state, state)
    return marked(f"mark {KIND[state]}", MARK[state], clean(said, NAME))


def chips(counts: dict[str, int]) -> Part | None:
    """How many there are of each verdict or state."""
    return line(*(mark(state, f"{count:,} {state}") for state, count in counts.items()))


def heading(cell: Cell) -> Part | None:
    """What a cell is, the printed number beside ours, and its verdict."""
    names = " · ".join(filter(None, (f"Table {cell.table}", cell.backbone, cell.method, cell.data, cell.measure)))
    ours = () if cell.ours is None else (strong(f"{cell.ours:.4f}"), f" [{interval_text(cell)}], n={cell.n:,}")
    p = "" if cell.p is None else f", p={cell.p:.3f} ({cell.p_holm:.3f} corrected) against the baseline"
    return group(
        line(strong(names, limit=2 * NAME), mark(cell.verdict), sep=" \u00a0 "),
        line(
            words("published ", strong(printed_text(cell)), ", ours " if ours else "", ours, p, sep=""),
            interval_of(cell),
        ),
    )


def interval_of(cell: Cell) -> Part | None:
    """Our mean with its interval as a bar, the published number as a diamond, from 0 to 1 or, of a difference, -1."""
    if cell.ours is None:
        return None
    ends = [cell.published, cell.ours, *(end for end in (cell.low, cell.high) if end is not None)]
    least, most = (-1.0, 1.0) if min(ends) < 0 else (0.0, max(1.0, *ends))
    bar = interval(cell.low, cell.ours, cell.high, least, most, cell.published)
    return words(bar, faint("● ours, ◇ published"))


# -- conditions -------------------------------------------------------------------------------------------------------


view.register(Conditions, lambda shown: group(heading(shown.cell), conditions_part(shown)))
view.register(Questions, lambda shown: group(heading(shown.cell), questions_part(shown)))


def conditions_part(shown: Conditions) -> Part | None:
    if not shown.rows:
        why = f" ({'; '.join(shown.cell.why)})" if shown.cell.why else ""
        return line(f"No run can fill this cell{why[:LONG]}: there is no method, measure or data set of ours for it.")
    ours = "ours" if shown.cell.run else "a run of ours for it"
    unlike = [row for row in shown.rows if row.state != SAME]
    alike = [row for row in shown.rows if row.state == SAME]
    return group(
        chips(shown.counts()),
        quiet(_whose(shown), f"the table itself: {clean(shown.note, LONG)}" if shown.note else ""),
        _sides(unlike, ours) or line("All conditions are the same."),
        fold(f"{len(alike)} conditions that are the same", _sides(alike, ours)),
    )


def _sides(rows: Iterable[Condition], ours: str) -> Part | None:
    cells = ((clean(row.name, NAME), _said(row.theirs), _said(row.ours), mark(row.state)) for row in rows)
    return table(["condition", "the paper", ours, ""], cells)


def _said(value: str) -> Words:
    value = "none" if value == "None" else value  # as a paper's conditions spell it
    return clean(value, LONG) if value else faint("not said")


def _whose(shown: Conditions) -> str:
    made = " and ".join(short(one, LONG // 2) for one in shown.of)
    if shown.cell.run:
        return f"measured as {made}, in {short(shown.cell.run, NAME)}"
    return f"not measured; the paper's conditions ask for {made}"


# -- questions, claims, and what a number takes -----------------------------------------------------------------------


def questions_part(shown: Questions) -> Part | None:
    if not shown.rows:
        return line("No question was asked for this cell.")
    several = len(shown.sides) > 1
    scores = ["first side", "second side"] if several else [clean(shown.measure, NAME)]
    rows = [
        (*one.scores, one.question_id, one.question, one.answer, " · ".join(one.gold)) for one in shown.rows[:SHOWN]
    ]
    more = len(shown.rows) - SHOWN
    order = f"the lowest {'difference' if several else 'score'} first"
    return group(
        quiet(
            f"{counted(len(shown.rows), 'question')}, {order}{f'; {more:,} more are not listed' if more > 0 else ''}"
        ),
        table([*scores, "id", "question", "answer", "gold"], rows, 300),
    )


@view.register
def claims_part(shown: Claims) -> Part | None:
    def held(holds: bool | None, value: Any) -> Words:
        said = number(value) if isinstance(value, float) else str(value)
        return mark(holds), None if holds is None else faint(said, limit=200)

    rows = [
        (clean(one.name, 300), clean(one.where, NAME), held(one.own, one.own_value), held(one.ours, one.our_value))
        for one in shown.claims
    ]
    counts = ", ".join(f"{count} {what}" for what, count in shown.counts().items())
    flaws = table(["where", "what does not agree"], shown.inconsistencies, LONG)
    return group(
        line(strong(shown.title, limit=NAME), f": {counts}", sep=""),
        table(["claim", "place", "by its own numbers", "by ours"], rows) or line("No claim is listed."),
        details(f"{len(shown.inconsistencies)} inconsistencies of the source", flaws, open=True),
    )
