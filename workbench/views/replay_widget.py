"""Stepping through iterative retrieval by hand: choose a question, a method and its backbone, go from round to round.

player = replay(index, data.questions)           # shows itself; asks the methods
player = replay("runs/first")                    # a saved run, with neither index nor engine
player.choose(question="mer-q01", method="bdtr") # what the controls do, as functions
player.step(1)
player.compare("ircot", "dense")                 # a second one beside the first
player.rerun(1, fast="Who built the bridge?")    # other words for a thought, and what then comes out
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import SettingError
from workbench.experiments import Run
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods import Method
from workbench.methods.iterative import Thought
from workbench.methods.iterative.replay import END, Replay, Round, replay
from workbench.records import Evidence, Question, Record
from workbench.trace import Trace
from workbench.views.base import clean, esc, page, short, text
from workbench.views.bump import bump_svg
from workbench.views.controls import spoken
from workbench.views.palette import GREEN, VERMILION
from workbench.views.replay import heading, stage_part, whole
from workbench.views.takes import InMemory, Live, Saved, Takes

METHODS, BACKBONES = ("bdtr", "ircot", "irgs", "gcot", "tog"), ("hipporag2", "dense", "bm25")
K = 20  # passages ranked, as in a run
NOTHING = ("–", "")
ALONE, BESIDE = 36, 23  # letters of a label where one stands alone, and where two stand side by side
_LEGEND = page(
    f"<p class='q'><span style='color:{VERMILION}'>◆</span> gold &nbsp; "
    f"<span style='color:{GREEN}'>▲</span> chosen by the verifier</p>"
)
_SCORE = re.compile(r" \([\d.e-]+\)$")
_ROW = {"flex_flow": "row wrap", "align_items": "center"}
_SIDE = {"flex": "1 1 400px", "min_width": "0", "overflow": "auto", "padding": "0 8px 0 0"}


class ReplayWidget(Record):
    """The controls and one or two replays side by side; `left` and `right` are what they show, `stage` is where they
    stand: a round by its number, or the end, which comes after the last round."""

    def __init__(
        self,
        source: Index | Run | str | Path | Trace | Evidence | Mapping[str, Trace | Evidence],
        questions: Sequence[Question] = (),
        *,
        methods: Sequence[str] | Mapping[str, str | Method] = METHODS,
        backbones: Sequence[str] | Mapping[str, str | Method] = BACKBONES,
        index: Index | None = None,
        engine: Engine | None = None,
        k: int = K,
    ):
        """`source` is an index, whose `questions` are then asked of each method over each backbone by `engine`; a run
        or its folder; or traces of one question. `index` has the titles for the latter two, and together with `engine`
        lets thoughts of a run be edited. `questions` have the gold."""
        self._takes = _takes(source, list(questions), _named(methods), _named(backbones), index, engine, k)
        found = self._takes.index
        self.passages = {passage.id: passage for passage in found.passages.passages} if found else {}
        self.stage, self.right = 0, None
        self._quiet = False  # while controls are set by a function
        self._make_controls()
        choices = (self._questions, self._method, self._backbone, self._other, self._other_backbone)
        self._shown = {control: control.value for control in choices}
        self.left = self._read(self._takes.questions[0], self._takes.methods[0], self._first_backbone)
        self._question = self._takes.questions[0]
        self._draw()

    # -- what the controls do -----------------------------------------------------------------------------------------

    def choose(self, question: str | None = None, method: str | None = None, backbone: str | None = None) -> Replay:
        """Show another question (its id or its text), method or backbone on the left. What is on the right is asked
        the same question; an edited thought is gone."""
        asked = self._question if question is None else self._find(question)
        method = self._method.value if method is None else method
        backbone = self._backbone.value if backbone is None else backbone
        left = self._read(asked, method, backbone)  # before anything moves, so that an error leaves all be
        right = self._read(asked, self._other.value, self._other_backbone.value) if self._other.value else None
        self._question, self.left, self.right = asked, left, right
        self._set(
            {
                self._questions: self._takes.questions.index(asked),
                self._method: method,
                self._backbone: backbone,
            }
        )
        self._draw()
        return left

    def compare(self, method: str | None = None, backbone: str | None = None) -> Replay | None:
        """Show a method over a backbone on the right; without a method nothing."""
        backbone = self._other_backbone.value if backbone is None else backbone
        self.right = None if method is None else self._read(self._question, method, backbone)
        self._set({self._other: method or "", self._other_backbone: backbone})
        self._draw()
        return self.right

    def step(self, stage: int | str) -> Round | Replay:
        """Go to a round by its number, or to the `end`; gives what the left one shows there."""
        names = self._stages
        at = names.index(stage) if stage in names else stage
        if not (isinstance(at, int) and 0 <= at < len(names)):
            raise SettingError(f"there is no stage {stage!r}; there are {', '.join(names)}, or 0 to {len(names) - 1}")
        self.stage = at
        self._draw()
        at = _at(self.left, names[at])
        return self.left.rounds[at] if at < len(self.left.rounds) else self.left

    def rerun(self, number: int | None = None, **texts: str) -> Replay:
        """Give texts of a round's thought other words, keep the thoughts before it, and let the method go on from
        there. The outcome stands on the right."""
        number = self.stage if number is None else number
        method = self._takes.method(self._method.value, self._backbone.value)
        given = edited(self.left, number, texts)
        found = method.given(given).retrieve(self.left.question, **self._takes.limits)
        self.right = replay(found.trace, self.left.gold)
        self._set({self._other: ""})
        self.stage = number
        self._draw()
        return self.right

    def __repr__(self) -> str:
        shown = " beside ".join(text(one).partition("\n")[0] for one in (self.left, self.right) if one)
        return f"ReplayWidget at {self._stages[self.stage]}: {shown}"

    def _repr_mimebundle_(self, **options: Any):
        """The widget, and beside it what a page without a kernel can show."""
        shown = "".join(
            page(bump_svg(one, len(one.stages) - 1, self.passages), whole(one, self.passages))
            for one in (self.left, self.right)
            if one
        )
        return self.widget._repr_mimebundle_(**options) | {"text/html": shown}

    # -- controls -----------------------------------------------------------------------------------------------------

    @property
    def _stages(self) -> list[str]:
        """Those of the longer one; the end is last."""
        shown = [one.stages for one in (self.left, self.right) if one]
        rounds = max(([name for name in stages if name != END] for stages in shown), key=len)
        return [*rounds, *([END] if any(END in stages for stages in shown) else [])]

    @property
    def _first_backbone(self) -> str | None:
        return next(iter(self._takes.backbones), None)

    def _make_controls(self) -> None:
        takes = self._takes
        questions = [(_question_label(question), at) for at, question in enumerate(takes.questions)]
        self._questions = widgets.Dropdown(options=questions, description="question", layout={"width": "auto"})
        self._method = widgets.Dropdown(options=takes.methods, description="method")
        others = [NOTHING, *((name, name) for name in takes.methods)]
        self._other = widgets.Dropdown(options=others, description="beside")
        self._backbone, self._other_backbone = (
            widgets.Dropdown(options=takes.backbones or [("", None)], description="over", layout={"width": "240px"})
            for _ in range(2)
        )
        if not takes.backbones:
            self._backbone.layout.display = self._other_backbone.layout.display = "none"
        self._slider = widgets.SelectionSlider(
            options=[("round 0", 0)], description="stage", continuous_update=False, layout={"width": "420px"}
        )
        self._said = widgets.HTML()
        self._sides = [widgets.HTML(layout=_SIDE), widgets.HTML(layout=_SIDE)]
        self._texts: dict[str, widgets.Textarea] = {}
        self._words = widgets.VBox()
        self._again = widgets.Button(description="run again from this round", layout={"width": "220px"})
        self._edit = widgets.VBox([self._words, self._again])
        self._questions.observe(self._on(lambda at: self.choose(question=takes.questions[at])), "value")
        self._method.observe(self._on(lambda name: self.choose(method=name)), "value")
        self._backbone.observe(self._on(lambda name: self.choose(backbone=name)), "value")
        self._other.observe(self._on(lambda name: self.compare(name or None)), "value")
        self._other_backbone.observe(self._on(lambda name: self.compare(self._other.value or None, name)), "value")
        self._slider.observe(self._on(self.step), "value")
        rerun = self._on(lambda _: self.rerun(**{name: area.value for name, area in self._texts.items()}))
        self._again.on_click(lambda _: rerun({"new": None}))
        self.widget = widgets.VBox(
            [
                self._questions,
                widgets.Box([self._method, self._backbone, self._other, self._other_backbone], layout=_ROW),
                self._slider,
                self._said,
                widgets.Box(self._sides, layout={"flex_flow": "row wrap"}),
                self._edit,
                widgets.HTML(_LEGEND),
            ]
        )
        self.widget.add_class("hopscope-player")

    def _on(self, action: Callable[[Any], Any]) -> Callable[[dict], None]:
        return spoken(self._said, action, lambda: self._set(self._shown), lambda: self._quiet)

    def _set(self, values: Mapping[widgets.Widget, Any]) -> None:
        """Controls that say what is shown; where an action fails they go back to it."""
        self._shown = {**self._shown, **values}
        self._quiet = True
        try:
            for control, value in values.items():
                control.value = value
        finally:
            self._quiet = False

    def _find(self, question: str | Question) -> Question:
        for known in self._takes.questions:
            if known is question or question in (known.id, known.question):
                return known
        raise SettingError(f"no question {question!r}; give the id or the text of one of those in the list")

    def _read(self, question: Question, method: str, backbone: str | None) -> Replay:
        for name, known in ((method, self._takes.methods), (backbone, self._takes.backbones or [None])):
            if name not in known:
                raise SettingError(f"{name!r} is not among {', '.join(map(str, known))}")
        return self._takes.replay(question, method, backbone)

    def _draw(self) -> None:
        names = self._stages
        self.stage = min(self.stage, len(names) - 1)
        self._quiet = True
        try:
            self._slider.options = [(name, at) for at, name in enumerate(names)]
        finally:
            self._quiet = False
        self._set({self._slider: self.stage})
        for side, shown in zip(self._sides, (self.left, self.right)):
            side.value = self._side(shown, names[self.stage]) if shown else ""
            side.layout.display = None if shown else "none"
        self._draw_edit()

    def _side(self, shown: Replay, name: str) -> str:
        at = _at(shown, name)
        ended = f"<p class='q'>ended after {esc(shown.stages[at])}</p>" if shown.stages[at] != name else ""
        picture = f"<div>{bump_svg(shown, at, self.passages, letters=BESIDE if self.right else ALONE)}</div>"
        return page(heading(shown), picture, ended, stage_part(shown, at, self.passages))

    def _draw_edit(self) -> None:
        """A box for each text of the thought that the left one shows; where it was edited, with the other words."""
        at = self.stage
        texts = self.left.rounds[at].texts if 0 < at < len(self.left.rounds) else {}
        if texts and self.right and at < len(self.right.rounds) and self.right.rounds[at].given:
            texts = self.right.rounds[at].texts
        self._texts = {
            name: widgets.Textarea(
                value=clean(words, len(words)), description=short(name, 30), rows=2, layout={"width": "auto"}
            )
            for name, words in texts.items()
        }
        self._words.children = list(self._texts.values())
        self._edit.layout.display = None if texts else "none"


def edited(shown: Replay, number: int, texts: Mapping[str, str]) -> list[Thought]:
    """The thoughts of a replay up to a round, with other words for some texts of the last one, which is then searched
    for even if it had asked for no more."""
    if not 1 <= number < len(shown.rounds):
        raise SettingError(f"round {number} has no thought; rounds 1 to {len(shown.rounds) - 1} have")
    *before, last = shown.rounds[1 : number + 1]
    if unknown := [name for name in texts if name not in last.texts]:
        raise SettingError(f"the thought has no text {unknown[0]!r}; it has {', '.join(last.texts) or 'none'}")
    said = {**last.texts, **texts}
    return [
        *(Thought(one.texts, one.queries, one.done, one.failure) for one in before),
        Thought(said, tuple(_queries(shown.question, said))),
    ]


def _queries(question: str, said: Mapping[str, str]) -> list[tuple[str, str]]:
    """What follows from a thought: ToG searches for each target, which it tells with a score, IRGS for its whole
    generation."""
    if "targets" in said:
        targets = [_SCORE.sub("", line) for line in said["targets"].splitlines()]
        return [("target", target) for target in targets if target.strip()]
    if "reasoning" in said:
        return [("generation", " ".join([question, *said.values()]))]
    return list(said.items())


def _at(shown: Replay, name: str) -> int:
    """The position of a stage in a replay; its last one where it has no such stage."""
    return shown.stages.index(name) if name in shown.stages else len(shown.stages) - 1


def _takes(source, questions, methods, backbones, index, engine, k) -> Takes:
    if isinstance(source, Index):
        if not questions:
            raise SettingError("there is no question to ask; give questions=data.questions")
        return Live(source, engine, questions, methods, backbones, k)
    if isinstance(source, str | Path):
        source = Run.open(source)
    if isinstance(source, Run):
        return Saved(source, index, engine, questions)
    if isinstance(source, Trace | Evidence):
        source = {"trace": source}
    return InMemory(source, index, questions)


def _named(names: Sequence[str] | Mapping[str, str | Method]) -> dict[str, str | Method]:
    return dict(names) if isinstance(names, Mapping) else {name: name for name in names}


def _question_label(question: Question) -> str:
    return short(f"{question.id}: {question.question}" if question.question else question.id, 140)
