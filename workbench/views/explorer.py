"""Walking through a graph by hand: search a node, choose how far and over which edges, click on.

explorer = explore(index)                       # shows itself
explorer.look("lanthorn bridge", hops=2)        # what the controls do, as a function; gives back the Subgraph
explorer.pick("Vennick")                        # what a click does; gives back the NodeDetails
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets

from workbench.errors import SettingError
from workbench.graph.neighbourhood import Subgraph, complete, matching, neighbourhood, row_of
from workbench.graph.node_details import NodeDetails, card
from workbench.index import Index
from workbench.records import Record
from workbench.views.base import esc, html, page, text
from workbench.views.canvas import WEBGL_STYLE, Frame, WebGL
from workbench.views.drawing import HEIGHT, drawing_legend
from workbench.views.graph import SMALL, graph_drawing

EDGE_NAMES = {"relation": "facts", "synonym": "synonyms", "context": "stated in"}
_SLIDER = {"continuous_update": False, "layout": {"width": "205px"}, "style": {"description_width": "4.5em"}}
PROPOSED = 20  # nodes that the search offers
LIMITS = (20, 60, 120, 200, 500, 1000, 2000, 5000)


class Explorer(Record):
    """The controls, the picture and the card of the node that was picked. `subgraph` and `card` are what they show.

    It starts at a node, by default at the strongest hub; `settings` are those of `neighbourhood`."""

    def __init__(self, index: Index, start: str | int | None = None, *, theme: str = "light", **settings: Any):
        self.index, self.theme = index, theme
        self.subgraph: Subgraph | None = None
        self.card: NodeDetails | None = None
        self._proposed: dict[str, int] = {}  # what the search offers -> row
        self._quiet = False  # while several controls are set together
        self._make_controls(index.manifest["layers"]["synonyms"]["settings"]["threshold"])
        self._frame = Frame(theme)
        self._frame.observe(self._clicked, "picked")
        self._picture = widgets.Box([self._frame], layout={"flex": "1 1 62%", "min_width": "420px"})
        self._said, self._card = widgets.HTML(), widgets.HTML()
        side = widgets.VBox(
            [self._walk, self._card],
            layout={"flex": "1 1 320px", "max_height": f"{HEIGHT}px", "overflow": "auto", "padding": "0 0 0 1em"},
        )
        self.widget = widgets.VBox(
            [
                self._controls,
                self._said,
                widgets.Box([self._picture, side], layout={"flex_flow": "row wrap"}),
                widgets.HTML(drawing_legend(graph_drawing(Subgraph("", (), ()))) + WEBGL_STYLE),
            ]
        )
        self.look(_first(index) if start is None else start, **settings)

    def look(
        self,
        start: str | int | None = None,
        *,
        hops: int | None = None,
        kinds: Sequence[str] | None = None,
        limit: int | None = None,
        facts: int | None = None,
        similarity: float | None = None,
    ) -> Subgraph:
        """Move the controls that are given, leave the others, and show what they then say. See `neighbourhood`."""
        given = {"hops": hops, "limit": limit, "facts": facts, "similarity": similarity}
        start = self._start if start is None else row_of(self.index, start)
        settings = {name: control.value for name, control in self._settings.items()}
        settings |= {name: value for name, value in given.items() if value is not None}
        settings["kinds"] = tuple(kinds) if kinds is not None else self._kinds
        subgraph = neighbourhood(self.index, start, **settings)  # before anything moves, so that an error leaves all be
        self._start = start
        self._show_settings(subgraph.nodes[0].name, settings)
        self._draw(subgraph)
        self.pick(start)
        return subgraph

    def pick(self, node: str | int) -> NodeDetails:
        """Show the card of a node, as a click does."""
        self._picked = row_of(self.index, node)  # a row, because a passage may have a phrase's name for its id
        self.card = card(self.index, self._picked)
        self._walk.disabled = False
        self._card.value = html(self.card)
        return self.card

    def complete(self, text: str, k: int = 20) -> list[str]:
        """What the search proposes for what was typed."""
        return complete(self.index, text, k)

    def __repr__(self) -> str:
        return f"Explorer of {self.index.name!r}: {self.subgraph!r}"

    def _repr_mimebundle_(self, **options: Any):
        """The widget, and beside it what a page without a kernel can show."""
        return self.widget._repr_mimebundle_(**options) | {"text/html": html(self.subgraph) + html(self.card)}

    def _make_controls(self, threshold: float) -> None:
        self._search = widgets.Combobox(
            description="node", placeholder="type, then choose", continuous_update=True, ensure_option=False
        )
        self._settings = {
            "hops": widgets.IntSlider(value=1, min=0, max=3, description="hops", **_SLIDER),
            "limit": widgets.SelectionSlider(options=LIMITS, value=60, description="nodes ≤", **_SLIDER),
            "facts": widgets.IntSlider(value=1, min=1, max=10, description="facts ≥", **_SLIDER),
            "similarity": widgets.FloatSlider(
                value=threshold, min=threshold, max=1, step=0.01, description="cosine ≥", **_SLIDER
            ),
        }
        self._edges = {
            kind: widgets.Checkbox(value=True, description=name, indent=False, layout={"width": "7.5em"})
            for kind, name in EDGE_NAMES.items()
        }
        # Without the layout an opened card would press it to nothing.
        self._walk = widgets.Button(description="go on from here", disabled=True, layout={"flex": "0 0 auto"})
        self._search.observe(self._searched, "value")
        for control in (*self._settings.values(), *self._edges.values()):
            control.observe(self._moved, "value")
        self._walk.on_click(lambda _: self.look(self._picked))
        row = {"flex_flow": "row wrap", "align_items": "center"}
        self._controls = widgets.VBox(
            [
                widgets.Box([self._search, *self._edges.values()], layout=row),
                widgets.Box(list(self._settings.values()), layout=row),
            ]
        )

    @property
    def _kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind, box in self._edges.items() if box.value)

    def _searched(self, change: dict) -> None:
        """While one types, proposals; when the text is one of them, or the name of a node, that node."""
        if self._quiet:
            return
        typed = change["new"]
        try:
            self.look(self._proposed.get(typed, typed))
        except SettingError:  # not yet a name
            self._proposed = {self._label(row): row for row in matching(self.index, typed)[:PROPOSED]}
            self._search.options = tuple(self._proposed)

    def _label(self, row: int) -> str:
        """A passage is proposed with its title, because a browser offers only what holds the text that was typed."""
        n = self.index.graph.phrases
        if row < n:
            return self.index.facts.phrases[row]
        passage = self.index.passages.passages[row - n]
        return f"{passage.title} ({passage.id})"

    def _moved(self, _: dict) -> None:
        if not self._quiet:
            self.look()

    def _show_settings(self, name: str, settings: dict) -> None:
        self._quiet = True
        try:
            self._search.value = name
            for setting, control in self._settings.items():
                _set(control, settings[setting])
            for kind, box in self._edges.items():
                box.value = kind in settings["kinds"]
        finally:
            self._quiet = False

    def _draw(self, subgraph: Subgraph) -> None:
        self.subgraph = subgraph
        self._said.value = page(f"<span class='q'>{esc(text(subgraph))}</span>")
        if len(subgraph) <= SMALL:
            self._frame.draw(graph_drawing(subgraph))
            self._picture.children = [self._frame]
        else:
            large = WebGL(subgraph, theme=self.theme)
            large.observe(self._clicked, "picked")
            self._picture.children = [large]

    def _clicked(self, change: dict) -> None:
        if change["new"] >= 0:
            self.pick(change["new"])


def _set(control: widgets.Widget, value: float) -> None:
    """Give a control a value that a function may have chosen beyond what the control offers."""
    if isinstance(control, widgets.SelectionSlider):
        control.options = sorted({*control.options, value})
    else:
        control.min, control.max = min(control.min, value), max(control.max, value)
    control.value = value


def _first(index: Index) -> int:
    """The strongest hub; where the index has no fact, the first passage."""
    return int(index.graph.strength.argmax()) if index.graph.phrases else 0
