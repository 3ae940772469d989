"""The scripts and styles of pages and widgets, as files that editors and linters see as what they are."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def part(*names: str) -> str:
    """The text of files of this folder."""
    return "".join((files(__name__) / name).read_text("utf-8") for name in names)


# Define `graph(place, told)`, and `graphsOf(root)`, which draws the graphs of a page.
GRAPH, GRAPH_CSS = part("legend.js", "graph.js"), part("graph.css")
_LIVE, _LIVE_CSS = part("bump.js", "table.js", "stepped.js"), part("bump.css", "table.css", "stepped.css")
# Define `live(root)`, which draws the graphs and the charts of a part of a page, gives a slider to its steps, and lets
# its tables be sorted and filtered.
PAGE, PAGE_CSS = GRAPH + _LIVE, GRAPH_CSS + _LIVE_CSS
# The module of a widget that shows what `viewer/live.js` names.
WIDGET = GRAPH + _LIVE + part("parts.js", "cells.js", "live.js")
WIDGET_CSS = part("page.css") + GRAPH_CSS + _LIVE_CSS + part("cells.css")
