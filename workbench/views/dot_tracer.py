"""A widget to follow DotRAG's search: concepts and anchors, each DOT step by step, single paths, effects of settings.

tracer = trace_dots(index, data.questions)       # shows itself; runs the method
tracer = trace_dots("runs/first")                # a saved run, with neither index nor engine
tracer = trace_dots(evidence)                    # or a trace, of dotrag
tracer.ask("Who starred in …?")                  # the controls as functions
tracer.step(0, 2)                                # the second iteration of the first DOT
tracer.zoom("0.2.1")                             # one path, its sentences and its verdict
tracer.set(tau=0.7, h_max=2)                     # runs again with these settings, and shows the changes
tracer.most(80)                                  # the picture with up to so many nodes, by default 12
tracer.region()                                  # the whole region around the anchors, thousands of nodes
tracer.beside()                                  # other methods on the same question
tracer.pair("lightrag")                          # both answers, with the verdicts of a judge: of the run, or of judge=
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from workbench.display import text
from workbench.errors import SettingError
from workbench.evaluation.pairs import ComparedAnswers
from workbench.methods.dotrag.dots import Comparison, Dot, Dots, DotsDiff, Iteration, MethodResult, dots, whole_region
from workbench.methods.dotrag.events import JudgedPath
from workbench.operators.neighbourhood import Subgraph
from workbench.operators.types import types_of
from workbench.records import Question
from workbench.text import counted, short
from workbench.trace import Trace
from workbench.views import dots as dots_view
from workbench.views.dots import path_drawing
from workbench.views.drawing import Drawing
from workbench.views.node_details import LARGEST, graph_drawing
from workbench.views.parts import NAME, Part, details, group, line, quiet, view
from workbench.views.records import answer_line
from workbench.views.session import Live, Source
from workbench.views.stepped import Stage
from workbench.views.widget import Stepper, beside, row, side

METHOD = "dotrag"
OTHERS = ("lightrag", "pathrag")
MOST = (12, 24, 40, 80, 200)  # nodes of a picture of paths, the best first
PICTURE = 360  # pixels of its height
ALL_PATHS, NO_ANSWER = "– all paths –", "– none –"
SLIDERS = {"tau": (0.0, 1.0, 0.01), "h_max": (1, 6, 1), "t_max": (1, 6, 1)}  # setting → least, most, step


class Tracer(Stepper[Dots]):
    """The controls and what they show: `shown`, a DOT (`dot`, by its number) after an `iteration`, perhaps one `path`
    of it, and, where settings were moved, what that `changed`; perhaps two `answers` side by side."""

    name, kind = "tracer", METHOD

    def __init__(
        self, source: Source, questions: Sequence[Question] = (), *, beside: Sequence[str] = OTHERS, **settings: Any
    ):
        """Besides what every `Stepper` takes: over an index, `reader` answers and `judge` compares the answers;
        `beside` are SPECs of methods for comparison."""
        self._others, self.limit = tuple(beside), MOST[0]
        super().__init__(source, questions, **settings)

    # -- what the controls do -----------------------------------------------------------------------------------------

    def step(self, dot: int, iteration: int | None = None) -> Dot | Iteration:
        """Go to a DOT by its number, after an iteration, by default the last; 0 is before the first."""
        at = self.shown.dot(dot)
        last = len(at.iterations)
        iteration = last if iteration is None else iteration
        if iteration not in range(last + 1):
            numbers = ", ".join(map(str, range(last + 1)))
            raise SettingError(f"DOT {dot} has no iteration {iteration!r}; there are {numbers}")
        self.path = self._region = None
        self._show_at(dot, iteration)
        return at.iterations[iteration - 1] if iteration else at

    def zoom(self, path: str | None = None) -> JudgedPath | None:
        """Show one path, by its id, with its DOT and iteration; without an id, all paths again."""
        judged, at = None if path is None else self.shown.path(path), (self.dot, self.at)
        if judged:
            steps = ((dot.number, step) for dot in self.shown.dots for step in dot.iterations)
            at = next((dot, step.number) for dot, step in steps if judged in step.paths)
        self.path, self._region = judged, None
        self._show_at(*at)
        return self.path

    def most(self, nodes: int) -> Drawing:
        """Draw up to so many nodes: anchors, then those of kept paths, of the others, and candidates."""
        if not isinstance(nodes, int) or nodes < 1:
            raise SettingError(f"nodes={nodes!r}; it should be a whole number of at least 1")
        self.limit, self._region = nodes, None
        self._draw()
        return self.drawing

    def set(self, **settings: float) -> DotsDiff:
        """Run again with other settings (`tau`, `h_max`, `t_max`), and show the changes against the method's own.
        Settings that are not given stay as they are."""
        self._move(settings)
        return self.changed or self.shown.diff(self.shown)

    def region(self, dot: int | None = None) -> Subgraph:
        """Draw the whole region of a DOT, at most 5,000 nodes, nearest to the anchors first. It is computed from the
        index, because a trace holds only its size."""
        if self._session.index is None:
            raise SettingError("a trace has only the size of a region; to draw it, pass index=")
        at = self.shown.dot(self.dot if dot is None else dot)
        part = whole_region(self._session.index, at, LARGEST)
        self.step(at.number, self.at if at.number == self.dot else None)
        self._region = part
        self._draw_stage()
        return part

    def beside(self) -> Comparison:
        """Show the passages, nodes and paths that other methods find for the question, with the common ones marked."""
        own = self._retrieval._replace(paths=tuple(path.nodes for path in self.shown.final))  # saved rows have none
        others = self._session.others(self._question, self._method_name, self._others)
        results = tuple(MethodResult(item.method, item.ranking, item.nodes, item.paths) for item in (own, *others))
        self._compared = Comparison(self.shown.question, results, self.shown.gold)
        self._draw_stage()
        return self._compared

    def pair(self, other: str | None, repeat: int = 0) -> ComparedAnswers | None:
        """Show the answer of another method (its name in the run, or a SPEC) beside this one's, with the judge's
        verdict in each dimension and order; None hides them. `repeat` counts the repeats of a run, from 0."""
        request = self._question, self._method_name
        self.answers = self._session.pair(*request, other, repeat, **self._moved) if other else None
        self._other = other or ""
        self._draw_stage()
        return self.answers

    @property
    def answer(self) -> str:
        """The reader's answer; empty without a reader."""
        return self._retrieval.answer

    @property
    def trace(self) -> Trace:
        """The trace from which `shown` was read."""
        return self._retrieval.trace

    @property
    def iteration(self) -> int:
        return self.at

    @property
    def drawing(self) -> Drawing | None:
        if self._region:
            pairs = {frozenset(hop) for path in self._dot_shown.kept for hop in zip(path.nodes, path.nodes[1:])}
            return graph_drawing(self._region, pairs, "kept paths")
        return path_drawing(self.shown, self.path, types=self._types) if self.path else super().drawing

    def __repr__(self) -> str:
        where = f"DOT {self.dot}, iteration {self.at}" + (f", path {self.path.id}" if self.path else "")
        return f"Tracer at {where}: {text(self.shown)}"

    # -- controls -----------------------------------------------------------------------------------------------------

    def _make_controls(self) -> None:
        session, self._types = self._session, types_of(self._session.index)
        self._own = session.method(session.methods[0]).settings if isinstance(session, Live) else None
        moved = SLIDERS if self._own else {}
        self._sliders = {
            name: self._setting(name, name, *limits, width=260, label_width=4) for name, limits in moved.items()
        }
        self._dot = self._choice(
            "DOT", self.step, lambda: self.dot,
            lambda: [(short(f"{dot.number}: {dot.concept} ({dot.level})", 70), dot.number) for dot in self.shown.dots]
            or [("", -1)],
            width="420px",
        )  # fmt: skip
        self._most = self._bind(
            widgets.SelectionSlider(options=MOST, description="nodes ≤", continuous_update=False), self.most,
            lambda: self.limit,
        )  # fmt: skip
        self._paths = self._bind(
            widgets.Select(options=[(ALL_PATHS, "")], rows=9, layout={"width": "auto"}),
            lambda name: self.zoom(name or None),
            lambda: self.path.id if self.path else "",
            lambda: [(ALL_PATHS, ""), *((_path_label(path), path.id) for path in self._paths_so_far)],
        )  # fmt: skip
        self._rival = self._choice(
            "answer beside", lambda name: self.pair(name or None), lambda: self._other,
            lambda: [(NO_ANSWER, ""), *((short(name, NAME), name) for name in self._rivals)],
        )  # fmt: skip
        self._whole = self._button("the whole region", self.region, disabled=self._session.index is None)
        self._compare = self._button("other methods beside", self.beside)
        self._picture = self._canvas(lambda: self.drawing, PICTURE, flex="1 1 62%", min_width="420px")
        self._details, self._hint = self._text(self._path_part), self._text(self._hint_part)
        self._head, self._body, self._end = map(self._text, (self._above, self._dot_part, self._below))
        self._stack(
            self._question_box,
            row(self._method, *self._sliders.values()),
            self._message,
            self._head,
            row(self._dot, self._stage, self._play, self._most),
            beside(self._picture, side(self._paths, self._details, height=PICTURE)),
            self._hint,
            self._body,
            row(self._whole, self._compare, self._rival),
            self._end,
        )

    def _clicked(self, node: int) -> None:
        """Zoom to the best path through the clicked node, or out again."""
        name = next(mark.name for mark in self.drawing.nodes if mark.id == node)
        through = [path for path in self._paths_so_far if name in path.nodes]
        best = min(through, key=lambda path: (not path.kept, path.nodes[-1] != name, -path.confidence), default=None)
        self.zoom(best.id if best and self.path is None else None)

    def _show_controls(self) -> None:
        super()._show_controls()
        self._rival.layout.display = None if self._rivals else "none"

    @property
    def _rivals(self) -> list[str]:
        return self._session.rivals(self._method_name, self._others)

    # -- what is shown ------------------------------------------------------------------------------------------------

    def _show_at(self, dot: int, iteration: int) -> None:
        """Show a DOT after an iteration; only another DOT has other stages."""
        same, self.dot, self.at = dot == self.dot, dot, iteration
        self._draw_stage() if same else self._draw()

    def _read(self, question: Question, name: str, moved: Mapping[str, Any]) -> tuple:
        retrieval, record = super()._read(question, name, moved)
        return retrieval, record, super()._read(question, name, {})[1].diff(record) if moved else None

    def _shown_by(self, trace: Trace, question: Question) -> Dots:
        return dots(trace, (*question.start, *question.answers))

    def _take(self, result: tuple) -> None:
        super()._take(result[:2])
        self.changed = result[2]
        self.path = self._region = self._compared = self.answers = None
        self._other, self.at = "", -1
        self.dot = self.shown.dots[0].number if self.shown.dots else -1

    def _stages(self) -> list[Stage]:
        dot = self._dot_shown
        return dots_view.stages(self.shown, dot, types=self._types, limit=self.limit) if dot else []

    @property
    def _dot_shown(self) -> Dot | None:
        return next((dot for dot in self.shown.dots if dot.number == self.dot), None)

    @property
    def _paths_so_far(self) -> list[JudgedPath]:
        """The paths up to the iteration, kept ones first, then by confidence."""
        made = self._dot_shown.iterations[: self.at] if self._dot_shown else ()
        kept_ids = made[-1].kept if made else ()
        return sorted(
            (path for step in made for path in step.paths), key=lambda p: (p.id not in kept_ids, -p.confidence)
        )

    def _above(self) -> Part | None:
        return group(
            dots_view.heading(self.shown),
            answer_line(self.answer, self._question.answers),
            details("concepts and anchors", dots_view.selection_part(self.shown)),
        )

    def _path_part(self) -> Part | None:
        return dots_view.path_part(self.path, self.shown.gold) if self.path else None

    def _go(self, stage: int | str) -> None:
        self.path = self._region = None
        super()._go(stage)

    def _hint_part(self) -> Part | None:
        drawing = self.drawing
        if drawing is None:
            return None
        hint = "a click on any node shows all paths again" if self.path else "a click on a node shows a path to it"
        hint = f"{text(drawing)}; {hint}" if drawing.left_out else hint
        return quiet(text(self._region) if self._region else hint)

    def _dot_part(self) -> Part | None:
        """The rules of the DOT, and the iteration, folded because its paths are listed already."""
        dot = self._dot_shown
        if dot is None:
            return None
        made = details(self._now.name, self._now.part) if self.at else None
        return group(line(dots_view.dot_heading(dot)), dots_view.setting_part(dot), made)

    def _every_stage(self) -> Part | None:
        return dots_view.dots_part(self.shown, drawn=True)

    def _below(self) -> Part | None:
        """The effect of other settings, the input of the reader, other methods and answers."""
        passages, record = self._session.passages, self.shown
        read = f"{counted(len(record.final), 'path')}, {counted(len(record.chunks), 'passage')}"
        return group(
            None if self.changed is None else dots_view.diff_part(self.changed),
            details(f"what the reader was given: {read}", dots_view.end_part(record, passages)),
            dots_view.comparison_part(self._compared, passages) if self._compared else None,
            view(self.answers) if self.answers else None,
        )


def _path_label(path: JudgedPath) -> str:
    mark = "✓" if path.kept else "·"
    verdict = f"{path.label} {path.confidence:.2f}" if path.label else path.fate
    return short(f"{mark} {path.id} {verdict}: {dots_view.chain(path)}", 600)
