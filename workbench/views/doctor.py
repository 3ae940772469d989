"""The view of the doctor's findings."""

from __future__ import annotations

from workbench.doctor import Examination, Finding
from workbench.views.base import Markup, clean, esc, html, page, table, text
from workbench.views.terminal import indented

_WIDE = 100  # columns that it fits into
_LONGEST = 400  # characters of what was found, and of a command
_MARKS = {"ok": "✓", "optional": "–", "MISSING": "✗"}


@text.register
def _(finding: Finding) -> str:
    return "\n".join(_lines(finding, 0))


@text.register
def _(examination: Examination) -> str:
    lines = [_verdict(examination)]
    for area, findings in examination.areas.items():
        lines += [clean(area), *(line for finding in findings for line in _lines(finding, 2))]
    return "\n".join(lines)


def _lines(finding: Finding, indent: int) -> list[str]:
    """What was found, and below it what mends it."""
    optional = " (optional)" if finding.mark == "optional" else ""
    found = f"{_MARKS[finding.mark]} {clean(finding.what, _LONGEST)}: {clean(finding.found, _LONGEST)}{optional}"
    remedy = [f"→ {clean(finding.remedy, _LONGEST)}"] if finding.remedy else []
    deeper = indent + len("✓ ")
    return [*indented(found, indent, _WIDE), *(line for one in remedy for line in indented(one, deeper, _WIDE))]


@html.register
def _(finding: Finding) -> str:
    return page(table(["", "what", "found", "do"], [_row(finding)]))


@html.register
def _(examination: Examination) -> str:
    rows = [
        ("" if position else area, *_row(finding))
        for area, findings in examination.areas.items()
        for position, finding in enumerate(findings)
    ]
    return page(f"<p><b>{esc(_verdict(examination))}</b></p>", table(["", "", "what", "found", "do"], rows))


def _row(finding: Finding) -> tuple:
    look = {"optional": "<span class='q'>optional</span>", "MISSING": "<span class='bad'>✗</span>"}
    mark = Markup(look.get(finding.mark, "✓"))
    return mark, *(clean(part, _LONGEST) for part in (finding.what, finding.found, finding.remedy))


def _verdict(examination: Examination) -> str:
    bad = sum(not finding.good for finding in examination)
    return f"{bad} of {len(examination)} things are to be mended." if bad else "Nothing is to be mended."
