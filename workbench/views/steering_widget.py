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
from typing import Any

import ipywidgets as widgets

from workbench.display import text
from workbench.errors import SettingError
from workbench.index import Index
from workbench.llm.engine import Engine, RulesEngine
from workbench.methods import method as method_named
from workbench.methods.catrag import CatRAG
from workbench.methods.catrag.replies import KeptReplies
from workbench.methods.catrag.steering import METHOD, RatedSeed, StagedWalk, Steering, staged, steering
from workbench.operators.types import types_of
from workbench.records import Question
from workbench.text import clean, short
from workbench.views.base import details, esc, page
from workbench.views.drawing import Drawing, drawing_frame
from workbench.views.palette import AUTO, VERMILION
from workbench.views.records import asked_part
from workbench.views.replay import ranks_data, ranks_part
from workbench.views.session import Live, Source
from workbench.views.steering import (
    facts_part,
    flow_part,
    notes,
    ranking_part,
    ratings_part,
    seeds_part,
    stages_part,
    whole,
)
from workbench.views.steering_drawing import places_of, steered_drawing, traced_drawing
from workbench.views.widget import Stepper, View, beside, row, setting_slider, side, texts

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
_AUTO = {"width": "auto"}
_NEEDS_INDEX = (
    "this is what the trace tells; give index= to see the walk at each stage and its mass on hubs, to move settings "
    "and to rate by hand"
)
_ALONE = ["edited edges"]


