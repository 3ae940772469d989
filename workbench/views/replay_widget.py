"""A widget to step through iterative retrieval: choose a question, a method and its backbone, go from round to round.

replays = replay(index, data.questions)           # shows itself; asks the methods
replays = replay("runs/first")                    # a saved run, with neither index nor engine
replays.choose(question="mer-q01", method="bdtr") # what the controls do, as functions
replays.step(1)
replays.compare("ircot", "dense")                 # a second one beside the first
replays.rerun(1, fast="Who built the bridge?")    # other words for a thought, and what then comes out
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ipywidgets as widgets

from workbench.display import text
from workbench.errors import SettingError
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods import Method
from workbench.methods.iterative import Thought
from workbench.methods.iterative.replay import END, Replay, Round, replay
from workbench.reading.base import Reader
from workbench.records import Question
from workbench.text import clean, short
from workbench.views.base import esc, page
from workbench.views.palette import GREEN, VERMILION
from workbench.views.records import answer_line
from workbench.views.replay import bump_svg, heading, stage_part, stages
from workbench.views.session import Live, Source, open_session
from workbench.views.stepped import stages_part
from workbench.views.widget import Widget, beside, row, stage_at

METHODS, BACKBONES = ("bdtr", "ircot", "irgs", "gcot", "tog"), ("hipporag2", "dense", "bm25")
K = 20  # passages ranked, as in a run
NOTHING = ("–", "")
ALONE, NARROW = 36, 23  # letters of a label where one stands alone, and where two stand side by side
_LEGEND = page(
    f"<p class='q'><span style='color:{VERMILION}'>◆</span> gold &nbsp; "
    f"<span style='color:{GREEN}'>▲</span> chosen by the verifier</p>"
)
_SCORE = re.compile(r" \([\d.e-]+\)$")
_SIDE = {"flex": "1 1 400px", "min_width": "0", "overflow": "auto", "padding": "0 8px 0 0"}


class Choice(NamedTuple):
    """A method, "" for none, and its backbone, None where it keeps its own."""

    method: str
    backbone: str | None


class ReplayWidget(Widget):
    """The controls and one or two replays side by side, `left` and `right`, with what the reader answers to each;
    `stage` is their position: a round by its number, or the end, which follows the last round."""

    name = "replay"

    def __init__(
        self,
        source: Source,
        questions: Sequence[Question] = (),
        *,
        methods: Sequence[str] | Mapping[str, str | Method] = METHODS,
        backbones: Sequence[str] | Mapping[str, str | Method] = BACKBONES,
        index: Index | None = None,
        engine: Engine | None = None,
        reader: Reader | None = None,
        k: int = K,
    ):
        """`source` is an index, over which each method and backbone runs with `engine`, and `reader` answers; a run or
        its folder; or traces of one question. `index` provides titles for the latter two, and together with `engine`
        allows editing thoughts of a run. `questions` provide the gold."""
        super().__init__()
        self._session = open_session(
            source, questions, methods=_by_name(methods), engine=engine, reader=reader, index=index, k=k,
            kind="iterative method", suits=lambda config: "iterations" in config["settings"],
        )  # fmt: skip
        self._backbones = _by_name(backbones) if isinstance(self._session, Live) else {}
        backbone = next(iter(self._backbones), None)
        self._choice, self._compared = Choice(self._session.methods[0], backbone), Choice("", backbone)
        self._question, self.stage, self.right, self.right_answer = self._session.questions[0], 0, None, ""
        self.left, self.left_answer = self._read(self._question, self._choice)
        self._make_controls()
        self._draw()

    # -- what the controls do -----------------------------------------------------------------------------------------

    def choose(
        self, question: str | int | None = None, method: str | None = None, backbone: str | None = None
    ) -> Replay:
        """Show another question (its id, text or position), method or backbone on the left. The right replay follows
        with the same question; edited thoughts are discarded."""
        new_question = self._question if question is None else self._session.find(question)
        choice = self._choice._replace(**_given(method=method, backbone=backbone))
        left = self._read(new_question, choice)  # before anything moves, so that an error changes nothing
        right = self._read(new_question, self._compared) if self._compared.method else (None, "")
        self._question, self._choice = new_question, choice
        (self.left, self.left_answer), (self.right, self.right_answer) = left, right
        self._draw()
        return self.left

    def compare(self, method: str | None = None, backbone: str | None = None) -> Replay | None:
        """Show a method over a backbone on the right, or nothing without a method."""
        choice = self._compared._replace(method=method or "", **_given(backbone=backbone))
        self.right, self.right_answer = (None, "") if method is None else self._read(self._question, choice)
        self._compared = choice
        self._draw()
        return self.right

    def step(self, stage: int | str) -> Round | Replay:
        """Go to a round by its number, or to the `end`; returns what the left replay shows there."""
        names = self._stages
        self.stage = stage_at(stage, names)
        self._draw()
        at = _at(self.left, names[self.stage])
        return self.left.rounds[at] if at < len(self.left.rounds) else self.left

    def rerun(self, number: int | None = None, **texts: str) -> Replay:
        """Replace texts of a round's thought, keep the earlier thoughts, and let the method continue from there. The
        result appears on the right."""
        number = self.stage if number is None else number
        method = self._session.method(self._choice.method, **self._settings(self._choice))
        evidence = method.given(edited(self.left, number, texts)).retrieve(self.left.question, **self._session.limits)
        self.right = replay(evidence.trace, self.left.gold)
        self.right_answer = self._session.read(self._question, evidence).answer
        self._compared, self.stage = self._compared._replace(method=""), number
        self._draw()
        return self.right

    def static_html(self) -> str:
        titles = self._session.passages
        return "".join(page(self._head(one), stages_part(stages(one, titles))) for one in self._replays)

    def __repr__(self) -> str:
        shown = " beside ".join(text(one).partition("\n")[0] for one in self._replays)
        return f"ReplayWidget at {self._stages[self.stage]}: {shown}"

    # -- controls -----------------------------------------------------------------------------------------------------

    @property
    def _replays(self) -> list[Replay]:
        return [one for one in (self.left, self.right) if one]

    @property
    def _stages(self) -> list[str]:
        """Those of the longer one; the end is last."""
        shown = [one.stages for one in self._replays]
        rounds = max(([name for name in stages if name != END] for stages in shown), key=len)
        return [*rounds, *([END] if any(END in stages for stages in shown) else [])]

    def _make_controls(self) -> None:
        session, methods = self._session, self._session.methods
        questions = [(session.label(one, 140), at) for at, one in enumerate(session.questions)]
        self._questions = self._bind(
            widgets.Dropdown(options=questions, description="question", layout={"width": "auto"}),
            lambda at: self.choose(question=at), lambda: session.questions.index(self._question),
        )  # fmt: skip
        self._method = self._bind(
            widgets.Dropdown(options=methods, description="method"),
            lambda name: self.choose(method=name), lambda: self._choice.method,
        )  # fmt: skip
        self._other = self._bind(
            widgets.Dropdown(options=[NOTHING, *((name, name) for name in methods)], description="beside"),
            lambda name: self.compare(name or None), lambda: self._compared.method,
        )  # fmt: skip
        self._backbone = self._bind(
            self._backbone_list(), lambda name: self.choose(backbone=name), lambda: self._choice.backbone
        )
        self._other_backbone = self._bind(
            self._backbone_list(), lambda name: self.compare(self._compared.method or None, name),
            lambda: self._compared.backbone,
        )  # fmt: skip
        self._slider = self._bind(
            widgets.SelectionSlider(
                options=[("round 0", 0)], description="stage", continuous_update=False, layout={"width": "420px"}
            ),
            self.step, lambda: self.stage, lambda: [(name, at) for at, name in enumerate(self._stages)],
        )  # fmt: skip
        self._sides = [widgets.HTML(layout=_SIDE), widgets.HTML(layout=_SIDE)]
        self._texts: dict[str, widgets.Textarea] = {}
        self._words = widgets.VBox()
        self._again = widgets.Button(description="run again from this round", layout={"width": "220px"})
        self._press(self._again, lambda: self.rerun(**{name: area.value for name, area in self._texts.items()}))
        self._edit = widgets.VBox([self._words, self._again])
        self._stack(
            self._questions,
            row(self._method, self._backbone, self._other, self._other_backbone),
            self._slider,
            self._message,
            beside(*self._sides),
            self._edit,
            widgets.HTML(_LEGEND),
        )

    def _backbone_list(self) -> widgets.Dropdown:
        options = list(self._backbones) or [("", None)]
        layout = {"width": "240px", "display": None if self._backbones else "none"}
        return widgets.Dropdown(options=options, description="over", layout=layout)

    def _settings(self, choice: Choice) -> dict[str, Any]:
        return {} if choice.backbone is None else {"backbone": self._backbones[choice.backbone]}

    def _read(self, question: Question, choice: Choice) -> tuple[Replay, str]:
        """The replay, and the reader's answer."""
        if choice.backbone is not None and choice.backbone not in self._backbones:
            raise SettingError(f"{choice.backbone!r} is not among {', '.join(self._backbones) or 'none'}")
        retrieval = self._session.retrieval(question, choice.method, **self._settings(choice))
        return replay(retrieval.trace, question.support), retrieval.answer

    def _draw(self) -> None:
        names = self._stages
        self.stage = min(self.stage, len(names) - 1)
        self._show_controls()
        for side, shown in zip(self._sides, (self.left, self.right)):
            side.value = self._side(shown, names[self.stage]) if shown else ""
            side.layout.display = None if shown else "none"
        self._draw_edit()

    def _side(self, shown: Replay, name: str) -> str:
        at, titles = _at(shown, name), self._session.passages
        ended = f"<p class='q'>ended after {esc(shown.stages[at])}</p>" if shown.stages[at] != name else ""
        picture = f"<div>{bump_svg(shown, at, titles, letters=NARROW if self.right else ALONE)}</div>"
        return page(self._head(shown), picture, ended, stage_part(shown, at, titles))

    def _head(self, shown: Replay) -> str:
        answer = self.right_answer if shown is self.right else self.left_answer
        return heading(shown) + answer_line(answer, self._question.answers)

    def _draw_edit(self) -> None:
        """A text box for each text of the thought shown on the left, with the edited words if it was edited."""
        at = self.stage
        texts = self.left.rounds[at].texts if 0 < at < len(self.left.rounds) else {}
        if texts and self.right and at < len(self.right.rounds) and self.right.rounds[at].given:
            texts = self.right.rounds[at].texts
        self._texts = {name: _text_box(name, words) for name, words in texts.items()}
        self._words.children = list(self._texts.values())
        self._edit.layout.display = None if texts else "none"


