"""A widget to explore a graph: search for a node, choose hops and kinds of edges, click through.

explorer = explore(index)                       # shows itself
explorer.look("lanthorn bridge", hops=2)        # the controls as a function; returns the Subgraph
explorer.pick("Vennick")                        # a click as a function; returns the NodeDetails
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets

from workbench.display import html, text
from workbench.errors import SettingError
from workbench.index import Index
from workbench.operators.neighbourhood import Subgraph, matching, neighbourhood, row_of
from workbench.operators.node_details import NodeDetails, node_details
from workbench.views.drawing import HEIGHT
from workbench.views.index import facts_by
from workbench.views.node_details import EDGES, graph_drawing
from workbench.views.palette import AUTO
from workbench.views.parts import quiet, view
from workbench.views.render import page
from workbench.views.widget import Text, Widget, beside, row, side, texts

_SLIDER = {"continuous_update": False, "layout": {"width": "205px"}, "style": {"description_width": "4.5em"}}
PROPOSED = 20  # nodes that the search offers
LIMITS = (20, 40, 60, 120, 200, 500, 1000, 2000, 5000)


class Explorer(Widget):
    """The controls, the picture (`subgraph`) and the details of the picked node (`details`).

    The start is a node, by default the strongest hub; `settings` are those of `neighbourhood`."""

    name = "explorer"
    busy = ""  # a note that comes and goes with every move of a slider would make the picture jump

    def __init__(self, index: Index, start: str | int | None = None, *, theme: str = AUTO, **settings: Any):
        super().__init__(theme)
        self.index = index
        self.subgraph: Subgraph | None = None
        self.details: NodeDetails | None = None
        self._proposed: dict[str, int] = {}  # proposal of the search → row
        self._make_controls(index.layer("synonyms").metadata["settings"]["threshold"])
        self._current = self._values()
        hub = int(index.graph.strength.argmax()) if index.graph.phrases else 0  # the first passage if there is no fact
        self.look(hub if start is None else start, **settings)

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
        """Show a neighbourhood with the given settings of `neighbourhood`; the others stay as they are."""
        given = {"hops": hops, "limit": limit, "facts": facts, "similarity": similarity, "kinds": kinds}
        start = self._start if start is None else row_of(self.index, start)
        settings = self._current | {name: value for name, value in given.items() if value is not None}
        subgraph = neighbourhood(self.index, start, **settings)  # computed first, so that an error changes nothing
        self._start, self._current, self.subgraph = start, settings, subgraph
        self._show_controls()
        self._summary.show(quiet(text(subgraph)))
        self._picture.draw(graph_drawing(subgraph))
        self.pick(start)
        return subgraph

    def pick(self, node: str | int) -> NodeDetails:
        """Show the details of a node, as a click does."""
        self._picked = row_of(self.index, node)  # a row, because a passage may have a phrase's name for its id
        self.details = node_details(self.index, self._picked)
        self._walk.disabled = False
        self._picture.select(self._picked)
        self._details.show(view(self.details))
        return self.details

    def static_html(self) -> str:
        return page(quiet(facts_by(self.index.facts_by))) + html(self.subgraph) + html(self.details)

    def __repr__(self) -> str:
        by = f"; {makers}" if (makers := facts_by(self.index.facts_by)) else ""
        return f"Explorer of {self.index.name!r}: {self.subgraph!r}{by}"

    def _make_controls(self, threshold: float) -> None:
        self._search = widgets.Combobox(
            description="node", placeholder="type, then choose", continuous_update=True, ensure_option=False
        )
        cosine = {"value": threshold, "min": threshold, "max": 1, "step": 0.01}
        self._settings = {
            "hops": widgets.IntSlider(value=1, min=0, max=3, description="hops", **_SLIDER),
            "limit": widgets.SelectionSlider(options=LIMITS, value=40, description="nodes ≤", **_SLIDER),
            "facts": widgets.IntSlider(value=1, min=1, max=10, description="facts ≥", **_SLIDER),
            "similarity": widgets.FloatSlider(**cosine, description="cosine ≥", **_SLIDER),
        }
        self._edges = {
            kind: widgets.Checkbox(value=True, description=style.name, indent=False, layout={"width": "7.5em"})
            for kind, style in EDGES.items()
        }
        # Without this layout, long details would leave no room for it.
        self._walk = widgets.Button(description="go on from here", disabled=True, layout={"flex": "0 0 auto"})
        self._bind(self._search, self._searched, lambda: self.subgraph.nodes[0].name)
        self._search.on_msg(lambda _, content, __: content.get("event") == "submit" and self._run(self._entered))
        look = lambda _: self.look(**self._values())  # noqa: E731
        for name, control in self._settings.items():
            self._bind(control, look, lambda name=name: self._current[name])
        for kind, box in self._edges.items():
            self._bind(box, look, lambda kind=kind: kind in self._current["kinds"])
        self._press(self._walk, lambda: self.look(self._picked))
        self._lay_out()

    def _lay_out(self) -> None:
        self._summary, self._details = texts(2)
        self._picture = self._picture_of(flex="1 1 62%", min_width="420px")
        self._on_click(self._picture, self.pick)
        self._stack(
            row(self._search, *self._edges.values()),
            row(*self._settings.values()),
            self._message,
            self._summary,
            Text(quiet(facts_by(self.index.facts_by))),
            beside(self._picture, side(self._walk, self._details, height=HEIGHT)),
        )

    def _values(self) -> dict[str, Any]:
        """The settings of the controls."""
        kinds = tuple(kind for kind, box in self._edges.items() if box.value)
        return {name: control.value for name, control in self._settings.items()} | {"kinds": kinds}

    def _searched(self, typed: str) -> None:
        """Show the node that was typed or selected; until there is one, propose nodes."""
        try:
            self.look(self._proposed.get(typed, typed))
        except SettingError:  # not yet a name
            self._proposed = {self._label(node): node for node in matching(self.index, typed)[:PROPOSED]}
            self._search.options = tuple(self._proposed)

    def _entered(self) -> None:
        """Go to the first proposal on Enter after a part of a name; raises SettingError if there is none."""
        typed = self._search.value
        if typed and typed != self.subgraph.nodes[0].name:
            nodes = matching(self.index, typed)
            if not nodes:
                raise SettingError(f"no name contains {typed!r}; type a part of a phrase or of a passage's title")
            self.look(nodes[0])

    def _label(self, node: int) -> str:
        """The label of a proposal. A passage has its title in it, because a browser offers only labels that contain the
        typed text."""
        n = self.index.graph.phrases
        passage = self.index.passages.passages[node - n] if node >= n else None
        return f"{passage.title} ({passage.id})" if passage else self.index.facts.phrases[node]
