"""A map: discs, thousands of points in them and a few lines, on a page that zooms, pans and tells what is clicked.

vis-network, which draws every other picture, is slow beyond some two hundred nodes. This page draws on one canvas what
its window shows, places labels where they have room, and is sent columns of numbers instead of one object per node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.display import html, text
from workbench.records import Record
from workbench.text import clean, short
from workbench.views import legend, pages
from workbench.views.base import NAME, esc, page, script_data
from workbench.views.drawing import HEIGHT, POLICY, EdgeStyle, NodeStyle, entry_name, framed, legend_entries
from workbench.views.palette import AUTO, VERMILION, theme_css

LABEL, TIP = 44, 220  # characters


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Map(Record):
    """What a map shows. The first `discs` rows of its nodes are discs, the largest first, the others points; labels of
    earlier rows have precedence.

    ids         int (n,): what a click reports; a node keeps its place on the way to the next map of the same `space`
    places      float (n, 2), radii float (n,): x points right and y down, in any one unit
    style       int (n,): positions in `node_styles`
    labels, tips  of the first rows; the others have none, and a click on them counts for their disc
    rings       rows with an outline, which means `outlined`
    edges       int (e, 2): rows; edge_style int (e,): positions in `edge_styles`
    left_out    what had no room, in words; "" for nothing"""

    name: str
    space: str
    ids: np.ndarray
    places: np.ndarray
    radii: np.ndarray
    style: np.ndarray
    node_styles: tuple[NodeStyle, ...]
    discs: int = 0
    labels: tuple[str, ...] = ()
    tips: tuple[str, ...] = ()
    rings: tuple[int, ...] = ()
    outlined: str = ""
    edges: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int32))
    edge_style: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    edge_styles: tuple[EdgeStyle, ...] = ()
    left_out: str = ""

    def __len__(self) -> int:
        return len(self.ids)

    def row(self, id: int) -> int:
        """The row of what a click reports; raises ValueError if the map does not show it."""
        found = np.flatnonzero(np.asarray(self.ids) == id)
        if not len(found):
            raise ValueError(f"the map {self.name!r} does not show {id}")
        return int(found[0])


@text.register
def _(shown: Map) -> str:
    cut = f"; {shown.left_out}" if shown.left_out else ""
    points = len(shown) - shown.discs
    return (
        f"Map of {clean(shown.name, NAME)!r}: {shown.discs:,} discs, {points:,} points, {len(shown.edges):,} lines{cut}"
    )


@html.register
def _(shown: Map) -> str:
    return page(f"<p class='q'>{esc(text(shown))}</p>") + map_frame(shown)


def map_entries(shown: Map) -> list[dict[str, Any]]:
    """The legend of a map."""
    return legend_entries(shown.node_styles, shown.edge_styles, shown.outlined)


def map_data(shown: Map) -> dict[str, Any]:
    """What the page is sent: columns, short numbers and no defaults."""
    return {
        "space": shown.space,
        "legend": map_entries(shown),
        "discs": shown.discs,
        "nodes": {
            "id": np.asarray(shown.ids).tolist(),
            "x": _short(shown.places[:, 0]),
            "y": _short(shown.places[:, 1]),
            "r": _short(shown.radii),
            "s": np.asarray(shown.style).tolist(),
            "label": [short(label, LABEL) for label in shown.labels],
            "tip": [clean(tip, TIP) for tip in shown.tips],
        },
        "rings": list(shown.rings),
        "edges": {"ends": np.asarray(shown.edges).ravel().tolist(), "s": np.asarray(shown.edge_style).tolist()},
        "looks": [[style.colour, style.shape, entry_name(style.name)] for style in shown.node_styles],
        "lines": [
            [s.colour, s.width, s.opacity, list(s.dashes) if s.dashes else [], entry_name(s.name)]
            for s in shown.edge_styles
        ],
    }


def map_page(shown: Map, *, theme: str = AUTO) -> str:
    """A self-contained HTML page, as high as its window."""
    data, css = script_data(map_data(shown)), theme_css(theme) + _CSS + legend.LEGEND_CSS
    return (
        f'<!doctype html><html><head><meta charset="utf-8">{POLICY}<style>{css}</style></head><body>{_BODY}'
        f"<script>const RING = '{VERMILION}';{legend.LEGEND_SCRIPT}{_SCRIPT}show({data});</script></body></html>"
    )


def map_frame(shown: Map, *, height: int = HEIGHT, theme: str = AUTO) -> str:
    """The page in a sandboxed frame, as HTML for the output of a notebook and for pages made from it."""
    return framed(map_page(shown, theme=theme), height)


def _short(values: Sequence[float]) -> list[float]:
    return np.round(np.asarray(values, dtype=float), 1).tolist()


_CSS = pages.part("map.css")
_BODY = pages.part("map.html")
# `view` maps a place to pixels: k pixels per unit, x and y the pixels of the origin. A frame may load before it has a
# size; the map is fitted when it has one. Names reach the page as text of a canvas and of one element, never as HTML.
_SCRIPT = pages.part("map.js")
