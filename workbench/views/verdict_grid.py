"""A paper's table as printed, each number beside ours, whose cells are chosen by mouse or keyboard.

The page gets names and numbers as data and writes them as text, so nothing in them is acted upon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from workbench.papers.tables import Cell
from workbench.text import clean, short
from workbench.views import pages
from workbench.views.palette import GREEN, ORANGE, VERMILION
from workbench.views.tables import Layout, interval_text, printed_text
from workbench.views.verdicts import KIND, MARK

NAME = 60  # characters of the name of a row or a column


class VerdictGrid(anywidget.AnyWidget):
    """`shown` is the table; `picked` is the number of the chosen cell, -1 for none."""

    _esm = pages.part("verdict_grid.js")
    _css = f".hopscope-grid {{ --same: {GREEN}; --differs: {VERMILION}; --unknown: {ORANGE} }}\n" + pages.part(
        "verdict_grid.css"
    )
    shown = traitlets.Dict().tag(sync=True)
    picked = traitlets.Int(-1).tag(sync=True)

    def draw(self, layout: Layout | None, ids: Mapping[Cell, int]) -> None:
        """Show a table; `ids`: cell → the number that `picked` has for it."""
        self.picked = -1
        self.shown = grid_data(layout, ids) if layout else {}


def grid_data(layout: Layout, ids: Mapping[Cell, int]) -> dict[str, Any]:
    """A table as the page gets it: printable strings and numbers alone."""
    groups: list[dict[str, Any]] = []
    starts = []
    for at, (data, _) in enumerate(layout.columns):
        if not groups or groups[-1]["of"] != data:
            groups.append({"of": data, "name": short(data, NAME), "width": 0})
            starts.append(at)
        groups[-1]["width"] += 1
    rows, before = [], None
    for names, cells in layout.rows:
        group = names[0] if layout.keys[0] == "backbone" else None
        said = [short(name, NAME) for name in names]
        begins = group is not None and group != before
        if group is not None and not begins:
            said[0] = ""  # as printed: a backbone stands in the first of its rows
        filled = [_cell(cells[one], ids) if one in cells else None for one in layout.columns]
        rows.append({"names": said, "begins": begins, "cells": filled})
        before = group
    return {
        "title": clean(layout.title, NAME),
        "keys": list(layout.keys),
        "groups": [{"name": one["name"], "width": one["width"]} for one in groups],
        "starts": starts,
        "measures": [short(measure, NAME) for _, measure in layout.columns],
        "rows": rows,
    }


def _cell(cell: Cell, ids: Mapping[Cell, int]) -> dict[str, Any]:
    names = ", ".join(short(name, NAME) for name in (cell.backbone, cell.method, cell.data, cell.measure) if name)
    ours = "" if cell.ours is None else f", ours {cell.ours:.4f} [{interval_text(cell)}]"
    return {
        "id": ids[cell],
        "kind": KIND[cell.verdict],
        "printed": printed_text(cell),
        "ours": "" if cell.ours is None else f"{MARK[cell.verdict]} {cell.ours:.4f}",
        "says": f"{names}: published {printed_text(cell)}{ours}: {cell.verdict}",
    }
