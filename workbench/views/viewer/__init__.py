"""The scripts and styles of pages and widgets, as files that editors and linters see as what they are."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def part(name: str) -> str:
    """The text of a file of this folder."""
    return (files(__name__) / name).read_text("utf-8")


# Define `graph(place, told)` and `bump(place, told)`, and what draws the graphs and the charts of a page.
GRAPH, GRAPH_CSS = part("legend.js") + part("graph.js"), part("graph.css")
BUMP, BUMP_CSS = part("bump.js"), part("bump.css")
# The module of a widget that shows what `viewer/live.js` names.
LIVE = BUMP + part("live.js")
