"""The content of views as plain data: a tree of parts, which the functions below make of records.

Every string enters a part through `clean`, which limits its length; :mod:`workbench.views.render` turns
parts into a page, the text of a terminal, or the JSON that `viewer/parts.js` draws. No view writes markup."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from importlib import import_module
from typing import Any
from urllib.parse import urlencode

from workbench.text import CLIP, clean
from workbench.views.palette import BLUE, GREY, ORANGE, THEMED

NAME = 200  # characters of a name, an id or a label
WIDE = 140  # pixels of the picture of an interval


@dataclass(frozen=True)
class Part:
    """A part of a page: its kind, its content (strings and parts), its look (classes of `page.css`), and further data
    of its kind, as in JSON."""

    kind: str
    inside: tuple[Part | str, ...] = ()
    look: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


Words = Any  # a string, a number, a part, None (nothing), or a sequence of such


@singledispatch
def view(thing: Any) -> Part | None:
    """The part that shows a record; None if it has nothing to show. Objects without a view of their own show their
    `repr`."""
    return import_module("workbench.views").part_view(type(thing))(thing)


# -- text --------------------------------------------------------------------------------------------------------------


def words(*values: Words, sep: str = " ", limit: int = CLIP) -> Part:
    """Values in a row, separated as `print` does it, without those that are None or empty."""
    return Part("words", tuple(_joined(values, sep, limit)))


def strong(*values: Words, limit: int = CLIP) -> Part | None:
    return _span("strong", "", values, limit)


def faint(*values: Words, limit: int = CLIP) -> Part | None:
    """Words in grey."""
    return _span("span", "q", values, limit)


def tag(*values: Words, limit: int = CLIP) -> Part | None:
    """Words in a frame: an id, a kind, a mark."""
    return _span("span", "tag", values, limit)


def bad(*values: Words, limit: int = CLIP) -> Part | None:
    """Words in red: a failure, a wrong answer."""
    return _span("span", "bad", values, limit)


def italic(*values: Words, limit: int = CLIP) -> Part | None:
    """Words in italics: a relation, or the replacement of a missing value."""
    return _span("italic", "", values, limit)


def marked(look: str, *values: Words, limit: int = CLIP) -> Part | None:
    """Words with a `look`, a class of `page.css`."""
    return _span("span", look, values, limit)


def link(query: Sequence[tuple[str, str]], *values: Words) -> Part:
    """A link to a place in the same page."""
    return Part("link", tuple(_joined(values, " ", CLIP)), facts={"to": urlencode(query, errors="replace")})


# -- blocks ------------------------------------------------------------------------------------------------------------


def line(*values: Words, look: str = "", sep: str = " ", limit: int = CLIP) -> Part | None:
    """A paragraph; nothing without words."""
    inside = tuple(_joined(values, sep, limit))
    return Part("line", inside, look) if inside else None


def titled(title: Words, *notes: Words) -> Part | None:
    """The paragraph above another part: its title, and words in grey."""
    return line(strong(title), faint(*notes))


def quiet(*lines: Words, limit: int = CLIP) -> Part | None:
    """Paragraphs of text in grey, without empty ones."""
    return group(*(line(paragraph, look="q", limit=limit) for paragraph in lines))


def heading(*values: Words, level: int = 2) -> Part:
    return Part("heading", tuple(_joined(values, " ", CLIP)), facts={"level": level})


def code(*values: Words, limit: int = CLIP) -> Part | None:
    """Text with its own line breaks."""
    inside = tuple(_joined(values, "", limit))
    return Part("code", inside) if inside else None


def points(*items: Words, limit: int = CLIP) -> Part | None:
    """A list of points; nothing without points."""
    inside = tuple(Part("point", tuple(_joined((item,), " ", limit))) for item in items)
    return Part("points", inside) if inside else None


def group(*parts: Part | None, look: str = "") -> Part | None:
    """Parts one below the other; nothing without parts."""
    inside = tuple(part for part in parts if part is not None)
    if len(inside) == 1 and not look:
        return inside[0]
    return Part("group", inside, look) if inside else None


def beside(*columns: Part | None, look: str = "side") -> Part:
    """Parts in columns, which stand one below the other where there is no room."""
    around, inner = ("two", "") if look == "two" else ("beside", look)
    return Part("group", tuple(Part("group", (column,), inner) for column in columns if column is not None), around)


def fold(summary: Words, *parts: Part | None, open: bool = False) -> Part | None:
    """A part that unfolds; nothing where there is nothing to unfold."""
    return details(summary, *parts, open=open) if any(part is not None for part in parts) else None


def details(summary: Words, *parts: Part | None, open: bool = False) -> Part:
    """The same, also where there is nothing to unfold."""
    inside = (words(summary), *(part for part in parts if part is not None))
    return Part("fold", inside, facts={"open": open} if open else {})


def table(
    headers: Sequence[str], rows: Iterable[Sequence[Words]], limit: int = CLIP, most: int | None = None
) -> Part | None:
    """A table; nothing without rows. Numbers stand on the right; texts have at most `limit` characters. Beyond
    `most` rows, a note counts the rows that are left out."""
    rows = [list(row) for row in rows]
    if not rows:
        return None
    visible = rows[:most]
    numeric = [all(_is_number(row[at]) or row[at] is None for row in visible) for at in range(len(headers))]
    head = [{"name": clean(name), "numeric": right} for name, right in zip(headers, numeric)]
    body = tuple(Part("row", tuple(_cell(value, limit) for value in row)) for row in visible)
    more = f"and {len(rows) - len(visible):,} more" if len(rows) > len(visible) else ""
    return group(Part("table", body, facts={"head": head}), quiet(more))


def long_table(
    headers: Sequence[str], rows: Sequence[Sequence[Words]], what: str, most: int = 10, limit: int = CLIP
) -> Part | None:
    """A table whose rows beyond the first `most` are folded and counted as `what`; nothing without rows."""
    rest = table(headers, rows[most:], limit)
    return group(table(headers, rows[:most], limit), fold(f"{len(rows) - most:,} more {what}", rest))


def interval(
    low: float | None, middle: float, high: float | None, least: float, most: float, printed: float | None = None
) -> Part:
    """A picture of an interval around its mean on a line from `least` to `most`, with a stroke at zero, and a `printed`
    number as a diamond."""
    low, high = (middle, middle) if low is None or high is None else (low, high)
    says = f"{number(middle)} [{number(low, 3)}, {number(high, 3)}], from {least:.3g} to {most:.3g}"
    colour = GREY if low <= 0 <= high else BLUE if low > 0 else ORANGE
    at = [round(6 + (value - least) / (most - least) * (WIDE - 12), 1) for value in (low, middle, high, 0.0)]
    other = None if printed is None else round(6 + (printed - least) / (most - least) * (WIDE - 12), 1)
    return Part("interval", facts={"says": says, "colour": colour, "at": at, "printed": other})


def picture(kind: str, data: Mapping[str, Any], *says: str) -> Part:
    """A picture that the viewer draws from `data` (`graph` or `bump`); without scripts, its sentences are shown."""
    inside = tuple(Part("line", (clean(sentence),), "q") for sentence in says)
    return Part("picture", inside, facts={"of": kind, "data": data})


def image(svg: str, width: int, says: str) -> Part:
    """A picture that is an SVG file, in the theme of the page around it."""
    data = base64.b64encode(svg.encode()).decode()
    return Part("image", look=THEMED, facts={"svg": data, "width": width, "says": clean(says, NAME)})


def steps(parts: Sequence[Part], above: Part | None = None) -> Part:
    """Folded parts that a slider shows one at a time where scripts run; a chart `above` them follows it."""
    return Part("group", (*([above] if above else []), *parts), "steps")


def warned(warnings: Iterable[str]) -> Part | None:
    """The first paragraph, in red; nothing without warnings."""
    message = "; ".join(warnings)
    return line(f"Warning: {message}", look="bad") if message else None


def number(value: float | None, digits: int = 4) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.{digits}f}" if 1e-3 <= abs(value) < 1e6 or value == 0 else f"{value:.3g}"


def _span(kind: str, look: str, values: tuple[Words, ...], limit: int) -> Part | None:
    inside = tuple(_joined(values, " ", limit))
    return Part(kind, inside, look) if inside else None


def _joined(values: Iterable[Words], sep: str, limit: int) -> Iterator[Part | str]:
    first = True
    for value in values:
        inside = _within(value, sep, limit)
        if inside:
            if not first and sep:
                yield sep
            yield from inside
            first = False


def _within(value: Words, sep: str, limit: int) -> tuple[Part | str, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, Part):
        return value.inside if value.kind == "words" else (value,)
    if isinstance(value, str):
        return (clean(value, limit),)
    if _is_number(value):
        return (number(value),)
    return tuple(_joined(value, sep, limit)) if isinstance(value, list | tuple) else (clean(value, limit),)


def _cell(value: Words, limit: int) -> Part:
    facts = {"numeric": True} if _is_number(value) else {}
    return Part("cell", _within(value, " ", limit), facts=facts)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
