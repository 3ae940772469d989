"""The legend of a picture: each entry says what a mark means, and a click on it, or Enter, hides or shows what has it.

It stands in the page of the picture, so that it needs no kernel. What is hidden stays hidden in the next picture."""

from __future__ import annotations

from typing import Any

from workbench.views import pages

HEIGHT = 46  # pixels that a page gets for its legend; more entries take room from the picture
LEGEND_CSS = pages.part("legend.css")
# `legend(place, changed)`: `show(entries)` for a picture, `set(names)` from outside, `has(name)`; a click calls
# `changed(names)` after it has changed what is hidden.
LEGEND_SCRIPT = pages.part("legend.js")


def entry(name: str, colour: str, mark: str, of: str = "node") -> dict[str, Any]:
    """An entry; `of` is what it hides, "node" or "edge", or "" for one that only explains."""
    return {"name": name, "colour": colour, "mark": mark, "of": of}
