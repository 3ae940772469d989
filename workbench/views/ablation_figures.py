"""The figures of what becomes of questions between retrieval and answer."""

from __future__ import annotations

from workbench.experiments.analyses.decomposition import CoveredOnly, Decomposition
from workbench.views.analysis_figures import _canvas, _colour, _label, _marker, _titled, figure
from workbench.views.base import short
from workbench.views.figures import Picture
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, VERMILION

PARTS = {  # what became of questions: as it is called, colour, hatching
    "correct_covered": ("right, covered", GREEN, ""),
    "lucky": ("right, not covered", BLUE, "//"),
    "cut": ("wrong, cut by compression", ORANGE, "xx"),
    "reasoning": ("wrong, covered: reasoning", VERMILION, ""),
    "retrieval": ("wrong, not covered: retrieval", GREY, ".."),
}
_LETTERS = 64  # of a label


@figure.register
def _(found: Decomposition) -> Picture:
    """A bar per configuration: right, and wrong by where it went wrong. Where the run does not say what was cut, that
    is part of reasoning."""
    canvas, axes = _canvas(8.2, 1.4 + 0.32 * max(1, len(found.rows)))
    for at, row in enumerate(found.rows):
        left = 0
        for name, (_, colour, hatch) in PARTS.items():
            count = row[name] or 0
            axes.barh(at, count, left=left, color=colour, hatch=hatch, edgecolor="white", linewidth=0.5, height=0.74)
            if count >= 0.04 * row["n"]:
                axes.text(left + count / 2, at, f"{count}", ha="center", va="center", fontsize=7, color="#1a1a1a",
                          bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.75})  # fmt: skip
            left += count
    axes.set_yticks(range(len(found.rows)), [_label(_configuration(row), _LETTERS) for row in found.rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("questions")
    handles = [
        axes.barh([0], [0], color=colour, hatch=hatch, edgecolor="white", label=name)
        for name, colour, hatch in PARTS.values()
    ]
    canvas.legend(handles=handles, frameon=False, fontsize=7, ncols=3, loc="outside upper center")
    return Picture(canvas, short(found.title, 200))


@figure.register
def _(found: CoveredOnly) -> Picture:
    """The first measure of each configuration over all questions, over covered ones, and over those whose answer was
    there to read."""
    measure = found.rows[0]["measure"]
    rows = [row for row in found.rows if row["measure"] == measure]
    canvas, axes = _canvas(8.2, 1.4 + 0.32 * len(rows))
    for at, name in enumerate(("value", "covered", "read")):
        there = [(row[name], place) for place, row in enumerate(rows) if row[name] is not None]
        said = {"value": "all questions", "covered": "answer retrieved", "read": "answer there to read"}[name]
        if there:
            axes.plot(*zip(*there), linestyle="", color=_colour(at), marker=_marker(at), label=said)
    axes.set_yticks(range(len(rows)), [_label(_configuration(row), _LETTERS) for row in rows], fontsize=8)
    axes.invert_yaxis()
    axes.set(xlabel=measure, xlim=(-0.02, 1.02))
    _titled(axes, found.title, ["all", "covered", "read"])
    return Picture(canvas, short(found.title, 200))


def _configuration(row: dict) -> str:
    """Reader and method, and the kind of question, where it is one."""
    kind = f"{row['kind']}{' hops' * (row['by'] == 'hops')}: " if row.get("kind") else ""
    return f"{kind}{row['reader']} · {row['method']}"
