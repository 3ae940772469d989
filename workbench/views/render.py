"""Renders parts as HTML, as the text of a terminal and as JSON. Only this file writes markup, and it escapes every
string that it is given; data enters a page through `page_data` and `script_data`."""

from __future__ import annotations

import html as _stdlib_html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import Any

from workbench.records import Record
from workbench.text import clean, printable
from workbench.views import viewer
from workbench.views.palette import VERMILION
from workbench.views.parts import WIDE, Part, code

_CONTROL = re.compile(r"(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-f]{4}|[bfr])")  # JSON's escapes of control characters

STYLE = f"<style>{viewer.part('page.css')}</style>"


def page(*parts: Part | None) -> str:
    """Parts as HTML with their style, for the output of a notebook."""
    inside = (part.inside if part.kind == "group" and not part.look else (part,) for part in parts if part is not None)
    # JupyterLab would render text between two dollar signs as mathematics.
    return f'<div class="hopscope mathjax_ignore">{STYLE}{"".join(map(html_of, chain.from_iterable(inside)))}</div>'


def plain_part(thing: Any) -> Part | None:
    """The part of a thing without a view: its repr."""
    return code(repr(thing))


def plain_text(thing: Any) -> str:
    """The text of a thing without a view: its repr, or the fields of a record."""
    if type(thing).__repr__ is not Record.__repr__:
        return clean(repr(thing))
    names = [field.name for field in fields(thing)] if is_dataclass(thing) else []
    return f"{type(thing).__name__}({', '.join(f'{name}={clean(repr(getattr(thing, name)), 60)}' for name in names)})"


