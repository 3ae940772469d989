"""A widget to watch GFM-RAG pass messages: layer by layer, which entities light up, and what documents get of them.

lit = wb.messages(index, data.questions)         # shows itself; asks the method
lit = wb.messages("runs/first", index=index)     # a saved run; the index is needed for paths only
lit = wb.messages(evidence)                      # the trace of one question
lit.ask("Which river …?")                        # what the controls do, as functions
lit.stage(2)                                     # after the second layer; or "documents"
lit.entity("ilse varnessel")                     # the paths that carried most to an entity
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import SettingError
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods import method as method_named
from workbench.methods.gfm_rag import GFMRAG
from workbench.methods.gfm_rag.passing import METHOD, Passing, passing
from workbench.operators.types import types_of
from workbench.records import Path, Question, Scored
from workbench.views.base import esc, page
from workbench.views.drawing import Drawing, drawing_frame
from workbench.views.palette import AUTO
from workbench.views.passing import documents_part, heading, layers_part, passing_drawing, paths_part, places, stages
from workbench.views.session import Live, Source
from workbench.views.widget import Stepper, beside, row, side, texts

K = 10  # passages ranked
HEIGHT = 480
PATHS = 5


class Messages(Stepper[Passing]):
    """The controls and what they show: `shown`, the passing of the question; `at`, the position of the stage; `chosen`,
    the entity whose paths are listed, and `paths`."""

    name, kind = "messages", METHOD

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
        self._engine = engine
        super().__init__(source, questions, methods=[method], theme=theme, engine=engine, index=index, k=k)

    # -- what the controls do -----------------------------------------------------------------------------------------

    def stage(self, stage: int | str) -> Drawing:
        """Go to a stage by its position or name: `start`, `layer 1`, …, `documents`; returns its picture."""
        self._go(stage)
        return self.drawing

    def entity(self, name: str) -> tuple[Scored[Path], ...]:
        """List the paths that carried most of an entity's score."""
        question = self.shown.question
        if self._session.index is None or not question or question.startswith("sha256:"):
            raise SettingError("paths need the index and the text of the question: give index=")
        explain = lambda: self._network().explain(question, name, PATHS)  # noqa: E731
        paths = self._session.once(("paths", self.shown.method, question, name), explain)
        self.chosen, self.paths = name, paths
        self._draw()
        return paths

    def static_html(self) -> str:
        """Every stage as a picture of its own."""
        pictures = "".join(
            page(f"<p><b>{esc(name)}</b></p>") + drawing_frame(self._drawing(at), theme=self.theme)
            for at, name in enumerate(self._stages)
        )
        return page(heading(self.shown)) + pictures + page(self._paths_part(), documents_part(self.shown))

    def __repr__(self) -> str:
        return f"Messages: {self.shown!r}"

    # -- display ------------------------------------------------------------------------------------------------------

    def _make_controls(self) -> None:
        self._head, self._documents, self._paths, self._layers = texts(4)
        self._canvas = self._picture_of(HEIGHT)
        self._on_click(self._canvas, self._click)
        self._stack(
            self._asked,
            row(self._method, *self._make_stepping("340px")),
            self._message,
            self._head,
            self._canvas,
            beside(side(self._documents, height=HEIGHT), side(self._paths, height=HEIGHT)),
            self._layers,
        )

    @property
    def _stages(self) -> Sequence[str]:
        return stages(self.shown)

    def _click(self, node: int) -> None:
        named = places(self.shown)
        if node < len(named):
            self.entity(named[node])

    def _show(self, question: Question, name: str, moved: Mapping[str, Any]) -> None:
        trace = self._session.retrieval(question, name).trace
        self.shown = passing(trace, question.support or (), self._session.index)
        self._asks_for(question, name, moved)
        self.chosen, self.paths = "", ()
        self._draw()

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
