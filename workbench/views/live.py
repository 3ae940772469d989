"""The parts of widgets in the page of a notebook: pictures in a frame, which report clicks, and views that the viewer
draws from plain data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from workbench.views import viewer
from workbench.views.drawing import HEIGHT, LEGEND, Drawing, Map, drawing_data, drawing_page
from workbench.views.palette import AUTO, THEMED, THEMED_CSS
from workbench.views.parts import Part, group
from workbench.views.render import data_of, html_of, text_of

_FULL = {"width": "100%"}


class Frame(anywidget.AnyWidget):
    """A picture as a page in a sandboxed frame, which runs apart from the notebook. `picked` is the id of the node that
    was clicked last, -1 before any; `selected` is the node that is marked; `hidden` are the entries of the legend whose
    nodes or edges are not shown."""

    _esm = viewer.part("frame.js")
    _css = THEMED_CSS
    page = traitlets.Unicode().tag(sync=True)
    drawn = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(HEIGHT).tag(sync=True)
    picked = traitlets.Int(-1).tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)
    hidden = traitlets.List(traitlets.Unicode()).tag(sync=True)


class Canvas(widgets.Box):
    """A place for a picture, of this `height` without its legend; calls `clicked` with the id of a node."""

    def __init__(self, theme: str = AUTO, height: int = HEIGHT, **layout: str):
        super().__init__(layout=(layout or _FULL) | {"flex_flow": "column"})
        self.clicked: Callable[[int], Any] = lambda node: None
        self.frame, self._theme = Frame(layout=_FULL, height=height + LEGEND), theme
        self.frame.add_class(THEMED)
        self.frame.observe(lambda change: change["new"] >= 0 and self.clicked(change["new"]), "picked")
        self.drawing: Drawing | Map | None = None

    def draw(self, drawing: Drawing | Map | None) -> None:
        """Show a picture, or nothing if there is none. The first picture is loaded as a page, before the notebook shows
        the frame; the page then receives the data of all others."""
        self.frame.picked = -1  # so that the same node can be clicked in the next picture
        if drawing and self.frame.page:
            self.frame.drawn = drawing_data(drawing)
        elif drawing:
            self.frame.page = drawing_page(drawing, theme=self._theme)
        self.drawing, self.children = drawing, [self.frame] if drawing else []

    def select(self, node: int) -> None:
        """Mark a node, as a click on it does."""
        self.frame.selected = node


class View(anywidget.AnyWidget):
    """A view that the viewer draws in the page of a notebook from plain `data`: its `kind` is one of `viewer/live.js`,
    and `at` is its stage. `at` and `picked` also change with clicks."""

    _esm = viewer.WIDGET
    _css = viewer.WIDGET_CSS
    kind = traitlets.Unicode().tag(sync=True)
    data = traitlets.Dict().tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    picked = traitlets.Int(-1).tag(sync=True)


class Text(View):
    """A place for parts of a page."""

    def __init__(self, *parts: Part | None, **layout: Any):
        super().__init__(kind="part", **layout)
        self.show(*parts)

    def show(self, *parts: Part | None) -> None:
        """Show these parts instead, or nothing if there are none."""
        self.part = group(*parts)
        self.data = {} if self.part is None else {"part": data_of(self.part)}

    @property
    def text(self) -> str:
        """Its parts as the text of a terminal."""
        return text_of(self.part)

    @property
    def html(self) -> str:
        return html_of(self.part)
