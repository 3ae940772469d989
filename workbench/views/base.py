"""The building blocks of all views. Text comes into HTML through `esc`, into the data and scripts of pages through
`page_data` and `script_data`, and into terminals, widgets and figures through `clean` or `short`: nothing else may put
a string into a view."""

from __future__ import annotations

import html as _stdlib_html
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser
from typing import Any

from workbench.records import Record
from workbench.text import CLIP, clean, printable
from workbench.views import viewer

_RIGHT = ' class="n"'
_CONTROL = re.compile(r"(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-f]{4}|[bfr])")  # as JSON has them, which escapes nothing else so
NAME = 200  # characters of a name, an id or a label

STYLE = f"<style>{viewer.part('page.css')}</style>"


def plain_html(thing: Any) -> str:
    """The HTML of what has no view of its own."""
    return page(f"<pre>{esc(repr(thing))}</pre>")


def plain_text(thing: Any) -> str:
    """The text of what has no view of its own."""
    if type(thing).__repr__ is not Record.__repr__:
        return clean(repr(thing))
    names = [field.name for field in fields(thing)] if is_dataclass(thing) else []
    return f"{type(thing).__name__}({', '.join(f'{name}={clean(repr(getattr(thing, name)), 60)}' for name in names)})"


def esc(value: Any, limit: int = CLIP) -> str:
    """`clean`, with everything that HTML could act on escaped."""
    return _stdlib_html.escape(clean(value, limit), quote=True)


def page_data(value: Any) -> str:
    """JSON for a page, with � in place of control and direction characters, as `clean` has it."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return printable(_CONTROL.sub(r"\1" + "\ufffd", written))


def script_data(value: Any) -> str:
    """The same for the script of a page, which no text in it can end."""
    return page_data(value).replace("<", "\\u003c")


def page(*parts: str) -> str:
    """A part of a page with its style, which pages inside it need not repeat."""
    # JupyterLab would render text between two dollar signs as mathematics.
    return f'<div class="hopscope mathjax_ignore">{STYLE}{"".join(parts).replace(STYLE, "")}</div>'


def number(value: float | None, digits: int = 4) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.{digits}f}" if 1e-3 <= abs(value) < 1e6 or value == 0 else f"{value:.3g}"


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]], limit: int = CLIP, most: int | None = None) -> str:
    """A table, empty without rows; numbers are right-aligned, everything else is escaped text of at most `limit`
    characters. A cell that is already HTML must be a `Markup`. Of more than `most` rows it says how many are left
    out."""
    rows = [list(row) for row in rows]
    if not rows:
        return ""
    shown = rows[:most]
    numeric = [all(_is_number(row[column]) or row[column] is None for row in shown) for column in range(len(headers))]
    head = "".join(f"<th{_RIGHT * right}>{esc(header)}</th>" for header, right in zip(headers, numeric))
    body = "".join(f"<tr>{''.join(_cell(value, limit) for value in row)}</tr>" for row in shown)
    more = f"and {len(rows) - len(shown):,} more" if len(rows) > len(shown) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{quiet(more)}"


def long_table(headers: Sequence[str], rows: Sequence[Sequence[Any]], what: str, shown: int = 10,
               limit: int = CLIP) -> str:  # fmt: skip
    """A table whose further rows are folded, as so many more of `what`; empty without rows."""
    rest = table(headers, rows[shown:], limit)
    return table(headers, rows[:shown], limit) + fold(f"{len(rows) - shown:,} more {what}", rest)


def quiet(*lines: str, limit: int = CLIP) -> str:
    """Paragraphs of text in grey, without empty ones."""
    return "".join(f"<p class='q'>{esc(line, limit)}</p>" for line in lines if line)


def details(summary: str, *body: str, open: bool = False) -> str:
    """A collapsible part; `summary` and `body` are HTML."""
    return f"<details{' open' if open else ''}><summary>{summary}</summary>{''.join(body)}</details>"


def fold(summary: str, *body: str, open: bool = False) -> str:
    """The same; nothing where there is nothing to unfold."""
    return details(summary, *body, open=open) if any(body) else ""


def warned(warnings: Iterable[str]) -> list[str]:
    """The line that a display in a terminal begins with; no line without warnings."""
    return [f"Warning: {clean('; '.join(said))}"] if (said := list(warnings)) else []


def warned_part(warnings: Iterable[str]) -> str:
    """The same for HTML: the first paragraph, in red."""
    return "".join(f"<p class='bad'>{esc(line)}</p>" for line in warned(warnings))


class Markup(str):
    """A string that is HTML already."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any, limit: int) -> str:
    if isinstance(value, Markup):
        return f"<td>{value}</td>"
    if _is_number(value):
        return f"<td{_RIGHT}>{number(value)}</td>"
    return f"<td>{'' if value is None else esc(value, limit)}</td>"


def aligned(rows: Iterable[list[str]]) -> list[str]:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


# -- the text of a page ------------------------------------------------------------------------------------------------

LINE, LINES = 400, 400  # characters of a line of a terminal, and lines of a page
_UNSEEN = {"style", "script", "iframe", "svg"}
_BLOCKS = {"p", "div", "li", "summary", "details", "pre", "table", "tr"}


def text_of(markup: str) -> str:
    """What a terminal shows of a page: its paragraphs, its tables aligned, and of what is folded the summary.

    >>> text_of("<p><b>two</b> rows</p><details><summary>more</summary><p>folded</p></details>")
    'two rows\\n  more'
    """
    reader = _TextReader()
    reader.feed(markup)
    reader.close()
    reader.end_block()
    more = len(reader.lines) - LINES
    return "\n".join([*reader.lines[:LINES], *([f"… {more:,} more lines"] if more > 0 else [])])


class _TextReader(HTMLParser):
    """Collects the `lines` of a page of ours, whose elements are all closed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._words = ""
        self._rows: list[list[str]] | None = None  # of the table that is read
        self._open: list[tuple[str, bool, bool]] = []  # elements: name, whether they are seen, whether they are folded

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        around = self._open[-1:] if tag != "summary" else self._open[-2:-1]
        seen = tag not in _UNSEEN and all(shown and not folded for _, shown, folded in around)
        if tag in _BLOCKS:
            self.end_block()
        self._open.append((tag, seen, tag == "details" and "open" not in dict(attrs)))
        if seen and tag == "table":
            self._rows = []
        elif seen and tag == "tr" and self._rows is not None:
            self._rows.append([])

    def handle_endtag(self, tag: str) -> None:
        seen = self._open.pop()[1]
        if seen and tag in ("td", "th") and self._rows:
            self._rows[-1].append(clean(" ".join(self._words.split()), LINE // 2))
            self._words = ""
        elif seen and tag == "table" and self._rows is not None:
            self.lines += filter(str.strip, aligned(self._rows))
            self._rows = None
        elif tag in _BLOCKS:
            self.end_block()

    def handle_data(self, data: str) -> None:
        if not self._open or all(shown and not folded for _, shown, folded in self._open[-1:]):
            self._words += data

    def end_block(self) -> None:
        """The words since the last block are a line; those of a cell go on."""
        if self._rows is not None:
            self._words += " "
        elif words := " ".join(self._words.split()):
            depth = sum(name == "details" for name, *_ in self._open)
            self.lines.append("  " * depth + clean(words, LINE))
            self._words = ""
