"""The view of the analyses: their tables and notes."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workbench.analyses import Analysis
from workbench.display import html, text
from workbench.text import clean, counted, short
from workbench.views.base import NAME, aligned, esc, number, page, table

SHOWN = 60  # rows of a table; frame() has all


@html.register
def _(analysis: Analysis) -> str:
    parts = []
    for title, frame in analysis.tables().items():
        parts += [f"<p>{esc(title)}</p>"] if title else []
        parts.append(frame_part(frame))
    notes = [f"<p class='q'>{esc(note, 400)}</p>" for note in analysis.notes]
    return page(f"<p><b>{esc(analysis.title, NAME)}</b></p>", *parts, *notes)


@text.register
def _(analysis: Analysis) -> str:
    lines = [clean(analysis.title, NAME)]
    for title, frame in analysis.tables().items():
        lines += [title] if title else []
        lines += frame_text(frame)
    return "\n".join([*lines, *(clean(note, 400) for note in analysis.notes)])


def frame_part(frame: pd.DataFrame) -> str:
    """A table of pandas as HTML, its index left out."""
    return table(list(map(_name, frame)), _rows(frame)) + f"<p class='q'>{_more(frame)}</p>"


def frame_text(frame: pd.DataFrame) -> list[str]:
    """The same as lines of a terminal."""
    cells = [[_cell_text(value) for value in row] for row in _rows(frame)]
    return [*aligned([list(map(_name, frame)), *cells]), *filter(None, [_more(frame)])]


def _rows(frame: pd.DataFrame) -> list[list[Any]]:
    """Plain values; texts short enough for a table."""
    shown = frame.head(SHOWN).astype(object)
    shown = shown.where(shown.notna(), None)
    return [[short(cell, 100) if isinstance(cell, str) else _plain(cell) for cell in row] for row in shown.values]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _cell_text(value: Any) -> str:
    return value if isinstance(value, str) else number(value)


def _name(column: Any) -> str:
    return str(column).replace("_", " ")


def _more(frame: pd.DataFrame) -> str:
    return f"… {counted(len(frame) - SHOWN, 'more row')}; see frame()" if len(frame) > SHOWN else ""
