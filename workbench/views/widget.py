"""The base of all widgets: controls that run actions, visible errors, and a page without a kernel.

A subclass builds its controls, connects them with `_on`, `_on_click` and `_press`, and defines `_show_controls`, which
sets them to the present state, and `static_html`, the page without a kernel. Its public methods do what the controls
do, and raise errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import SettingError
from workbench.records import Question, Record
from workbench.text import clean
from workbench.views.base import esc, page
from workbench.views.canvas import Canvas
from workbench.views.palette import AUTO, surface
from workbench.views.session import question_label
from workbench.views.stepped import LIVE

# A saved page is light or dark as its reader's other pages are.
_HEAD = "<!doctype html><meta charset='utf-8'><meta name='color-scheme' content='light dark'>"
PROPOSED = 200  # questions that a list offers; any other can be typed


class Widget(Record):
    """`widget` is what a notebook displays; `name` is the suffix of its CSS class."""

    name = "widget"
    busy = "running …"  # shown while an action runs

    def __init__(self, theme: str = AUTO):
        surface(theme)  # raises for an unknown one
        self.theme, self._quiet, self._message = theme, False, widgets.HTML()
        self._pictures: list[Canvas] = []  # that a widget shows, with their legends

    def static_html(self) -> str:
        """The HTML of a page without a kernel."""
        raise NotImplementedError

    def save(self, path: str | Path) -> Path:
        """Write the current state as an HTML page that needs no kernel."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{_HEAD}{LIVE}{self.static_html()}", encoding="utf-8")
        return path

    @property
    def legend(self) -> tuple[str, ...]:
        """What of the picture can be hidden, by its names in the legend."""
        return tuple(dict.fromkeys(name for picture in self._pictures for name in picture.entries))

    def hide(self, *names: str) -> None:
        """Hide what these entries of the legend stand for, and show everything else, as clicks on them do."""
        if unknown := [name for name in names if name not in self.legend]:
            there = ", ".join(self.legend) or "none"
            raise SettingError(f"the legend has no entry {clean(unknown[0], 80)!r}; there are {there}")
        for picture in self._pictures:
            picture.hide(*names)

    def _repr_mimebundle_(self, **options: Any) -> dict:
        return self.widget._repr_mimebundle_(**options) | {"text/html": self.static_html()}

    def _show_controls(self) -> None:
        """Set the controls to the present state; called after an action fails."""

    def _stack(self, *parts: widgets.Widget) -> None:
        self.widget = widgets.VBox(parts)
        self.widget.add_class(f"hopscope-{self.name}")

    def _on(self, control: widgets.Widget, action: Callable[[Any], Any], trait: str = "value") -> None:
        """Run the action with each new value of a control that a user moves."""
        control.observe(lambda change: self._run(lambda: action(change["new"])), trait)

    def _press(self, button: widgets.Button, action: Callable[[], Any]) -> None:
        button.on_click(lambda _: self._run(action))

    def _picture_of(self, *settings: Any, **layout: str) -> Canvas:
        """A place for a picture, whose legend `hide` reaches."""
        canvas = Canvas(self.theme, *settings, **layout)
        self._pictures.append(canvas)
        return canvas

    def _on_click(self, canvas: Canvas, action: Callable[[int], Any]) -> None:
        """Run the action with the id of each node of a drawing that a user clicks."""
        canvas.clicked = lambda node: self._run(lambda: action(node))

    def _run(self, action: Callable[[], Any]) -> None:
        """Run the action of a control. A notebook shows no error of a callback, so the message shows it, and the
        controls return to the present state."""
        if self._quiet:
            return
        self._message.value = self._note(self.busy)
        try:
            action()
            self._message.value = ""
        except Exception as error:
            self._show_controls()
            self._message.value = page(f"<p class='bad'>{esc(f'{type(error).__name__}: {error}')}</p>")

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """Inside this block, setting a control runs no action."""
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before

    @staticmethod
    def _note(words: str) -> str:
        return page(f"<p class='q'>{esc(words)}</p>") if words else ""


def offer(control: widgets.Widget, value: Any) -> None:
    """Set a control; first extends its options or range if they do not include the value."""
    if isinstance(control, widgets.SelectionSlider):
        control.options = sorted({*control.options, value})
    elif isinstance(control, widgets.Dropdown):
        values = [option[1] if isinstance(option, tuple) else option for option in control.options]
        control.options = control.options if value in values else [*control.options, (value, value)]
    elif hasattr(control, "min"):
        control.min, control.max = min(control.min, value), max(control.max, value)
    control.value = value


def stage_at(stage: int | str, names: Sequence[str]) -> int:
    """The position of a stage that is given by its position or name; raises SettingError for any other."""
    at = names.index(stage) if stage in names else stage
    if not (isinstance(at, int) and 0 <= at < len(names)):
        raise SettingError(f"there is no stage {stage!r}; there are {', '.join(names) or 'none'}")
    return at


def row(*controls: widgets.Widget) -> widgets.Box:
    return widgets.Box(controls, layout={"flex_flow": "row wrap", "align_items": "center"})


def beside(*parts: widgets.Widget) -> widgets.Box:
    return widgets.Box(parts, layout={"flex_flow": "row wrap"})


def side(*parts: widgets.Widget, height: int) -> widgets.VBox:
    """A scrolling column next to a picture."""
    layout = {"flex": "1 1 320px", "max_height": f"{height}px", "overflow": "auto", "padding": "0 0 0 1em"}
    return widgets.VBox(parts, layout=layout)


def question_box(questions: Sequence[Question], label: Callable[[Question], str] = question_label) -> widgets.Combobox:
    """A list of questions in which any other can be typed; `Session.label` marks those with worked replies."""
    return widgets.Combobox(
        description="question", options=[label(question) for question in questions[:PROPOSED]],
        ensure_option=False, continuous_update=False, layout={"width": "auto"},
    )  # fmt: skip


def texts(count: int) -> Iterator[widgets.HTML]:
    return (widgets.HTML() for _ in range(count))
