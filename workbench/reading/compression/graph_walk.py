"""Graph-walk compression: a context is cut down to what a walk from the question reaches, nearest first ("The Reasoning
Bottleneck in Graph-RAG", arXiv 2603.14045, section 3.4). No model is asked.

    workbench   `ranked.py`: the walk ranks, the budget holds. Reasons below.
    released    `published.py`: the code released with it
    thesis      the same in the order and within the tokens that the text describes
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from workbench import layouts
from workbench.errors import SettingError
from workbench.reading.compression import published, ranked
from workbench.reading.compression.base import made, tables, written
from workbench.records import Compressed, ContextGraph
from workbench.settings import Budget, Natural, NonNegative, Number, Share, changed, settle, spec_of, validated

NO_WALK = "the question names nothing in the context; cut by its order and the words of the question"


class GraphWalk:
    """Reduces a context to what a walk from the question reaches, nearest first: at most `budget` cl100k tokens.

    profile        `workbench`, `released` or `thesis`
    budget         4,000 as published. `workbench` and `thesis` keep to it; `released` counts `budget` / 1.3 words and
                   never cuts lines of the graph
    max_hops       3 as published

    For `workbench` alone:

    share          of the rarity of a name's words that the question must share for a seed; half, so that the rare part
                   of a name decides
    width          names reached per hop; 20, as many as the published walk reaches in all (14 to 21)
    walk           what the walk counts beside the place in the context and the words of the question (1 each); half, as
                   it is read off texts by rules, and they are what the method and the question say
    behind         how much further back a source stands than the chunk of its place; twice, as chunks are what is close
                   to the question and sources what is behind that
    rank_constant  of the reciprocal ranks; 20 for lists of about 100, where the usual 60 (for thousands) is nearly flat
    lines          the share of the budget for lines of the tables, where not all texts fit; 0: none are shown
    shorten        whether a unit that does not fit is shortened by whole sentences

    Where nothing of the context is named in the question there is no walk: `released` and `thesis` leave the context
    as it is, `workbench` cuts it by the other two ranks; `fallback` says so.
    """

    name = "graph-walk"
    paper = "The Reasoning Bottleneck in Graph-RAG (arXiv 2603.14045), section 3.4"

    @validated
    class Settings:
        profile: Literal["workbench", "released", "thesis"] = "workbench"
        budget: Budget = 4_000
        max_hops: Natural = 3
        share: Share = 0.5
        width: NonNegative = 20
        walk: NonNegative = 0.5
        behind: NonNegative = 2
        rank_constant: Annotated[Number, Field(ge=1)] = 20
        lines: Share = 0.1
        shorten: bool = True

        def __post_init__(self):
            idle = changed(self).keys() - {"profile", "budget", "max_hops"}
            if self.profile != "workbench" and idle:
                raise SettingError(
                    f"{min(idle)} has no effect with profile={self.profile!r}; it is for profile='workbench'"
                )

    def __init__(self, **settings: Any):
        given = settle(self.name, self.Settings, settings)
        self.profile, self.budget, self.max_hops = given.profile, given.budget, given.max_hops
        self.label = spec_of(self.name, changed(given))
        values = asdict(given)
        self._walk = {key: values[key] for key in ("max_hops", "share", "width", "walk", "behind", "rank_constant")}
        self._page = {key: values[key] for key in ("budget", "lines", "shorten")}

    def compress(self, question: str, context: ContextGraph | str) -> Compressed:
        """The context as the walk from the question leaves it. A text is read by the layout that it is in; DataError if
        it is in none (`released` and `thesis` find no entities in it)."""
        return self._ranked(question, context) if self.profile == "workbench" else self._published(question, context)

    def _ranked(self, question: str, context: ContextGraph | str) -> Compressed:
        graph = tables(context)
        units = (*graph.chunks, *graph.sources)
        walk = ranked.walk(question, graph, units, **self._walk)
        page = ranked.assemble(graph, units, walk, **self._page)
        seeds = tuple(name for name, hop in walk.hops.items() if hop == 0)
        why = None if seeds else NO_WALK
        reached = {"seeds": seeds, "hops": tuple(walk.hops.items()), "kept": page.kept, "fallback": why}
        return made(self, question, context, graph, page.graph, page.text, **reached)

    def _published(self, question: str, context: ContextGraph | str) -> Compressed:
        graph = _as_published(context)
        lightrag = graph.layout == "lightrag"
        stop = frozenset() if lightrag else published.STOP
        names = published.described(graph)
        seeds = published.seeds(question, names, stop=stop, articles=self.profile == "released")
        if not seeds:
            why = "no entities in the context" if not names else "the question names no entity of the context"
            return made(self, question, context, graph, graph, written(context), fallback=f"{why}; left as it is")
        hops = published.hops_from(seeds, graph.relations, self.max_hops)
        last = max(hops.values())
        hops |= dict.fromkeys(published.expand(hops, names, graph.chunks), last + 1)
        assembly = published.Assembly(question, graph, hops, stop)
        if self.profile == "released":
            page = published.interleaved(assembly, self.budget, lightrag)
        else:
            page = published.tiers(assembly, self.budget)
        text = "\n\n".join(page.parts)
        reached = {"seeds": tuple(seeds), "hops": tuple(assembly.hops.items()), "kept": tuple(page.kept)}
        return made(self, question, context, graph, assembly.graph(page.units), text, **reached)


def _as_published(context: ContextGraph | str) -> ContextGraph:
    """The tables as the released code reads them; contexts in LightRAG's layout by its variant for these."""
    if isinstance(context, str):
        layout = layouts.lightrag if layouts.lightrag.fits(context) else layouts.ket_rag
        return layout.parse(context, published=True)
    return layouts.lightrag.as_published(context) if context.layout == "lightrag" else tables(context)
