"""Widgets that show a picture and report clicks: `picked` is the id of the node that was clicked last, -1 before any;
`selected` is the node that is marked; `hidden` are the entries of the legend whose nodes or edges are not shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from workbench.views import viewer
from workbench.views.drawing import HEIGHT, LEGEND, Drawing, Map, drawing_data, drawing_entries, drawing_page
from workbench.views.palette import AUTO, THEMED, THEMED_CSS

_FULL = {"width": "100%"}


class Frame(anywidget.AnyWidget):
    """A picture as a page in a sandboxed frame, which runs apart from the notebook."""

    _esm = viewer.part("frame.js")
    _css = THEMED_CSS
    page = traitlets.Unicode().tag(sync=True)
    drawn = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(HEIGHT).tag(sync=True)
    picked = traitlets.Int(-1).tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)
    hidden = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, theme: str = AUTO, height: int = HEIGHT):
        """`height` is that of the picture, without its legend."""
        super().__init__(layout=_FULL, height=height + LEGEND)
        self.add_class(THEMED)
        self.theme = theme

    def draw(self, shown: Drawing | Map) -> None:
        """Load the first picture as a page; send the page the data of the others."""
        self.picked = -1  # so that the same node can be clicked in the next picture
        if self.page:
            self.drawn = drawing_data(shown)
        else:
            self.page = drawing_page(shown, theme=self.theme)


class Canvas(widgets.Box):
    """A place for a picture; calls `clicked` with the id of a node."""

    def __init__(self, theme: str = AUTO, height: int = HEIGHT, **layout: str):
        super().__init__(layout=(layout or _FULL) | {"flex_flow": "column"})
        self.clicked: Callable[[int], Any] = lambda node: None
        self.frame = Frame(theme, height)
        self.frame.observe(lambda change: change["new"] >= 0 and self.clicked(change["new"]), "picked")
        self.entries: tuple[str, ...] = ()  # what of the picture can be hidden, by its names in the legend

    def draw(self, shown: Drawing | Map | None) -> None:
        """Show a picture; nothing without one."""
        if shown:
            self.frame.draw(shown)  # before the page shows the frame, so that it has what to load
        self.children = [self.frame] if shown else []
        self.entries = tuple(entry["name"] for entry in drawing_entries(shown) if entry["of"]) if shown else ()

    def select(self, node: int) -> None:
        """Mark a node, as a click on it does."""
        self.frame.selected = node

    @property
    def hidden(self) -> tuple[str, ...]:
        """The entries that are hidden now; they stay so in the next picture."""
        return tuple(self.frame.hidden)

    def hide(self, *names: str) -> None:
        """Hide what these entries of the legend stand for, and show everything else, as clicks on them do."""
        self.frame.hidden = list(names)
