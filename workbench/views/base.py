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
from functools import singledispatch
from importlib import import_module
from typing import Any

from workbench.text import counted, printable

_RIGHT = ' class="n"'
_CONTROL = re.compile(r"(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-f]{4}|[bfr])")  # as JSON has them, which escapes nothing else so
CLIP = 2_000  # characters of one text that a view shows
NAME = 200  # characters of a name, an id or a label

# JupyterLab's own colours where they exist, so that light and dark themes both fit.
STYLE = """<style>
.hopscope{font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.45;
 color:var(--jp-ui-font-color1,inherit);max-width:72em;overflow-wrap:break-word}
.hopscope.hopscope table{border-collapse:collapse;margin:.3em 0;display:block;width:fit-content;max-width:100%;
 overflow-x:auto}
.hopscope.hopscope th,.hopscope.hopscope td{text-align:left;vertical-align:top;padding:.15em .7em .15em 0;
 border-bottom:1px solid var(--jp-border-color2,#8884);background:none}
.hopscope.hopscope th{font-weight:600;white-space:nowrap}
.hopscope.hopscope th.n,.hopscope.hopscope td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.hopscope details{margin-left:1.1em}
.hopscope summary{cursor:pointer;margin-left:-1.1em}
.hopscope .q{color:var(--jp-ui-font-color2,#777)}
.hopscope .tag{border:1px solid var(--jp-border-color1,#8888);border-radius:3px;padding:0 .35em;font-size:11px}
.hopscope .note{border-left:3px solid var(--jp-border-color1,#8888);padding-left:.5em}
.hopscope .bad{color:var(--jp-error-color1,#c62828);font-weight:600}
.hopscope.hopscope pre{white-space:pre-wrap;word-break:normal;margin:.2em 0}
</style>"""


# Module that defines records → the modules here with their views, which are loaded when such a record is first shown:
# what shows a run needs pandas, and what shows a trained network matplotlib.
_VIEWS_OF = {
    "data.folder": ("index",),
    "data.origin": ("data",),
    "data.profiles": ("profiles",),
    "data.registry": ("data",),
    "data.sources.entry": ("data",),
    "evaluation.agreement": ("agreement",),
    "analyses.base": ("analyses",),
    "operators.checkup": ("node_details",),
    "papers.comparable": ("verdicts",),
    "analyses.diagnose": ("diagnosis",),
    "evaluation.estimate": ("estimate",),
    "evaluation.grid": ("diagnosis",),
    "notebooks.regression": ("regression",),
    "papers.reproduce": ("tables",),
    "evaluation.run": ("run",),
    "evaluation.listing": ("run",),
    "evaluation.side_by_side": ("answer_pairs",),
    "evaluation.significance": ("differences",),
    "papers.tables": ("tables", "verdicts"),
    "evaluation.verdict": ("run",),
    "evaluation.endings": ("worked",),
    "operators.groupings": ("groupings",),
    "operators.knowledge_tree": ("tree",),
    "operators.neighbourhood": ("graph",),
    "operators.node_details": ("node_details",),
    "operators.walk_distribution": ("node_details",),
    "index.chroma": ("index",),
    "index.graph": ("index",),
    "index.index": ("index",),
    "index.profiles": ("profiles",),
    "index.usage": ("index",),
    "methods.catrag.stages": ("steering",),
    "methods.catrag.steering": ("steering",),
    "methods.dotrag.dots": ("dots",),
    "methods.dotrag.events": ("dots",),
    "methods.gfm_rag.history": ("training",),
    "methods.gfm_rag.passing": ("passing",),
    "methods.iterative.events": ("replay",),
    "methods.iterative.replay": ("replay",),
    "methods.youtu.routed": ("routes",),
    "records": ("contexts", "proofs", "records"),
    "trace": ("trace",),
}


def _view_of(cls: type, of: Any) -> Any:
    """The view of a class, from `of` (`html` or `text`), with the modules that may have it loaded; None if it has
    none."""
    for base in cls.__mro__:
        for name in _VIEWS_OF.get(base.__module__.removeprefix("workbench."), ()):
            import_module(f"workbench.views.{name}")
    found = of.dispatch(cls)
    return None if found is of.dispatch(object) else found


@singledispatch
def html(thing: Any) -> str:
    """The HTML of a thing, safe to put into a notebook."""
    if view := _view_of(type(thing), html):
        return view(thing)
    return page(f"<pre>{esc(repr(thing))}</pre>")


@singledispatch
def text(thing: Any) -> str:
    """The text of a thing for a terminal, as defined for its class; for a plain record, its name and fields."""
    if view := _view_of(type(thing), text):
        return view(thing)
    from workbench.records import Record  # as much of a start as all else here

    if type(thing).__repr__ is not Record.__repr__:
        return clean(repr(thing))
    names = [field.name for field in fields(thing)] if is_dataclass(thing) else []
    return f"{type(thing).__name__}({', '.join(f'{name}={clean(repr(getattr(thing, name)), 60)}' for name in names)})"


def clean(value: Any, limit: int = CLIP) -> str:
    """One printable string: control and direction characters shown as �, long texts cut with their length named."""
    string = value if isinstance(value, str) else str(value)
    cut = f"… ({counted(len(string), 'character')})" if len(string) > limit else ""
    return printable(string[:limit]) + cut


def short(value: Any, limit: int) -> str:
    """A label: one line of at most `limit` characters."""
    string = value if isinstance(value, str) else str(value)
    line = " ".join(printable(string[:limit]).split())
    return f"{line[: limit - 1]}…" if len(string) > limit else line


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
    # JupyterLab would render text between two dollar signs as mathematics.
    return f'<div class="hopscope mathjax_ignore">{STYLE}{"".join(parts)}</div>'


def number(value: float | None, digits: int = 4) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.{digits}f}" if 1e-3 <= abs(value) < 1e6 or value == 0 else f"{value:.3g}"


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers are right-aligned, everything else is escaped text. A cell that is already HTML must be a
    `Markup`."""
    rows = [list(row) for row in rows]
    numeric = [
        bool(rows) and all(_is_number(row[column]) or row[column] is None for row in rows)
        for column in range(len(headers))
    ]
    head = "".join(f"<th{_RIGHT * right}>{esc(header)}</th>" for header, right in zip(headers, numeric))
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def details(summary: str, *body: str, open: bool = False) -> str:
    """A collapsible part; `summary` and `body` are HTML."""
    return f"<details{' open' if open else ''}><summary>{summary}</summary>{''.join(body)}</details>"


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


def _cell(value: Any) -> str:
    if isinstance(value, Markup):
        return f"<td>{value}</td>"
    if _is_number(value):
        return f"<td{_RIGHT}>{number(value)}</td>"
    return f"<td>{'' if value is None else esc(value)}</td>"


def aligned(rows: Iterable[list[str]]) -> list[str]:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
