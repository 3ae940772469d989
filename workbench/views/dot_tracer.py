"""Watching DotRAG search: ask, see concepts and their anchors, step through each DOT, zoom to a path, move settings.

tracer = trace_dots(index, data.questions)       # shows itself; asks the method
tracer = trace_dots("runs/first")                # a saved run, with neither index nor engine
tracer = trace_dots(evidence)                    # or a trace, of dotrag
tracer.ask("Who starred in …?")                  # what the controls do, as functions
tracer.step(0, 2)                                # the second iteration of the first DOT
tracer.zoom("0.2.1")                             # one path, its sentences and its verdict
tracer.set(tau=0.7, h_max=2)                     # asked again with these, and what that changes
tracer.region()                                  # the whole region around the anchors, thousands of nodes
tracer.beside()                                  # other methods on the same question
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import SettingError
from workbench.experiments import Run
from workbench.graph.neighbourhood import Subgraph
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods.dotrag.dots import Beside, Dot, Dots, DotsDiff, Iteration, whole_region
from workbench.methods.dotrag.events import JudgedPath
from workbench.reading.base import Reader
from workbench.records import Evidence, Question, Record
from workbench.trace import Trace
from workbench.views.base import clean, esc, page, short, text
from workbench.views.canvas import WEBGL_STYLE, Frame, WebGL
from workbench.views.controls import spoken
from workbench.views.dot_drawing import UNTYPED, dot_drawing, path_drawing, type_styles
from workbench.views.dot_takes import METHOD, InMemory, Live, Saved, Take, Takes, types_of
from workbench.views.dots import (
    beside_part,
    chain,
    diff_part,
    dot_heading,
    end_part,
    heading,
    iteration_part,
    path_part,
    selection_part,
    setting_part,
    whole,
)
from workbench.views.drawing import Drawing, drawing_frame, drawing_legend
from workbench.views.palette import GREEN, VERMILION

OTHERS = ("lightrag", "pathrag")
K = 10  # passages ranked
PROPOSED = 200  # questions that a list offers; any other can be typed
LARGEST = 5_000  # nodes of a region that are drawn
ALL_PATHS = "– all paths –"
_ROW = {"flex_flow": "row wrap", "align_items": "center"}
_SLIDER = {"continuous_update": False, "layout": {"width": "260px"}, "style": {"description_width": "4em"}}
_RANGES = {"tau": (0.0, 1.0), "h_max": (1, 6), "t_max": (1, 6)}


class RegionGL(WebGL):
    """A whole region by WebGL: colours tell the types, as in a drawing; what is on a kept path is green."""

    def __init__(self, part: Subgraph, colours: Sequence[str], kept: Sequence[JudgedPath], theme: str = "light"):
        """`colours` are those of the nodes, in their order."""
        super().__init__(part, theme=theme)
        names, hops = [node.name for node in part.nodes], {frozenset(hop) for path in kept for hop in _hops(path)}
        data = deepcopy(self.data)  # the page has been sent this one and hears only of another
        for node, shown, colour in zip(part.nodes, data["nodes"], colours):
            shown["attributes"]["color"] = VERMILION if node.hop == 0 else colour
        for edge, shown in zip(part.edges, data["edges"]):
            if frozenset((names[edge.source], names[edge.target])) in hops:
                shown["attributes"] |= {"color": GREEN, "size": 3.0}
        self.data = data


class Tracer(Record):
    """The controls and what they show: `shown`, a DOT (`dot`, by its number) after an `iteration`, perhaps one `path`
    of it, and, where settings were moved, what that `changed`."""

    def __init__(
        self,
        source: Index | Run | str | Path | Trace | Evidence,
        questions: Sequence[Question] = (),
        *,
        method: str = METHOD,
        beside: Sequence[str] = OTHERS,
        engine: Engine | None = None,
        reader: Reader | None = None,
        index: Index | None = None,
        k: int = K,
        theme: str = "light",
    ):
        """`source` is an index, of which `method` (a SPEC) is asked with `engine`, and the answer read by `reader`; a
        run or its folder; or the trace or evidence of one question. `index` has titles and types for the latter.
        `questions` are proposed, and have the gold; `beside` are SPECs of methods to be shown beside."""
        self._takes = _takes(source, list(questions), method, engine, reader, index, k)
        self._others, self.theme = tuple(beside), theme
        self._types = types_of(self._takes.index)
        self.path: JudgedPath | None = None
        self.changed: DotsDiff | None = None
        self._given: dict[str, Any] = {}  # settings that were moved
        self._drawn: Drawing | None = None
        self._quiet = False
        self._make_controls()
        self._question, self._spec = self._takes.questions[0], self._takes.methods[0]
        self._show(self._takes.take(self._question, self._spec, {}))

    # -- what the controls do -----------------------------------------------------------------------------------------

    def ask(self, question: str, method: str | None = None) -> Dots:
        """Show the DOTs of a question: the id or the text of one of the list, or, over an index, any other. `method`
        is one of a run."""
        spec = self._spec if method is None else method
        if spec not in self._takes.methods:
            raise SettingError(f"{spec!r} is not among {', '.join(self._takes.methods)}")
        asked = self._takes.find(question)
        take = self._takes.take(asked, spec, self._given)  # before anything moves, so that an error leaves all be
        self._question, self._spec, self.changed = asked, spec, self._diff(asked, spec, self._given)
        self._show(take)
        return self.shown

    def step(self, dot: int, iteration: int | None = None) -> Dot | Iteration:
        """Go to a DOT by its number, after an iteration: 0 is before the first, and by default it is the last."""
        at = self.shown.dot(dot)
        numbers = [0, *(one.number for one in at.iterations)]
        iteration = numbers[-1] if iteration is None else iteration
        if iteration not in numbers:
            raise SettingError(f"DOT {dot} has no iteration {iteration!r}; there are {', '.join(map(str, numbers))}")
        self.dot, self.iteration, self.path = dot, iteration, None
        self._draw()
        return self._iteration or at

    def zoom(self, path: str | None = None) -> JudgedPath | None:
        """Show one path, by its id, with the DOT and the iteration that it is of; without an id all paths again."""
        found = None if path is None else self.shown.path(path)
        if found:
            ways = ((dot, one) for dot in self.shown.dots for one in dot.iterations if found in one.paths)
            dot, one = next(ways)
            self.dot, self.iteration = dot.number, one.number
        self.path = found
        self._draw()
        return self.path

    def set(self, **settings: float) -> DotsDiff:
        """Ask again with other settings (`tau`, `h_max`, `t_max`), and show what that changes against the method's own.
        Those that are not given stay as they are."""
        if unknown := [name for name in settings if name not in self._takes.settings]:
            there = ", ".join(self._takes.settings) or "none, for a saved retrieval cannot be changed; give an index"
            raise SettingError(f"no setting {unknown[0]!r} can be moved; there are {there}")
        given = {name: value for name, value in (self._given | settings).items() if value != self._takes.settings[name]}
        take = self._takes.take(self._question, self._spec, given)
        self._given, self.changed = given, self._diff(self._question, self._spec, given)
        self._show(take)
        return self.changed or self.shown.diff(self.shown)

    def region(self, dot: int | None = None) -> Subgraph:
        """Draw the whole region of a DOT, at most 5,000 nodes, those near the anchors first. It is computed from the
        index, because a trace tells only its size."""
        if self._takes.index is None:
            raise SettingError("a trace tells only the size of a region; to draw it, give index=")
        at = self.shown.dot(self.dot if dot is None else dot)
        part = whole_region(self._takes.index, at, LARGEST)
        self.step(at.number, self.iteration if at.number == self.dot else None)
        styles = type_styles(sorted({*self.shown.types.values(), *self._types.values()}))
        colours = [styles.get(self._types[node.name], UNTYPED).colour for node in part.nodes]
        self._picture.children = [RegionGL(part, colours, at.kept, self.theme)]
        self._words.value = page(f"<p class='q'>{esc(text(part))}; vermilion: anchors, green: kept paths</p>")
        return part

    def beside(self) -> Beside:
        """Show what other methods find for the question: passages, nodes and paths, with what they have in common."""
        found = self._takes.beside(self._question, self._spec, self._given, self._others)
        self._others_said.value = page(beside_part(found, self._take.passages))
        return found

    @property
    def answer(self) -> str:
        """What the reader made of it; empty where there was none."""
        return self._take.answer

    @property
    def drawing(self) -> Drawing:
        """What the picture shows."""
        return self._drawn

    def __repr__(self) -> str:
        where = f"DOT {self.dot}, iteration {self.iteration}" + (f", path {self.path.id}" if self.path else "")
        return f"Tracer at {where}: {text(self.shown)}"

    def _repr_mimebundle_(self, **options: Any):
        """The widget, and beside it what a page without a kernel can show."""
        still = drawing_frame(self._drawn, theme=self.theme) + drawing_legend(self._drawn) if self._drawn else ""
        shown = still + page(whole(self.shown, self._take.passages), self._end())
        return self.widget._repr_mimebundle_(**options) | {"text/html": shown}

    # -- controls -----------------------------------------------------------------------------------------------------

    def _make_controls(self) -> None:
        takes = self._takes
        # What the list of questions says → the question's id, or its text.
        self._ids = {_label(question): question.id or question.question for question in takes.questions}
        self._asked = widgets.Combobox(
            description="question", options=list(self._ids)[:PROPOSED], ensure_option=False,
            continuous_update=False, layout={"width": "auto"},
        )  # fmt: skip
        self._method = widgets.Dropdown(options=takes.methods, description="method")
        self._method.layout.display = None if len(takes.methods) > 1 else "none"
        self._sliders = {name: _slider(name, value) for name, value in takes.settings.items()}
        self._dot = widgets.Dropdown(options=[("", 0)], description="DOT", layout={"width": "420px"})
        self._stage = widgets.SelectionSlider(
            options=[("rules", 0)], description="after", continuous_update=False, layout={"width": "420px"}
        )
        self._paths = widgets.Select(options=[(ALL_PATHS, "")], rows=9, layout={"width": "auto"})
        self._whole = widgets.Button(
            description="the whole region", disabled=takes.index is None, layout={"width": "auto"}
        )
        self._compare = widgets.Button(description="other methods beside", layout={"width": "auto"})
        self._said, self._head, self._card, self._words, self._body, self._ended, self._others_said = (
            widgets.HTML() for _ in range(7)
        )
        self._frame = Frame(self.theme)
        self._frame.observe(self._on(self._clicked), "picked")
        self._picture = widgets.Box([self._frame], layout={"flex": "1 1 62%", "min_width": "420px"})
        side = widgets.VBox(
            [self._paths, self._card],
            layout={"flex": "1 1 320px", "max_height": "560px", "overflow": "auto", "padding": "0 0 0 1em"},
        )
        self._asked.observe(self._on(lambda asked: asked and self.ask(self._ids.get(asked, asked))), "value")
        self._method.observe(self._on(lambda name: self.ask(self._question.id or self.shown.question, name)), "value")
        for name, slider in self._sliders.items():
            slider.observe(self._on(lambda value, name=name: self.set(**{name: value})), "value")
        self._dot.observe(self._on(self.step), "value")
        self._stage.observe(self._on(lambda number: self.step(self.dot, number)), "value")
        self._paths.observe(self._on(lambda name: self.zoom(name or None)), "value")
        self._whole.on_click(self._pressed(self.region))
        self._compare.on_click(self._pressed(self.beside))
        self.widget = widgets.VBox(
            [
                self._asked,
                widgets.Box([self._method, *self._sliders.values()], layout=_ROW),
                self._said,
                self._head,
                widgets.Box([self._dot, self._stage], layout=_ROW),
                widgets.Box([self._picture, side], layout={"flex_flow": "row wrap"}),
                self._words,
                self._body,
                self._ended,
                widgets.Box([self._whole, self._compare], layout=_ROW),
                self._others_said,
                widgets.HTML(WEBGL_STYLE),
            ]
        )
        self.widget.add_class("hopscope-tracer")

    def _on(self, action: Callable[[Any], Any]) -> Callable[[dict], None]:
        return spoken(self._said, action, self._set_controls, lambda: self._quiet)

    def _pressed(self, action: Callable[[], Any]) -> Callable[[widgets.Button], None]:
        run = self._on(lambda _: action())
        return lambda _: run({"new": None})

    def _clicked(self, at: int) -> None:
        """A click zooms to the best path through a node, and out again."""
        if at < 0:
            return
        name = self._drawn.nodes[at].name
        ways = [path for path in self._now if name in path.nodes]
        best = min(ways, key=lambda path: (not path.kept, path.nodes[-1] != name, -path.confidence), default=None)
        self.zoom(best.id if best and self.path is None else None)

    def _show(self, take: Take) -> None:
        """Another retrieval: its first DOT, when that has ended."""
        self._take, self.shown = take, take.shown
        self._head.value = page(heading(self.shown), selection_part(self.shown))
        self._ended.value = page(diff_part(self.changed) if self.changed is not None else "", self._end())
        self._others_said.value = ""
        if self.shown.dots:
            self.step(self.shown.dots[0].number)
        else:
            self.dot, self.iteration, self.path = -1, 0, None
            self._draw()

    def _draw(self) -> None:
        """What the controls, the picture and the words say of the place that one stands at."""
        self._set_controls()
        dot = next((dot for dot in self.shown.dots if dot.number == self.dot), None)
        if dot is None:
            self._drawn, self._picture.children, self._card.value, self._body.value = None, [], "", ""
            return
        self._drawn = (
            path_drawing(self.shown, self.path, types=self._types)
            if self.path
            else dot_drawing(self.shown, self.dot, self.iteration, types=self._types)
        )
        self._frame.draw(self._drawn)
        self._picture.children = [self._frame]
        left_out = f"{text(self._drawn)}; " if self._drawn.left_out else ""
        hint = "a click on any node shows all paths again" if self.path else "a click on a node shows a path to it"
        self._words.value = drawing_legend(self._drawn) + page(f"<p class='q'>{esc(left_out)}{hint}</p>")
        self._card.value = page(path_part(self.path, self.shown.gold)) if self.path else ""
        searched = iteration_part(self._iteration, self.shown.gold) if self._iteration else ""
        self._body.value = page(f"<p>{dot_heading(dot)}</p>", setting_part(dot), searched)

    def _set_controls(self) -> None:
        """Controls that say what is shown; where an action fails they go back to it."""
        dots = [(short(f"{dot.number}: {dot.concept} ({dot.level})", 70), dot.number) for dot in self.shown.dots]
        stages = [("rules", 0), *((f"iteration {one.number}", one.number) for one in self._rounds)]
        paths = [(_path_label(path), path.id) for path in self._now]
        self._quiet = True
        try:
            self._asked.value = _label(self._question)
            self._method.value = self._spec
            for name, slider in self._sliders.items():
                value = self._given.get(name, self._takes.settings[name])
                slider.min, slider.max = min(slider.min, value), max(slider.max, value)
                slider.value = value
            self._dot.options, self._stage.options = dots or [("", -1)], stages
            self._dot.value, self._stage.value = self.dot, self.iteration
            self._paths.options = [(ALL_PATHS, ""), *paths]
            self._paths.value = self.path.id if self.path else ""
        finally:
            self._quiet = False

    @property
    def _rounds(self) -> tuple[Iteration, ...]:
        return next((dot.iterations for dot in self.shown.dots if dot.number == self.dot), ())

    @property
    def _iteration(self) -> Iteration | None:
        return next((one for one in self._rounds if one.number == self.iteration), None)

    @property
    def _now(self) -> list[JudgedPath]:
        """The paths up to the iteration, kept ones first, then the surest."""
        kept = self._iteration.kept if self._iteration else ()
        paths = [path for one in self._rounds if one.number <= self.iteration for path in one.paths]
        return sorted(paths, key=lambda path: (path.id not in kept, -path.confidence))

    def _diff(self, question: Question, spec: str, given: Mapping[str, Any]) -> DotsDiff | None:
        """What the settings that were moved change; None where there are none."""
        own, moved = (self._takes.take(question, spec, settings).shown for settings in ({}, given))
        return own.diff(moved) if given else None

    def _end(self) -> str:
        said = f"<p><b>answer</b> {esc(self.answer)}</p>" if self.answer else ""
        return end_part(self.shown, self._take.passages) + said


def _hops(path: JudgedPath) -> list[tuple[str, str]]:
    return list(zip(path.nodes, path.nodes[1:]))


def _slider(name: str, value: float) -> widgets.Widget:
    low, high = _RANGES[name]
    made = {"min": min(low, value), "max": max(high, value), "value": value, "description": name, **_SLIDER}
    return widgets.FloatSlider(step=0.01, **made) if isinstance(value, float) else widgets.IntSlider(**made)


def _label(question: Question) -> str:
    """What a list shows; an own question is only its text."""
    listed = question.id and question.id != "own" and question.question
    return clean(f"{question.id}: {question.question}" if listed else question.question or question.id, 300)


def _path_label(path: JudgedPath) -> str:
    mark = "✓" if path.kept else "·"
    said = f"{path.label} {path.confidence:.2f}" if path.label else path.fate
    return short(f"{mark} {path.id} {said}: {chain(path)}", 160)


def _takes(
    source: Index | Run | str | Path | Trace | Evidence,
    questions: list[Question],
    method: str,
    engine: Engine | None,
    reader: Reader | None,
    index: Index | None,
    k: int,
) -> Takes:
    if isinstance(source, Index):
        if not questions:
            raise SettingError("there is no question to ask; give questions=data.questions")
        return Live(source, questions, method, engine, reader, k)
    if isinstance(source, str | Path):
        source = Run.open(source)
    if isinstance(source, Run):
        return Saved(source, index, questions)
    return InMemory(source, index, questions)
