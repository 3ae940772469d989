"""The view of a paper's tables next to measured numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from workbench.experiments.tables import DIFFERS, NOT_COMPARABLE, REPRODUCED, Cell, Tables
from workbench.experiments.verdict import Verdict
from workbench.views.base import NAME, clean, details, esc, html, page, short, table, text

MARKS = {REPRODUCED: "✓", DIFFERS: "✗", NOT_COMPARABLE: "?"}
LEGEND = "published | ours: ✓ reproduced, ✗ differs, ? not comparable; alone: not measured"
NONE = "No number of these has a place in the paper's tables."
SHOWN = 30  # measurements whose reasons are listed
SHORT = 80  # characters of a name in a table
LONG = 1_000  # characters of the reasons of a measurement, or of a note


@html.register
def _(tables: Tables) -> str:
    parts = [f"<p><b>{esc(title)}</b></p>{table(columns, rows)}" for title, columns, rows in _parts(tables)]
    verdicts = [details(esc(one.title), html(one)) for one in (tables.claims, tables.measured) if one]
    return page(
        f"<p><b>{esc(tables.title)}</b>: {esc(_counted(tables))}</p><p class='q'>{esc(LEGEND)}</p>",
        *(parts or [f"<p>{NONE}</p>"]),
        *(f"<p class='q'>{esc(note)}</p>" for note in tables.notes),
        details("why numbers are not comparable", table(["measured as", "of", "why"], reasons), open=True)
        if (reasons := _reasons(tables))
        else "",
        *verdicts,
        details("what else does not agree in the source", table(["where", "what"], tables.inconsistencies)),
    )


@text.register
def _(tables: Tables) -> str:
    lines = [f"{clean(tables.title, NAME)}: {_counted(tables)}", LEGEND if tables.cells else NONE]
    for title, columns, rows in _parts(tables):
        lines += ["", title, *aligned([columns, *rows])]
    lines += ["", *(clean(note, LONG) for note in tables.notes)]
    lines += [f"not comparable: {label} ({of}): {why}" for label, of, why in _reasons(tables)]
    for verdict in (tables.claims, tables.measured):
        lines += ["", *_failing(verdict)] if verdict else []
    lines += ["", *(f"{clean(where, NAME)}: {clean(what, 400)}" for where, what in tables.inconsistencies)]
    return "\n".join(lines).rstrip()


def _parts(tables: Tables) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Each table of the paper: its title, its columns, its rows of text."""
    key = ["backbone"] * any(cell.backbone for cell in tables.cells) + ["method"]
    key += ["measured as"] * any(cell.label for cell in tables.cells)
    several = len({cell.run for cell in tables.cells if cell.run}) > 1
    for number, cells in groupby(tables.cells, lambda cell: cell.table):
        rows: dict[tuple, dict[str, str]] = {}
        for cell in cells:
            label = f"{cell.label}, {Path(cell.run).name}" if several and cell.run else cell.label or ""
            names = [cell.backbone] * ("backbone" in key) + [cell.method, label]
            row = rows.setdefault((*names, cell.run), {})
            row[f"{cell.data} {cell.measure}"] = _cell_text(cell)
        columns = list(dict.fromkeys(column for row in rows.values() for column in row))
        yield (
            f"Table {number}" if number.isdigit() else clean(number.capitalize(), NAME),
            [clean(column, NAME) for column in (*key, *columns)],
            [[short(text, SHORT) for text in (*names[: len(key)], *(row.get(c, "") for c in columns))]
             for names, row in rows.items()],
        )  # fmt: skip


def _cell_text(cell: Cell) -> str:
    published = f"{cell.published:.{3 if cell.measure == 'em' else 4}f}"
    if cell.ours is None:
        return published
    return f"{published} | {cell.ours:.4f} [{cell.low:.3f}, {cell.high:.3f}] {MARKS[cell.verdict]}"


def _reasons(tables: Tables) -> list[tuple[str, str, str]]:
    """What was measured, of which data and run, why it is not comparable; each once."""
    reasons = [(c.label, f"{c.data}, {c.run}", "; ".join(c.why)) for c in tables.cells if c.verdict == NOT_COMPARABLE]
    shown = [(short(label, SHORT), short(of, SHORT), clean(why, LONG)) for label, of, why in dict.fromkeys(reasons)]
    more = len(shown) - SHOWN
    return [*shown[:SHOWN], *([(f"{more:,} more", "", "see frame()")] if more > 0 else [])]


def _failing(verdict: Verdict) -> list[str]:
    failing = [check for check in verdict.checks if not check.holds]
    holding = len(verdict.checks) - len(failing)
    return [
        f"{clean(verdict.title, NAME)}: {holding} of {len(verdict.checks)} checks hold{', not so' * bool(failing)}",
        *(f"  ✗ {clean(f'{check.name}: {check.value} (expected {check.expected})', 600)}" for check in failing),
    ]


def _counted(tables: Tables) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in tables.counts().items())


def aligned(rows: Iterable[list[str]]) -> list[str]:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
