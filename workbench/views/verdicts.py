"""The views of the details of a cell in a paper's tables: conditions, questions, claims."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.papers.comparable import Conditions, Questions
from workbench.papers.condition import DIFFERS, SAME, UNKNOWN, Condition
from workbench.papers.tables import NOT_COMPARABLE, NOT_MEASURED, REPRODUCED, Cell, Claim, Claims
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
KIND = {  # state or verdict → its look
    REPRODUCED: "same", SAME: "same", True: "same", DIFFERS: "differs", False: "differs",  # of numbers, of conditions
    NOT_COMPARABLE: "unknown", UNKNOWN: "unknown", NOT_MEASURED: "none", None: "none",
}  # fmt: skip
SHOWN = 200  # questions of a cell that are listed
LONG = 1_000  # characters of a condition or a note


def mark(state: Any, label: str = "") -> Part | None:
    """The mark of a verdict, of a condition's state or of whether a claim holds, with a label."""
    label = label or {True: "holds", False: "fails", None: "not measured"}.get(state, state)
    return marked(f"mark {KIND[state]}", MARK[state], clean(label, NAME))


def chips(counts: dict[str, int]) -> Part | None:
    """The count of each verdict or state."""
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


view.register(Conditions, lambda conditions: group(heading(conditions.cell), conditions_part(conditions)))
view.register(Questions, lambda questions: group(heading(questions.cell), questions_part(questions)))


def conditions_part(conditions: Conditions) -> Part | None:
    if not conditions.rows:
        why = f" ({'; '.join(conditions.cell.why)})" if conditions.cell.why else ""
        return line(f"No run can fill this cell{why[:LONG]}: there is no method, measure or data set of ours for it.")
    ours = "ours" if conditions.cell.run else "a run of ours for it"
    unlike = [row for row in conditions.rows if row.state != SAME]
    alike = [row for row in conditions.rows if row.state == SAME]
    return group(
        chips(conditions.counts()),
        quiet(_whose(conditions), f"the table itself: {clean(conditions.note, LONG)}" if conditions.note else ""),
        _sides(unlike, ours) or line("All conditions are the same."),
        fold(f"{len(alike)} conditions that are the same", _sides(alike, ours)),
    )


def _sides(rows: Iterable[Condition], ours: str) -> Part | None:
    cells = (
        (clean(row.name, NAME), _condition_text(row.theirs), _condition_text(row.ours), mark(row.state)) for row in rows
    )
    return table(["condition", "the paper", ours, ""], cells)


def _condition_text(value: str) -> Words:
    value = "none" if value == "None" else value  # as a paper's conditions spell it
    return clean(value, LONG) if value else faint("not said")


def _whose(conditions: Conditions) -> str:
    made = " and ".join(short(label, LONG // 2) for label in conditions.of)
    if conditions.cell.run:
        return f"measured as {made}, in {short(conditions.cell.run, NAME)}"
    return f"not measured; the paper's conditions ask for {made}"


# -- questions, claims, and what a number takes -----------------------------------------------------------------------


def questions_part(questions: Questions) -> Part | None:
    if not questions.rows:
        return line("No question was asked for this cell.")
    several = len(questions.sides) > 1
    scores = ["first side", "second side"] if several else [clean(questions.measure, NAME)]
    rows = [
        (*row.scores, row.question_id, row.question, row.answer, " · ".join(row.gold)) for row in questions.rows[:SHOWN]
    ]
    count, more = counted(len(questions.rows), "question"), len(questions.rows) - SHOWN
    order = f"the lowest {'difference' if several else 'score'} first"
    return group(
        quiet(f"{count}, {order}{f'; {more:,} more are not listed' if more > 0 else ''}"),
        table([*scores, "id", "question", "answer", "gold"], rows, 300),
    )


@view.register
def claims_part(claims: Claims) -> Part | None:
    def held(holds: bool | None, value: Any) -> Words:
        written = number(value) if isinstance(value, float) else str(value)
        return mark(holds), None if holds is None else faint(written, limit=200)

    def listed(some: Iterable[Claim]) -> Part | None:
        rows = [
            (
                clean(claim.name, 300),
                clean(claim.where, NAME),
                held(claim.own, claim.own_value),
                held(claim.ours, claim.our_value),
            )
            for claim in some
        ]
        return table(["claim", "place", "by its own numbers", "by ours"], rows)

    failing = [claim for claim in claims.claims if False in (claim.own, claim.ours)]
    others = [claim for claim in claims.claims if claim not in failing]
    counts = ", ".join(f"{count} {what}" for what, count in claims.counts().items())
    flaws = table(["where", "what does not agree"], claims.inconsistencies, LONG)
    return group(
        line(strong(claims.title, limit=NAME), f": {counts}", sep=""),
        listed(failing) or line("No claim fails."),
        fold(f"{counted(len(others), 'claim')} that no number contradicts", listed(others)),
        details(f"{len(claims.inconsistencies)} inconsistencies of the source", flaws, open=True),
    )
