"""A widget to watch GFM-RAG pass messages: layer by layer, which entities light up, and what documents get of them.

lit = wb.messages(index, data.questions)         # shows itself; asks the method
lit = wb.messages("runs/first", index=index)     # a saved run; the index is needed for paths only
lit = wb.messages(evidence)                      # the trace of one question
lit.ask("Which river …?")                        # what the controls do, as functions
lit.stage(2)                                     # after the second layer; or "documents"
lit.entity("ilse varnessel")                     # the paths that carried most to an entity
"""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets as widgets

from workbench.errors import SettingError
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods import method as method_named
from workbench.methods.gfm_rag import GFMRAG
from workbench.methods.gfm_rag.passing import METHOD, Passing, passing
from workbench.operators.types import types_of
from workbench.records import Path, Question, Scored
from workbench.settings import parse_spec
from workbench.views.base import esc, page
from workbench.views.drawing import Drawing, drawing_frame
from workbench.views.palette import AUTO
from workbench.views.passing import documents_part, heading, layers_part, passing_drawing, paths_part, places, stages
from workbench.views.session import Live, Source, open_session, question_label
from workbench.views.widget import Widget, beside, question_box, row, side, stage_at, texts

K = 10  # passages ranked
HEIGHT = 480
PATHS = 5


class Messages(Widget):
    """The controls and what they show: `shown`, the passing of the question; `at`, the position of the stage; `chosen`,
    the entity whose paths are listed, and `paths`."""

    name = "messages"

    def __init__(
        self,
        source: Source,
        questions: Sequence[Question] = (),
        *,
        method: str = METHOD,
        engine: Engine | None = None,
        index: Index | None = None,
        k: int = K,
        theme: str = AUTO,
    ):
        """`source` is an index, over which `method` (a SPEC of gfm_rag) runs with `engine`; a run or its folder; or the
        trace or evidence of one question. With `index`, the latter two list paths as well. `questions` are offered for
        selection, and provide the gold."""
        super().__init__(theme)
        self._engine = engine
        self._session = open_session(
            source, questions, methods={method: method}, engine=engine, index=index, k=k,
            kind=METHOD, suits=lambda config: parse_spec(config["label"])[0] == METHOD,
        )  # fmt: skip
        self.at, self.chosen, self.paths = None, "", ()
        self._make_controls()
        self._show(self._session.questions[0], self._session.methods[0])

    # -- what the controls do -----------------------------------------------------------------------------------------

    def ask(self, question: str | int, method: str | None = None) -> Passing:
        """Show a question: the id, text or position of a listed one, or, over an index, any other text. `method`
        selects one of a run."""
        asked = self._session.find_or_own(question)
        self._show(asked, self._method_name if method is None else method)
        return self.shown

    def stage(self, stage: int | str) -> Drawing:
        """Go to a stage by its position or name: `start`, `layer 1`, …, `documents`; returns its picture."""
        self.at = stage_at(stage, self._stages)
        self._draw()
        return self.drawing

    def entity(self, name: str) -> tuple[Scored[Path], ...]:
        """List the paths that carried most of an entity's score."""
        if self._session.index is None or not self.shown.question or self.shown.question.startswith("sha256:"):
            raise SettingError("paths need the index and the text of the question: give index=")
        found = self._session.once(("paths", self.shown.method, self.shown.question, name), lambda: self._found(name))
        self.chosen, self.paths = name, found
        self._draw()
        return found

    def static_html(self) -> str:
        """Every stage as a picture of its own."""
        pictures = "".join(
            page(f"<p><b>{esc(name)}</b></p>") + drawing_frame(self._drawing(at), theme=self.theme)
            for at, name in enumerate(self._stages)
        )
        return page(heading(self.shown)) + pictures + page(self._paths_part(), documents_part(self.shown))

    def __repr__(self) -> str:
        return f"Messages: {self.shown!r}"

    # -- controls -----------------------------------------------------------------------------------------------------

    def _make_controls(self) -> None:
        session = self._session
        self._asked = question_box(session.questions, session.label)
        self._method = widgets.Dropdown(description="method", options=session.methods, layout={"width": "auto"})
        self._stage = widgets.SelectionSlider(
            description="stage", options=[("start", 0)], continuous_update=False, layout={"width": "340px"}
        )
        self._play = widgets.Play(interval=1200, min=0, max=0, layout={"width": "auto"})
        self._head, self._documents, self._paths, self._layers = texts(4)
        self._canvas = self._picture_of(HEIGHT)
        self._on(self._asked, self.ask)
        self._on(self._method, lambda name: self.ask(question_label(self._question), name))
        self._on(self._stage, self.stage)
        self._on(self._play, self.stage)
        self._on_click(self._canvas, self._click)
        self._stack(
            self._asked,
            row(self._method, self._stage, self._play),
            self._message,
            self._head,
            self._canvas,
            beside(side(self._documents, height=HEIGHT), side(self._paths, height=HEIGHT)),
            self._layers,
        )

    def _show_controls(self) -> None:
        with self._quietly():
            self._asked.value, self._method.value = question_label(self._question), self._method_name
            self._stage.options = [(name, at) for at, name in enumerate(self._stages)] or [("nothing passed", 0)]
            self._stage.value = self.at or 0
            self._play.max, self._play.value = max(0, len(self._stages) - 1), self.at or 0

    def _click(self, node: int) -> None:
        named = places(self.shown)
        if node < len(named):
            self.entity(named[node])

    # -- display ------------------------------------------------------------------------------------------------------

    def _show(self, question: Question, name: str) -> None:
        """Another question; before it is answered nothing changes, so that an error changes nothing."""
        trace = self._session.retrieval(question, name).trace
        shown = passing(trace, question.support or (), self._session.index)
        self._question, self._method_name, self.shown = question, name, shown
        self._stages = stages(shown)
        last = max(0, len(self._stages) - 1)
        self.at = last if self.at is None else min(self.at, last)
        self.chosen, self.paths = "", ()
        self._draw()

    def _found(self, name: str) -> tuple[Scored[Path], ...]:
        return self._network().explain(self.shown.question, name, PATHS)

    def _network(self) -> GFMRAG:
        session, label = self._session, self.shown.method
        if isinstance(session, Live):
            return session.method(self._method_name)
        return session.once(("asked", label), lambda: method_named(label, session.index, self._engine))

    def _draw(self) -> None:
        self._show_controls()
        self.drawing = self._drawing(self.at)
        self._canvas.draw(self.drawing if self._stages else None)
        self._head.value = page(heading(self.shown))
        self._documents.value = page(documents_part(self.shown))
        self._layers.value = page(layers_part(self.shown))
        self._paths.value = page(self._paths_part())

    def _drawing(self, stage: int) -> Drawing:
        return passing_drawing(self.shown, stage, types_of(self._session.index))

    def _paths_part(self) -> str:
        if self.chosen:
            return paths_part(self.shown, self.chosen, self.paths)
        return "<p class='q'>click on an entity to see the paths that carried most of its score</p>"
