"""What a widget steps through, on a page without a kernel: each step folded, the last one open. Where the page may run
`SCRIPT`, a slider shows one step at a time, and pictures draw themselves; a node keeps its place from step to step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.methods.dotrag.dots import Dot, Dots
from workbench.methods.gfm_rag.passing import Passing
from workbench.methods.iterative.replay import Replay
from workbench.records import Passage
from workbench.views import dots as dots_view
from workbench.views import passing as passing_view
from workbench.views import replay as replay_view
from workbench.views import viewer
from workbench.views.base import details, esc
from workbench.views.dot_drawing import dot_drawing
from workbench.views.drawing import drawing_part
from workbench.views.replay import bump_svg

Passages = Mapping[str, Passage]

STYLE = viewer.part("stepped.css") + viewer.GRAPH_CSS
# Defines `live(root)`, which draws the graphs of a part of a page, and gives a slider to its folded steps.
SCRIPT = viewer.GRAPH + viewer.part("stepped.js")
# The head of a page that is live as soon as it is loaded.
LIVE = f"<style>{STYLE}</style><script>{{{SCRIPT}addEventListener('DOMContentLoaded', () => live(document));}}</script>"


def steps(sections: Iterable[tuple[str, str]]) -> str:
    """Sections by name, folded but for the last."""
    sections = list(sections)
    folded = (
        details(f"<b>{esc(name, 60)}</b>", part, open=at == len(sections) - 1)
        for at, (name, part) in enumerate(sections)
    )
    return f"<div class='steps'>{''.join(folded)}</div>"


def stepped_replay(shown: Replay, passages: Passages) -> str:
    """The rounds, each with the ranks up to it."""
    return steps(
        (stage, bump_svg(shown, at, passages) + replay_view.stage_part(shown, at, passages))
        for at, stage in enumerate(shown.stages)
    )


def stepped_dots(shown: Dots, passages: Passages) -> str:
    """The DOTs, each with the picture of what every iteration reached."""
    each = "".join(
        details(dots_view.dot_heading(dot), dots_view.setting_part(dot), _iterations(shown, dot), open=not at)
        for at, dot in enumerate(shown.dots)
    )
    return dots_view.selection_part(shown) + each + dots_view.end_part(shown, passages)


def _iterations(shown: Dots, dot: Dot) -> str:
    drawn = [dot_drawing(shown, dot.number, one.number) for one in dot.iterations]
    return steps(
        (f"iteration {one.number}", drawing_part(drawing, drawn[-1]) + dots_view.iteration_part(one, shown.gold))
        for one, drawing in zip(dot.iterations, drawn)
    )


def stepped_passing(shown: Passing) -> str:
    """The layers, each with the picture of the entities that it lit up."""
    stages = passing_view.stages(shown)
    drawn = [passing_view.passing_drawing(shown, at) for at in range(len(stages))]
    return steps((stage, drawing_part(drawing, drawn[-1])) for stage, drawing in zip(stages, drawn))
