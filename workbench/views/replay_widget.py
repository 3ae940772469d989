"""A widget to step through iterative retrieval: choose a question, a method and its backbone, go from round to round.

replays = replay(index, data.questions)           # shows itself; asks the methods
replays = replay("runs/first")                    # a saved run, with neither index nor engine
replays.choose(question="mer-q01", method="bdtr") # what the controls do, as functions
replays.step(1)
replays.compare("ircot", "dense")                 # a second replay beside the first
replays.rerun(1, fast="Who built the bridge?")    # edit a thought and let the method continue
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from workbench.display import text
from workbench.errors import SettingError
from workbench.index import Index
from workbench.methods import Method
from workbench.methods.iterative import Thought
from workbench.methods.iterative.replay import END, Replay, Round, replay
from workbench.records import Question
from workbench.text import clean, short
from workbench.views.parts import Part, group, quiet
from workbench.views.records import answer_line
from workbench.views.render import page
from workbench.views.replay import heading, ranks_data, stage_part, stepped
from workbench.views.session import Live, Source, by_name
from workbench.views.stepped import Stage
from workbench.views.widget import Stepper, beside, row

METHODS, BACKBONES = ("bdtr", "ircot", "irgs", "gcot", "tog"), ("hipporag2", "dense", "bm25")
K = 20  # passages ranked, as in a run
NOTHING = ("–", "")
_SCORE = re.compile(r" \([\d.e-]+\)$")
_SIDE = {"flex": "1 1 400px", "min_width": "0", "overflow": "auto", "padding": "0 8px 0 0"}


class ReplayWidget(Stepper[Replay]):
    """The controls and one or two replays side by side, `left` and `right`, with what the reader answers to each;
    `stage` is their position: a round by its number, or the end, which follows the last round."""

    name, kind = "replay", "iterative method"
    at = 0
    right: Replay | None = None
    right_answer = ""

    def __init__(
        self,
        source: Source,
        questions: Sequence[Question] = (),
        *,
        methods: Sequence[str] | Mapping[str, str | Method] = METHODS,
        backbones: Sequence[str] | Mapping[str, str | Method] = BACKBONES,
        k: int = K,
        **session: Any,
    ):
        """As every `Stepper`, with each method and backbone over an index, where `reader` answers. `index` together
        with `engine` allows editing thoughts of a run."""
        self._backbones = by_name(backbones) if isinstance(source, Index) else {}
        moved = {"backbone": next(iter(self._backbones))} if self._backbones else {}
        self._compared, self._compared_moved = "", moved
        super().__init__(source, questions, methods=methods, moved=moved, k=k, **session)

    # -- what the controls do -----------------------------------------------------------------------------------------

    def choose(
        self, question: str | int | None = None, method: str | None = None, backbone: str | None = None
    ) -> Replay:
        """Show another question (its id, text or position), method or backbone on the left. The right replay follows
        with the same question; edited thoughts are discarded."""
        self._show(
            self._question if question is None else self._session.find(question),
            self._method_name if method is None else method,
            self._moved | ({} if backbone is None else {"backbone": backbone}),
        )
        return self.left

    def compare(self, method: str | None = None, backbone: str | None = None) -> Replay | None:
        """Show a method over a backbone on the right, or nothing without a method."""
        moved = self._compared_moved | ({} if backbone is None else {"backbone": backbone})
        self.right, self.right_answer = (None, "") if method is None else self._replay(self._question, method, moved)
        self._compared, self._compared_moved = method or "", moved
        self._draw()
        return self.right

    def step(self, stage: int | str) -> Round | Replay:
        """Go to a round by its number, or to the `end`; returns what the left replay shows there."""
        self._go(stage)
        at = self._at(self.left)
        return self.left.rounds[at] if at < len(self.left.rounds) else self.left

    def rerun(self, number: int | None = None, **texts: str) -> Replay:
        """Replace texts of a round's thought, keep the earlier thoughts, and let the method continue from there. The
        result appears on the right."""
        number, session = self.at if number is None else number, self._session
        if not isinstance(session, Live) and None in (session.index, session.engine):
            raise SettingError(
                f"{session.name} is replayed without an engine; to edit a thought, give index= and engine="
            )
        method = session.method(self._method_name, self.left.method, **self._settings(self._moved))
        evidence = method.given(edited(self.left, number, texts)).retrieve(self.left.question, **session.limits)
        self.right, self.right_answer = replay(evidence.trace, self.left.gold), session.read(self._question, evidence)
        self._compared, self.at = "", number
        self._draw()
        return self.right

    @property
    def left(self) -> Replay:
        return self.shown

    @property
    def stage(self) -> int:
        return self.at

    def static_html(self) -> str:
        titles = self._session.passages
        return "".join(page(self._head(side), stepped(side, titles)) for side in (self.left, self.right) if side)

    def __repr__(self) -> str:
        titles = " beside ".join(text(side).partition("\n")[0] for side in (self.left, self.right) if side)
        return f"ReplayWidget at {self._now.name}: {titles}"

    # -- controls -----------------------------------------------------------------------------------------------------

    def _suits(self, config: Mapping) -> bool:
        return "iterations" in config["settings"]

    def _make_controls(self) -> None:
        methods = self._session.methods
        self._method.layout.display = None
        self._other = self._choice(
            "beside", lambda name: self.compare(name or None), lambda: self._compared,
            lambda: [NOTHING, *((name, name) for name in methods)],
        )  # fmt: skip
        self._backbone = self._backbone_list(lambda name: self.choose(backbone=name), lambda: self._moved)
        self._other_backbone = self._backbone_list(
            lambda name: self.compare(self._compared or None, name), lambda: self._compared_moved
        )
        self._sides = [self._side(lambda: self.left), self._side(lambda: self.right)]
        self._texts: dict[str, widgets.Textarea] = {}
        self._words = widgets.VBox()
        words = lambda: {name: area.value for name, area in self._texts.items()}  # noqa: E731
        self._again = self._button("run again from this round", lambda: self.rerun(**words()))
        self._edit = widgets.VBox([self._words, self._again])
        self._redrawn.append(self._draw_edit)
        self._stack(
            self._question_box,
            row(self._method, self._backbone, self._other, self._other_backbone),
            row(self._stage, self._play),
            self._message,
            beside(*self._sides),
            self._edit,
        )

    def _backbone_list(self, action: Callable[[str], Any], moved: Callable[[], Mapping[str, Any]]) -> widgets.Dropdown:
        names = list(self._backbones) or [("", None)]
        layout = {"width": "240px", "display": "" if self._backbones else "none"}
        return self._choice("over", action, lambda: moved().get("backbone"), lambda: names, **layout)

    def _side(self, replay: Callable[[], Replay | None]) -> widgets.VBox:
        """The heading, the ranks and the present stage of one of the replays."""

        def body() -> Part | None:
            if (record := replay()) is None:
                return None
            at = self._at(record)
            ended = quiet(f"ended after {record.stages[at]}" if record.stages[at] != self._now.name else "")
            return group(ended, stage_part(record, at, self._session.passages))

        def ranks() -> tuple[dict[str, Any], int]:
            record = replay()
            return (ranks_data(record, self._session.passages), self._at(record)) if record else ({}, 0)

        head = self._text(lambda: self._head(record) if (record := replay()) else None)
        return widgets.VBox([head, self._ranks(ranks), self._text(body)], layout=_SIDE)

    def _settings(self, moved: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._backbones[value] for name, value in moved.items()}

    # -- what is shown ------------------------------------------------------------------------------------------------

    def _read(self, question: Question, name: str, moved: Mapping[str, Any]) -> list[tuple[Replay | None, str]]:
        left = self._replay(question, name, moved)
        return [left, self._replay(question, self._compared, self._compared_moved) if self._compared else (None, "")]

    def _replay(self, question: Question, name: str, moved: Mapping[str, Any]) -> tuple[Replay, str]:
        """A replay, and the reader's answer."""
        backbone = moved.get("backbone")
        if backbone is not None and backbone not in self._backbones:
            raise SettingError(
                f"the backbone {backbone!r} is not available here; choose from {', '.join(self._backbones) or 'none'}"
            )
        retrieval = self._session.retrieval(question, name, **self._settings(moved))
        return replay(retrieval.trace, question.support), retrieval.answer

    def _take(self, sides: list[tuple[Replay | None, str]]) -> None:
        (self.shown, self.left_answer), (self.right, self.right_answer) = sides

    def _stages(self) -> list[Stage]:
        """The stages of the longer replay; the end comes last."""
        sides = [side.stages for side in (self.left, self.right) if side]
        rounds = max(([name for name in stages if name != END] for stages in sides), key=len)
        return [Stage(name) for name in (*rounds, *([END] if any(END in stages for stages in sides) else []))]

    def _at(self, side: Replay) -> int:
        """The position of the current stage in a replay, or its last position if it lacks that stage."""
        name = self._now.name
        return side.stages.index(name) if name in side.stages else len(side.stages) - 1

    def _head(self, side: Replay) -> Part | None:
        answer = self.right_answer if side is self.right else self.left_answer
        return group(heading(side), answer_line(answer, self._question.answers))

    def _draw_edit(self) -> None:
        """Show a text box for each text of the left thought, with the edited words if it was edited, and the right side
        if there is a replay on it."""
        at = self.at
        texts = self.left.rounds[at].texts if 0 < at < len(self.left.rounds) else {}
        if texts and self.right and at < len(self.right.rounds) and self.right.rounds[at].given:
            texts = self.right.rounds[at].texts
        self._texts = {name: _text_box(name, words) for name, words in texts.items()}
        self._words.children = list(self._texts.values())
        self._edit.layout.display = None if texts else "none"
        self._sides[1].layout.display = None if self.right else "none"


