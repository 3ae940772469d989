"""Rows in a terminal: a table if every column has room for its longest word, otherwise a block for each row.

Only a word that is longer than a line is broken."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, Group
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from workbench.text import clean
from workbench.views.parts import number

LONGEST = 1_000  # characters of a cell
_UNBOUNDED = 200  # width of output that is piped or logged
_NARROW = 20  # least width of a line at any indentation
GAP = 2  # blanks between columns
INDENT = 2  # of the lines of a block; a continued line has twice as much


def lay_out(rows: Sequence[dict[str, Any]], console: Console, lead: int = 1) -> Table | Group:
    """`rows`, which have the same keys, as wide as the console; the first `lead` columns name a row in its block."""
    names = list(rows[0]) if rows else []
    numeric = {name for name in names if all(_is_number(row[name]) for row in rows)}
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for name in names:
        right = name in numeric
        table.add_column(Text(cell_text(name)), justify="right" if right else "left", no_wrap=right)
    for row in rows:
        table.add_row(*(Text(cell_text(value)) for value in row.values()))
    least = Measurement.get(console, console.options.update(width=_UNBOUNDED * len(names) or 1), table).minimum
    if least > console.width:
        return Group(*(block for row in rows for block in _block(row, numeric, console, lead)))
    return table


def indented(line: str, indent: int, widest: int = _UNBOUNDED) -> list[str]:
    """A line indented by `indent`, wrapped at the terminal's width or `widest`; continued lines are further in."""
    console = _console()
    room = max(_NARROW, min(console.width, widest) - indent - 2 * INDENT)
    first, *rest = Text(line.replace("\n", " ")).wrap(console, room)
    further = " " * (indent + 2 * INDENT)
    return [" " * indent + first.plain.rstrip(), *(further + piece.plain.rstrip() for piece in rest)]


def printed(rows: Sequence[dict[str, Any]], lead: int = 1) -> str:
    """`rows` as text, as wide as the terminal; without one, up to `_UNBOUNDED` columns wide."""
    console = _console()
    console.print(lay_out(rows, console, lead))
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def _console() -> Console:
    """A console that writes to memory, as wide as the terminal."""
    wide = shutil.get_terminal_size((_UNBOUNDED, 0)).columns
    return Console(file=io.StringIO(), width=wide, color_system=None, highlight=False)


def cell_text(value: Any) -> str:
    if _is_number(value):
        return number(value)
    return clean(", ".join(map(str, value)) if isinstance(value, list) else value, LONGEST)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, float | int) and not isinstance(value, bool))


def _block(row: dict[str, Any], numeric: set[str], console: Console, lead: int) -> Iterable[Padding]:
    """A row as a block: its name, a line for each text, and one line for all numbers, without empty values."""
    names = list(row)
    yield from _lines(
        Text("  ".join(filter(None, (cell_text(row[name]) for name in names[:lead]))), "bold"), console, 0
    )
    rest = [name for name in names[lead:] if row[name] not in (None, "", "–", [])]
    for name in rest:
        if name not in numeric:
            yield from _lines(Text(f"{cell_text(name)}: {cell_text(row[name])}"), console, INDENT)
    if counted := ", ".join(f"{cell_text(name)} {cell_text(row[name])}" for name in rest if name in numeric):
        yield from _lines(Text(counted), console, INDENT)


def _lines(text: Text, console: Console, indent: int) -> Iterable[Padding]:
    lines = text.wrap(console, max(1, console.width - indent - INDENT))
    for line in lines:
        line.rstrip()
    return (Padding(line, (0, 0, 0, indent + INDENT * bool(at)), expand=False) for at, line in enumerate(lines))