class Steer(Stepper[Steering]):
    """The controls and what they show: `walk`, the question's walk stage by stage (None without an index), and `shown`,
    how the last stage was steered; `at` is the position of the stage, `chosen` the seed."""

    name, kind = "steering", METHOD
    busy = ""  # the walk answers at once; what an engine is asked is said by `_asking`

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
        """`source` is an index, over which `method` (a SPEC of catrag) runs with `engine`; a run or its folder; or the
        trace or evidence of one question. With `index`, the replies of the latter two are walked again, and `engine` is
        asked only for ratings that they lack. `questions` are offered for selection, and provide the gold."""
        live = isinstance(source, Index)
        self._replies = KeptReplies(engine or RulesEngine() if live else engine, self._asking)
        self._k, self._places, self._paired, self._wide, self.chosen = k, None, False, False, ""
        super().__init__(
            source, questions, methods=[method], theme=theme, engine=self._replies, index=index, k=k
        )  # fmt: skip

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
        found = self.shown.seed(phrase)
        self.chosen = phrase
        self._draw()
        return found

    def set(self, **settings: Any) -> StagedWalk:
        """Walk again with other settings of the method; those that are not given stay as they are."""
        self._need_index("other settings")
        own = self._base.settings
        moved = {
            name: value
            for name, value in {**self._moved, **settings}.items()
            if not hasattr(own, name) or value != getattr(own, name)
        }
        self._show(self._question, self._method_name, moved)
        return self.walk

    def rate(self, seed: str, neighbour: str, score: int | None) -> StagedWalk:
        """Put a score from 0 to 10 in place of the engine's, and walk again; None brings the engine's back."""
        self._need_index("a rating by hand")
        rated = [one.name for one in self.shown.seed(seed).neighbours if one.score is not None]
        if neighbour not in rated:
            raise SettingError(
                f"{neighbour!r} was not rated for {seed!r} (a larger k_edge rates more); {', '.join(rated)}"
            )
        self._replies.rate(self._question.question, seed, neighbour, score)
        self.chosen = seed
        self._show(self._question, self._method_name, self._moved)
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
            self.at = len(self._stages) - 1
        self._draw()

    def more(self, on: bool = True) -> None:
        """Show three times as many nodes, or only the first dozen."""
        self._need_index("a picture with more nodes")
        self._wide = on
        self._place()
        self._draw()

    def static_html(self) -> str:
        pictures = [self.left] if self.left else []
        pictures += [self.drawing] if self.drawing else []
        drawn = "".join(self._caption(one) + drawing_frame(one, theme=self.theme) for one in pictures)
        table, flow, rest = self._body_parts()
        ranks = page(_RANKS, ranks_part(self.walk, self.at, self._session.passages)) if self.walk else ""
        return "".join([self._head_part(), drawn, table, ranks, flow, rest, self._seed_part()])

    def __repr__(self) -> str:
        seed = f", seed {self.chosen!r}" if self.chosen else ""
        return f"Steer at {self._stages[self.at]}{seed}: {text(self.walk or self.shown)}"

    # -- controls -----------------------------------------------------------------------------------------------------

    @property
    def _stages(self) -> Sequence[str]:
        return self.walk.stages if self.walk else _ALONE

    @property
    def left(self) -> Drawing | None:
        """The picture of the walk that nothing steers, while both are shown."""
        return self._drawing(0) if self._paired and self.drawing else None

    def _make_controls(self) -> None:
        self._sliders = {name: self._setting(name, *shown) for name, shown in SLIDERS.items()}
        toggles = (("side by side", self.beside, "_paired"), ("more nodes", self.more, "_wide"))
        self._pair, self._more = (
            self._bind(
                widgets.Checkbox(description=name, indent=False, layout={"width": "8em"}),
                action,
                lambda state=state: getattr(self, state),
            )
            for name, action, state in toggles
        )
        kept = {"width": "310px", "flex": "0 0 auto"}
        self._seed = self._bind(
            widgets.Dropdown(options=[("", "")], description="seed", layout=kept),
            lambda name: name and self.seed(name),
            lambda: self.chosen,
            lambda: [(self._listed(one.phrase), one.phrase) for one in self.shown.rated] or [("", "")],
        )
        self._neighbour = widgets.Dropdown(options=[("", "")], description="neighbour", layout=kept)
        self._score = setting_slider("score", 0, 10, 1, **_SLIDER)
        self._rate = widgets.Button(description="rate by hand", layout=_AUTO)
        self._reset = widgets.Button(description="own settings and ratings", layout=_AUTO)
        self._on(self._neighbour, lambda _: self._show_score())
        self._press(self._rate, lambda: self.rate(self.chosen, self._neighbour.value, self._score.value))
        self._press(self._reset, self.reset)
        self._lay_out()

    def _setting(self, name: str, label: str, *limits: float) -> widgets.Widget:
        slider = setting_slider(label, *limits, **_SLIDER)
        own = lambda: getattr(self._base.settings, name) if self.walk else slider.value  # noqa: E731
        return self._bind(slider, lambda value: self.set(**{name: value}), lambda: self._moved.get(name, own()))

    def _lay_out(self) -> None:
        self._head, self._ratings, self._table, self._flow, self._rest, left, right = texts(7)
        self._chart = View(kind="ranks")
        self._on(self._chart, self._go, "at")
        self._ranks = widgets.VBox([widgets.HTML(page(_RANKS)), self._chart], layout={"flex": "1 1 400px"})
        self._captions = left, right
        self._canvases = self._picture_of(HEIGHT), self._picture_of(HEIGHT)
        self._sides = [
            widgets.VBox([caption, canvas], layout={"flex": "2 1 400px", "min_width": "0"})
            for caption, canvas in zip(self._captions, self._canvases)
        ]
        for canvas in self._canvases:
            self._on_click(canvas, self._click)
        # Without the layout a long table of ratings would press it to nothing.
        self._edit = widgets.VBox([self._neighbour, row(self._score, self._rate)], layout={"flex": "0 0 auto"})
        self._stack(
            self._asked,
            row(self._method, *self._sliders.values(), self._reset),
            self._message,
            self._head,
            row(*self._make_stepping(), self._pair, self._more),
            beside(*self._sides, side(self._seed, self._edit, self._ratings, height=HEIGHT + 30)),
            self._table,
            beside(self._ranks, self._flow),
            self._rest,
        )

    def _show_controls(self) -> None:
        super()._show_controls()
        for control in (*self._sliders.values(), self._pair, self._more):
            control.disabled = self.walk is None
        with self._quietly():
            self._show_neighbours(self.walk is not None)

    def _show_neighbours(self, walked: bool) -> None:
        rated = [one for one in self._neighbours if one.score is not None]
        before = self._neighbour.value
        self._neighbour.options = [(f"{one.score}: {self._listed(one.name)}", one.name) for one in rated] or [("", "")]
        names = [one.name for one in rated]
        self._neighbour.value = before if before in names else next(iter(names), "")
        self._edit.layout.display = None if rated and walked else "none"
        self._show_score()

    def _listed(self, name: str) -> str:
        return short(clean(self.shown.called(name)), 60)

    def _show_score(self) -> None:
        self._score.value = next((one.score for one in self._neighbours if one.name == self._neighbour.value), 0) or 0

    def _click(self, node: int) -> None:
        """Choose the clicked seed, or a seed for which the clicked phrase was rated."""
        name = next((one.name for one in self.drawing.nodes if one.id == node), "")
        found = [one for one in self.shown.rated if one.phrase == name]
        found += [one for one in self.shown.rated if any(other.name == name for other in one.neighbours)]
        if found:
            self.seed(found[0].phrase)
            with self._quietly():
                if name in [value for _, value in self._neighbour.options]:
                    self._neighbour.value = name
                    self._show_score()

    # -- display ------------------------------------------------------------------------------------------------------

    def _show(self, question: Question, name: str, moved: Mapping[str, Any]) -> None:
        self._base, self.shown, self.walk = self._walked(question, name, moved)
        self._asks_for(question, name, moved)
        self._paired = self._paired and self.walk is not None
        self._place()
        rated = [one.phrase for one in self.shown.rated]
        self.chosen = self.chosen if self.chosen in rated else next(iter(rated), "")
        self._draw()
        self._message.value = ""

    def _place(self) -> None:
        """The nodes of the picture, where they stand already if they do."""
        drawn = self.walk and self.walk.parts[-1].walk.pagerank
        self._places = places_of(self.walk, self._places, self._wide) if drawn else None

    def _walked(
        self, question: Question, name: str, moved: Mapping[str, Any]
    ) -> tuple[CatRAG | None, Steering, StagedWalk | None]:
        gold, shown, label = question.support, None, name
        if not isinstance(self._session, Live):
            shown = steering(self._session.retrieval(question, name).trace, gold, self._session.index)
            self._replies.take(shown)
            label = shown.method
        if self._session.index is None or not question.question or question.question.startswith("sha256:"):
            return None, shown, None
        base = self._session.once(("steered", label), lambda: self._made(label))
        walk = staged(base.adjusted(**moved), question.question, gold, k=self._k)
        return base, walk.parts[-1].steering, walk

    def _made(self, label: str) -> CatRAG:
        if isinstance(self._session, Live):
            return self._session.method(label)
        return method_named(label, self._session.index, self._replies)

    def _draw(self) -> None:
        """Set controls, pictures and texts to the present state."""
        self._show_controls()
        self.drawing = self._drawing(self.at)
        pictures = (self.left, self.drawing)
        for place, caption, canvas, picture in zip(self._sides, self._captions, self._canvases, pictures):
            place.layout.display = None if picture else "none"
            caption.value = self._caption(picture) if picture else ""
            canvas.draw(picture)
        self._head.value, self._ratings.value = self._head_part(), self._seed_part()
        self._table.value, self._flow.value, self._rest.value = self._body_parts()
        self._ranks.layout.display = None if self.walk else "none"
        with self._quietly():
            self._chart.data = ranks_data(self.walk, self._session.passages) if self.walk else {}
            self._chart.at = self.at

    def _drawing(self, stage: int) -> Drawing | None:
        if self.walk is None:
            if not self.shown.edges:
                return None
            types = types_of(self._session.index)
            return traced_drawing(self.shown, self._session.passages, self.chosen, types=types)
        return steered_drawing(self.walk, stage, self._places, self.chosen) if self._places else None

    def _caption(self, picture: Drawing) -> str:
        if self.walk is None:
            return page(f"<p><b>{_ALONE[0]}</b></p>")
        part = self.walk.parts[self.at if picture is self.drawing else 0]
        on_hubs = f"hubs hold {part.walk.hubs.share_all:.1%} of the phrases' mass"
        return page(f"<p><b>{esc(part.name)}</b> <span class='q'>{on_hubs}</span></p>")

    def _head_part(self) -> str:
        shown = self.shown
        caveats = [*notes(shown), *([] if self.walk else [_NEEDS_INDEX])]
        kept = f"{len(shown.facts)} of {len(shown.linked)} facts kept"
        label = self.walk.method if self.walk else shown.method
        asked = asked_part(shown.question, label, shown.engines, caveats, shown.failure)
        return page(asked, details(kept, facts_part(shown)))

    def _seed_part(self) -> str:
        if not self.chosen:
            return page("<p class='q'>no neighbour was rated</p>")
        return page(ratings_part(self.shown, self.chosen))

    def _body_parts(self) -> tuple[str, str, str]:
        """The table of stages, the flow and the rest; the rest alone if only a trace is known."""
        known = self._session.passages
        if self.walk is None:
            return "", "", page(whole(self.shown, known))
        ranking = ranking_part(self.walk.ranking(self.at)[: self._k], self.shown.gold, known)
        return (
            page(stages_part(self.walk, self.at)),
            page(flow_part(self.walk, self.at, max(0, self.at - 1))),
            page(seeds_part(self.shown), details("passages", ranking)),
        )

    @property
    def _neighbours(self) -> tuple:
        return self.shown.seed(self.chosen).neighbours if self.chosen else ()

    def _asking(self, step: str, count: int) -> None:
        self._message.value = self._note(f"asking {self._replies.name}: {count} × {step} …")

    def _need_index(self, what: str) -> None:
        if self.walk is None:
            raise SettingError(f"{what} needs the index: give index=, or an index instead of the trace")


_RANKS = f"<p><b>ranks of passages</b> <span class='q'><span style='color:{VERMILION}'>◆</span> gold</span></p>"
