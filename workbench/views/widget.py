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

import ipywidgets as widgets

from workbench.errors import SettingError
from workbench.records import Passage, Question, Record
from workbench.settings import parse_spec
from workbench.text import clean
from workbench.trace import Trace
from workbench.views.drawing import HEIGHT, Drawing, drawing_entries, drawing_frame
from workbench.views.live import Canvas, Text, View
from workbench.views.palette import AUTO, surface
from workbench.views.parts import Part, line, quiet
from workbench.views.records import asked_part
from workbench.views.render import page
from workbench.views.session import Methods, Source, by_name, open_session, question_label
from workbench.views.stepped import LIVE, Stage, stages_part

Shown = TypeVar("Shown")  # the record that a stepper reads from a trace

PROPOSED = 200  # questions that a list offers; any other can be typed


class Widget(Record):
    """`widget` is what a notebook displays; `name` is the suffix of its CSS class."""

    name = "widget"
    busy = "running …"  # shown while an action runs

    def __init__(self, theme: str = AUTO):
        surface(theme)  # raises for an unknown one
        self.theme, self._quiet, self._message = theme, False, Text()
        self._pictures: list[Canvas] = []  # the pictures whose legends `hide` reaches
        self._bound: list[tuple[widgets.Widget, Callable[[], Any], Callable[[], Any] | None]] = []

    def static_html(self) -> str:
        """The HTML of a page without a kernel."""
        raise NotImplementedError

    def save(self, path: str | Path) -> Path:
        """Write the current state as an HTML page that needs no kernel."""
        path, themes = Path(path), "light dark" if self.theme == AUTO else self.theme
        head = f"<!doctype html><meta charset='utf-8'><meta name='color-scheme' content='{themes}'>{LIVE}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + self.static_html(), encoding="utf-8")
        return path

    @property
    def legend(self) -> tuple[str, ...]:
        """The entries of the legend that `hide` accepts."""
        entries = (entry for picture in self._pictures if picture.drawing for entry in drawing_entries(picture.drawing))
        return tuple(dict.fromkeys(entry["name"] for entry in entries if entry["of"]))

    def hide(self, *names: str) -> None:
        """Hide what these entries of the legend stand for, and show everything else, as clicks on them do."""
        if unknown := [name for name in names if name not in self.legend]:
            there = ", ".join(self.legend) or "none"
            raise SettingError(f"the legend has no entry {clean(unknown[0], 80)!r}; there are {there}")
        for picture in self._pictures:
            picture.frame.hidden = list(names)

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
        self.widget = widgets.VBox(parts)
        self.widget.add_class("hopscope-widget")
        self.widget.add_class(f"hopscope-{self.name}")

    def _on(self, control: widgets.Widget, action: Callable[[Any], Any], trait: str = "value") -> None:
        """Run the action with each new value of a control that a user moves."""
        control.observe(lambda change: self._run(lambda: action(change["new"])), trait)

    def _bind(
        self, control: widgets.Widget, action: Callable[[Any], Any], value: Callable[[], Any],
        options: Callable[[], Any] | None = None,
    ) -> widgets.Widget:  # fmt: skip
        """As `_on`, for a control that shows the present `value` and, if they change, the present `options`."""
        self._on(control, action)
        self._bound.append((control, value, options))
        return control

    def _choice(
        self, words: str, action: Callable[[Any], Any], value: Callable[[], Any], options: Callable[[], Any],
        **layout: str,
    ) -> widgets.Dropdown:  # fmt: skip
        """A bound list of the present options."""
        listed = widgets.Dropdown(description=words, layout=layout, style={"description_width": "initial"})
        return self._bind(listed, action, value, options)

    def _button(self, words: str, action: Callable[[], Any], **look: Any) -> widgets.Button:
        button = widgets.Button(description=words, **{"layout": {"width": "auto"}, **look})
        self._press(button, action)
        return button

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
        self._message.show(quiet(self.busy))
        try:
            action()
            self._message.show()
        except Exception as error:
            self._show_controls()
            self._message.show(line(f"{type(error).__name__}: {error}", look="bad"))

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """Inside this block, setting a control runs no action."""
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before


