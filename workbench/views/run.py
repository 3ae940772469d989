"""The look of a run, of a comparison and of a verdict."""

from __future__ import annotations

from workbench.experiments.run import Run
from workbench.experiments.verdict import Verdict
from workbench.views.base import Markup, details, esc, html, page, table, text


@html.register
def _(run: Run) -> str:
    """The table of means, and what makes the numbers comparable."""
    frame = run.table()
    rows = [(name, *values) for name, values in zip(frame.index, frame.itertuples(index=False))]
    config = run.config
    said = {
        "data": f"{config['data']['name']} ({config['data']['fingerprint']})",
        "questions": f"{config['questions']['n']} ({config['questions']['hash']})",
        "engine": config["engine"],
        "reader": config["reader"],
        "prompts": ", ".join(f"{name}: {version}" for name, version in config["prompts"].items()),
        "k, budget": f"{config['k']}, {config['budget']}",
        "versions": ", ".join(f"{name} {version}" for name, version in config["versions"].items()),
    }
    rules = "<p class='q'>Made with rules, not with a language model.</p>" if config["engine"] == "rules" else ""
    return page(
        f"<p><b>{esc(run.folder)}</b></p>",
        table(["method", *frame.columns], rows),
        rules,
        details("what these numbers were made with", table(["", ""], said.items())),
    )


@text.register
def _(run: Run) -> str:
    return f"Run in {run.folder}, engine {run.config['engine']}\n{run.table().to_string(float_format='{:.4f}'.format)}"


@text.register
def _(verdict: Verdict) -> str:
    lines = [f"{verdict.title}: {'all checks hold' if verdict.holds else 'SOME CHECKS FAIL'}"]
    lines += [f"  {'✓' if c.holds else '✗'} {c.name}: {c.value} (expected {c.expected})" for c in verdict.checks]
    return "\n".join(lines + [f"    {name}: {value}" for name, value in verdict.facts.items()])


@html.register
def _(verdict: Verdict) -> str:
    rows = [
        (Markup("✓" if c.holds else "<span class='bad'>✗</span>"), c.name, c.value, c.expected) for c in verdict.checks
    ]
    said = "all checks hold" if verdict.holds else "<span class='bad'>some checks fail</span>"
    return page(
        f"<p><b>{esc(verdict.title)}</b>: {said}</p>",
        table(["", "check", "measured", "expected"], rows),
        table(["stated", ""], verdict.facts.items()) if verdict.facts else "",
    )
