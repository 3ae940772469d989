"""The scripts and styles of pages and widgets, as files that editors and linters see as what they are."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def part(name: str) -> str:
    """The text of a file of this folder."""
    return (files(__name__) / name).read_text("utf-8")


# Define `graph(place, told)`, and `graphsOf(root)`, which draws the graphs of a page.
GRAPH, GRAPH_CSS = part("legend.js") + part("graph.js"), part("graph.css")
