"""Display of records as HTML, as text and as a picture.

These functions find :mod:`workbench.views` by its name when something is first shown, so records import no view."""

from __future__ import annotations

import sys
from functools import cache, singledispatch
from html import escape
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.views.charts import Picture

VIEWS = "workbench.views"  # nothing below it imports it


@singledispatch
def html(thing: Any) -> str:
    """The HTML of a thing, safe to put into a notebook."""
    return import_module(VIEWS).html_view(type(thing))(thing)


@singledispatch
def text(thing: Any) -> str:
    """The text of a thing for a terminal, as defined for its class; for a plain record, its name and fields."""
    return import_module(VIEWS).text_view(type(thing))(thing)


def picture(name: str, thing: Any, *more: Any, **settings: Any) -> Picture:
    """The picture of a thing that has this name (`PICTURES` of :mod:`workbench.views`): it shows itself, and
    `.save("name")` writes it as PNG, SVG and PDF, with its data as CSV. Raises :class:`SettingError` for another
    name."""
    return import_module(VIEWS).PICTURES.look_up(name)(thing, *more, **settings)


def page_head() -> str:
    """What the head of a page without a kernel holds, so that the steps of its widgets get a slider."""
    return import_module(VIEWS).page_head()


def tqdm(*args: Any, **settings: Any) -> Any:
    """A bar of progress (tqdm). In a notebook it is a line of the output, which is empty when the work is done: nothing
    of it is saved, and no widget is left without its model."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if type(shell).__name__ != "ZMQInteractiveShell":
        from tqdm import tqdm as bar

        return bar(*args, **settings)
    return _vanishing()(*args, **{"file": StringIO(), "leave": False, **settings})


@cache
def _vanishing() -> type:
    from IPython.display import HTML, display
    from tqdm import tqdm as bar

    class Vanishing(bar):
        _line: Any = None

        def display(self, msg: str | None = None, pos: int | None = None) -> bool:
            markup = HTML(f"<pre>{escape(str(self) if msg is None else msg)}</pre>" if msg != "" else "")
            if self._line is None:
                self._line = display(markup, display_id=True)
            else:
                self._line.update(markup)
            return True

    return Vanishing
