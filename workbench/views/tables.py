"""The look of a paper's tables next to measured numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from workbench.experiments.tables import DIFFERS, NOT_COMPARABLE, REPRODUCED, Cell, Tables
from workbench.experiments.verdict import Verdict
from workbench.views.base import NAME, clean, details, esc, html, page, table, text

MARKS = {REPRODUCED: "✓", DIFFERS: "✗", NOT_COMPARABLE: "?"}
LEGEND = "published | ours: ✓ reproduced, ✗ differs, ? not comparable; alone: not measured"
SHOWN = 30  # measurements whose reasons are listed


@html.register
def _(tables: Tables) -> str:
    parts = [f"<p><b>{esc(title)}</b></p>{table(columns, rows)}" for title, columns, rows in _parts(tables)]
    verdicts = [details(esc(one.title), html(one)) for one in (tables.claims, tables.measured) if one]
    return page(
        f"<p><b>{esc(tables.title)}</b>: {esc(_counted(tables))}</p><p class='q'>{esc(LEGEND)}</p>",
        *(parts or ["<p>No number of these has a place in the paper's tables.</p>"]),
        *(f"<p class='q'>{esc(note)}</p>" for note in tables.notes),
        details("why numbers are not comparable", table(["measured as", "of", "why"], _reasons(tables))),
        *verdicts,
        details("what else does not agree in the source", table(["where", "what"], tables.inconsistencies)),
    )


@text.register
def _(tables: Tables) -> str:
    lines = [f"{clean(tables.title, NAME)}: {_counted(tables)}", LEGEND]
    for title, columns, rows in _parts(tables):
        lines += ["", title, *aligned([columns, *rows])]
    lines += ["", *(clean(note, 400) for note in tables.notes)]
    lines += [f"not comparable: {label} ({of}): {why}" for label, of, why in _reasons(tables)]
    for verdict in (tables.claims, tables.measured):
        lines += ["", *_failing(verdict)] if verdict else []
    lines += ["", *(f"{clean(where, NAME)}: {clean(what, 400)}" for where, what in tables.inconsistencies)]
    return "\n".join(lines).rstrip()


def _parts(tables: Tables) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Each table of the paper: its title, its columns, its rows of text."""
    key = ["backbone", "method"] + ["measured as"] * any(cell.label for cell in tables.cells)
    for number, cells in groupby(tables.cells, lambda cell: cell.table):
        rows: dict[tuple, dict[str, str]] = {}
        for cell in cells:
            row = rows.setdefault((cell.backbone, cell.method, cell.label or "")[: len(key)], {})
            row[f"{cell.data} {cell.measure}"] = _said(cell)
        columns = list(dict.fromkeys(column for row in rows.values() for column in row))
        yield (
            f"Table {number}" if number.isdigit() else number.capitalize(),
            [*key, *columns],
            [[clean(text, NAME) for text in (*names, *(row.get(c, "") for c in columns))]
             for names, row in rows.items()],
        )  # fmt: skip


def _said(cell: Cell) -> str:
    published = f"{cell.published:.{3 if cell.measure == 'em' else 4}f}"
    if cell.ours is None:
        return published
    return f"{published} | {cell.ours:.4f} ±{cell.tolerance:.3f} {MARKS[cell.verdict]}"


def _reasons(tables: Tables) -> list[tuple[str, str, str]]:
    """Once per measured method and data set."""
    reasons = {(c.label, f"{c.data}, {c.run}"): c.why for c in tables.cells if c.verdict == NOT_COMPARABLE}
    shown = [(clean(label, NAME), clean(of, NAME), clean("; ".join(why))) for (label, of), why in reasons.items()]
    more = len(shown) - SHOWN
    return [*shown[:SHOWN], *([(f"{more:,} more", "", "see frame()")] if more > 0 else [])]


def _failing(verdict: Verdict) -> list[str]:
    failing = [check for check in verdict.checks if not check.holds]
    return [
        f"{verdict.title}: {len(verdict.checks) - len(failing)} of {len(verdict.checks)} checks hold, not so",
        *(f"  ✗ {check.name}: {check.value} (expected {check.expected})" for check in failing),
    ]


def _counted(tables: Tables) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in tables.counts().items())


def aligned(rows: Iterable[list[str]]) -> list[str]:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
