"""A widget to walk a knowledge tree, to see how its communities came about, and to send questions through it.

tree = wb.tree(index, data.questions)     # shows itself; builds the layers that the index lacks
tree = wb.tree("indexes/meridian")        # a saved index
tree = wb.tree("runs/first")              # a saved run: its questions; with index=, also the tree
tree.community("Skarne ferry")            # what the controls do, as functions
tree.entity("Lanthorn Bridge")
tree.passage("p012")                      # back from a passage to its place in the tree
tree.level("attributes"); tree.up()
tree.weigh(0.6)                           # relations weigh more: communities move, merge and split
tree.colour("leiden")                     # where another grouping differs
tree.ask("Which river …?"); tree.route("path"); tree.round(2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import ipywidgets as widgets
import numpy as np

from workbench.data.folder import OWN
from workbench.display import text
from workbench.errors import SettingError
from workbench.index import Index
from workbench.index.dual_perception import Perception
from workbench.llm.engine import Engine
from workbench.methods import Youtu
from workbench.methods.youtu.routed import Routes, routed
from workbench.operators import regrouping
from workbench.operators.groupings import Agreement, Grouping, compare
from workbench.operators.knowledge_tree import NONE, CommunityPlace, EntityPlace, Hit, KnowledgeTree, PassagePlace
from workbench.records import Passage, Question
from workbench.settings import parse_spec
from workbench.text import clean
from workbench.views import tree as places
from workbench.views.drawing import HEIGHT, Map, drawing_frame
from workbench.views.index import facts_by
from workbench.views.palette import AUTO
from workbench.views.parts import Part, details, group, quiet, titled
from workbench.views.render import page
from workbench.views.routes import FUSED, brought, rounds_part, route_names, routes_part
from workbench.views.session import Cache, Session, Source, open_session, question_label
from workbench.views.tree_map import COLOURS, community_map, entity_map, overview_map, palette_of
from workbench.views.widget import Widget, beside, question_box, row, setting_slider, side, texts

K = 10
ROWS = 11
LIVE = 5_000  # entities up to which a slider detects communities as it moves
BEFORE = "as built"  # the grouping of the index, listed once other weights apply
TABS = ("merges", "other groupings", "schema", "question", "rounds")
_DOWN = {CommunityPlace: "keywords", EntityPlace: "triples", PassagePlace: "communities", type(None): "communities"}
WEIGHTS = {  # setting → (label, least, most, step)
    "struct_weight": ("relations w", 0.05, 1.0, 0.05),
    "epsilon": ("ε of mean φ", 0.0, 0.5, 0.01),
    "merge_threshold": ("similar from", 0.0, 1.0, 0.05),
}
_HIDDEN = "none"
Thing = TypeVar("Thing")
_LACKS = "{name}: the index lacks its layers; wb.method({name!r}, index) adds them"
_NEEDS_INDEX = "this is what the trace tells; give index= to see the tree"


class Tree(Widget):
    """The controls and what they show: `tree` (None without an index), `place` in it (None for all communities),
    `picture` (its map) and `routes`, the results of a question."""

    name = "tree"

    def __init__(
        self,
        source: Source,
        questions: Sequence[Question] = (),
        *,
        method: str = Youtu.name,
        engine: Engine | None = None,
        index: Index | None = None,
        k: int = K,
        theme: str = AUTO,
    ):
        """`source` is an index or its folder, over which `method` (a SPEC of youtu) runs with `engine`; a run or its
        folder; or the trace or evidence of one question. `questions` are offered for selection."""
        super().__init__(theme)
        source = _opened(source)
        live = isinstance(source, Index)
        index = source if live else index
        if index is not None:
            index = index.ensure(Youtu.layers, engine)
        self._opened_session = lambda source, questions: open_session(
            source, questions, methods={method: method}, engine=engine, index=index, k=k,
            kind=Youtu.name, suits=lambda config: parse_spec(config["label"])[0] == Youtu.name,
        )  # fmt: skip
        self._session = self._opened_session(index if live else source, questions) if questions or not live else None
        self.built = self.tree = KnowledgeTree(index) if index is not None else None
        self.place: places.Place = None
        self.picture: Map | None = None
        self.routes: Routes | None = None
        self._question, self._method_name = None, self._session.methods[0] if self._session else method
        self._route, self._round, self._level, self._colour = FUSED, 0, "communities", COLOURS[0]
        self._trail: list[places.Place] = []
        self._others = Cache()
        self._perception = regrouping.perception_of(self.built) if self.built else Perception()
        self._weighing, self._weights = None, {}
        self._make_controls()
        if not live:
            self._ask(self._session.questions[0], self._method_name)
        self._draw()

    # -- walking ------------------------------------------------------------------------------------------------------

    def overview(self) -> Map:
        """Show all communities."""
        self._need_tree()
        self._go(None)
        return self.picture

    def community(self, wanted: int | str) -> CommunityPlace:
        """Go to a community, by its id or name."""
        return self._go(self._need_tree().community(wanted))

    def entity(self, wanted: int | str) -> EntityPlace:
        """Go to an entity, by its name or row."""
        return self._go(self._need_tree().entity(wanted))

    def passage(self, wanted: str) -> PassagePlace:
        """Go to a passage, by its id: its entities are marked on the map of all communities."""
        return self._go(self._need_tree().passage(wanted))

    def find(self, typed: str) -> list[Hit]:
        """Communities, entities and passages that a search proposes."""
        return self._need_tree().find(typed)

    def level(self, name: str) -> list[str]:
        """List what is at a level of the tree below (or around) the present place; returns the entries."""
        self._need_tree()
        if name not in places.STEPS:
            raise SettingError(f"there is no level {name!r}; there are {', '.join(places.STEPS)}")
        self._level = name
        self._show_controls()
        return [label for label, _ in self._entries]

    def up(self) -> places.Place:
        """Go from an entity to its community, from a community or a passage to all of them."""
        at = self.place.community if isinstance(self.place, EntityPlace) else NONE
        self._go(self._need_tree().community(at) if at != NONE else None)
        return self.place

    def back(self) -> places.Place:
        """Go to where you were before."""
        if self._trail:
            self._go(self._trail.pop(), trail=False)
        return self.place

    # -- weighing and comparing ---------------------------------------------------------------------------------------

    def weigh(self, struct_weight: float | None = None, **settings: Any) -> KnowledgeTree:
        """Detect the communities with another weight of relations, from 0 to 1 (λ = (1 - w) / w), or other settings of
        `Perception`; the others stay as they are. Communities that stay the same keep their names."""
        self._need_tree()
        self._weighing = self._weighing or regrouping.Weighing(self.built)
        wanted = {**self._weights, **settings, **({} if struct_weight is None else {"struct_weight": struct_weight})}
        perception = self._weighing.adjusted(**wanted)
        weights = {name: value for name, value in wanted.items() if value != getattr(self._weighing.own, name)}
        tree = self._weighing.weigh(perception) if weights else self.built
        self.tree, self._weights, self.place, self._trail = tree, weights, None, []
        self._level = "communities"
        self._colour = COLOURS[0] if self._colour == BEFORE and not weights else self._colour
        self._draw()
        return tree

    def reset(self) -> KnowledgeTree:
        """Bring back the communities of the index."""
        self._weights = {}
        return self.weigh()

    def agreements(self) -> list[Agreement]:
        """How far other groupings of the same entities agree with the communities: Leiden's on the same graph,
        GraphRAG's and RAPTOR's where the index has their layers and, after `weigh`, the index's own."""
        own = self._need_tree()
        mine = regrouping.Division.built(own).grouping(own.graph.names)
        return [compare(mine, self._other(name)) for name in self._offered()]

    def colour(self, by: str) -> Map:
        """Colour the communities by `type`, by how tight they are (`structure`, `meaning`), or by another grouping:
        `leiden`, `graphrag`, `raptor`, `as built`."""
        palette_of(self.tree, self._division(), by, self._others_for(by))  # first, so that an error changes nothing
        self._colour, self.place = by, None if by != COLOURS[0] else self.place
        self._draw()
        return self.picture

    # -- asking -------------------------------------------------------------------------------------------------------

    def ask(self, question: str | int, method: str | None = None) -> Routes:
        """Send a question through the routes: the id, text or position of a listed one, or, over an index, any other
        text. `method` selects one of a run."""
        session = self._need_session(question)
        self._ask(session.find_or_own(question), self._method_name if method is None else method)
        self.place = None
        self._tabs.selected_index = TABS.index("question")
        self._draw()
        return self.routes

    def route(self, name: str) -> list[str]:
        """Mark what one route brought, or what fusion kept (`fused`); returns the names of the entities."""
        self._need_routes()
        if name not in self._route_names:
            raise SettingError(f"there is no route {name!r}; there are {', '.join(self._route_names)}")
        self._route, self.place = name, None
        self._draw()
        return self._brought()

    def round(self, number: int) -> list[str]:
        """Show a round of the agent, 0 for the sub-questions; returns the names of the entities that it brought."""
        last = len(self._need_routes().rounds)
        if not (isinstance(number, int) and 0 <= number <= last):
            raise SettingError(f"there is no round {number!r}; there are 0 (the sub-questions) to {last}")
        self._round, self.place = number, None
        self._draw()
        return self._brought()

    def static_html(self) -> str:
        picture = drawing_frame(self.picture, theme=self.theme) if self.picture else ""
        question = details("question", self._question_part(), open=True) if self.routes else None
        return page(self._caption()) + picture + page(self._place_part, question)

    def __repr__(self) -> str:
        where = text(self.place) if self.place else repr(self.tree) if self.tree else "no tree"
        return f"Tree at {where}"

    # -- controls -----------------------------------------------------------------------------------------------------

    def _make_controls(self) -> None:
        session, pressed = self._session, {"button_width": "auto"}
        self._proposed: dict[str, Hit] = {}
        self._search = self._bind(
            widgets.Combobox(
                description="find", placeholder="a community, an entity, a passage", continuous_update=True,
                ensure_option=False, layout={"width": "420px"},
            ),
            self._searched, lambda: self._search.value if self._search.value in self._proposed else "",
        )  # fmt: skip
        self._up = self._button("up", self.up, icon="arrow-up")
        self._back = self._button("back", self.back, icon="undo")
        self._all = self._button("all communities", self.overview)
        self._levels = self._bind(
            widgets.ToggleButtons(options=places.STEPS, style=pressed), self.level, lambda: self._level
        )
        self._list = self._bind(
            widgets.Select(options=[], rows=ROWS, layout={"width": "98%", "flex": "0 0 auto"}), self._listed,
            lambda: None, lambda: [label for label, _ in self._entries],
        )  # fmt: skip
        self._by = self._bind(
            widgets.Dropdown(options=COLOURS, description="colour", layout={"width": "200px"}), self.colour,
            lambda: self._colour, lambda: [*COLOURS, *self._offered()],
        )  # fmt: skip
        self._sliders = {name: self._weight(name, *limits) for name, limits in WEIGHTS.items()}
        values = lambda: {name: slider.value for name, slider in self._sliders.items()}  # noqa: E731
        self._again = self._button("detect again", lambda: self.weigh(**values()))
        self._own = self._button("as built", self.reset)
        self._question_box = self._bind(
            question_box(session.questions, session.label) if session else question_box(()),
            lambda typed: typed and self.ask(typed), lambda: question_label(self._question) if self._question else "",
        )  # fmt: skip
        self._route_of = self._bind(
            widgets.ToggleButtons(options=[FUSED], style=pressed), self.route,
            lambda: self._route, lambda: self._route_names,
        )  # fmt: skip
        self._rounds = self._bind(
            widgets.SelectionSlider(
                options=[("sub-questions", 0)], description="round", continuous_update=False, layout={"width": "380px"}
            ),
            self.round, lambda: self._round,
            lambda: [("sub-questions", 0), *((str(step.number), at) for at, step in enumerate(self._agent, 1))],
        )  # fmt: skip
        self._lay_out()

    def _weight(self, name: str, label: str, *limits: float) -> widgets.Widget:
        """A slider that detects communities as it moves, where there are not too many entities."""
        return self._bind(
            setting_slider(label, *limits, width=250, label_width=7.5),
            lambda value: None if self._large else self.weigh(**{name: value}),
            lambda: float(self._weights.get(name, getattr(self._perception, name))),
        )

    def _lay_out(self) -> None:
        self._head, self._details, self._lambda, *parts = texts(3 + len(TABS))
        self._parts = dict(zip(TABS, parts))
        self._canvas = self._picture_of(HEIGHT)
        self._on_click(self._canvas, self._clicked)
        self._tabs = widgets.Tab(parts, titles=TABS)
        self._on(self._tabs, lambda _: self._show_tab(), "selected_index")
        self._walk = widgets.VBox(
            [
                row(self._search, self._all, self._up, self._back, self._by),
                row(*self._sliders.values(), self._lambda, self._again, self._own),
            ]
        )
        picture = widgets.VBox([self._canvas], layout={"flex": "2 1 620px", "min_width": "0"})
        self._main = beside(picture, side(self._levels, self._list, self._details, height=HEIGHT + 60))
        self._asking = widgets.VBox([self._question_box, row(self._route_of, self._rounds)])
        self._stack(self._asking, self._walk, self._message, self._head, self._main, self._tabs)

    def _show_controls(self) -> None:
        super()._show_controls()
        self._walk.layout.display = self._main.layout.display = _HIDDEN if self.tree is None else None
        self._route_of.layout.display = self._rounds.layout.display = None if self.routes else _HIDDEN
        self._again.layout.display = None if self._large else _HIDDEN
        self._up.disabled, self._back.disabled = self.place is None, not self._trail
        self._own.disabled = not self._weights
        weight = self._sliders["struct_weight"].value
        self._lambda.show(quiet(f"λ = {(1 - weight) / weight:.2f}"))

    def _searched(self, typed: str) -> None:
        """Go to the proposal that was selected; for any other text, make proposals."""
        if typed in self._proposed:
            hit = self._proposed[typed]
            getattr(self, hit.kind)(hit.key)
        else:
            self._proposed = {f"{hit.label} [{hit.kind}]": hit for hit in self.find(typed)}
            self._search.options = tuple(self._proposed)

    def _listed(self, label: str | None) -> None:
        target = dict(self._entries).get(label)
        if target:
            getattr(self, target[0])(target[1])

    def _clicked(self, node: int) -> None:
        """A click on an entity, on a community (n + its key) or, around an entity, on a passage (n + its row)."""
        n = len(self.tree.graph.names)
        if node < n:
            self.entity(node)
        elif isinstance(self.place, EntityPlace):
            if node - n < len(self.tree.passages):
                self.passage(self.tree.passages[node - n].id)
        else:
            self.community(self._division().keys.index(node - n))

    # -- display ------------------------------------------------------------------------------------------------------

    def _go(self, place: places.Place, trail: bool = True) -> places.Place:
        if trail:
            self._trail.append(self.place)
        self.place, self._level = place, _DOWN[type(place)]
        self._draw()
        return place

    def _ask(self, question: Question, method: str) -> None:
        """Take over another question once its trace has been read, so that an error changes nothing."""
        routes = routed(self._session.retrieval(question, method).trace)
        self._question, self._method_name, self.routes = question, method, routes
        self._route, self._round = FUSED, 0

    def _draw(self) -> None:
        self._show_controls()
        self.picture = self._map() if self.tree else None
        self._canvas.draw(self.picture)
        self._head.show(self._caption())
        self._details.show(self._place_part)
        self._show_tab()

    def _map(self) -> Map:
        if isinstance(self.place, EntityPlace):
            return entity_map(self.tree, self.place)
        if isinstance(self.place, CommunityPlace):
            return community_map(self.tree, self.place.id)
        division = self._division()
        palette = palette_of(self.tree, division, self._colour, self._others_for(self._colour))
        return overview_map(self.tree, division, palette, self._marked())

    def _marked(self) -> list[int]:
        """Rows of the entities of the passage that is shown, or of what the chosen route brought."""
        if isinstance(self.place, PassagePlace):
            return [row for row, _, _, _ in self.place.entities]
        return [self.tree.graph.row[name] for name in self._brought() if name in self.tree.graph.row]

    def _brought(self) -> list[str]:
        return brought(self.routes, self._route, self._round) if self.routes else []

    def _caption(self) -> Part | None:
        if self.tree is None:
            return quiet(_NEEDS_INDEX)
        path = " › ".join(clean(name, 80) for name in places.way(self.tree, self.place))
        layers = self.built.index.manifest["layers"]
        parts = (("graph", "schema_graph"), ("names of communities", "tree"))
        by = "; ".join(filter(None, (facts_by(layers[kind].get("made_by", ()), what) for what, kind in parts)))
        above = group(titled(path, self.picture.left_out if self.picture else None), quiet(by))
        if not self._weights:
            return above
        own, now = regrouping.Division.built(self.built), self._division()
        moved = int(regrouping.moved(own, now).sum())
        return group(above, places.changes_part(regrouping.changes(own, now), moved, len(own.groups)))

    def _show_tab(self) -> None:
        """Fill only the tab that is in front, so that the page is sent no more than it shows."""
        front = TABS[self._tabs.selected_index or 0]
        for name, place in self._parts.items():
            place.show(self._tab(name) if name == front else None)

    def _tab(self, name: str) -> Part | None:
        if name in ("question", "rounds"):
            return self._question_part(name)
        if self.tree is None:
            return quiet(_NEEDS_INDEX)
        if name == "merges":
            settings = replace(self._perception, **self._weights)
            return places.merges_part(self.tree.tree.merges, self.tree.graph.names, settings, self.place)
        if name == "schema":
            graph = self.built.graph
            return places.evolution_part(graph.seed, graph.schema, graph.evolution, self._passages)
        lacking = [name for name in regrouping.LAYERS if name not in regrouping.offered(self.built)]
        return group(places.agreement_part(self.agreements()), quiet(*(_LACKS.format(name=name) for name in lacking)))

    def _question_part(self, name: str = "question") -> Part | None:
        if self.routes is None:
            return quiet("ask a question")
        return rounds_part(self.routes) if name == "rounds" else routes_part(self.routes, self._route, self._round)

    # -- state --------------------------------------------------------------------------------------------------------

    def _division(self) -> regrouping.Division:
        now = regrouping.Division.built(self._need_tree())
        return now if self.tree is self.built else regrouping.followed(regrouping.Division.built(self.built), now)

    def _offered(self) -> list[str]:
        return [*regrouping.offered(self.built), *([BEFORE] if self._weights else [])] if self.built else []

    def _other(self, name: str) -> Grouping:
        if name == BEFORE:
            return regrouping.Division.built(self.built).grouping(self.built.graph.names, BEFORE)
        return self._others.once(name, lambda: regrouping.other(self.built, name))

    def _others_for(self, colour: str) -> dict[str, np.ndarray]:
        """The grouping by which the map is coloured, if it is one."""
        groupings = (regrouping.LEIDEN, *regrouping.LAYERS, BEFORE)
        return {colour: regrouping.rows_of(self._other(colour), self.tree.graph.names)} if colour in groupings else {}

    @property
    def _route_names(self) -> list[str]:
        return [FUSED, *(route_names(self.routes) if self.routes else ())]

    @property
    def _agent(self) -> Sequence[Any]:
        """The rounds of the agent."""
        return self.routes.rounds if self.routes else ()

    @property
    def _entries(self) -> list[tuple[str, places.Target | None]]:
        return places.entries(self.tree, self.place, self._level) if self.tree else []

    @property
    def _place_part(self) -> Part | None:
        if self.place is None:
            return quiet(repr(self.tree) if self.tree else "")
        return places.place_part(self.place, self._passages)

    @property
    def _passages(self) -> dict[str, Passage]:
        return {passage.id: passage for passage in self.tree.passages}

    @property
    def _large(self) -> bool:
        return self.built is not None and len(self.built.graph.names) > LIVE

    def _need_tree(self) -> KnowledgeTree:
        return _there(self.tree, "the tree needs the index: give index=, or an index instead of the run or trace")

    def _need_routes(self) -> Routes:
        return _there(self.routes, "no question was asked; ask one with ask(…)")

    def _need_session(self, question: str | int) -> Session:
        """The session; without a list of questions, a new one with the first question that is asked."""
        if self._session is None:
            if not isinstance(question, str):
                raise SettingError("there is no list of questions; give the text of one, or questions=data.questions")
            self._session = self._opened_session(self.built.index, [Question(OWN, question)])
        return self._session


def _there(thing: Thing | None, otherwise: str) -> Thing:
    if thing is None:
        raise SettingError(otherwise)
    return thing


def _opened(source: Source) -> Source:
    """An index, if this is the folder of one."""
    is_index = isinstance(source, str | Path) and (Path(source) / "manifest.json").exists()
    return Index.open(source) if is_index else source
