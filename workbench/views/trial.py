"""The view of a trial of a model."""

from __future__ import annotations

from workbench.display import html, text
from workbench.evaluation.trial import Trial
from workbench.text import clean, counted
from workbench.views.base import NAME, details, esc, page, table

_HEADERS = ("step", "read", "right", "tokens", "for reasoning", "seconds", "failed")
_CARRIES = {
    "yes": "carries",
    "wrong": "answers readably, not rightly",
    "no": "cannot carry",
    "not asked": "unknown",
}


@text.register
def _(trial: Trial) -> str:
    rows = [_HEADERS, *_rows(trial)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([f"Trial of {_title(trial)}", *lines, *_notes(trial)])


@html.register
def _(trial: Trial) -> str:
    return page(
        f"<p><b>Trial of {esc(_title(trial))}</b></p>",
        *(f"<p>{esc(note)}</p>" for note in _notes(trial)),
        details("each Step", table(_HEADERS, _rows(trial)), open=True),
    )


def _title(trial: Trial) -> str:
    read = sum(one.result is not None and not one.result.failure for one in trial.tried)
    right = sum(bool(one.right) for one in trial.tried)
    return (
        f"{clean(trial.engine, NAME)}: of {len(trial.tried)} questions {read} were read and {right} answered rightly, "
        f"in {trial.seconds:.0f} s"
    )


def _rows(trial: Trial) -> list[tuple[str, ...]]:
    return [
        (
            clean(row["step"], NAME), row["read"], row["right"],
            f"{row['prompt_tokens']:,} + {row['completion_tokens']:,}", f"{row['reasoning_tokens']:,}",
            f"{row['seconds']:.1f}", clean(row["failed"], 100),
        )
        for row in trial.rows()
    ]  # fmt: skip


def _notes(trial: Trial) -> list[str]:
    notes = [f"asked with {clean('; '.join(trial.sent), 300)}"] if trial.sent else []
    notes += [f"its window: {counted(trial.window, 'token')}"] if trial.window else []
    carried = trial.carries()
    for kind in ("method", "reader", "layer"):
        for state, words in _CARRIES.items():
            found = [_named(row, state) for row in carried if (row["kind"], row["carries"]) == (kind, state)]
            notes += [f"{kind}s that it {words}: {', '.join(found)}" if state != "not asked" else
                      f"{kind}s not tried: {', '.join(found)}"] if found else []  # fmt: skip
    return notes


def _named(row: dict[str, str], state: str) -> str:
    return row["name"] + (f" ({row['because']})" if state in ("wrong", "no") else "")