def edited(record: Replay, number: int, texts: Mapping[str, str]) -> list[Thought]:
    """The thoughts of a replay up to round `number`, with `texts` replaced in the last one, which becomes a query even
    if it had ended the search."""
    if not 1 <= number < len(record.rounds):
        raise SettingError(f"round {number} has no thought; rounds 1 to {len(record.rounds) - 1} have")
    *before, last = record.rounds[1 : number + 1]
    if unknown := [name for name in texts if name not in last.texts]:
        raise SettingError(f"the thought has no text {unknown[0]!r}; it has {', '.join(last.texts) or 'none'}")
    changed = {**last.texts, **texts}
    return [
        *(Thought(earlier.texts, earlier.queries, earlier.done, earlier.failure) for earlier in before),
        Thought(changed, tuple(_queries(record.question, changed))),
    ]


def _queries(question: str, texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """The queries of a thought: ToG searches for each target, listed with its score, IRGS for its whole generation."""
    if "targets" in texts:
        targets = [_SCORE.sub("", line) for line in texts["targets"].splitlines()]
        return [("target", target) for target in targets if target.strip()]
    if "reasoning" in texts:
        return [("generation", " ".join([question, *texts.values()]))]
    return list(texts.items())


def _text_box(name: str, words: str) -> widgets.Textarea:
    value = clean(words, len(words))
    return widgets.Textarea(value=value, description=short(name, 30), rows=2, layout={"width": "auto"})
