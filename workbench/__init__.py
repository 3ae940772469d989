"""hopscope: a research workbench for multi-hop question answering over graphs.

import workbench as wb
data = wb.load("meridian")
index = wb.Index.build(data, wb.engine("rules"))
wb.method("hipporag2", index).retrieve("Which river …?")
"""

from importlib import import_module
from importlib.util import find_spec

__version__ = "0.1.0"

# Module → the public names that it defines. Each is imported on first use: loading a data set needs neither the methods
# nor the libraries behind them.
_DEFINED_IN = {
    "anonymity": ("anonymise",),
    "data": ("check_decompositions", "datasets", "load", "world", "write_folder"),
    "encoding": ("encoder",),
    "experiments": ("Grid", "Run", "Verdict", "diagnose", "evaluate", "grid"),
    "experiments.agreement": ("compare_extractions",),
    "experiments.checkup": ("checkup",),
    "experiments.estimate": ("estimate_build", "estimate_run"),
    "experiments.reproduce": ("reproduce",),
    "experiments.runs": ("between", "runs"),
    "experiments.tables": ("compare", "tables"),
    "experiments.trial": ("try_model",),
    "graph.neighbourhood": ("complete", "neighbourhood"),
    "graph.node_details": ("node_details",),
    "index": ("Index",),
    "llm": ("engine",),
    "methods": ("method",),
    "methods.ranking": ("rankings",),
    "places": ("home",),
    "reading": ("reader",),
    "reading.compression": ("GraphWalk", "Similarity"),
    "registry": ("register",),
    "sparql": ("verify",),
    "trace": ("Trace",),
}
_MODULE_OF = {name: module for module, names in _DEFINED_IN.items() for name in names}

_WIDGETS = ("ablate", "explore", "messages", "replay", "steer", "trace_dots", "tree", "verdicts")

__all__ = sorted([*_MODULE_OF, *_WIDGETS, "bundle", "methods"])


def __getattr__(name):
    if name in _MODULE_OF:
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    elif not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})


def ablate(source, questions=(), **settings):
    """Widgets to change one thing at a time between retrieval and answer, over an index, or to inspect the wrong
    answers of a grid or a run; see :mod:`workbench.views.ablator`."""
    from workbench.views.ablator import ablator  # only notebooks need the widgets

    return ablator(source, questions, **settings)


def bundle(*runs, **settings):
    """Write runs as pages that open without a kernel and a network; see :func:`workbench.views.bundle.bundle`."""
    from workbench.views.bundle import bundle as write

    return write(*runs, **settings)


def explore(index, start=None, *, theme="auto", **settings):
    """Widgets to explore the graph of an index; see :class:`workbench.views.explorer.Explorer`."""
    from workbench.views.explorer import Explorer

    return Explorer(index, start, theme=theme, **settings)


def messages(source, questions=(), **settings):
    """Widgets to watch GFM-RAG pass messages, live or saved; see :class:`workbench.views.passing_widget.Messages`."""
    from workbench.views.passing_widget import Messages

    return Messages(source, questions, **settings)


def replay(source, questions=(), **settings):
    """Widgets to step through iterative retrieval, live or saved; see
    :class:`workbench.views.replay_widget.ReplayWidget`."""
    from workbench.views.replay_widget import ReplayWidget

    return ReplayWidget(source, questions, **settings)


def steer(source, questions=(), **settings):
    """Widgets to steer CatRAG's walk, live or over the replies of a saved run; see
    :class:`workbench.views.steering_widget.Steer`."""
    from workbench.views.steering_widget import Steer

    return Steer(source, questions, **settings)


def trace_dots(source, questions=(), **settings):
    """Widgets to watch DotRAG search, live or saved; see :class:`workbench.views.dot_tracer.Tracer`."""
    from workbench.views.dot_tracer import Tracer

    return Tracer(source, questions, **settings)


def tree(source, questions=(), **settings):
    """Widgets to walk a knowledge tree and to send questions through it, live or saved; see
    :class:`workbench.views.tree_widget.Tree`."""
    from workbench.views.tree_widget import Tree

    return Tree(source, questions, **settings)


def verdicts(runs=(), paper=None, table=None, **settings):
    """Widgets with all tables of all sources beside the numbers of runs; see
    :class:`workbench.views.verdicts_widget.Verdicts`."""
    from workbench.views.verdicts_widget import Verdicts

    return Verdicts(runs, paper, table, **settings)
