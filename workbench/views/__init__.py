"""Views: functions from a record to a part of a page, a text or a picture. No view computes what it shows.

Each file here registers the views of some records with `view` (:mod:`workbench.views.parts`), and is loaded when one of
these is first shown: a new file needs a line in `VIEWS_OF`, and a picture with a name one in `PICTURES`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from workbench.display import html, text
from workbench.registry import Registry
from workbench.views.parts import Part, view
from workbench.views.render import page, plain_part, plain_text, text_of

__all__ = ["PICTURES", "VIEWS_OF", "html", "text"]

# Module that defines records → the modules here with their views, which are loaded when such a record is first shown:
# views of a run need pandas, and those of a trained network matplotlib.
VIEWS_OF = {
    "data.folder": ("index",),
    "data.origin": ("index",),
    "data.profiles": ("index",),
    "data.registry": ("index",),
    "data.sources.entry": ("index",),
    "evaluation.agreement": ("run",),
    "analyses.base": ("reports",),
    "operators.checkup": ("node_details",),
    "papers.comparable": ("verdicts",),
    "analyses.diagnose": ("reports",),
    "evaluation.estimate": ("reports",),
    "evaluation.grid": ("reports",),
    "notebooks.regression": ("reports",),
    "papers.planning": ("tables",),
    "evaluation.run": ("run",),
    "evaluation.listing": ("run",),
    "evaluation.pairs": ("run",),
    "evaluation.significance": ("run",),
    "papers.tables": ("tables", "verdicts"),
    "evaluation.verdict": ("run",),
    "evaluation.endings": ("run",),
    "operators.groupings": ("tree",),
    "operators.knowledge_tree": ("tree",),
    "operators.neighbourhood": ("node_details",),
    "operators.node_details": ("node_details",),
    "operators.walk_distribution": ("node_details",),
    "index.chroma": ("index",),
    "index.graph": ("index",),
    "index.index": ("index",),
    "index.profiles": ("index",),
    "index.usage": ("index",),
    "methods.catrag.steering": ("steering",),
    "methods.dotrag.dots": ("dots",),
    "methods.dotrag.events": ("dots",),
    "methods.gfm_rag.hub": ("training",),
    "methods.gfm_rag.passing": ("passing",),
    "methods.iterative.events": ("replay",),
    "methods.iterative.replay": ("replay",),
    "methods.youtu.routed": ("routes",),
    "records": ("contexts", "proofs", "records"),
    "trace": ("trace",),
}

# Module here → the pictures that it draws, each by a function of its name.
_PICTURES_IN = {
    "cost_figures": ("construction_cost", "cost_quality", "pareto", "running_time", "wall_clock"),
    "quality_figures": (
        "ablation", "at_equal_nodes", "by_hops", "by_kind", "complementarity", "covered_only", "cuts", "decomposition",
        "gains_by_kind", "gains_over_static", "hub_bias", "judged_accuracy", "promotion", "quality_against_k",
        "recall_curve", "recomputed_routing", "rounds_curve", "win_rate",
    ),
    "training": ("training",),
}  # fmt: skip
_FIGURES_IN = {  # of records, each by `<name>_figure`
    "figures": ("degree", "drawing", "graph", "hubs", "map", "ranking", "recall", "verdict", "walk"),
    "replay": ("bump", "scores"),
}
PICTURES: Registry[Callable] = Registry(
    "pictures",
    {name: f"workbench.views.{module}:{name}" for module, names in _PICTURES_IN.items() for name in names}
    | {name: f"workbench.views.{module}:{name}_figure" for module, names in _FIGURES_IN.items() for name in names},
)


def part_view(cls: type) -> Callable[[Any], Part | None]:
    """The function that shows a class as a part of a page."""
    _load(cls)
    registered = view.dispatch(cls)
    return plain_part if registered is view.dispatch(object) else registered


def html_view(cls: type) -> Callable[[Any], str]:
    """The function that shows a class as HTML: a page of its part, unless it has HTML of its own."""
    _load(cls)
    registered = html.dispatch(cls)
    return (lambda thing: page(view(thing))) if registered is html.dispatch(object) else registered


def text_view(cls: type) -> Callable[[Any], str]:
    """The function that shows a class in a terminal: its own text, or else the text of its part."""
    _load(cls)
    registered = text.dispatch(cls)
    if registered is not text.dispatch(object):
        return registered
    to_part = view.dispatch(cls)
    return plain_text if to_part is view.dispatch(object) else lambda thing: text_of(to_part(thing)) or cls.__name__


def page_head() -> str:
    """The head of a page without a kernel, whose steps get a slider."""
    return import_module("workbench.views.stepped").LIVE


def _load(cls: type) -> None:
    """Load the modules that may have views of a class."""
    for base in cls.__mro__:
        for name in VIEWS_OF.get(base.__module__.removeprefix("workbench."), ()):
            import_module(f"workbench.views.{name}")
