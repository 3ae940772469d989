"""A widget to watch GFM-RAG pass messages: which entities light up at each layer, and what they give to documents.

lit = wb.messages(index, data.questions)         # shows itself; runs the method
lit = wb.messages("runs/first", index=index)     # a saved run; the index is needed for paths only
lit = wb.messages(evidence)                      # the trace of one question
lit.ask("Which river …?")                        # the controls as functions
lit.stage(2)                                     # after the second layer; or "documents"
lit.entity("ilse varnessel")                     # the paths that carried most to an entity
"""

from __future__ import annotations

from workbench.errors import SettingError
from workbench.methods.gfm_rag.passing import METHOD, Passing, passing
from workbench.operators.types import types_of
from workbench.records import Path, Question, Scored
from workbench.trace import Trace
from workbench.views.drawing import Drawing
from workbench.views.parts import Part, quiet
from workbench.views.passing import DOCUMENT, GOLD, heading, paths_part, stages
from workbench.views.stepped import Stage
from workbench.views.widget import Stepper

PATHS = 5  # of an entity


class Messages(Stepper[Passing]):
    """The controls and what they show: `shown`, the passing of the question; `at`, the position of the stage; `chosen`,
    the entity whose paths are listed, and `paths`. Over a run or a trace, paths need `index=`."""

    name, kind = "messages", METHOD

    def stage(self, stage: int | str) -> Drawing:
        """Go to a stage by its position or name: `start`, `layer 1`, …, `documents`; returns its picture."""
        self._go(stage)
        return self.drawing

    def entity(self, name: str) -> tuple[Scored[Path], ...]:
        """List the paths that carried most of an entity's score."""
        label, question = self.shown.method, self.shown.question
        if self._session.index is None or not question or question.startswith("sha256:"):
            raise SettingError("paths need the index and the text of the question; pass index=")
        explain = lambda: self._session.method(self._method_name, label).explain(question, name, PATHS)  # noqa: E731
        paths = self._session.once(("paths", label, question, name), explain)
        self.chosen, self.paths = name, paths
        self._draw()
        return paths

    def _shown_by(self, trace: Trace, question: Question) -> Passing:
        return passing(trace, question.support or (), self._session.index)

    def _take(self, result: tuple) -> None:
        super()._take(result)
        self.chosen, self.paths = "", ()

    def _stages(self) -> list[Stage]:
        return stages(self.shown, types_of(self._session.index))

    def _above(self) -> Part | None:
        return heading(self.shown)

    def _below(self) -> Part | None:
        if self.chosen:
            return paths_part(self.shown, self.chosen, self.paths)
        return quiet("click on an entity to see the paths that carried most of its score")

    def _clicked(self, node: int) -> None:
        clicked = self.drawing.nodes[node]
        if clicked.style not in (DOCUMENT, GOLD):
            self.entity(clicked.name)
