"""What the widgets of the package have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.views.base import esc, page


def spoken(
    said: widgets.HTML, action: Callable[[Any], Any], undo: Callable[[], Any], quiet: Callable[[], bool]
) -> Callable[[dict], None]:
    """What a control does: the action with the control's new value, unless it is `quiet` because the widget sets its
    own controls. A page shows no error of a control by itself, so whatever goes wrong stands in `said`, and the
    controls go back to what is shown (`undo`)."""

    def moved(change: dict) -> None:
        if quiet():
            return
        said.value = page("<p class='q'>running …</p>")
        try:
            action(change["new"])
            said.value = ""
        except Exception as error:
            undo()
            said.value = page(f"<p class='bad'>{esc(f'{type(error).__name__}: {error}')}</p>")

    return moved