class Stepper(Widget, Generic[Shown]):
    """A widget that asks a method, or reads its saved trace, and goes through the stages of the result.

    `shown` is the record read from the trace, `stages` its stages, `at` the position of the present one, `drawing` its
    picture. A subclass names the method whose traces it reads (`kind`), reads them (`_read`) and gives the stages
    (`_stages`); further parts are put `_above` and `_below` them, or in texts and pictures of its own."""

    kind = ""
    shown: Shown
    stages: Sequence[Stage] = ()
    at: int = -1  # the last stage, until a question was asked
    _own: Any = None  # the method's own settings, where some can be moved

    def __init__(
        self, source: Source, questions: Sequence[Question] = (), *, method: str = "",
        methods: Sequence[str] | Methods = (), moved: Mapping[str, Any] | None = None, theme: str = AUTO,
        **session: Any,
    ):  # fmt: skip
        """`source` is an index, over which `method` (a SPEC; or each of `methods`) runs with `engine`; a run or its
        folder; or the trace or evidence of one question. `index` provides titles, types and spellings for the latter
        two. `questions` are offered for selection, and provide the gold; `k` passages are ranked. `moved` are settings
        that replace the methods' own."""
        super().__init__(theme)
        named = by_name(methods or [method or self.kind])
        self._session = open_session(source, questions, methods=named, kind=self.kind, suits=self._suits, **session)
        self._question, self._method_name = self._session.questions[0], self._session.methods[0]
        self._moved = dict(moved or {})
        self._redrawn: list[Callable[[], None]] = []  # called with each change of the state
        self._make_stepping()
        self._make_controls()
        self._show(self._question, self._method_name, self._moved)

    def ask(self, question: str | int, method: str | None = None) -> Shown:
        """Show a question: the id, text or position of a listed one, or, over an index, any other text. `method`
        selects one of a run."""
        chosen = self._session.find_or_own(question)
        self._show(chosen, self._method_name if method is None else method, self._moved)
        return self.shown

    @property
    def drawing(self) -> Drawing | None:
        return self._now.drawing

    def static_html(self) -> str:
        """The pictures as they are, and every stage."""
        pictures = [drawing_frame(picture.drawing, theme=self.theme) for picture in self._pictures if picture.drawing]
        return "".join(pictures) + page(self._above(), self._every_stage(), self._below())

    def __repr__(self) -> str:
        return f"{type(self).__name__} at {self._now.name}: {clean(self._question.question, 200)}"

    # -- what a subclass defines --------------------------------------------------------------------------------------

    def _suits(self, config: Mapping) -> bool:
        """Whether it shows the traces of a method of a run, given its configuration."""
        return parse_spec(config["label"])[0] == self.kind

    def _shown_by(self, trace: Trace, question: Question) -> Shown:
        """The record read from a trace."""
        raise NotImplementedError

    def _read(self, question: Question, name: str, moved: Mapping[str, Any]) -> Any:
        """The result of a method. It changes no state, so that an error leaves all as it was."""
        retrieval = self._session.retrieval(question, name, **moved)
        return retrieval, self._shown_by(retrieval.trace, question)

    def _take(self, result: Any) -> None:
        """Store the result of `_read`."""
        self._retrieval, self.shown = result

    def _stages(self) -> Iterable[Stage]:
        raise NotImplementedError

    def _above(self) -> Part | None:
        raise NotImplementedError

    def _below(self) -> Part | None:
        return None

    def _every_stage(self) -> Part | None:
        """The stages as a part of a page that has no kernel."""
        return stages_part(self.stages)

    def _clicked(self, node: int) -> Any:
        """A click on a node of the picture."""

    def _make_controls(self) -> None:
        self._stack(
            self._question_box,
            row(self._method, self._stage, self._play),
            self._message,
            self._text(self._above),
            self._canvas(lambda: self.drawing, HEIGHT),
            self._text(lambda: self._now.part),
            self._text(self._below),
        )

    # -- controls and display -----------------------------------------------------------------------------------------

    def _text(self, part: Callable[[], Part | None]) -> Text:
        """A place for a part of the page, made anew from the present state."""
        place = Text()
        self._redrawn.append(lambda: place.show(part()))
        return place

    def _canvas(self, drawing: Callable[[], Drawing | None], height: int, **layout: str) -> Canvas:
        """A place for a picture of the present state."""
        canvas = self._picture_of(height, **layout)
        self._on_click(canvas, self._clicked)
        self._redrawn.append(lambda: canvas.draw(drawing()))
        return canvas

    def _ranks(self, data: Callable[[], tuple[dict[str, Any], int]]) -> View:
        """A chart of ranks, by its data and the stage that it marks; a click on another stage goes there."""
        chart = View(kind="ranks")
        self._on(chart, self._go, "at")

        def redraw() -> None:
            with self._quietly():
                chart.data, chart.at = data()

        self._redrawn.append(redraw)
        return chart

    def _setting(self, name: str, label: str, *limits: float, **look: Any) -> widgets.Widget:
        """A slider that moves a setting of the method."""
        slider = setting_slider(label, *limits, **look)
        value = lambda: self._moved.get(name, getattr(self._own, name, slider.value))  # noqa: E731
        return self._bind(slider, lambda value: self._move({name: value}), value)

    def _move(self, settings: Mapping[str, Any]) -> None:
        """Ask again with other settings; those that are not given stay as they are."""
        both = (self._moved | dict(settings)).items()
        moved = {name: value for name, value in both if value != getattr(self._own, name, ...)}
        self._show(self._question, self._method_name, moved)

    def _show(self, question: Question, name: str, moved: Mapping[str, Any]) -> None:
        """Show another retrieval, at the same stage if it has that stage."""
        result = self._read(question, name, moved)
        self._question, self._method_name, self._moved = question, name, dict(moved)
        self._take(result)
        self._draw()

    def _go(self, stage: int | str) -> None:
        """Go to a stage by its position or name."""
        names = self._names
        at = names.index(stage) if stage in names else stage
        if not (isinstance(at, int) and 0 <= at < len(names)):
            raise SettingError(f"there is no stage {stage!r}; there are {', '.join(names) or 'none'}")
        self.at = at
        self._draw_stage()

    @property
    def _now(self) -> Stage:
        return self.stages[self.at] if self.stages else Stage("nothing passed")

    @property
    def _names(self) -> list[str]:
        return [clean(stage.name, 60) for stage in self.stages]

    def _draw(self) -> None:
        """Make the stages anew, and show the present one."""
        self.stages = list(self._stages())
        last = max(0, len(self.stages) - 1)
        self.at = last if self.at < 0 else min(self.at, last)
        with self._quietly():
            self._play.max = last
        self._draw_stage()

    def _draw_stage(self) -> None:
        """Set controls, pictures and texts to the present state."""
        self._show_controls()
        for redraw in self._redrawn:
            redraw()

    def _make_stepping(self) -> None:
        """Questions and methods; a slider from stage to stage, and a button that plays them."""
        session = self._session
        self._question_box = self._bind(
            question_box(session.questions, session.label), lambda typed: typed and self.ask(typed),
            lambda: question_label(self._question),
        )  # fmt: skip
        self._method = self._choice(
            "method", lambda name: self._show(self._question, name, self._moved), lambda: self._method_name,
            lambda: session.methods, display="" if len(session.methods) > 1 else "none",
        )  # fmt: skip
        slider = widgets.SelectionSlider(options=[("", 0)], description="stage", continuous_update=False)
        slider.layout.width = "400px"
        names = lambda: [(name, at) for at, name in enumerate(self._names)] or [("nothing passed", 0)]  # noqa: E731
        self._stage = self._bind(slider, self._go, lambda: max(0, self.at), names)
        self._play = widgets.Play(min=0, max=1, interval=1500, show_repeat=False)
        self._bind(self._play, self._go, lambda: max(0, self.at))