def page_data(value: Any) -> str:
    """JSON for a page; control and direction characters become �, as in `clean`."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return printable(_CONTROL.sub(r"\1" + "\ufffd", written))


def script_data(value: Any) -> str:
    """JSON for a script element, which no text in it can close."""
    return page_data(value).replace("<", "\\u003c")


# -- as data and as HTML -----------------------------------------------------------------------------------------------


def data_of(part: Part | str | None) -> Any:
    """A part as JSON data: a string, or `[kind, look, facts, inside …]`; None stays None."""
    if part is None or isinstance(part, str):
        return part
    return [part.kind, part.look, dict(part.facts), *map(data_of, part.inside)]


_TAGS = {
    "line": "p", "points": "ul", "point": "li", "group": "div", "strong": "b", "italic": "i",
    "span": "span", "row": "tr", "cell": "td", "link": "a",
}  # fmt: skip


def html_of(part: Part | str | None) -> str:
    """A part as HTML; every string is escaped."""
    if part is None:
        return ""
    if isinstance(part, str):
        return escaped(part)
    if part.kind in _WRITERS:
        return _WRITERS[part.kind](part)
    attributes = {"class": part.look or ("n" if part.facts.get("numeric") else "")}
    if part.kind == "link":
        attributes["href"] = f"#{part.facts['to']}"
    return _element(_TAGS[part.kind], attributes, *map(html_of, part.inside))


def escaped(string: str) -> str:
    return _stdlib_html.escape(string, quote=True)


def _element(name: str, attributes: Mapping[str, str], *inside: str) -> str:
    return f"<{name}{_written(attributes)}>{''.join(inside)}</{name}>"


def _written(attributes: Mapping[str, str]) -> str:
    return "".join(f" {key}='{escaped(value)}'" for key, value in attributes.items() if value)


def _words_html(part: Part) -> str:
    return "".join(map(html_of, part.inside))


def _code_html(part: Part) -> str:
    inside = _words_html(part)
    return _element("pre", {}, "\n" * inside.startswith("\n"), inside)  # browsers drop the first line break of <pre>


def _heading_html(part: Part) -> str:
    return _element(f"h{part.facts['level']:d}", {}, _words_html(part))


def _fold_html(part: Part) -> str:
    summary, *parts = map(html_of, part.inside)
    began = "<details open>" if part.facts.get("open") else "<details>"
    return f"{began}<summary>{summary}</summary>{''.join(parts)}</details>"


def _table_html(part: Part) -> str:
    head = (
        _element("th", {"class": "n" * column["numeric"]}, escaped(column["name"])) for column in part.facts["head"]
    )
    return f"<table><thead><tr>{''.join(head)}</tr></thead><tbody>{_words_html(part)}</tbody></table>"


def _interval_html(part: Part) -> str:
    (left, at, right, zero), other = part.facts["at"], part.facts["printed"]
    colour = escaped(part.facts["colour"])
    diamond = f"<path d='M{other} 1 l6 7 -6 7 -6 -7z' fill='none' stroke='{VERMILION}' stroke-width='2'/>"
    return (
        f"<svg class='interval' width='{WIDE}' height='16' role='img'><title>{escaped(part.facts['says'])}</title>"
        f"<path d='M6 8 H{WIDE - 6} M{zero} 2 V14' stroke='currentColor' opacity='.35'/>"
        f"<path d='M{left} 8 H{right}' stroke='{colour}' stroke-width='3'/>"
        f"<circle cx='{at}' cy='8' r='4' fill='{colour}'/>{'' if other is None else diamond}</svg>"
    )


def _image_html(part: Part) -> str:
    source = f"data:image/svg+xml;base64,{part.facts['svg']}"
    attributes = {"class": part.look, "width": str(part.facts["width"]), "alt": part.facts["says"], "src": source}
    return f"<img{_written(attributes)}>"


def _picture_html(part: Part) -> str:
    kind = part.facts["of"]
    attributes = {"class": f"hopscope-{kind}", f"data-{kind}": page_data(part.facts["data"])}
    return _element("figure", attributes, _words_html(part))


_WRITERS: dict[str, Callable[[Part], str]] = {
    "words": _words_html, "code": _code_html, "heading": _heading_html, "fold": _fold_html, "table": _table_html,
    "interval": _interval_html, "image": _image_html, "picture": _picture_html,
}  # fmt: skip
KINDS = {*_TAGS, *_WRITERS}


# -- as text -----------------------------------------------------------------------------------------------------------

LINE, LINES = 400, 400  # characters of a line of a terminal, and lines of a page
_BLOCKS = {"line", "code", "points", "point", "group", "heading", "fold", "table", "picture"}


def text_of(part: Part | None) -> str:
    """A part as the text of a terminal: paragraphs, aligned tables, and only the summary of a closed fold.

    >>> from workbench.views.parts import fold, group, line, strong
    >>> print(text_of(group(line(strong("two"), "rows"), fold("more", line("folded")))))
    two rows
      more
    """
    lines = list(_lines(part, 0)) if part is not None else []
    more = len(lines) - LINES
    return "\n".join([*lines[:LINES], *([f"… {more:,} more lines"] if more > 0 else [])])


def _lines(part: Part, depth: int) -> Iterator[str]:
    if part.kind == "table":
        head = [clean(column["name"], LINE // 2) for column in part.facts["head"]]
        rows = [[clean(_row_text(cell), LINE // 2) for cell in row.inside] for row in part.inside]  # type: ignore[union-attr]
        yield from filter(str.strip, aligned([head, *rows]))
        return
    if part.kind == "fold":
        summary, *parts = part.inside
        yield from _in_lines([summary], depth + 1)
        yield from _in_lines(parts if part.facts.get("open") else [], depth + 1)
        return
    yield from _in_lines(part.inside, depth)


def _in_lines(inside: Iterable[Part | str], depth: int) -> Iterator[str]:
    """Joins adjacent inline parts into a line; a block begins on a new line."""
    row: list[str] = []

    def ended() -> Iterator[str]:
        if words := " ".join("".join(row).split()):
            yield "  " * depth + clean(words, LINE)
        row.clear()

    for part in inside:
        if isinstance(part, Part) and part.kind in _BLOCKS:
            yield from ended()
            yield from _lines(part, depth)
        else:
            row.append(part if isinstance(part, str) else _row_text(part))
    yield from ended()


def _row_text(part: Part | str) -> str:
    """The text of a part within a row; of a closed fold only the summary."""
    if isinstance(part, str):
        return part
    if part.kind == "fold":
        return _row_text(part.inside[0]) + (" ".join(map(_row_text, part.inside[1:])) if part.facts.get("open") else "")
    between = " " if part.kind in _BLOCKS | {"cell"} and any(_is_block(child) for child in part.inside) else ""
    return (
        " ".join(between.join(map(_row_text, part.inside)).split()) if between else "".join(map(_row_text, part.inside))
    )


def _is_block(part: Part | str) -> bool:
    return isinstance(part, Part) and part.kind in _BLOCKS


def aligned(rows: Iterable[list[str]]) -> list[str]:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
