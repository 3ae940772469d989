"""Stages of what a method did, as plain data that its reader of traces gives, and the one page that shows any of them:
each stage folded, the last one open. Where the page may run `LIVE`, a slider shows one stage at a time, and pictures
draw themselves; a node keeps its place from stage to stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from workbench.records import Passage
from workbench.trace import Trace
from workbench.views import viewer
from workbench.views.drawing import Drawing, drawing_part
from workbench.views.parts import Part, details, group, steps, strong, table

# The head of a page that is live as soon as it is loaded.
LIVE = (
    f"<style>{viewer.PAGE_CSS}</style>"
    f"<script>{{{viewer.PAGE}addEventListener('DOMContentLoaded', () => live(document));}}</script>"
)

SHOWN = 12  # scores of a stage that are listed


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
            strong(one.name, limit=60),
            drawing_part(one.drawing, last.drawing) if one.drawing else None,
            one.part,
            open=one is last,
        )
        for one in stages
    )
    return steps(list(folded), above)


def stages_of(trace: Trace, passages: Mapping[str, Passage]) -> Iterator[Stage]:
    """A stage for each event of a method that scored or found something: what it found, and what it ranks, by its best.
    It reads the trace of any method whose events name what they score; passages by their titles."""
    (root, *_) = trace
    for event in trace:
        if event.parent != root.id or not (event.scores or event.outputs):
            continue
        outputs = [
            (name, ", ".join(map(_text, value)) if isinstance(value, list | tuple) else value)
            for name, value in event.outputs.items()
        ]
        best = [
            (rank, passages[name].title or name if name in passages else name, score)
            for rank, (name, score) in enumerate(event.scores[:SHOWN], 1)
        ]
        yield Stage(event.step, part=group(table(["", ""], outputs, 300), table(["", "", "score"], best)))


def _text(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def columns(
    layers: Iterable[Sequence[str]], rows: int, before: Mapping[str, Sequence[str]] | None = None
) -> dict[str, tuple[int, float]]:
    """Name → column, and row from the middle, of layers from left to right: each in columns of equal length, at most
    `rows` high, and in its own order but that a name stands near those `before` it."""
    places: dict[str, tuple[int, float]] = {}
    column = 0
    for layer in filter(None, layers):
        heights = {name: [places[one][1] for one in (before or {}).get(name, ()) if one in places] for name in layer}
        ordered = sorted(layer, key=lambda name: sum(heights[name]) / max(1, len(heights[name])))
        size = ceil(len(layer) / ceil(len(layer) / rows))
        for start in range(0, len(layer), size):
            part = ordered[start : start + size]
            places |= {name: (column, at - (len(part) - 1) / 2) for at, name in enumerate(part)}
            column += 1
    return places
