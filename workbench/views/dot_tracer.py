"""A widget to follow DotRAG's search: concepts and anchors, each DOT step by step, single paths, effects of settings.

tracer = trace_dots(index, data.questions)       # shows itself; asks the method
tracer = trace_dots("runs/first")                # a saved run, with neither index nor engine
tracer = trace_dots(evidence)                    # or a trace, of dotrag
tracer.ask("Who starred in …?")                  # what the controls do, as functions
tracer.step(0, 2)                                # the second iteration of the first DOT
tracer.zoom("0.2.1")                             # one path, its sentences and its verdict
tracer.set(tau=0.7, h_max=2)                     # asked again with these, and what that changes
tracer.most(80)                                  # the picture with up to so many nodes, by default 12
tracer.region()                                  # the whole region around the anchors, thousands of nodes
tracer.beside()                                  # other methods on the same question
tracer.pair("lightrag")                          # both answers, with what a judge said: in the run, or judge= now
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from workbench.display import html, text
from workbench.errors import SettingError
from workbench.evaluation.pairs import ComparedAnswers
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods.dotrag.dots import Comparison, Dot, Dots, DotsDiff, Iteration, MethodResult, dots, whole_region
from workbench.methods.dotrag.events import JudgedPath
from workbench.operators.neighbourhood import Subgraph
from workbench.operators.types import types_of
from workbench.reading.base import Reader
from workbench.records import Question
from workbench.text import counted, short
from workbench.trace import Trace
from workbench.views.base import NAME, details, page
from workbench.views.dot_drawing import dot_drawing, path_drawing, stepped
from workbench.views.dots import (
    chain,
    comparison_part,
    diff_part,
    dot_heading,
    end_part,
    heading,
    iteration_part,
    path_part,
    selection_part,
    setting_part,
)
from workbench.views.drawing import Drawing, drawing_frame
from workbench.views.node_details import LARGEST, graph_drawing
from workbench.views.palette import AUTO
from workbench.views.records import answer_line
from workbench.views.session import Live, Retrieval, Source
from workbench.views.widget import Stepper, beside, row, setting_slider, side, texts

METHOD = "dotrag"
OTHERS = ("lightrag", "pathrag")
K = 10  # passages ranked
MOST = (12, 24, 40, 80, 200)  # nodes of a picture of paths, the best first
LIST_STYLE = """<style>.hopscope-tracer select[size] option{white-space:normal;overflow-wrap:anywhere;
 padding-left:1.2em;text-indent:-1em}</style>"""  # a long path takes several lines
PICTURE = 360  # pixels of its height
ALL_PATHS, NO_ANSWER = "– all paths –", "– none –"
_WIDE = {"description_width": "initial"}
_RANGES = {"tau": (0.0, 1.0, 0.01), "h_max": (1, 6, 1), "t_max": (1, 6, 1)}  # least, most, step


class Tracer(Stepper[Dots]):
    """The controls and what they show: `shown`, a DOT (`dot`, by its number) after an `iteration`, perhaps one `path`
    of it, and, where settings were moved, what that `changed`; perhaps two `answers` side by side."""

    name, kind = "tracer", METHOD

    def __init__(
        self,
        source: Source,
        questions: Sequence[Question] = (),
        *,
        method: str = METHOD,
        beside: Sequence[str] = OTHERS,
        engine: Engine | None = None,
        reader: Reader | None = None,
        judge: Engine | str | None = None,
        index: Index | None = None,
        k: int = K,
        theme: str = AUTO,
    ):
        """`source` is an index, over which `method` (a SPEC) runs with `engine`, `reader` answers, and `judge` compares
        the answers; a run or its folder; or the trace or evidence of one question. `index` provides titles and types
        for the latter. `questions` are offered for selection, and provide the gold; `beside` are SPECs of methods for
        comparison."""
        self._others = tuple(beside)
        self.path: JudgedPath | None = None
        self.answers: ComparedAnswers | None = None
        self.limit = MOST[0]
        super().__init__(
            source, questions, methods=[method], theme=theme, engine=engine, reader=reader, judge=judge, index=index,
            k=k,
        )  # fmt: skip

    # -- what the controls do -----------------------------------------------------------------------------------------

    def step(self, dot: int, iteration: int | None = None) -> Dot | Iteration:
        """Go to a DOT by its number, after an iteration, by default the last; 0 is before the first."""
        at = self.shown.dot(dot)
        numbers = [0, *(one.number for one in at.iterations)]
        iteration = numbers[-1] if iteration is None else iteration
        if iteration not in numbers:
            raise SettingError(f"DOT {dot} has no iteration {iteration!r}; there are {', '.join(map(str, numbers))}")
        self.dot, self.iteration, self.path = dot, iteration, None
        self._draw()
        return self._iteration or at

    def zoom(self, path: str | None = None) -> JudgedPath | None:
        """Show one path, by its id, with its DOT and iteration; without an id, all paths again."""
        found = None if path is None else self.shown.path(path)
        if found:
            of = ((dot.number, one.number) for dot in self.shown.dots for one in dot.iterations if found in one.paths)
            self.dot, self.iteration = next(of)
        self.path = found
        self._draw()
        return self.path

    def most(self, nodes: int) -> Drawing:
        """Draw up to so many nodes: anchors, then those of kept paths, of the others, and candidates."""
        if not isinstance(nodes, int) or nodes < 1:
            raise SettingError(f"nodes={nodes!r}; it should be a whole number from 1 on")
        self.limit = nodes
        self._draw()
        return self.drawing

    def set(self, **settings: float) -> DotsDiff:
        """Run again with other settings (`tau`, `h_max`, `t_max`), and show the changes against the method's own.
        Settings that are not given stay as they are."""
        if unknown := [name for name in settings if name not in self._defaults]:
            adjustable = ", ".join(self._defaults) or "none, for a saved retrieval cannot be changed; give an index"
            raise SettingError(f"no setting {unknown[0]!r} can be moved; there are {adjustable}")
        moved = {name: value for name, value in (self._moved | settings).items() if value != self._defaults[name]}
        self._show(self._question, self._method_name, moved)
        return self.changed or self.shown.diff(self.shown)

    def region(self, dot: int | None = None) -> Subgraph:
        """Draw the whole region of a DOT, at most 5,000 nodes, nearest to the anchors first. It is computed from the
        index, because a trace holds only its size."""
        if self._session.index is None:
            raise SettingError("a trace tells only the size of a region; to draw it, give index=")
        at = self.shown.dot(self.dot if dot is None else dot)
        part = whole_region(self._session.index, at, LARGEST)
        self.step(at.number, self.iteration if at.number == self.dot else None)
        kept = {frozenset(hop) for path in at.kept for hop in zip(path.nodes, path.nodes[1:])}
        self._picture.draw(graph_drawing(part, kept, "kept paths"))
        self._hint.value = self._note(text(part))
        return part

    def beside(self) -> Comparison:
        """Show the passages, nodes and paths that other methods find for the question, with the common ones marked."""
        others = self._session.others(self._question, self._method_name, self._others)
        found = (_found(self._retrieval, self.shown), *map(_found, others))
        compared = Comparison(self.shown.question, found, _gold(self._question))
        self._comparison.value = page(comparison_part(compared, self._session.passages))
        return compared

    def pair(self, other: str | None, repeat: int = 0) -> ComparedAnswers | None:
        """Show the answer of another method (its name in the run, or a SPEC) beside this one's, and what the judge said
        of them in each dimension and order; None takes them away. Of a run with repeats, `repeat` counts from 0."""
        asked = self._question, self._method_name
        self.answers = self._session.pair(*asked, other, repeat, **self._moved) if other else None
        self._other = other or ""
        self._show_pair()
        self._show_controls()
        return self.answers

    @property
    def answer(self) -> str:
        """The reader's answer; empty without a reader."""
        return self._retrieval.answer

    @property
    def trace(self) -> Trace:
        """What `shown` was read from."""
        return self._retrieval.trace

    def static_html(self) -> str:
        picture = drawing_frame(self.drawing, theme=self.theme) if self.drawing else ""
        searched = page(
            heading(self.shown),
            self._answer_part(),
            stepped(self.shown, self._session.passages),
        )
        return picture + searched + (html(self.answers) if self.answers else "")

    def __repr__(self) -> str:
        where = f"DOT {self.dot}, iteration {self.iteration}" + (f", path {self.path.id}" if self.path else "")
        return f"Tracer at {where}: {text(self.shown)}"

    # -- controls -----------------------------------------------------------------------------------------------------

    @property
    def _stages(self) -> list[str]:
        return ["rules", *(f"iteration {one.number}" for one in self._iterations)]

    def _make_controls(self) -> None:
        auto, wide = {"width": "auto"}, {"width": "420px"}
        self._types, self._defaults = types_of(self._session.index), self._own_settings()
        self._sliders = {name: self._setting(name, value) for name, value in self._defaults.items()}
        self._dot = self._bind(
            widgets.Dropdown(options=[("", 0)], description="DOT", layout=wide), self.step, lambda: self.dot,
            lambda: [(short(f"{dot.number}: {dot.concept} ({dot.level})", 70), dot.number) for dot in self.shown.dots]
            or [("", -1)],
        )  # fmt: skip
        self._stage = self._bind(
            widgets.SelectionSlider(options=[("rules", 0)], description="after", continuous_update=False, layout=wide),
            lambda number: self.step(self.dot, number), lambda: self.iteration,
            lambda: list(zip(self._stages, [0, *(one.number for one in self._iterations)])),
        )  # fmt: skip
        self._most = self._bind(
            widgets.SelectionSlider(options=MOST, description="nodes ≤", continuous_update=False), self.most,
            lambda: self.limit,
        )  # fmt: skip
        self._paths = self._bind(
            widgets.Select(options=[(ALL_PATHS, "")], rows=9, layout=auto), lambda name: self.zoom(name or None),
            lambda: self.path.id if self.path else "",
            lambda: [(ALL_PATHS, ""), *((_path_label(path), path.id) for path in self._paths_so_far)],
        )  # fmt: skip
        self._rival = self._bind(
            widgets.Dropdown(options=[(NO_ANSWER, "")], description="answer beside", style=_WIDE),
            lambda name: self.pair(name or None), lambda: self._other,
            lambda: [(NO_ANSWER, ""), *((short(name, NAME), name) for name in self._rivals)],
        )  # fmt: skip
        self._whole = widgets.Button(
            description="the whole region", disabled=self._session.index is None, layout=auto
        )  # fmt: skip
        self._compare = widgets.Button(description="other methods beside", layout=auto)
        self._press(self._whole, self.region)
        self._press(self._compare, self.beside)
        self._lay_out()

    def _setting(self, name: str, value: float) -> widgets.Widget:
        slider = setting_slider(name, *_RANGES[name], value=value, width=260, label_width=4)
        return self._bind(slider, lambda value: self.set(**{name: value}), lambda: self._moved.get(name, value))

    def _lay_out(self) -> None:
        self._head, self._details, self._hint, self._body, self._end, self._comparison, self._pair = texts(7)
        self._picture = self._picture_of(PICTURE, flex="1 1 62%", min_width="420px")
        self._on_click(self._picture, self._click)
        self._stack(
            self._asked,
            row(self._method, *self._sliders.values()),
            self._message,
            self._head,
            row(self._dot, self._stage, self._most),
            beside(self._picture, side(self._paths, self._details, height=PICTURE)),
            self._hint,
            self._body,
            self._end,
            row(self._whole, self._compare, self._rival),
            self._comparison,
            self._pair,
            widgets.HTML(LIST_STYLE),
        )

    def _click(self, at: int) -> None:
        """Zoom to the best path through the clicked node, or out again."""
        name = self.drawing.nodes[at].name
        through = [path for path in self._paths_so_far if name in path.nodes]
        best = min(through, key=lambda path: (not path.kept, path.nodes[-1] != name, -path.confidence), default=None)
        self.zoom(best.id if best and self.path is None else None)

    def _show_controls(self) -> None:
        super()._show_controls()
        self._rival.layout.display = None if self._rivals else "none"

    @property
    def _rivals(self) -> list[str]:
        return self._session.rivals(self._method_name, self._others)

    # -- display ------------------------------------------------------------------------------------------------------

    def _show(self, question: Question, name: str, moved: Mapping[str, Any]) -> None:
        retrieval, shown = self._retrieve(question, name, moved)  # before anything moves: an error changes nothing
        changed = self._retrieve(question, name, {})[1].diff(shown) if moved else None
        self._question, self._method_name, self._moved, self.changed = question, name, dict(moved), changed
        self._retrieval, self.shown = retrieval, shown
        self._head.value = page(
            heading(shown), self._answer_part(), details("concepts and anchors", selection_part(shown))
        )
        read = f"{counted(len(shown.final), 'path')}, {counted(len(shown.chunks), 'passage')}"
        given = details(f"what the reader was given: {read}", end_part(shown, self._session.passages))
        self._end.value = page("" if changed is None else diff_part(changed), given)
        self._comparison.value, self.answers, self._other = "", None, ""
        self._show_pair()
        if shown.dots:
            self.step(shown.dots[0].number)
        else:
            self.dot, self.iteration, self.path = -1, 0, None
            self._draw()

    def _retrieve(self, question: Question, name: str, moved: Mapping[str, Any]) -> tuple[Retrieval, Dots]:
        retrieval = self._session.retrieval(question, name, **moved)
        return retrieval, dots(retrieval.trace, _gold(question))

    def _draw(self) -> None:
        """Set controls, picture and text to the current DOT and iteration."""
        self._show_controls()
        dot = next((dot for dot in self.shown.dots if dot.number == self.dot), None)
        self.drawing = self._drawing() if dot else None
        self._picture.draw(self.drawing)
        self._details.value = page(path_part(self.path, self.shown.gold)) if self.path else ""
        if dot is None:
            self._body.value = self._hint.value = ""
            return
        left_out = f"{text(self.drawing)}; " if self.drawing.left_out else ""
        hint = "a click on any node shows all paths again" if self.path else "a click on a node shows a path to it"
        self._hint.value = self._note(left_out + hint)
        self._body.value = page(f"<p>{dot_heading(dot)}</p>", setting_part(dot), self._searched())

    def _show_pair(self) -> None:
        self._pair.value = html(self.answers) if self.answers else ""

    def _searched(self) -> str:
        """The iteration, folded: its paths stand in the list already."""
        one = self._iteration
        if one is None:
            return ""
        found = f"iteration {one.number}: {counted(len(one.candidates), 'candidate')}, {len(one.paths):,} paths judged"
        return details(found, iteration_part(one, self.shown.gold))

    def _drawing(self) -> Drawing:
        if self.path:
            return path_drawing(self.shown, self.path, types=self._types)
        return dot_drawing(self.shown, self.dot, self.iteration, types=self._types, limit=self.limit)

    @property
    def _iterations(self) -> tuple[Iteration, ...]:
        return next((dot.iterations for dot in self.shown.dots if dot.number == self.dot), ())

    @property
    def _iteration(self) -> Iteration | None:
        return next((one for one in self._iterations if one.number == self.iteration), None)

    @property
    def _paths_so_far(self) -> list[JudgedPath]:
        """The paths up to the iteration, kept ones first, then the surest."""
        kept = self._iteration.kept if self._iteration else ()
        paths = [path for one in self._iterations if one.number <= self.iteration for path in one.paths]
        return sorted(paths, key=lambda path: (path.id not in kept, -path.confidence))

    def _answer_part(self) -> str:
        return answer_line(self.answer, self._question.answers)

    def _own_settings(self) -> dict[str, Any]:
        """The adjustable settings with the method's own values; empty unless the method runs live."""
        if not isinstance(self._session, Live):
            return {}
        own = self._session.method(self._session.methods[0]).settings
        return {name: getattr(own, name) for name in _RANGES if hasattr(own, name)}


def _gold(question: Question) -> tuple[str, ...]:
    return (*question.start, *question.answers)


def _found(retrieval: Retrieval, shown: Dots | None = None) -> MethodResult:
    """The results of a method, completed from the DOTs of its trace if a saved row lacks them."""
    ranking, nodes, paths = retrieval.ranking, retrieval.nodes, retrieval.paths
    if shown:
        ranking = ranking or tuple(name for name, _ in shown.chunks)
        nodes, paths = nodes or shown.nodes, paths or tuple(path.nodes for path in shown.final)
    return MethodResult(retrieval.method, ranking, nodes, paths)


def _path_label(path: JudgedPath) -> str:
    mark = "✓" if path.kept else "·"
    verdict = f"{path.label} {path.confidence:.2f}" if path.label else path.fate
    return short(f"{mark} {path.id} {verdict}: {chain(path)}", 600)
