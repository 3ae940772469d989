"""The view of an estimate."""

from __future__ import annotations

from workbench.display import html, text
from workbench.evaluation.estimate import Cost, Estimate, Range
from workbench.text import clean
from workbench.views.base import NAME, details, esc, page, table

_HEADERS = ("part", "step", "calls", "prompt tokens", "completion tokens", "US dollars", "in batches", "time")
_BATCHED = _HEADERS.index("in batches")


@text.register
def _(estimate: Estimate) -> str:
    rows = _rows(estimate)
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([f"Estimate for {_title(estimate)}", *lines, *(f"- {note}" for note in _notes(estimate))])


@html.register
def _(estimate: Estimate) -> str:
    headers, *rows, total = _rows(estimate)
    return page(
        f"<p><b>Estimate for {esc(_title(estimate))}</b></p>",
        table(headers, [total, *rows]),
        details(
            "what it was measured on, and what is not known", *(f"<p>{esc(n)}</p>" for n in _notes(estimate)), open=True
        ),
    )


def _title(estimate: Estimate) -> str:
    return f"{clean(estimate.what, NAME)}, engine {clean(estimate.engine, NAME)}"


def _rows(estimate: Estimate) -> list[tuple[str, ...]]:
    """The headers, a row per cost, and the total. What a batch costs is shown where it is another price."""
    rows = [_HEADERS, *(_row(cost) for cost in [*estimate.costs, estimate.total])]
    if any(cost.batched != cost.money for cost in estimate.costs):
        return rows
    return [row[:_BATCHED] + row[_BATCHED + 1 :] for row in rows]


def _row(cost: Cost) -> tuple[str, ...]:
    counts = (_range(value, "{:,.0f}".format) for value in (cost.calls, cost.prompt_tokens, cost.completion_tokens))
    money = (_range(value, _dollars) for value in (cost.money, cost.batched))
    return clean(cost.part, NAME), clean(cost.step, NAME), *counts, *money, _range(cost.seconds, _time)


def _range(value: Range | None, form) -> str:
    """The number, and its range if that differs; an unknown number is not shown as 0."""
    if value is None:
        return "unknown"
    middle = form(value.value)
    if value.low is None or value.high is None:
        return f"{middle} (spread unknown)"
    ends = form(value.low), form(value.high)
    return middle if set(ends) == {middle} else f"{middle} ({ends[0]} to {ends[1]})"


def _dollars(value: float) -> str:
    return f"{value:,.2f}" if value >= 1 else f"{value:.4f}" if value else "0"


def _time(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{seconds:.1f} s" if seconds else "0"


def _notes(estimate: Estimate) -> list[str]:
    notes = [*estimate.measured, *estimate.unknown]
    if estimate.engine == "rules":
        notes.insert(0, "rules ask no model: no calls, no money")
    return [clean(note, 500) for note in notes]
