"""hopscope: a research workbench for multi-hop question answering over graphs.

import workbench as wb
data = wb.load("meridian")
index = wb.Index.build(data, wb.engine("rules"))
wb.method("hipporag2", index).retrieve("Which river …?")
"""

from workbench import methods
from workbench.data import datasets, load, write_folder
from workbench.encoding import encoder
from workbench.experiments import Grid, Run, Verdict, diagnose, evaluate, grid
from workbench.experiments.checkup import checkup
from workbench.experiments.estimate import estimate_build, estimate_run
from workbench.experiments.runs import between, runs
from workbench.experiments.tables import compare, tables
from workbench.graph.neighbourhood import complete, neighbourhood
from workbench.graph.node_details import card
from workbench.index import Index
from workbench.llm import engine
from workbench.methods import method
from workbench.places import home
from workbench.reading import reader
from workbench.reading.compression import GraphWalk, Similarity
from workbench.registry import register
from workbench.sparql import verify
from workbench.trace import Trace

__version__ = "0.1.0"
__all__ = [
    "GraphWalk",
    "Grid",
    "Index",
    "Run",
    "Similarity",
    "Trace",
    "Verdict",
    "ablate",
    "between",
    "card",
    "checkup",
    "compare",
    "complete",
    "datasets",
    "diagnose",
    "encoder",
    "engine",
    "estimate_build",
    "estimate_run",
    "evaluate",
    "explore",
    "grid",
    "home",
    "load",
    "method",
    "methods",
    "neighbourhood",
    "reader",
    "register",
    "replay",
    "runs",
    "tables",
    "trace_dots",
    "verify",
    "write_folder",
]


def ablate(source, questions=(), **settings):
    """Widgets to change one thing at a time between retrieval and answer, over an index, or to go through the failed
    questions of a grid or a run; see :mod:`workbench.views.ablator`."""
    from workbench.views.ablator import ablator  # only notebooks need the widgets

    return ablator(source, questions, **settings)


def explore(index, start=None, *, theme="light", **settings):
    """Widgets to walk through the graph of an index; see :class:`workbench.views.explorer.Explorer`."""
    from workbench.views.explorer import Explorer

    return Explorer(index, start, theme=theme, **settings)


def replay(source, questions=(), **settings):
    """Widgets to step through iterative retrieval, live or saved; see
    :class:`workbench.views.replay_widget.ReplayWidget`."""
    from workbench.views.replay_widget import ReplayWidget

    return ReplayWidget(source, questions, **settings)


def trace_dots(source, questions=(), **settings):
    """Widgets to watch DotRAG search, live or saved; see :class:`workbench.views.dot_tracer.Tracer`."""
    from workbench.views.dot_tracer import Tracer

    return Tracer(source, questions, **settings)
