"""The views of a run, of a comparison and of a verdict."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from workbench.analyses.base import made_with, unreachable
from workbench.display import html, text
from workbench.evaluation.listing import Between
from workbench.evaluation.run import Run
from workbench.evaluation.significance import UNCORRECTED
from workbench.evaluation.verdict import Check, Verdict
from workbench.measures import needs_reader
from workbench.text import clean
from workbench.views.base import Markup, aligned, details, esc, page, table, warned, warned_part

BETWEEN = (
    "Between repeats: deviation of the means, and the 95 % interval over questions and repeats "
    "(none for too few questions). Deterministic: no model is asked, so the first stands for all."
)


@html.register
def _(run: Run) -> str:
    """The tables of means, and what makes the numbers comparable."""
    config, counts = run.config, run.counts()
    facts = {
        "data": f"{config['data']['name']} ({config['data']['fingerprint']})",
        "questions": f"{config['questions']['n']} ({config['questions']['hash']})",
        "engine": config["engine"],
        "reader": config["reader"],
        "judge": run.judge,
        "prompts": ", ".join(f"{name}: {version}" for name, version in config["prompts"].items()),
        "k, budget": f"{config['k']}, {config['budget']}",
        "versions": ", ".join(f"{name} {version}" for name, version in config["versions"].items()),
        "code": config.get("package"),
    }
    return page(
        warned_part(run.warnings),
        f"<p><b>{esc(run.folder)}</b></p>",
        *(table(["method", *part.columns], _rows(part)) for part in parts_of(run)),
        *([f"<p class='q'>{esc(BETWEEN)}</p>", table(*_repeats(run))] if run.repeats > 1 else []),
        *(f"<p class='q'>{esc(note)}</p>" for note in notes_of(run)),
        details("for how many questions each measure is defined", table(["method", *counts.columns], _rows(counts))),
        details("what these numbers were made with", table(["", ""], facts.items())),
    )


@text.register
def _(run: Run) -> str:
    tables = [part.where(part.notna(), "–").to_string(float_format="{:.4f}".format) for part in parts_of(run)]
    tables += [BETWEEN, *aligned([*map(list, _said(*_repeats(run)))])] if run.repeats > 1 else []
    title = f"Run in {run.folder}, engine {run.config['engine']}"
    return "\n".join([*warned(run.warnings), title, *tables, *notes_of(run)])


def parts_of(run: Run, *, seconds: bool = True) -> list[pd.DataFrame]:
    """The table in three parts: retrieval, answers, and cost."""
    frame = run.table(seconds=seconds).astype(object)
    frame = frame.where(frame.notna(), None)
    found = [name for name in frame if "@" in name and not needs_reader(name)]
    answered = [name for name in frame if needs_reader(name) or name.partition(":")[0] == "coverage"]
    rest = [name for name in frame if name not in {*found, *answered}]
    return [frame[names] for names in (found, answered, rest) if names]


def _repeats(run: Run) -> tuple[list[str], list[tuple]]:
    """Columns and rows of what repeats say."""
    frame = run.intervals().astype(object)
    frame["deterministic"] = ["deterministic" if one else "" for one in frame["deterministic"]]
    columns = [name if name != "deterministic" else "" for name in frame]
    return columns, list(frame.where(frame.notna(), None).itertuples(index=False, name=None))


def _said(columns: list[str], rows: list[tuple]) -> Iterator[list[str]]:
    yield columns
    for row in rows:
        yield ["–" if one is None else f"{one:.4f}" if isinstance(one, float) else clean(str(one), 80) for one in row]


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
    """What is said of a verdict in which no check fails."""
    return "all checks hold" if verdict.checks else "nothing to check"


@text.register
def _(verdict: Verdict) -> str:
    lines = [f"{verdict.title}: {'SOME CHECKS FAIL' if not verdict.holds else _held(verdict)}"]
    lines += [f"  {'✓' if c.holds else '✗'} {check_text(c)}" for c in verdict.checks]
    return "\n".join(lines + [f"    {name}: {value}" for name, value in verdict.facts.items()])


@html.register
def _(verdict: Verdict) -> str:
    placed = any(c.where for c in verdict.checks)
    rows = [
        (Markup("✓" if c.holds else "<span class='bad'>✗</span>"), c.name, c.value, c.expected, *[c.where] * placed)
        for c in verdict.checks
    ]
    outcome = _held(verdict) if verdict.holds else "<span class='bad'>some checks fail</span>"
    return page(
        f"<p><b>{esc(verdict.title)}</b>: {outcome}</p>",
        table(["", "check", "measured", "expected", *["place"] * placed], rows) if rows else "",
        table(["stated", ""], verdict.facts.items()) if verdict.facts else "",
    )


@html.register
def _(found: Between) -> str:
    return page(
        f"<p><b>{esc(found.second.folder)}</b> against <b>{esc(found.first.folder)}</b></p>",
        table(list(found.frame), found.frame.astype(object).where(found.frame.notna(), None).values.tolist()),
        f"<p class='q'>{esc(UNCORRECTED)}</p>",
        "<p class='q'>What differs besides:</p>" if found.differing else "<p class='q'>Nothing else differs.</p>",
        table(["", "first", "second"], [tuple(one.values()) for one in found.conditions]),
    )


@text.register
def _(found: Between) -> str:
    differing = [f"{one['condition']}: {one['first']} → {one['second']}" for one in found.conditions]
    return "\n".join(
        [
            f"{found.second.folder} against {found.first.folder}",
            text(found.frame),
            *(clean(line, 300) for line in differing or ["nothing else differs"]),
        ]
    )
