"""The views of regression runs: what moved, from what to what, and by how much."""

from __future__ import annotations

from typing import Any

from workbench.display import html, text
from workbench.notebooks.regression import Checked, Finding, Regression
from workbench.text import clean, counted
from workbench.views.base import esc, number, page, table

MOST = 40  # findings of a notebook that are shown
LONGEST = 160  # characters of a value
ACCEPT = (
    "If all of this is meant, `workbench run --accept` records it; --only takes single notebooks, and a failed one is "
    "never recorded."
)


@text.register
def _(found: Regression) -> str:
    lines = [line for one in found.notebooks for line in text(one).splitlines()]
    return "\n".join([*lines, *_ending(found)])


@html.register
def _(found: Regression) -> str:
    return page(*(html(one) for one in found.notebooks), *(f"<p>{esc(line)}</p>" for line in _ending(found)))


@text.register
def _(one: Checked) -> str:
    rows = [_cells(finding) for finding in one.findings[:MOST]]
    widths = [max(len(row[column]) for row in rows) for column in range(3)] if rows else []
    lines = [
        "  " + "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), *filter(None, row[3:])]).rstrip()
        for row in rows
    ]
    return "\n".join([_heading(one), *lines, *_more(one)])


@html.register
def _(one: Checked) -> str:
    rows = [_cells(finding) for finding in one.findings[:MOST]]
    shown = table(["", "of", "name", "before → now", "by"], rows) if rows else ""
    return page(f"<p><b>{esc(_heading(one))}</b></p>", shown, *(f"<p>{esc(line)}</p>" for line in _more(one)))


@text.register
def _(finding: Finding) -> str:
    return "  ".join(filter(None, _cells(finding)))


@html.register
def _(finding: Finding) -> str:
    return page(f"<p>{esc(text(finding))}</p>")


def _heading(one: Checked) -> str:
    said = counted(len(one.findings), "finding") if one.findings else "nothing moved"
    notes = [f"{one.compared:,} compared"] if one.compared else []
    if one.uncertain:
        notes.append(f"{one.uncertain:,} without an interval not compared, as the engine answers differently each time")
    if one.unread:
        notes.append(f"{counted(one.unread, 'prompt')} not compared: another version of Python")
    return f"{one.notebook}: {said}" + (f" ({'; '.join(notes)})" if notes else "")


def _more(one: Checked) -> list[str]:
    return [f"  and {counted(len(one.findings) - MOST, 'finding')} more; --json has all"] * (len(one.findings) > MOST)


def _ending(found: Regression) -> list[str]:
    moved = sum(bool(one.findings) for one in found.notebooks)
    if not moved and not found.accepted:
        return [f"Nothing moved in {counted(len(found.notebooks), 'notebook')}."]
    if found.accepted:
        return [f"Recorded {counted(len(found.accepted), 'baseline')} in {found.accepted[0].parent}; see `git diff`."]
    return [f"{moved} of {counted(len(found.notebooks), 'notebook')} moved. {ACCEPT}"]


def _cells(finding: Finding) -> tuple[str, str, str, str, str]:
    """Kind, of what, its name, the values, the difference."""
    by = "" if finding.by is None else f"by {finding.by:+.6g}"
    return finding.kind, finding.of, clean(finding.name, LONGEST), _values(finding), by


def _values(finding: Finding) -> str:
    if finding.kind == "no baseline":
        return "`workbench run --accept` records one"
    if finding.kind in ("new", "failed"):
        return _value(finding.after)
    if finding.kind == "vanished":
        return "" if finding.before is None else f"was {_value(finding.before)}"
    more = "; there is no baseline for it" if finding.kind == "other parameters" else ""
    return f"{_value(finding.before)} → {_value(finding.after)}{more}"


def _value(value: Any) -> str:
    if isinstance(value, dict) and {"value", "holds"} <= value.keys():  # a check
        return f"{_value(value['value'])} ({'holds' if value['holds'] else 'fails'}, expected {value['expected']})"
    if isinstance(value, list) and len(value) == 3 and all(isinstance(one, float) for one in value):
        return "{} [{}, {}]".format(*map(number, value))
    return f"{value:.8g}" if isinstance(value, float) else clean(value, LONGEST)
