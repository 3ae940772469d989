"""The base of all widgets: pictures that report clicks, controls that run actions, visible errors, and a page without
a kernel.

A subclass builds its controls, connects them with `_bind`, `_on`, `_on_click` and `_press`, and defines `static_html`,
the page without a kernel. Its public methods do what the controls do, and raise errors. A `Stepper` asks a method, and
goes through the stages of what it did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import anywidget
import ipywidgets as widgets
import traitlets

from workbench.errors import SettingError
from workbench.records import Passage, Question, Record
from workbench.settings import parse_spec
from workbench.text import clean
from workbench.trace import Trace
from workbench.views import viewer
from workbench.views.base import esc, page
from workbench.views.drawing import HEIGHT, LEGEND, Drawing, Map, drawing_data, drawing_entries, drawing_page
from workbench.views.palette import AUTO, THEMED, THEMED_CSS, surface
from workbench.views.session import Methods, Source, by_name, open_session, question_label
from workbench.views.stepped import LIVE, Stage, stages_part

Shown = TypeVar("Shown")  # what a stepper reads off a trace

# A saved page is light or dark as its reader's other pages are.
_HEAD = "<!doctype html><meta charset='utf-8'><meta name='color-scheme' content='light dark'>"
PROPOSED = 200  # questions that a list offers; any other can be typed


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


class View(anywidget.AnyWidget):
    """What the viewer draws in the page of a notebook: the `kind` that `viewer/live.js` names, from plain `data`, at a
    stage of it. `at` and `picked` change with clicks, too."""

    _esm = viewer.WIDGET
    _css = viewer.WIDGET_CSS
    kind = traitlets.Unicode().tag(sync=True)
    data = traitlets.Dict().tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    picked = traitlets.Int(-1).tag(sync=True)


class Widget(Record):
    """`widget` is what a notebook displays; `name` is the suffix of its CSS class."""

    name = "widget"
    busy = "running …"  # shown while an action runs

    def __init__(self, theme: str = AUTO):
        surface(theme)  # raises for an unknown one
        self.theme, self._quiet, self._message = theme, False, widgets.HTML()
        self._pictures: list[Canvas] = []  # that a widget shows, with their legends
        self._bound: list[tuple[widgets.Widget, Callable[[], Any], Callable[[], Any] | None]] = []

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
        """Set the controls to the present state; called after an action fails, too."""
        with self._quietly():
            for control, value, options in self._bound:
                if options:
                    control.options = options()
                offer(control, value())

    def _stack(self, *parts: widgets.Widget) -> None:
        self.widget = widgets.VBox([*parts, View(kind="page")])
        self.widget.add_class("hopscope-widget")
        self.widget.add_class(f"hopscope-{self.name}")

    def _on(self, control: widgets.Widget, action: Callable[[Any], Any], trait: str = "value") -> None:
        """Run the action with each new value of a control that a user moves."""
        control.observe(lambda change: self._run(lambda: action(change["new"])), trait)

    def _bind(
        self, control: widgets.Widget, action: Callable[[Any], Any], value: Callable[[], Any],
        options: Callable[[], Any] | None = None,
    ) -> widgets.Widget:  # fmt: skip
        """The same of a control that shows the present `value`, of `options` where they change."""
        self._on(control, action)
        self._bound.append((control, value, options))
        return control

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


class Stepper(Widget, Generic[Shown]):
    """A widget that asks a method, or finds in what is saved how it answered, and goes through the stages of that.

    `shown` is what was read off the trace, `at` the position of the stage, `drawing` its picture. A subclass says whose
    traces it reads (`kind`), names the stages (`_stages`), retrieves in `_show`, and shows the state in `_draw`."""

    kind = ""
    shown: Shown
    drawing: Drawing | None = None
    at: int = -1  # of the last stage, until a question was asked

    def __init__(
        self, source: Source, questions: Sequence[Question], *, methods: Sequence[str] | Methods, theme: str = AUTO,
        moved: Mapping[str, Any] | None = None, **session: Any,
    ):  # fmt: skip
        """`moved` are settings that are not the methods' own."""
        super().__init__(theme)
        self._session = open_session(
            source, questions, methods=by_name(methods), kind=self.kind, suits=self._suits, **session
        )
        self._question, self._method_name = self._session.questions[0], self._session.methods[0]
        self._moved = dict(moved or {})
        self._make_asking()
        self._make_controls()
        self._show(self._question, self._method_name, self._moved)

    def ask(self, question: str | int, method: str | None = None) -> Shown:
        """Show a question: the id, text or position of a listed one, or, over an index, any other text. `method`
        selects one of a run."""
        asked = self._session.find_or_own(question)
        self._show(asked, self._method_name if method is None else method, self._moved)
        return self.shown

    def _suits(self, config: Mapping) -> bool:
        """Whether it shows the traces of a method of a run, given its configuration."""
        return parse_spec(config["label"])[0] == self.kind

    @property
    def _stages(self) -> Sequence[str]:
        raise NotImplementedError

    def _make_controls(self) -> None:
        raise NotImplementedError

    def _show(self, question: Question, name: str, moved: Mapping[str, Any]) -> None:
        """Another retrieval; before it has ended nothing changes, so that an error changes nothing."""
        raise NotImplementedError

    def _draw(self) -> None:
        """Set controls, pictures and texts to the present state."""
        raise NotImplementedError

    def _asks_for(self, question: Question, name: str, moved: Mapping[str, Any]) -> None:
        """Take over what was retrieved, at the same stage where there is such a one."""
        self._question, self._method_name, self._moved = question, name, dict(moved)
        last = max(0, len(self._stages) - 1)
        self.at = last if self.at < 0 else min(self.at, last)

    def _go(self, stage: int | str) -> None:
        self.at = stage_at(stage, self._stages)
        self._draw()

    def _make_asking(self) -> None:
        session = self._session
        self._asked = self._bind(
            question_box(session.questions, session.label),
            lambda asked: asked and self.ask(asked),
            lambda: question_label(self._question),
        )
        self._method = self._bind(
            widgets.Dropdown(options=session.methods, description="method"),
            lambda name: self._show(self._question, name, self._moved),
            lambda: self._method_name,
        )
        self._method.layout.display = None if len(session.methods) > 1 else "none"

    def _make_stepping(self, width: str = "400px") -> tuple[widgets.Widget, widgets.Widget]:
        """A slider from stage to stage, and a button that plays them."""
        self._stage = self._bind(
            widgets.SelectionSlider(
                options=[("", 0)], description="stage", continuous_update=False, layout={"width": width}
            ),
            self._go,
            lambda: max(0, self.at),
            lambda: [(name, at) for at, name in enumerate(self._stages)] or [("nothing passed", 0)],
        )
        self._play = widgets.Play(min=0, max=1, interval=1500, show_repeat=False)
        self._on(self._play, self._go)
        return self._stage, self._play

    def _show_controls(self) -> None:
        super()._show_controls()
        if hasattr(self, "_play"):
            with self._quietly():
                self._play.max, self._play.value = max(0, len(self._stages) - 1), self.at