class StageStepper(Stepper[list[Stage]]):
    """A stepper through the stages that a function reads from a trace, with pictures, texts and tables.

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
        **session: Any,
    ):
        """`read` gives the stages of a trace, and may look up passages by their ids; `kind` is a SPEC, and the name of
        the methods of a run whose traces it reads."""
        self.kind, self._read_stages = parse_spec(kind)[0], read
        super().__init__(source, questions, method=kind, **session)

    def stage(self, stage: int | str) -> Stage:
        """Go to a stage by its position or name."""
        self._go(stage)
        return self._now

    def _shown_by(self, trace: Trace, question: Question) -> list[Stage]:
        return list(self._read_stages(trace, self._session.passages))

    def _stages(self) -> Iterable[Stage]:
        return self.shown

    def _above(self) -> Part | None:
        return asked_part(self._question.question, self._retrieval.method)


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
    label: str, low: float, high: float, step: float, *, width: int, label_width: float
) -> widgets.Widget:
    """A slider for a setting, of whole numbers where `low` is one."""
    kind = widgets.FloatSlider if isinstance(low, float) else widgets.IntSlider
    return kind(
        value=low, min=low, max=high, step=step, description=label, continuous_update=False,
        layout={"width": f"{width}px"}, style={"description_width": f"{label_width}em"},
    )  # fmt: skip


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


def texts(count: int) -> Iterator[Text]:
    return (Text() for _ in range(count))
