"""The views of what stands behind a cell of a paper's tables: conditions, questions, claims, cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.display import html, text
from workbench.papers.comparable import Asked, Conditions, Needed, Questions
from workbench.papers.condition import DIFFERS, SAME, UNKNOWN, Condition
from workbench.papers.planning import AMOUNTS
from workbench.papers.tables import NOT_COMPARABLE, NOT_MEASURED, REPRODUCED, Cell, Claim, Claims
from workbench.text import clean, counted, short
from workbench.views.base import NAME, Markup, details, esc, number, page, table
from workbench.views.palette import BLUE, GREEN, ORANGE, VERMILION
from workbench.views.tables import MARKS, aligned, amount, interval_text, printed_text

MARK = MARKS | {NOT_MEASURED: "–", SAME: "✓", UNKNOWN: "?", True: "✓", False: "✗", None: "–"}
KIND = {  # what a state or a verdict looks like
    REPRODUCED: "same", SAME: "same", True: "same", DIFFERS: "differs", False: "differs",  # of numbers, of conditions
    NOT_COMPARABLE: "unknown", UNKNOWN: "unknown", NOT_MEASURED: "none", None: "none",
}  # fmt: skip
SHOWN = 200  # questions of a cell that are listed
LONG = 1_000  # characters of a condition or a note

# A colour, a mark and a word for each: none of them alone carries the meaning.
STYLE = f"""<style>
.hopscope .mark{{display:inline-block;white-space:nowrap;border-radius:3px;padding:0 .45em;
 border-left:4px solid var(--c,#8888);background:color-mix(in srgb,var(--c,#888) 16%,transparent)}}
.hopscope .same{{--c:{GREEN}}} .hopscope .differs{{--c:{VERMILION}}} .hopscope .unknown{{--c:{ORANGE}}}
.hopscope .none{{--c:#888}}
.hopscope svg.interval{{vertical-align:middle}}
</style>"""
_AXIS, _HIGH = 260, 26  # pixels of the picture of an interval


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
    low, high = (cell.ours, cell.ours) if cell.low is None else (cell.low, cell.high)
    least, most = (-1.0, 1.0) if min(cell.published, low) < 0 else (0.0, max(1.0, cell.published, high))
    x = lambda value: 6 + (value - least) / (most - least) * (_AXIS - 12)  # noqa: E731
    low, ours, high, there = map(x, (low, cell.ours, high, cell.published))
    says = f"ours {cell.ours:.3f} [{interval_text(cell)}]; published {cell.published:.3f}"
    ends = "".join(f"<text x='{x(end):.1f}' y='24' font-size='9' text-anchor='middle' fill='currentColor' opacity='.6'>"
                   f"{end:g}</text>" for end in (least, most))  # fmt: skip
    return (
        f"<svg class='interval' width='{_AXIS}' height='{_HIGH}' role='img' aria-label='{says}'><title>{says}</title>"
        f"<line x1='6' x2='{_AXIS - 6}' y1='9' y2='9' stroke='currentColor' opacity='.3'/>{ends}"
        f"<line x1='{low:.1f}' x2='{high:.1f}' y1='9' y2='9' stroke='{BLUE}' stroke-width='6' opacity='.5'/>"
        f"<circle cx='{ours:.1f}' cy='9' r='4.5' fill='{BLUE}'/>"
        f"<path d='M{there:.1f} 2 l6 7 -6 7 -6 -7z' fill='none' stroke='{VERMILION}' stroke-width='2'/></svg>"
        f" <span class='q'>● ours, ◇ published</span>"
    )


# -- conditions -------------------------------------------------------------------------------------------------------


@html.register
def _(shown: Conditions) -> str:
    return page(STYLE, heading(shown.cell), conditions_part(shown))


def conditions_part(shown: Conditions) -> str:
    if not shown.rows:
        return f"<p>{esc(_nothing(shown.cell))}</p>"
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
    return table(
        ["condition", "the paper", ours, ""],
        [
            (clean(row.name, NAME), _said(row.theirs, "not said"), _said(row.ours, "not said"), mark(row.state))
            for row in rows
        ],
    )


def _said(value: str, nothing: str) -> Markup:
    value = "none" if value == "None" else value  # as a paper's conditions spell it
    return Markup(esc(value, LONG)) if value else Markup(f"<span class='q'>{nothing}</span>")


def _whose(shown: Conditions) -> str:
    made = " and ".join(short(one, LONG // 2) for one in shown.of)
    if shown.cell.run:
        return f"measured as {made}, in {short(shown.cell.run, NAME)}"
    return f"not measured; the paper's conditions ask for {made}"


def _nothing(cell: Cell) -> str:
    why = f" ({'; '.join(cell.why)})" if cell.why else ""
    return f"No run can fill this cell{why[:LONG]}: there is no method, measure or data set of ours for it."


@text.register
def _(shown: Conditions) -> str:
    rows = [[row.name, row.theirs or "not said", row.ours or "not said", row.state] for row in shown.rows]
    rows = [[clean(one, 60) for one in row] for row in rows]
    counts = ", ".join(f"{count} {state}" for state, count in shown.counts().items())
    return "\n".join([f"{_cell_line(shown.cell)}", f"conditions: {counts}", *aligned(rows)])


def _cell_line(cell: Cell) -> str:
    names = " · ".join(filter(None, (cell.table, cell.backbone, cell.method, cell.data, cell.measure)))
    ours = "" if cell.ours is None else f", ours {cell.ours:.4f} [{interval_text(cell)}]"
    return f"{clean(names, 2 * NAME)}: published {printed_text(cell)}{ours}: {clean(cell.verdict, NAME)}"


# -- questions --------------------------------------------------------------------------------------------------------


@html.register
def _(shown: Questions) -> str:
    return page(STYLE, heading(shown.cell), questions_part(shown))


def questions_part(shown: Questions) -> str:
    if not shown.rows:
        return "<p>No question was asked for this cell.</p>"
    several = len(shown.sides) > 1
    scores = ["first side", "second side"] if several else [clean(shown.measure, NAME)]
    rows = [
        (*one.scores, clean(one.question_id, NAME), clean(one.question, 300), clean(one.answer, NAME), _gold(one))
        for one in shown.rows[:SHOWN]
    ]
    more = len(shown.rows) - SHOWN
    return (
        f"<p class='q'>{counted(len(shown.rows), 'question')}, the lowest {'difference' if several else 'score'} first"
        f"{f'; {more:,} more are not listed' if more > 0 else ''}</p>"
        + table([*scores, "id", "question", "answer", "gold"], rows)
    )


def _gold(one: Asked) -> str:
    return clean(" · ".join(one.gold), NAME)


@text.register
def _(shown: Questions) -> str:
    rows = [
        [*(number(score, 3) for score in one.scores), clean(one.question_id, 40), clean(one.question, 70)]
        for one in shown.rows[:20]
    ]
    return "\n".join([_cell_line(shown.cell), counted(len(shown.rows), "question"), *(aligned(rows) if rows else [])])


# -- claims -----------------------------------------------------------------------------------------------------------


@html.register
def _(shown: Claims) -> str:
    return page(STYLE, claims_part(shown))


def claims_part(shown: Claims) -> str:
    rows = [
        (clean(one.name, 300), clean(one.where, NAME), *(Markup(_held(*of)) for of in _by(one))) for one in shown.claims
    ]
    return (
        f"<p><b>{esc(shown.title, NAME)}</b>: {esc(_counted(shown))}</p>"
        + (table(["claim", "place", "by its own numbers", "by ours"], rows) if rows else "<p>No claim is listed.</p>")
        + details(f"{len(shown.inconsistencies)} inconsistencies of the source",
                  table(["where", "what does not agree"], [tuple(clean(one, LONG) for one in pair)
                                                           for pair in shown.inconsistencies]), open=True)
    )  # fmt: skip


def _by(one: Claim) -> tuple[tuple[bool | None, Any], ...]:
    return (one.own, one.own_value), (one.ours, one.our_value)


def _held(holds: bool | None, value: Any) -> str:
    if holds is None:
        return mark(None)
    said = number(value) if isinstance(value, float) else str(value)
    return f"{mark(holds)} <span class='q'>{esc(said, 200)}</span>"


def _counted(shown: Claims) -> str:
    return ", ".join(f"{count} {what}" for what, count in shown.counts().items())


@text.register
def _(shown: Claims) -> str:
    rows = [[MARK[one.own], MARK[one.ours], clean(one.where, 40), clean(one.name, 100)] for one in shown.claims]
    return "\n".join(
        [
            f"{clean(shown.title, NAME)}: {_counted(shown)}",
            *(aligned([["own", "ours", "place", "claim"], *rows]) if rows else []),
            *(f"{clean(where, NAME)}: {clean(what, 400)}" for where, what in shown.inconsistencies),
        ]
    )


# -- what it takes ----------------------------------------------------------------------------------------------------


@html.register
def _(shown: Needed) -> str:
    return page(STYLE, heading(shown.cell), needed_part(shown))


def needed_part(shown: Needed) -> str:
    columns, rows = _took(shown)
    return "".join(
        (
            "<p><b>What money buys</b></p>" + table(columns, rows) if rows else "",
            *(f"<p class='q'>{esc(note, LONG)}</p>" for note in shown.notes),
            f"<p><b>What it does not buy</b>: {len(shown.open)} conditions stay open after that run</p>{_open(shown)}"
            if shown.open
            else "",
        )
    )


def _open(shown: Needed) -> str:
    """What stays open, each with what can be done about it."""
    return table(["condition", "", "what to do"], [(clean(name, NAME), mark(state), clean(advice, LONG))
                                                   for name, state, advice in map(_advice, shown.open)])  # fmt: skip


def _advice(row: Condition) -> tuple[str, str, str]:
    """The name and state of a condition, and what could close it."""
    if row.state == DIFFERS:
        return row.name, row.state, f"ours differs by design ({row.why}); ask the authors for theirs"
    if not row.theirs:
        return row.name, row.state, f"the paper does not say it; ask the authors. Ours: {row.ours or 'not chosen yet'}"
    return row.name, row.state, f"ours is not said: {row.why}"


def _took(shown: Needed) -> tuple[list[str], list[list[Any]]]:
    if shown.frame.empty:
        return [], []
    rows = [*shown.frame.to_dict("records"), {"asked": "all", "what": "", "reader": "", **shown.total}]
    written = [[short(str(row[name]), NAME) for name in ("asked", "what", "reader")] for row in rows]
    columns = ["asked", "what", "reader", *(name.replace("_", " ") for name in AMOUNTS)]
    return columns, [
        [*names, *(amount(name, row[name]) for name in AMOUNTS)] for names, row in zip(written, rows)
    ]  # fmt: skip


@text.register
def _(shown: Needed) -> str:
    columns, rows = _took(shown)
    open_ = [f"  {row.state}: {clean(row.name, 60)}: {clean(row.why, 200)}" for row in shown.open]
    return "\n".join(
        [
            _cell_line(shown.cell),
            *(aligned([columns, *rows]) if rows else []),
            *(clean(note, LONG) for note in shown.notes),
            f"{len(open_)} conditions stay open:",
            *open_,
        ]
    )