def edited(shown: Replay, number: int, texts: Mapping[str, str]) -> list[Thought]:
    """The thoughts of a replay up to a round, with other words for some texts of the last one, which becomes a query
    even if it had ended the search."""
    if not 1 <= number < len(shown.rounds):
        raise SettingError(f"round {number} has no thought; rounds 1 to {len(shown.rounds) - 1} have")
    *before, last = shown.rounds[1 : number + 1]
    if unknown := [name for name in texts if name not in last.texts]:
        raise SettingError(f"the thought has no text {unknown[0]!r}; it has {', '.join(last.texts) or 'none'}")
    changed = {**last.texts, **texts}
    return [
        *(Thought(one.texts, one.queries, one.done, one.failure) for one in before),
        Thought(changed, tuple(_queries(shown.question, changed))),
    ]


def _queries(question: str, texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """The queries of a thought: ToG searches for each target, listed with its score, IRGS for its whole generation."""
    if "targets" in texts:
        targets = [_SCORE.sub("", line) for line in texts["targets"].splitlines()]
        return [("target", target) for target in targets if target.strip()]
    if "reasoning" in texts:
        return [("generation", " ".join([question, *texts.values()]))]
    return list(texts.items())


def _at(shown: Replay, name: str) -> int:
    """The position of a stage in a replay; its last one where it has no such stage."""
    return shown.stages.index(name) if name in shown.stages else len(shown.stages) - 1


def _text_box(name: str, words: str) -> widgets.Textarea:
    value = clean(words, len(words))
    return widgets.Textarea(value=value, description=short(name, 30), rows=2, layout={"width": "auto"})


def _by_name(names: Sequence[str] | Mapping[str, str | Method]) -> dict[str, str | Method]:
    return dict(names) if isinstance(names, Mapping) else {name: name for name in names}


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