class StageStepper(Stepper[tuple[Stage, ...]]):
    """The stages that a method's own reader of traces gives, with their pictures, texts and tables.

    steps = StageStepper(index, read, data.questions, kind="two-stage")   # asks the method of this SPEC
    steps = StageStepper("runs/first", read, kind="two-stage")            # a saved run
    steps = StageStepper(evidence, read)                                  # the trace of one question
    steps.stage("order by cosine")                                        # what the slider does"""

    name = "stages"

    def __init__(
        self,
        source: Source,
        read: Callable[[Trace, Mapping[str, Passage]], Iterable[Stage]],
        questions: Sequence[Question] = (),
        *,
        kind: str = "method",
        theme: str = AUTO,
        **session: Any,
    ):
        """`read` gives the stages of a trace, and may look up passages by their ids; `kind` is a SPEC, and the name of
        the methods of a run whose traces it reads."""
        self.kind, self._read = parse_spec(kind)[0], read
        super().__init__(source, questions, methods=[kind], theme=theme, **session)

    def stage(self, stage: int | str) -> Stage:
        """Go to a stage by its position or name."""
        self._go(stage)
        return self.shown[self.at]

    def static_html(self) -> str:
        return page(self._heading, stages_part(self.shown))

    def __repr__(self) -> str:
        return f"StageStepper at {self._stages[self.at]}: {clean(self._question.question, 200)}"

    @property
    def _stages(self) -> Sequence[str]:
        return [clean(one.name, 60) for one in self.shown]

    def _make_controls(self) -> None:
        self._head, self._part = texts(2)
        self._canvas = self._picture_of()
        stepping = row(self._method, *self._make_stepping())
        self._stack(self._asked, stepping, self._message, self._head, self._canvas, self._part)

    def _show(self, question: Question, name: str, moved: Mapping[str, Any]) -> None:
        retrieval = self._session.retrieval(question, name)
        self.shown = tuple(self._read(retrieval.trace, self._session.passages))
        label = f"<span class='tag'>{esc(retrieval.method, 200)}</span>"
        self._heading = f"<p><b>{esc(question.question)}</b> {label}</p>"
        self._asks_for(question, name, moved)
        self._draw()

    def _draw(self) -> None:
        self._show_controls()
        stage = self.shown[self.at] if self.shown else Stage("")
        self.drawing = stage.drawing
        self._canvas.draw(self.drawing)
        self._head.value, self._part.value = page(self._heading), page(stage.part)


def offer(control: widgets.Widget, value: Any) -> None:
    """Set a control; first extends its options or range if they do not include the value."""
    if isinstance(control, widgets.SelectionSlider | widgets.Dropdown):
        if value not in [option[1] if isinstance(option, tuple) else option for option in control.options]:
            ordered = isinstance(control, widgets.SelectionSlider)
            control.options = sorted({*control.options, value}) if ordered else [*control.options, (value, value)]
    elif hasattr(control, "min"):
        control.min, control.max = min(control.min, value), max(control.max, value)
    control.value = value


def setting_slider(
    label: str, low: float, high: float, step: float, *, value: float | None = None, width: int, label_width: float
) -> widgets.Widget:
    """A slider for a setting, of whole numbers where `low` is one; its range is extended to the value."""
    value = low if value is None else value
    kind = widgets.FloatSlider if isinstance(value, float) else widgets.IntSlider
    return kind(
        value=value, min=min(low, value), max=max(high, value), step=step, description=label, continuous_update=False,
        layout={"width": f"{width}px"}, style={"description_width": f"{label_width}em"},
    )  # fmt: skip


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
