"""The view of a paper's tables next to measured numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from workbench import published
from workbench.display import text
from workbench.evaluation.verdict import Check, Verdict
from workbench.papers.planning import TablePlan
from workbench.papers.tables import DIFFERS, NOT_COMPARABLE, REPRODUCED, Cell, Tables, made_without_model
from workbench.published.claims import RECOMPUTED, is_by_us
from workbench.text import clean, counted, short, table_cell
from workbench.views.parts import NAME, Part, details, fold, group, line, quiet, strong, table, view, warned
from workbench.views.render import text_of
from workbench.views.run import check_text

MARKS = {REPRODUCED: "✓", DIFFERS: "✗", NOT_COMPARABLE: "?"}
LEGEND = (
    "published | ours ± deviation between repeats, if any [95 % interval of this cell, not corrected for several]: "
    "✓ reproduced, ✗ differs, ? not comparable; alone: not measured"
)
NONE = "No number of these has a place in the paper's tables."
MADE_BY = {"rules": "by rules", "replies written by hand, else rules": "by rules"}  # maker → its words in a label
SHOWN = 30  # measurements whose reasons are listed
SHORT = 80  # characters of a name in a table
LONG = 1_000  # characters of the reasons of a measurement, or of a note


@view.register
def _(tables: Tables) -> Part | None:
    verdicts = filter(None, (tables.claims, tables.measured))
    return group(_tables_part(tables), *(details(verdict.title, view(verdict)) for verdict in verdicts))


@text.register
def _(tables: Tables) -> str:
    failing = [line for verdict in (tables.claims, tables.measured) if verdict for line in _failing(verdict)]
    return "\n".join([text_of(_tables_part(tables, whole=True)), *failing])


def _tables_part(tables: Tables, whole: bool = False) -> Part | None:
    """The tables and the notes on them; with `whole`, nothing is folded."""
    parts = [part for title, columns, rows in _parts(tables) for part in (line(strong(title)), table(columns, rows))]
    stated = [fold(title, table(columns, rows), open=whole) for title, columns, rows in _stated(tables)]
    flaws = table(["where", "what"], tables.inconsistencies)
    return group(
        warned(tables.warnings),
        line(strong(tables.title), f": {_counted(tables)}", sep=""),
        quiet(LEGEND if parts else ""),
        *(parts or [line(NONE)]),
        *stated,
        quiet(*tables.notes),
        fold("why numbers are not comparable", _reasons(tables), open=True),
        fold("what else does not agree in the source", flaws, open=whole),
    )


def written(tables: Tables, form: str) -> str:
    """The cells as `csv` (a row for each cell, with its verdict and reasons), or as `markdown` or `latex` tables like
    those printed, with a mark for each verdict."""
    if form == "csv":
        return (
            tables.frame()
            .map(lambda value: table_cell(value) if isinstance(value, str) else value)
            .to_csv(index=False, lineterminator="\n")
        )
    build = {"markdown": _markdown, "latex": _latex}[form]
    return "\n".join(build(*part) for part in _parts(tables)) + "\n"


def _markdown(title: str, columns: list[str], rows: list[list[str]]) -> str:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    head = [f"### {title}", "", line(columns), line("---" for _ in columns)]
    return "\n".join([*head, *map(line, rows), "", LEGEND, ""])


_TEX = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"}) | str.maketrans({
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "✓": r"$\checkmark$",
    "✗": r"$\times$", "–": "--", "…": r"\ldots{}", "|": r"$\mid$", "±": r"$\pm$",
})  # fmt: skip


def _latex(title: str, columns: list[str], rows: list[list[str]]) -> str:
    def line(cells: Iterable[str]) -> str:
        return " & ".join(cell.translate(_TEX) for cell in cells) + r" \\"

    head = [r"\begin{table}", rf"\begin{{tabular}}{{{'l' * len(columns)}}}", r"\hline", line(columns), r"\hline"]
    caption = rf"\caption{{{title.translate(_TEX)}. {LEGEND.translate(_TEX)}}}"
    return "\n".join([*head, *map(line, rows), r"\hline", r"\end{tabular}", caption, r"\end{table}", ""])


class Layout(NamedTuple):
    """A table as the paper prints it: `keys` are the headers of the names of a row, `columns` are pairs of data and
    measure, and a row has its names and the cell of each column that it fills."""

    number: str
    title: str
    keys: list[str]
    columns: list[tuple[str, str]]
    rows: list[tuple[tuple[str, ...], dict[tuple[str, str], Cell]]]


def layouts(tables: Tables) -> Iterator[Layout]:
    """Each table of the paper. A method that several runs measured has a row for each."""
    keys = ["backbone"] * any(cell.backbone for cell in tables.cells) + ["method"]
    width = len(keys)
    keys += ["measured as"] * any(cell.label for cell in tables.cells)
    several = len({cell.run for cell in tables.cells if cell.run}) > 1
    for number, cells in groupby(tables.cells, lambda cell: cell.table):
        mine, rows = list(cells), {}
        for cell in sorted(mine, key=lambda cell: cell.run is None):  # cells without a run join a measured row
            names = (cell.backbone, cell.method)[-width:]
            matching = [row for row in rows if row[:width] == names]
            row = (*names, cell.label, cell.run) if cell.run or not matching else matching[0]
            rows.setdefault(row, {})[_column(cell)] = cell
        printed = list(dict.fromkeys((cell.backbone, cell.method)[-width:] for cell in mine))
        rows = dict(sorted(rows.items(), key=lambda row: printed.index(row[0][:width])))
        columns = list(dict.fromkeys(map(_column, mine)))
        named = [((*row[:width], _label(tables, filled.values(), several)), filled) for row, filled in rows.items()]
        yield Layout(number, _title(number), keys, columns, [(names[: len(keys)], filled) for names, filled in named])


def _column(cell: Cell) -> tuple[str, str]:
    """Data and measure; a gain stands beside the score of the same name."""
    return cell.data, f"{cell.measure}, {cell.kind}" if cell.kind.startswith("gain") else cell.measure


def _parts(tables: Tables) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Each table of the paper: its title, its columns, its rows of text."""
    for layout in layouts(tables):
        yield (
            layout.title,
            [clean(column, NAME) for column in (*layout.keys, *(" ".join(column) for column in layout.columns))],
            [[clean(text, 2 * SHORT) for text in (*names, *(_cell_text(row.get(column)) for column in layout.columns))]
             for names, row in layout.rows],
        )  # fmt: skip


