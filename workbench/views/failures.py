"""A widget to inspect the wrong answers of a run or a grid: cause, retrieved context, context read, trace.

failures = ablate(grid, data.questions)              # shows itself; needs neither index nor engine
failures.choose("cot", "hipporag2")                  # the controls as functions: another configuration
failures.choose(cause="cut by compression")          # only wrong answers of one cause
failures.pick("mer-q07")                             # one of them; returns the Case
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.analyses.base import of_runs, runs_of
from workbench.analyses.diagnose import Case, Diagnosis, diagnose
from workbench.display import html
from workbench.errors import SettingError
from workbench.evaluation import Run
from workbench.index import Index
from workbench.operators.types import types_of
from workbench.records import Question
from workbench.text import counted, short
from workbench.trace import Trace
from workbench.views.contexts import Marks, texts_part
from workbench.views.palette import AUTO
from workbench.views.parts import Part, line, quiet, view
from workbench.views.proofs import HEIGHT, proof_drawing, proof_from_trace, proof_part
from workbench.views.reports import case_part
from workbench.views.session import Cache, position
from workbench.views.trace import tree
from workbench.views.widget import Widget, row, texts

EVERY = "every cause"
TABS = ("question", "query", "trace", "all of them")


class Failures(Widget):
    """The controls, and their selection: one `case` of a configuration (reader and method), and its `diagnosis`."""

    name = "failures"

    def __init__(
        self,
        source: Any,
        questions: Sequence[Question] | None = None,
        *,
        index: Index | None = None,
        theme: str = AUTO,
    ):
        """`source` is a grid, a run or its folder, several runs, or a diagnosis. `questions` provide the gold, by
        default those of the data set that the run names; `index` provides titles and texts of gold passages."""
        super().__init__(theme)
        self._given = source if isinstance(source, Diagnosis) else None
        source = source.run if self._given else Run.open(source) if isinstance(source, str | Path) else source
        self._runs, self._index, self._questions = runs_of(source), index, list(questions) if questions else None
        self._diagnoses = Cache()
        # Entry of the list → label of the grid (or reader) and method.
        self._configurations = {f"{label} · {method}": (label, method) for label, _, method in of_runs(self._runs)}
        if not self._configurations:
            raise SettingError("no run was given; evaluate methods with a reader first")
        self._configuration, self._cause = next(iter(self._configurations)), EVERY
        self._make_controls()
        self.choose()

    # -- what the controls do -----------------------------------------------------------------------------------------

    def choose(self, label: str | None = None, method: str | None = None, cause: str | None = None) -> list[Case]:
        """Show the wrong answers of a configuration (a label of the grid, or a reader, and a method) and of a cause.
        Arguments that are not given keep their values, if possible."""
        chosen = self._find(label, method)
        causes = list(dict.fromkeys(case.cause for case in self._cases(chosen)))
        if cause is not None and cause not in (EVERY, *causes):
            available = ", ".join(causes) or "none"
            raise SettingError(f"no answer of {chosen} is wrong for the cause {cause!r}; there are {available}")
        self._cause = cause or (self._cause if self._cause in causes else EVERY)
        self._configuration = chosen
        self.cases = self._cases(chosen, self._cause)
        self.case = self.cases[0] if self.cases else None
        self._all.show(view(self.diagnosis))
        self._draw()
        return self.cases

    def pick(self, question: str | int) -> Case:
        """Show one of the wrong answers, by its question's id, text or position."""
        listed = [Question(case.question_id, case.question) for case in self.cases]
        self.case = self.cases[position(question, listed, "the list of wrong answers")]
        self._draw()
        return self.case

    @property
    def diagnosis(self) -> Diagnosis:
        """The diagnosis of the current run."""
        return self._diagnosis(self._configurations[self._configuration][0])

    @property
    def trace(self) -> Trace | None:
        """The trace of the current case; None if the run has no traces."""
        traced = self.case and self.diagnosis.run.config["trace"] != "off"
        return self.diagnosis.trace(self.case) if traced else None

    def static_html(self) -> str:
        return html(self.diagnosis)

    def __repr__(self) -> str:
        return f"Failures of {self._configuration}: {counted(len(self.cases), 'wrong answer')} ({self._cause})"

    # -- controls -----------------------------------------------------------------------------------------------------

    def _make_controls(self) -> None:
        options = [(short(name, 140), name) for name in self._configurations]
        self._of = self._bind(
            widgets.Dropdown(options=options, description="of", layout={"width": "auto"}),
            lambda name: self.choose(*self._configurations[name]), lambda: self._configuration,
        )  # fmt: skip
        self._why = self._bind(
            widgets.Dropdown(description="cause", layout={"width": "410px"}),
            lambda cause: self.choose(cause=cause), lambda: self._cause, self._cause_options,
        )  # fmt: skip
        self._wrong = self._bind(
            widgets.Dropdown(description="question", layout={"width": "auto"}),
            lambda name: name and self.pick(name), lambda: self.case.question_id if self.case else "",
            lambda: [(short(f"{case.question_id}: {case.question}", 140), case.question_id) for case in self.cases]
            or [("every answer is right", "")],
        )  # fmt: skip
        self._head, self._contexts, self._proof, self._trace, self._all = texts(5)
        self._picture = self._picture_of(HEIGHT)
        query = widgets.VBox([self._proof, self._picture])
        self._tabs = widgets.Tab([self._contexts, query, self._trace, self._all], titles=TABS)
        self._stack(self._of, row(self._why), self._wrong, self._message, self._head, self._tabs)

    def _cause_options(self) -> list[tuple[str, str]]:
        causes = [case.cause for case in self._cases(self._configuration)]
        counts = [(f"{cause} ({causes.count(cause):,})", cause) for cause in dict.fromkeys(causes)]
        return [(f"{EVERY} ({len(causes):,})", EVERY), *counts]

    # -- display ------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        self._show_controls()
        self._message.show()
        if self.case is None:
            self._head.show(line("every answer is right"))
            for place in (self._contexts, self._trace, self._proof):
                place.show()
            self._picture.draw(None)
            return
        trace = self.trace
        proof = proof_from_trace(trace) if trace else None
        self._head.show(case_part(self.case))
        self._contexts.show(self._contexts_part(trace))
        self._trace.show(tree(trace) if trace else quiet("the run kept no traces"))
        self._proof.show(proof_part(proof) if proof else quiet("no query was executed"))
        self._picture.draw(proof_drawing(proof, types=types_of(self._index)) if proof else None)

    def _contexts_part(self, trace: Trace | None) -> Part | None:
        """The retrieved context next to the context that was read."""
        case = self.case
        hops = next((event.outputs["hops"] for event in trace or () if event.step == "compress"), {})
        before, after = (self.diagnosis.context(case, retrieved=whole) for whole in (True, False))
        return texts_part(before, after, Marks(hops.items(), case.gold)) if after else quiet("the run kept no contexts")

    # -- what was measured --------------------------------------------------------------------------------------------

    def _find(self, label: str | None, method: str | None) -> str:
        """The configuration of a label and a method; of a label alone, that of the present method if there is one."""
        present = self._configurations[self._configuration]
        wanted = (label or present[0], method or present[1])
        exact = [name for name, pair in self._configurations.items() if pair == wanted]
        labelled = [name for name, (there, _) in self._configurations.items() if there == label and method is None]
        if not (matches := exact or labelled):
            raise SettingError(
                f"there is no configuration {' · '.join(wanted)!r}; there are {', '.join(self._configurations)}"
            )
        return matches[0]

    def _diagnosis(self, label: str) -> Diagnosis:
        if self._given:
            return self._given
        return self._diagnoses.once(label, lambda: self._diagnose(label))

    def _diagnose(self, label: str) -> Diagnosis:
        self._message.show(quiet(f"looking into {short(label, 200)} …"))
        return diagnose(self._runs[label], self._questions, self._index)

    def _cases(self, configuration: str, cause: str = EVERY) -> list[Case]:
        label, method = self._configurations[configuration]
        mine = (case for case in self._diagnosis(label).cases if case.method == method)
        return [case for case in mine if cause in (EVERY, case.cause)]
