"""A widget to steer CatRAG's walk: mechanism by mechanism, seed by seed, with other settings and ratings.

steer = wb.steer(index, data.questions)          # shows itself; asks the method
steer = wb.steer("runs/first", index=index)      # a saved run and its index, without an engine
steer = wb.steer("runs/first")                   # a saved run alone: what its traces tell
steer.ask("Which river …?")                      # what the controls do, as functions
steer.stage(2)                                   # with key facts and anchors, without ratings
steer.seed("lanthorn bridge")                    # the ratings of its neighbours
steer.set(beta=1, damping=0.7)                   # the same question with other settings
steer.rate("lanthorn bridge", "river", 10)       # a rating by hand
steer.beside()                                   # HippoRAG 2's walk beside it
steer.more()                                     # three times as many nodes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import ipywidgets as widgets

from workbench.display import text
from workbench.errors import SettingError
from workbench.index import Index
from workbench.llm.engine import Engine, RulesEngine
from workbench.methods.catrag.replies import KeptReplies
from workbench.methods.catrag.steering import METHOD, RatedNeighbour, RatedSeed, StagedWalk, Steering, staged, steering
from workbench.records import Question
from workbench.text import clean, short
from workbench.views.drawing import Drawing
from workbench.views.parts import Part, details, group, quiet, titled
from workbench.views.records import trace_heading
from workbench.views.replay import ranks_data, ranks_part
from workbench.views.session import Live, Source
from workbench.views.steering import facts_part, places_of, ratings_part, stages, whole
from workbench.views.stepped import Stage, stages_part
from workbench.views.widget import Stepper, beside, row, setting_slider, side

K = 10  # passages ranked
HEIGHT = 460
SLIDERS = {  # setting → (label, least, most, step)
    "epsilon": ("ε", 0.0, 1.0, 0.05),
    "beta": ("β", 0.0, 10.0, 0.25),
    "n_seed": ("N_seed", 1, 10, 1),
    "k_edge": ("K_edge", 1, 40, 1),
    "damping": ("damping", 0.0, 0.95, 0.05),
}
_SLIDER: dict[str, Any] = {"width": 225, "label_width": 4.8}
_NEEDS_INDEX = (
    "this is what the trace tells; give index= to see the walk at each stage and its mass on hubs, to move settings "
    "and to rate by hand"
)


class Steer(Stepper[Steering]):
    """The controls and what they show: `walk`, the question's walk stage by stage (None without an index), and `shown`,
    how the last stage was steered; `at` is the position of the stage, `chosen` the seed."""

    name, kind = "steering", METHOD
    busy = ""  # a walk is quick; `_asking` reports the requests to an engine

    def __init__(
        self, source: Source, questions: Sequence[Question] = (), *, engine: Engine | None = None, k: int = K,
        **settings: Any,
    ):  # fmt: skip
        """As every `Stepper`. With `index`, the walk of a run or of a trace is repeated with its replies, and `engine`
        is asked only for ratings that they lack."""
        live = isinstance(source, Index)
        self._replies = KeptReplies(engine or RulesEngine() if live else engine, self._asking)
        self._k, self._places, self._paired, self._wide = k, None, False, False
        self.chosen = self._named = ""
        super().__init__(source, questions, engine=self._replies, k=k, **settings)

    # -- what the controls do -----------------------------------------------------------------------------------------

    def ask(self, question: str | int, method: str | None = None) -> StagedWalk | Steering:
        """Show the walk of a question: the id, text or position of a listed one, or, over an index, any other text.
        `method` selects one of a run."""
        super().ask(question, method)
        return self.walk or self.shown

    def stage(self, stage: int | str) -> Steering:
        """Go to a stage by its position or name; returns how it was steered."""
        self._go(stage)
        return self.walk.parts[self.at].steering if self.walk else self.shown

    def seed(self, phrase: str) -> RatedSeed:
        """Show the ratings of a seed's neighbours."""
        rated = self.shown.seed(phrase)
        self.chosen = phrase
        self._draw()
        return rated

    def set(self, **settings: Any) -> StagedWalk:
        """Walk again with other settings of the method; those that are not given stay as they are."""
        self._need_index("other settings")
        self._move(settings)
        return self.walk

    def rate(self, seed: str, neighbour: str, score: int | None) -> StagedWalk:
        """Put a score from 0 to 10 in place of the engine's, and walk again; None brings the engine's back."""
        self._need_index("a rating by hand")
        rated = [rating.name for rating in self.shown.seed(seed).neighbours if rating.score is not None]
        if neighbour not in rated:
            raise SettingError(
                f"{neighbour!r} was not rated for {seed!r} (a larger k_edge rates more); choose one of "
                f"{', '.join(rated)}"
            )
        self._replies.rate(self._question.question, seed, neighbour, score)
        self.chosen, self._named = seed, neighbour
        self._move({})
        return self.walk

    def reset(self) -> StagedWalk:
        """Bring back the method's own settings and the engine's ratings."""
        self._need_index("other settings")
        self._replies.forget(self._question.question)
        self._show(self._question, self._method_name, {})
        return self.walk

    def beside(self, on: bool = True) -> None:
        """Show HippoRAG 2's walk and the steered one side by side, or only the latter."""
        self._need_index("the walk before the question edits it")
        self._paired = on
        if on and self.at == 0:
            self.at = len(self.stages) - 1
        self._draw()

    def more(self, on: bool = True) -> None:
        """Show three times as many nodes, or only the first dozen."""
        self._need_index("a picture with more nodes")
        self._wide = on
        self._place()
        self._draw()

    @property
    def left(self) -> Drawing | None:
        """The picture of the walk that nothing steers, while both are shown."""
        return self.stages[0].drawing if self._paired else None

    def __repr__(self) -> str:
        seed = f", seed {self.chosen!r}" if self.chosen else ""
        return f"Steer at {self._now.name}{seed}: {text(self.walk or self.shown)}"

    # -- controls -----------------------------------------------------------------------------------------------------

    def _make_controls(self) -> None:
        self._sliders = {name: self._setting(name, *limits, **_SLIDER) for name, limits in SLIDERS.items()}
        toggles = (("side by side", self.beside, "_paired"), ("more nodes", self.more, "_wide"))
        self._pair, self._more = (
            self._bind(
                widgets.Checkbox(description=name, indent=False, layout={"width": "8em"}),
                action,
                lambda state=state: getattr(self, state),
            )
            for name, action, state in toggles
        )
        fixed = {"width": "310px", "flex": "0 0 auto"}
        self._seed = self._choice(
            "seed",
            lambda name: name and self.seed(name),
            lambda: self.chosen,
            lambda: [(self._listed(seed.phrase), seed.phrase) for seed in self.shown.rated] or [("", "")],
            **fixed,
        )
        self._neighbour = self._choice(
            "neighbour",
            self._name,
            lambda: self._rated.name if self._rated else "",
            lambda: (
                [(f"{rating.score}: {self._listed(rating.name)}", rating.name) for rating in self._ratings_of]
                or [("", "")]
            ),
            **fixed,
        )
        score = setting_slider("score", 0, 10, 1, **_SLIDER)
        self._score = self._bind(score, lambda _: None, lambda: self._rated.score if self._rated else 0)
        by_hand = lambda: self.rate(self.chosen, self._neighbour.value, self._score.value)  # noqa: E731
        self._rate = self._button("rate by hand", by_hand)
        self._reset = self._button("own settings and ratings", self.reset)
        for control in (*self._sliders.values(), self._pair, self._more, self._reset):
            control.disabled = self._session.index is None
        # Without this layout, a long table of ratings would leave it no room.
        self._edit = widgets.VBox([self._neighbour, row(self._score, self._rate)], layout={"flex": "0 0 auto"})
        self._lay_out()

    def _lay_out(self) -> None:
        self._canvases = self._canvas(lambda: self.left, HEIGHT), self._canvas(lambda: self.drawing, HEIGHT)
        first = lambda: self._caption(0) if self._paired else None  # noqa: E731
        self._captions = self._text(first), self._text(lambda: self._caption(self.at))
        self._sides = [
            widgets.VBox(parts, layout={"flex": "2 1 400px", "min_width": "0"})
            for parts in zip(self._captions, self._canvases)
        ]
        self._head, self._ratings = self._text(self._above), self._text(self._below)
        self._table = self._text(lambda: self._now.part)
        self._stack(
            self._question_box,
            row(self._method, *self._sliders.values(), self._reset),
            self._message,
            self._head,
            row(self._stage, self._play, self._pair, self._more),
            beside(*self._sides, side(self._seed, self._edit, self._ratings, height=HEIGHT + 30)),
            self._ranks(lambda: (ranks_data(self.walk, self._session.passages) if self.walk else {}, self.at)),
            self._table,
        )

    def _show_controls(self) -> None:
        super()._show_controls()
        for place, drawing in zip(self._sides, (self.left, self.drawing)):
            place.layout.display = None if drawing else "none"
        self._edit.layout.display = None if self._rated and self.walk else "none"

    def _listed(self, name: str) -> str:
        return short(clean(self.shown.called(name)), 60)

    def _name(self, neighbour: str) -> None:
        """Choose the neighbour whose rating can be changed."""
        self._named = neighbour
        self._show_controls()

    @property
    def _ratings_of(self) -> list[RatedNeighbour]:
        neighbours = self.shown.seed(self.chosen).neighbours if self.chosen else ()
        return [rating for rating in neighbours if rating.score is not None]

    @property
    def _rated(self) -> RatedNeighbour | None:
        rated = {rating.name: rating for rating in self._ratings_of}
        return rated.get(self._named) or next(iter(rated.values()), None)

    def _clicked(self, node: int) -> None:
        """Choose the clicked seed, or a seed for which the clicked phrase was rated."""
        name = next((drawn.name for drawn in self.drawing.nodes if drawn.id == node), "")
        seeds = [seed for seed in self.shown.rated if seed.phrase == name]
        seeds += [seed for seed in self.shown.rated if any(other.name == name for other in seed.neighbours)]
        if seeds:
            self.seed(seeds[0].phrase)
            self._name(name)

    # -- what is shown ------------------------------------------------------------------------------------------------

    def _read(
        self, question: Question, name: str, moved: Mapping[str, Any]
    ) -> tuple[Any, Steering | None, StagedWalk | None]:
        """The method's own settings, how it steered, and the walk if there is an index to walk over."""
        record, label = None, name
        if not isinstance(self._session, Live):
            record = steering(self._session.retrieval(question, name).trace, question.support, self._session.index)
            self._replies.take(record)
            label = record.method
        if self._session.index is None or not question.question or question.question.startswith("sha256:"):
            return None, record, None
        base = self._session.method(name, label)
        walk = staged(base.adjusted(**moved), question.question, question.support, k=self._k)
        return base.settings, walk.parts[-1].steering, walk

    def _take(self, result: tuple) -> None:
        self._own, self.shown, self.walk = result
        self._message.show()
        self._paired = self._paired and self.walk is not None
        self._place()
        rated = [seed.phrase for seed in self.shown.rated]
        self.chosen = self.chosen if self.chosen in rated else next(iter(rated), "")

    def _place(self) -> None:
        """Place the nodes of the picture, at their present positions if they have them."""
        drawn = self.walk and self.walk.parts[-1].walk.pagerank
        self._places = places_of(self.walk, self._places, self._wide) if drawn else None

    def _stages(self) -> list[Stage]:
        passages = self._session.passages
        if self.walk:
            return stages(self.walk, self._places, self.chosen, passages, self._k)
        return [Stage("edited edges", part=whole(self.shown, passages))]

    def _above(self) -> Part | None:
        record = replace(self.shown, method=self.walk.method) if self.walk else self.shown
        summary = f"{len(record.facts)} of {len(record.linked)} facts kept"
        return group(trace_heading(record, None if self.walk else _NEEDS_INDEX), details(summary, facts_part(record)))

    def _below(self) -> Part | None:
        return ratings_part(self.shown, self.chosen) if self.chosen else quiet("no neighbour was rated")

    def _every_stage(self) -> Part | None:
        return stages_part(self.stages, ranks_part(self.walk, self.at, self._session.passages) if self.walk else None)

    def _caption(self, at: int) -> Part | None:
        if self.walk is None:
            return None
        part = self.walk.parts[at]
        return titled(part.name, f"hubs hold {part.walk.hubs.share_all:.1%} of the phrases' mass")

    def _asking(self, step: str, count: int) -> None:
        self._message.show(quiet(f"asking {self._replies.name}: {count} × {step} …"))

    def _need_index(self, what: str) -> None:
        if self.walk is None:
            raise SettingError(f"{what} needs the index; pass index=, or an index instead of the trace")