def _stated(tables: Tables) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Each table of the numbers that the paper prints and no run measures: its title, its columns, its rows of text."""
    for number, printed in tables.stated.groupby("table", sort=False) if len(tables.stated) else ():
        column = printed["data"].str.cat(printed["measure"], " ").str.strip()
        printed = printed.assign(of=printed["method"], column=column)
        keys = ["backbone"] * any(printed["backbone"]) + ["of"]
        pivot = printed.pivot_table("value", keys, "column", "last", sort=False)
        rows = pivot.map(lambda value: "" if value != value else f"{value:,.10g}").reset_index()
        kinds = ", ".join(dict.fromkeys(printed["kind"]))
        title = f"{_title(str(number))}, as printed; no run is held against it ({clean(kinds, NAME)})"
        yield title, list(rows), rows.values.tolist()


def _title(number: str) -> str:
    return f"Table {number}" if number[:1].isdigit() else clean(number[:1].upper() + number[1:], NAME)


def _label(tables: Tables, cells: Iterable[Cell], several: bool) -> str:
    """The label of a row's measurement, the makers that are no model and, if there are several runs, the run."""
    mine, by = [cell for cell in cells if cell.run], ""
    if not mine:
        return ""
    run, label = mine[0].run, mine[0].label or ""
    if tables.measurements:
        made = made_without_model(published.paper(tables.paper).terms, mine, tables.measurements)
        makers = dict.fromkeys(MADE_BY.get(maker, maker) for maker in made.get((run, label), ()))
        by = "".join(f" ({maker})" for maker in makers)
    return f"{short(label, SHORT)}{by}{f', {Path(run).name}' if several else ''}"


def _cell_text(cell: Cell | None) -> str:
    if cell is None or cell.ours is None:
        return "" if cell is None else printed_text(cell)
    between = "" if cell.deviation is None else f" ± {cell.deviation:.4f}"
    return f"{printed_text(cell)} | {cell.ours:.4f}{between} [{interval_text(cell)}] {MARKS[cell.verdict]}"


def interval_text(cell: Cell) -> str:
    return "no interval" if cell.low is None or cell.high is None else f"{cell.low:.3f}, {cell.high:.3f}"


def printed_text(cell: Cell) -> str:
    return f"{cell.published:.{3 if cell.measure == 'em' else 4}f}"


def _reasons(tables: Tables) -> Part | None:
    """The label, data, run and reasons of each measurement that is not comparable, each once."""
    reasons = dict.fromkeys(
        (short(c.label or "", SHORT), short(f"{c.data}, {Path(c.run or '').name}", SHORT), "; ".join(c.why))
        for c in tables.cells
        if c.verdict == NOT_COMPARABLE
    )
    return table(["measured as", "of", "why"], reasons, LONG, SHOWN)


@view.register
def _(plan: TablePlan) -> Part | None:
    """Each build and run, then the sum; – is unknown."""
    numbers = [name for name in plan.frame if name not in ("data", "what", "reader")]
    total = {name: plan.frame[name].sum(skipna=False) for name in numbers}
    rows = [*plan.frame.to_dict("records"), {"data": "all", "what": "", "reader": "", **total}]
    return group(
        line(strong(f"What table {plan.table} of {plan.paper} takes")),
        amounts(list(plan.frame), numbers, rows) if len(plan.frame) else line("nothing"),
        quiet(*plan.notes),
    )


def amounts(names: Sequence[str], numbers: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Part | None:
    """A table of what runs take; `numbers` are the columns with amounts."""
    cells = ([amount(name, row[name]) if name in numbers else short(str(row[name]), SHORT) for name in names]
             for row in rows)  # fmt: skip
    return table([name.replace("_", " ") for name in names], cells)


def amount(name: str, value: float | None) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:,.2f}" if name in ("dollars", "dollars_in_batches", "hours") else f"{value:,.0f}"


def _failing(verdict: Verdict) -> list[str]:
    """How many claims and how many recomputed checks hold, with a line for each that fails."""
    parts: dict[bool, list[Check]] = {}
    for check in verdict.checks:
        parts.setdefault(is_by_us(check.where), []).append(check)
    lines = []
    for recomputed, checks in sorted(parts.items()):
        failing = [check for check in checks if not check.holds]
        title = RECOMPUTED if recomputed else clean(verdict.title, NAME)
        outcome = f"{len(checks) - len(failing)} of {counted(len(checks), 'check')} hold{', not so' * bool(failing)}"
        lines += [f"{title}: {outcome}", *(f"  ✗ {clean(check_text(check), 600)}" for check in failing)]
    return lines


def _counted(tables: Tables) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in tables.counts().items())
