"""The views of a run, of a comparison of two and its paired differences, of a verdict, of two extractions, of two
answers that were judged, and of worked examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from workbench.analyses.base import made_with, unreachable
from workbench.display import text
from workbench.evaluation.agreement import Agreement
from workbench.evaluation.endings import Endings, ending
from workbench.evaluation.listing import Between
from workbench.evaluation.pairs import ComparedAnswers
from workbench.evaluation.run import Run
from workbench.evaluation.significance import FEWEST, UNCORRECTED, Differences
from workbench.evaluation.verdict import Check, Verdict
from workbench.llm.engine import whose_words
from workbench.llm.record import in_a_line
from workbench.measures import needs_reader
from workbench.text import clean, short
from workbench.views.index import facts_by
from workbench.views.parts import (
    NAME,
    Part,
    bad,
    beside,
    code,
    details,
    faint,
    fold,
    group,
    interval,
    line,
    quiet,
    strong,
    table,
    tag,
    view,
    warned,
    words,
)
from workbench.views.terminal import printed

BETWEEN = (
    "Between repeats: deviation of the means, and the 95 % interval over questions and repeats "
    "(none for too few questions). Deterministic: no model is asked, so the first stands for all."
)


@view.register
def _(run: Run) -> Part | None:
    """The tables of means, and what makes the numbers comparable."""
    return group(
        warned(run.warnings),
        line("Run in ", strong(run.folder), f", engine {run.config['engine']}", sep=""),
        means_part(run),
        details("for how many questions each measure is defined", counts_part(run)),
        details("what these numbers were made with", facts_part(run)),
    )


def means_part(run: Run, tags: Mapping[str, str] | None = None, *, seconds: bool = True) -> Part | None:
    """The means with their caveats; `tags` stand beside the names of methods."""
    tables = (
        table(["method", *part.columns], [((method, tag((tags or {}).get(method))), *values)
                                          for method, *values in _rows(part)])
        for part in parts_of(run, seconds=seconds)
    )  # fmt: skip
    repeats = [quiet(BETWEEN), table(*_repeats(run))] if run.repeats > 1 else []
    return group(*tables, *repeats, quiet(*notes_of(run)))


def counts_part(run: Run) -> Part | None:
    """For how many questions each measure is defined."""
    counts = run.counts()
    return table(["method", *counts.columns], _rows(counts))


def facts_part(run: Run) -> Part | None:
    """What the numbers of a run were made with."""
    config = run.config
    facts = {
        "data": f"{config['data']['name']} ({config['data']['fingerprint']})",
        "questions": f"{config['questions']['n']} ({config['questions']['hash']})",
        "engine": config["engine"],
        "reader": config["reader"],
        "judge": run.judge,
        "prompts": ", ".join(f"{name}: {version}" for name, version in config["prompts"].items()),
        "k, budget, trace": f"{config['k']}, {config['budget']}, {config['trace']}",
        "versions": ", ".join(f"{name} {version}" for name, version in config["versions"].items()),
        "code": config.get("package"),
        "recordings": in_a_line(run.recordings),
    }
    return table(["", ""], [(name, value) for name, value in facts.items() if value])


def parts_of(run: Run, *, seconds: bool = True) -> list[pd.DataFrame]:
    """The table in three parts: retrieval, answers, and cost."""
    frame = run.table(seconds=seconds).astype(object)
    frame = frame.where(frame.notna(), None)
    retrieval = [name for name in frame if "@" in name and not needs_reader(name)]
    answered = [name for name in frame if needs_reader(name) or name.partition(":")[0] == "coverage"]
    rest = [name for name in frame if name not in {*retrieval, *answered}]
    return [frame[names] for names in (retrieval, answered, rest) if names]


def _repeats(run: Run) -> tuple[list[str], list[tuple]]:
    """Columns and rows of the intervals between repeats."""
    frame = run.intervals().astype(object)
    frame["deterministic"] = ["deterministic" if flag else "" for flag in frame["deterministic"]]
    columns = [name if name != "deterministic" else "" for name in frame]
    return columns, list(frame.where(frame.notna(), None).itertuples(index=False, name=None))


def _rows(frame: pd.DataFrame) -> list[tuple]:
    return [(name, *values) for name, values in zip(frame.index, frame.itertuples(index=False))]


def notes_of(run: Run) -> list[str]:
    """The caveats of the numbers."""
    notes = [*run.notes, *unreachable(run, run.measures), *made_with(run)]
    if run.judge:
        notes.append(
            f"accuracy:thesis was judged by {run.judge}"
            + (", which are no language model and compare dates and numbers only." if run.judge == "rules" else ".")
        )
    if "accuracy:heuristic" in run.measures:
        notes.append(
            "accuracy:heuristic is accuracy:thesis without its judge: what the heuristic leaves open is wrong."
        )
    if any(used["money"] is None for row in run.rows for used in row["usage"].values()):
        notes.append("The price of a model is not in prices.csv, so what it cost is unknown; that is not zero.")
    return notes


def check_text(check: Check) -> str:
    """A check on one line, with its place if it has one."""
    place = f" [{check.where}]" * bool(check.where)
    return f"{check.name}{place}: {check.value} (expected {check.expected})"


def _held(verdict: Verdict) -> str:
    """How many checks of a verdict hold."""
    held = sum(check.holds for check in verdict.checks)
    return f"{held} of {len(verdict.checks)} checks hold" if verdict.checks else "nothing to check"


@text.register
def _(verdict: Verdict) -> str:
    lines = [f"{verdict.title}: {'' if verdict.holds else 'SOME CHECKS FAIL, '}{_held(verdict)}"]
    lines += [f"  {'✓' if c.holds else '✗'} {check_text(c)}" for c in verdict.checks]
    return "\n".join(lines + [f"    {name}: {value}" for name, value in verdict.facts.items()])


@view.register
def _(verdict: Verdict) -> Part:
    """A line that unfolds to the checks, open from the start if one fails."""
    placed = any(c.where for c in verdict.checks)
    rows = [
        ("✓" if c.holds else bad("✗"), c.name, _value(c.value), _value(c.expected), *[c.where] * placed)
        for c in verdict.checks
    ]
    outcome = _held(verdict) if verdict.holds else bad(_held(verdict))
    return details(
        words(strong(verdict.title), ": ", outcome, sep=""),
        table(["", "check", "measured", "expected", *["place"] * placed], rows),
        table(["stated", ""], [(name, _value(value)) for name, value in verdict.facts.items()]),
        open=not verdict.holds,
    )


def _value(value: Any) -> Any:
    """A number as it is, anything else as clean text."""
    return value if value is None or isinstance(value, int | float) else clean(value)


@view.register
def _(comparison: Between) -> Part | None:
    return group(
        line(strong(comparison.second.folder), "against", strong(comparison.first.folder)), between_part(comparison)
    )


def between_part(comparison: Between) -> Part | None:
    """The differences between the results of two runs, and between their conditions."""
    return group(
        differences_part(comparison.frame),
        quiet(UNCORRECTED, "What differs besides:" if comparison.differing else "Nothing else differs."),
        table(["", "first", "second"], [tuple(condition.values()) for condition in comparison.conditions], 300),
    )


# -- differences ------------------------------------------------------------------------------------------------------

_LEAD = ("measure", "reader", "method")  # columns that identify a row
# Displayed column → where a frame may have it: `baseline` is a name in some frames, and a mean in others.
_SHOWN = {
    "against": ("against", "baseline"), "n": ("n",), "mean": ("value",), "baseline": ("baseline_value", "baseline"),
    "difference": ("difference",), "low": ("low",), "high": ("high",), "p": ("p",), "p_holm": ("p_holm",),
}  # fmt: skip


def shown_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A row for each comparison: measure, methods, number of questions, both means, their difference and its interval
    (None if there is none), p, and p after Holm's correction."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [
        {name: row[name] for name in _LEAD if name in row}
        | {column: next(row[name] for name in names if name in row) for column, names in _SHOWN.items()}
        for row in rows
    ]


def differences_part(frame: pd.DataFrame) -> Part | None:
    """The comparisons as a table; each interval is also drawn, on the scale of its measure."""
    rows = shown_rows(frame)
    reach: dict[str, float] = {}
    for row in rows:
        ends = (abs(row[name] or 0) for name in ("low", "difference", "high"))
        reach[row["measure"]] = max(reach.get(row["measure"], 1e-12), *ends)
    for row in rows:
        scale = reach[row["measure"]]
        row[""] = interval(row["low"], row["difference"], row["high"], -scale, scale)
    return table(list(rows[0]), [tuple(row.values()) for row in rows]) if rows else None


def notes(frame: pd.DataFrame) -> list[str]:
    """Notes that explain the columns."""
    few = len(frame) and frame["low"].isna().any()
    makers = frame["by"].unique() if "by" in frame else ()
    return [
        "low and high: the 95 % interval of the difference, by paired bootstrap"
        + (f" (– of fewer than {FEWEST} questions, of which it would say too little)." if few else "."),
        UNCORRECTED,
        *(["Made by: " + "; or ".join(clean(maker, 300) for maker in makers)] if len(makers) else []),
    ]


@text.register
def _(frame: Differences) -> str:
    if not len(frame):
        return "No differences: there is one method alone, or no measure that both have."
    return "\n".join([printed(shown_rows(frame), len([name for name in _LEAD if name in frame])), *notes(frame)])


# -- agreement --------------------------------------------------------------------------------------------------------

_LISTS = (("missed", "facts of the reference whose ends are not joined here"),
          ("added", "facts whose ends the reference does not join"))  # fmt: skip


@view.register
def _(agreement: Agreement) -> Part | None:
    rows = [(o.what, o.ours, o.reference, o.common, _share(o.precision), _share(o.recall)) for o in agreement.overlaps]
    return group(
        line(strong(agreement.name, limit=NAME), f": {clean(_between(agreement), 400)}", sep=""),
        table(["by passage", "here", "reference", "common", "precision", "recall"], rows),
        table(list(agreement.retrieval[0]), map(dict.values, agreement.retrieval), NAME)
        if agreement.retrieval
        else None,
        *(fold(title, table(["", "", ""], getattr(agreement, part), NAME), open=True) for part, title in _LISTS),
    )


def _between(agreement: Agreement) -> str:
    return f"{facts_by(agreement.by)}, against {facts_by(agreement.reference)}"


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


# -- answer pairs -----------------------------------------------------------------------------------------------------

NOTHING = "(no text)"
REASON = 400  # characters of a reason
UNJUDGED = "not judged: analyses.win_rate(…, keep=True) has the pairs of a run judged, judge=… of a tracer those shown"


@view.register
def _(pair: ComparedAnswers) -> Part | None:
    valid = [judgement for judgement in pair.judgements if not judgement["failure"]]
    sides = []
    for side, name in (("a", pair.a), ("b", pair.b)):
        won = sum(judgement["winners"].get("overall") == side for judgement in valid)
        won_tag = tag(f"won overall {won} of {len(valid)}") if valid else None
        sides.append(group(words(strong(name, limit=NAME), won_tag), code(pair.answers.get(side) or NOTHING)))
    judge = next((judgement.get("judge") for judgement in pair.judgements), None)
    by = f"judged by {judge}" if judge else "" if pair.judgements else UNJUDGED
    return group(
        line(strong(pair.question), faint(pair.question_id, limit=NAME)),
        beside(*sides, look="two"),
        quiet(by, limit=NAME),
        table(["dimension", "better", "shown first", "the judge's reason"], _judgements(pair, valid), REASON),
        *(line(f"the judge failed: {clean(failure, REASON)}", look="bad") for failure in pair.failures),
    )


def _judgements(pair: ComparedAnswers, valid: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str, str]]:
    """(dimension, winner, answer shown first, reason); the orders of a dimension follow each other."""
    names = {"a": pair.a, "b": pair.b}
    for dimension in dict.fromkeys(name for judgement in valid for name in judgement["winners"]):
        for judgement in valid:
            winner, first = names[judgement["winners"][dimension]], names["a" if judgement["a_first"] else "b"]
            yield (*(short(name, NAME) for name in (dimension, winner, first)), judgement["reasons"].get(dimension, ""))


# -- worked -----------------------------------------------------------------------------------------------------------


@view.register
def _(endings: Endings) -> Part | None:
    by = whose_words(name for answer in endings.answers for name in answer.engines)
    rows = []
    for ask, answer in zip(endings.example.asks, endings.answers):
        why = f"not {ask.answer}, as was written" if ask in endings.otherwise else ask.fails or "right"
        rows.append((*(clean(cell, NAME) for cell in (ask.method, ask.reader, ending(answer))), why))
    return group(
        line(strong(endings.example.question), tag(by, limit=NAME)),
        line(endings.example.shows),
        table(["method", "reader", "ends in", "why"], rows),
    )
