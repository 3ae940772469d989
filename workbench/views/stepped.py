"""The stages of a method as plain data, read from its trace, and the page that shows them: each stage folded, the last
one open. If the page runs `LIVE`, a slider shows one stage at a time, and pictures are live; a node keeps its place
from stage to stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from workbench.records import Passage
from workbench.trace import Trace
from workbench.views import viewer
from workbench.views.drawing import Drawing, drawing_part
from workbench.views.parts import Part, details, steps, strong
from workbench.views.trace import within

# The head of a page that is live as soon as it is loaded.
LIVE = (
    f"<style>{viewer.PAGE_CSS}</style>"
    f"<script>{{{viewer.PAGE}addEventListener('DOMContentLoaded', () => live(document));}}</script>"
)


class Stage(NamedTuple):
    """A stage: its name, its picture if it has one, and its texts and tables as a part of a page."""

    name: str
    drawing: Drawing | None = None
    part: Part | None = None


def stages_part(stages: Sequence[Stage], above: Part | None = None) -> Part:
    """The stages, folded but for the last, as a part of a page; a chart `above` them follows the slider."""
    last = stages[-1] if stages else None
    folded = (
        details(
            strong(stage.name, limit=60),
            drawing_part(stage.drawing, last.drawing) if stage.drawing else None,
            stage.part,
            open=stage is last,
        )
        for stage in stages
    )
    return steps(list(folded), above)


def stages_of(trace: Trace, passages: Mapping[str, Passage]) -> Iterator[Stage]:
    """A stage for each event of a method that found something, and for what read its evidence: all that the event says,
    with passages by their titles, and the events inside it, folded. It reads the trace of any method."""
    titles = {name: passage.title for name, passage in passages.items()}
    method, inside = next((event.id for event in trace), None), {event.parent for event in trace}
    for event in trace:
        of_stage = event.parent == method or (event.parent is None and event.id != method)
        if of_stage and (event.scores or event.outputs or event.id in inside):
            yield Stage(event.step, part=within(trace, event, titles))


def columns(
    layers: Iterable[Sequence[str]], rows: int, before: Mapping[str, Sequence[str]] | None = None
) -> dict[str, tuple[int, float]]:
    """Name → column, and row from the middle, of layers from left to right. A layer fills columns of equal length, at
    most `rows` high, in its own order, except that each name is placed near those `before` it."""
    places: dict[str, tuple[int, float]] = {}
    column = 0
    for layer in filter(None, layers):
        heights = {name: [places[end][1] for end in (before or {}).get(name, ()) if end in places] for name in layer}
        ordered = sorted(layer, key=lambda name: sum(heights[name]) / max(1, len(heights[name])))
        size = ceil(len(layer) / ceil(len(layer) / rows))
        for start in range(0, len(layer), size):
            part = ordered[start : start + size]
            places |= {name: (column, at - (len(part) - 1) / 2) for at, name in enumerate(part)}
            column += 1
    return places
