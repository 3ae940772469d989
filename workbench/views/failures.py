"""Going through the wrong answers of a run or a grid: why each is wrong, what was retrieved, what was read, what was
thought.

failures = ablate(grid, data.questions)              # shows itself; needs neither index nor engine
failures.choose("cot", "hipporag2")                  # what the controls do, as functions: another configuration
failures.choose(cause="cut by compression")          # only wrong answers of one cause
failures.pick("mer-q07")                             # one of them; gives the Case
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import SettingError
from workbench.experiments import Run
from workbench.experiments.analyses.base import of_runs, runs_of
from workbench.experiments.diagnose import Case, Diagnosis, diagnose
from workbench.index import Index
from workbench.records import Question, Record
from workbench.trace import Trace
from workbench.views.base import esc, html, page, short
from workbench.views.canvas import Frame
from workbench.views.contexts import STYLE, Marks, texts_part
from workbench.views.controls import spoken
from workbench.views.diagnosis import case_part
from workbench.views.drawing import drawing_legend
from workbench.views.proof_drawing import HEIGHT, proof_drawing
from workbench.views.proofs import proof_part, told_proof
from workbench.views.trace import tree

EVERY = "every cause"
TABS = ("question", "query", "trace", "all of them")
_ROW = {"flex_flow": "row wrap", "align_items": "center"}
_WIDE = {"width": "410px"}


class Failures(Record):
    """The controls, and what they show: one `case` of a configuration (reader and method), and its `diagnosis`."""

    def __init__(
        self,
        source: Any,
        questions: Sequence[Question] | None = None,
        *,
        index: Index | None = None,
        theme: str = "light",
    ):
        """`source` is a grid, a run or its folder, several runs, or a diagnosis. `questions` have the gold, by default
        those of the data set that the run names; `index` has titles and texts of gold passages."""
        self._given = source if isinstance(source, Diagnosis) else None
        source = source.run if self._given else Run.open(source) if isinstance(source, str | Path) else source
        self._runs, self._index = runs_of(source), index
        self._asked = list(questions) if questions else None
        self._made: dict[str, Diagnosis] = {}
        self._places = {f"{label} · {method}": (label, method) for label, _, method in of_runs(self._runs)}
        if not self._places:
            raise SettingError("there is no run to look into; evaluate methods with a reader first")
        self._place, self._cause, self.theme = next(iter(self._places)), EVERY, theme
        self._quiet = False
        self._make_controls()
        self.choose()

    # -- what the controls do -----------------------------------------------------------------------------------------

    def choose(self, label: str | None = None, method: str | None = None, cause: str | None = None) -> list[Case]:
        """The wrong answers of a configuration: a label of the grid (or reader) and a method, and of a cause. What is
        not given stays as it is, where it can."""
        now = self._places[self._place]
        wanted = (label or now[0], method or now[1])
        found = [place for place, pair in self._places.items() if pair == wanted]
        found = found or [place for place, (there, _) in self._places.items() if there == label and method is None]
        if not found:
            raise SettingError(f"there is no {' · '.join(wanted)!r}; there are {', '.join(self._places)}")
        cases = self._cases(found[0], EVERY)
        causes = list(dict.fromkeys(case.cause for case in cases))
        if cause is not None and cause not in (EVERY, *causes):
            there = ", ".join(causes) or "none"
            raise SettingError(f"no answer of {found[0]} is wrong for the cause {cause!r}; there are {there}")
        kept = self._cause if self._cause in (EVERY, *causes) else EVERY
        self._place, self._cause = found[0], cause or kept
        self._show(self._cases(self._place, self._cause))
        return self.cases

    def pick(self, question: str) -> Case:
        """Show one of the wrong answers, by its question's id or text."""
        found = [case for case in self.cases if question in (case.question_id, case.question)]
        if not found:
            said = ", ".join(case.question_id for case in self.cases[:20]) or "none"
            raise SettingError(f"no answer to {question!r} is among the wrong ones that are listed; there are {said}")
        self.case = found[0]
        self._draw()
        return self.case

    @property
    def diagnosis(self) -> Diagnosis:
        """Of the run that is shown."""
        return self._diagnosis(self._places[self._place][0])

    @property
    def trace(self) -> Trace | None:
        """Of the case that is shown; None where the run kept none."""
        kept = self.case and self.diagnosis.run.config["trace"] != "off"
        return self.diagnosis.trace(self.case) if kept else None

    def __repr__(self) -> str:
        return f"Failures of {self._place}: {len(self.cases):,} wrong answers ({self._cause})"

    def _repr_mimebundle_(self, **options: Any):
        """The widget, and beside it what a page without a kernel can show."""
        return self.widget._repr_mimebundle_(**options) | {"text/html": html(self.diagnosis)}

    # -- controls -----------------------------------------------------------------------------------------------------

    def _make_controls(self) -> None:
        self._configuration = widgets.Dropdown(
            options=[(short(place, 140), place) for place in self._places], description="of", layout={"width": "auto"}
        )
        self._why = widgets.Dropdown(description="cause", layout=_WIDE)
        self._wrong = widgets.Dropdown(description="question", layout={"width": "auto"})
        self._said, self._head, self._contexts, self._proof, self._legend, self._trace, self._all = (
            widgets.HTML() for _ in range(7)
        )
        self._frame = Frame(self.theme, HEIGHT)
        self._picture = widgets.Box([], layout={"width": "100%"})
        query = widgets.VBox([self._proof, self._picture, self._legend])
        self._tabs = widgets.Tab([self._contexts, query, self._trace, self._all], titles=TABS)
        self._configuration.observe(self._on(lambda place: self.choose(*self._places[place])), "value")
        self._why.observe(self._on(lambda cause: self.choose(cause=cause)), "value")
        self._wrong.observe(self._on(lambda name: name and self.pick(name)), "value")
        self.widget = widgets.VBox(
            [
                self._configuration,
                widgets.Box([self._why], layout=_ROW),
                self._wrong,
                self._said,
                self._head,
                self._tabs,
            ]
        )
        self.widget.add_class("hopscope-failures")

    def _on(self, action: Callable[[Any], Any]) -> Callable[[dict], None]:
        return spoken(self._said, action, self._set_controls, lambda: self._quiet)

    def _set_controls(self) -> None:
        """Controls that say what is shown; where an action fails they go back to it."""
        every = self._cases(self._place, EVERY)
        causes = [case.cause for case in every]
        said = [(f"{cause} ({causes.count(cause):,})", cause) for cause in dict.fromkeys(causes)]
        self._quiet = True
        try:
            self._configuration.value = self._place
            self._why.options = [(f"{EVERY} ({len(every):,})", EVERY), *said]
            self._why.value = self._cause
            listed = [(short(f"{case.question_id}: {case.question}", 140), case.question_id) for case in self.cases]
            self._wrong.options = listed or [("every answer is right", "")]
            self._wrong.value = self.case.question_id if self.case else ""
        finally:
            self._quiet = False

    def _show(self, cases: list[Case]) -> None:
        self.cases = cases
        self.case = cases[0] if cases else None
        self._all.value = html(self.diagnosis)
        self._draw()

    def _draw(self) -> None:
        self._set_controls()
        self._said.value = ""
        if self.case is None:
            self._head.value = page("<p>every answer is right</p>")
            self._contexts.value = self._trace.value = self._proof.value = self._legend.value = ""
            self._picture.children = []
            return
        trace = self.trace
        self._head.value = page(case_part(self.case))
        self._contexts.value = page(STYLE, self._texts(trace))
        self._trace.value = page(tree(trace) if trace else "<p class='q'>the run kept no traces</p>")
        proof = told_proof(trace) if trace else None
        drawn = proof_drawing(proof) if proof else None
        self._proof.value = page(proof_part(proof) if proof else "<p class='q'>no query was executed</p>")
        self._picture.children = [self._frame] if drawn and drawn.nodes else []
        self._legend.value = drawing_legend(drawn) if drawn and drawn.nodes else ""
        if drawn and drawn.nodes:
            self._frame.draw(drawn)

    def _texts(self, trace: Trace | None) -> str:
        """What was retrieved beside what was read."""
        case = self.case
        hops = next((event.outputs["hops"] for event in trace or () if event.step == "compress"), {})
        before, after = (self.diagnosis.context(case, retrieved=whole) for whole in (True, False))
        if after is None:
            return "<p class='q'>the run kept no contexts</p>"
        return texts_part(after if before is None else before, after, Marks(hops.items(), case.gold))

    # -- what was measured --------------------------------------------------------------------------------------------

    def _diagnosis(self, label: str) -> Diagnosis:
        if self._given:
            return self._given
        if label not in self._made:
            self._said.value = page(f"<p class='q'>looking into {esc(label, 200)} …</p>")
            self._made[label] = diagnose(self._runs[label], self._asked, self._index)
        return self._made[label]

    def _cases(self, place: str, cause: str) -> list[Case]:
        label, method = self._places[place]
        mine = (case for case in self._diagnosis(label).cases if case.method == method)
        return [case for case in mine if cause in (EVERY, case.cause)]
