"""The view of two answers that were judged: next to each other, with what the judge said in each dimension."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.display import html, text
from workbench.evaluation.side_by_side import ComparedAnswers
from workbench.text import CLIP, clean, short
from workbench.views.base import NAME, aligned, esc, page, table

STYLE = """<style>
.hopscope .two{display:grid;grid-template-columns:repeat(auto-fit,minmax(18em,1fr));gap:.6em 1.2em}
.hopscope .two>div{border:1px solid var(--jp-border-color2,#8884);border-radius:4px;padding:.4em .7em}
.hopscope .two pre{font-family:inherit;font-size:inherit;background:none;color:inherit}
</style>"""
_HEADERS = ["dimension", "better", "shown first", "the judge's reason"]
NOTHING = "(no text)"
REASON = 400  # characters of a reason
UNJUDGED = "not judged: analyses.win_rate(…, keep=True) has the pairs of a run judged, judge=… of a tracer those shown"


@html.register
def _(pair: ComparedAnswers) -> str:
    sides = "".join(
        f"<div><b>{esc(name, NAME)}</b> {_won(pair, side)}<pre>{esc(pair.answers.get(side) or NOTHING)}</pre></div>"
        for side, name in (("a", pair.a), ("b", pair.b))
    )
    head = f"<p><b>{esc(pair.question)}</b> <span class='q'>{esc(pair.question_id, NAME)}</span></p>"
    rows = list(_said(pair))
    said = table(_HEADERS, rows) if rows else ""
    failed = "".join(f"<p class='bad'>the judge failed: {esc(one, REASON)}</p>" for one in pair.failures)
    by = f"<p class='q'>{esc(_judged_by(pair), NAME)}</p>"
    return page(STYLE, head, f"<div class='two'>{sides}</div>", by, said, failed)


@text.register
def _(pair: ComparedAnswers) -> str:
    lines = [f"{short(pair.question, CLIP)} ({short(pair.question_id, NAME)})"]
    for side, name in (("a", pair.a), ("b", pair.b)):
        lines += [f"--- {short(name, NAME)}", clean(pair.answers.get(side) or NOTHING)]
    lines.append(clean(_judged_by(pair), NAME))
    rows = [[dimension, winner, first, short(reason, 100)] for dimension, winner, first, reason in _said(pair)]
    lines += aligned([_HEADERS, *rows]) if rows else []
    return "\n".join([*lines, *(f"the judge failed: {short(one, REASON)}" for one in pair.failures)])


def _judged_by(pair: ComparedAnswers) -> str:
    judge = next((one.get("judge") for one in pair.judgements), None)
    return f"judged by {judge}" if judge else "" if pair.judgements else UNJUDGED


def _said(pair: ComparedAnswers) -> Iterator[tuple[str, str, str, str]]:
    """(dimension, winner, which was shown first, reason), the orders of a dimension one after the other."""
    names = {"a": pair.a, "b": pair.b}
    valid: list[Mapping[str, Any]] = [one for one in pair.judgements if not one["failure"]]
    for dimension in dict.fromkeys(name for one in valid for name in one["winners"]):
        for one in valid:
            winner, first = names[one["winners"][dimension]], names["a" if one["a_first"] else "b"]
            yield (
                short(dimension, NAME),
                short(winner, NAME),
                short(first, NAME),
                clean(one["reasons"].get(dimension, ""), REASON),
            )


def _won(pair: ComparedAnswers, side: str) -> str:
    """How often a side won overall."""
    valid = [one for one in pair.judgements if not one["failure"]]
    won = sum(one["winners"].get("overall") == side for one in valid)
    return f"<span class='tag'>won overall {won} of {len(valid)}</span>" if valid else ""
