"""hopscope: a research workbench for multi-hop question answering over graphs.

import workbench as wb
data = wb.load("meridian")
index = wb.Index.build(data, wb.engine("rules"))
wb.method("hipporag2", index).retrieve("Which river …?")
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # `typing` takes longer to load than everything else here, and no signal is handled until then
if TYPE_CHECKING:  # for type checkers and editors, what `_DEFINED_IN` says; tests/typing holds the two together
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from typing import Any

    from workbench import anonymity as anonymity
    from workbench import data as data
    from workbench import encoding as encoding
    from workbench import errors as errors
    from workbench import evaluation as evaluation
    from workbench import index as index
    from workbench import llm as llm
    from workbench import measures as measures
    from workbench import methods as methods
    from workbench import operators as operators
    from workbench import reading as reading
    from workbench import records as records
    from workbench import settings as settings
    from workbench import steps as steps
    from workbench import trace as trace
    from workbench import views as views
    from workbench.analyses.diagnose import diagnose as diagnose
    from workbench.anonymity import anonymise as anonymise
    from workbench.data import datasets as datasets
    from workbench.data import load as load
    from workbench.data import world as world
    from workbench.data import write_folder as write_folder
    from workbench.encoding import encoder as encoder
    from workbench.evaluation import Grid as Grid
    from workbench.evaluation import Run as Run
    from workbench.evaluation import Verdict as Verdict
    from workbench.evaluation.agreement import compare_extractions as compare_extractions
    from workbench.evaluation.estimate import estimate_build as estimate_build
    from workbench.evaluation.estimate import estimate_run as estimate_run
    from workbench.evaluation.evaluate import evaluate as evaluate
    from workbench.evaluation.grid import grid as grid
    from workbench.evaluation.listing import between as between
    from workbench.evaluation.listing import runs as runs
    from workbench.index import Index as Index
    from workbench.llm.engine import engine as engine
    from workbench.methods import method as method
    from workbench.methods.baselines import oracle as oracle
    from workbench.methods.ranking import rankings as rankings
    from workbench.operators.checkup import checkup as checkup
    from workbench.operators.neighbourhood import complete as complete
    from workbench.operators.neighbourhood import neighbourhood as neighbourhood
    from workbench.operators.node_details import node_details as node_details
    from workbench.papers.reproduce import reproduce as reproduce
    from workbench.papers.tables import Tables
    from workbench.papers.tables import compare as compare
    from workbench.papers.tables import tables as tables
    from workbench.places import home as home
    from workbench.reading import reader as reader
    from workbench.reading.compression import GraphWalk as GraphWalk
    from workbench.reading.compression import Similarity as Similarity
    from workbench.records import Question
    from workbench.registry import register as register
    from workbench.sparql import verify as verify
    from workbench.trace import Trace as Trace
    from workbench.views.ablator import Ablator
    from workbench.views.dot_tracer import Tracer
    from workbench.views.explorer import Explorer
    from workbench.views.failures import Failures
    from workbench.views.passing_widget import Messages
    from workbench.views.replay_widget import ReplayWidget
    from workbench.views.session import Source
    from workbench.views.steering_widget import Steer
    from workbench.views.tree_widget import Tree
    from workbench.views.verdicts_widget import Verdicts

__version__ = "0.1.0"

# Module → the public names that it defines. Each is imported on first use: loading a data set needs neither the methods
# nor the libraries behind them.
_DEFINED_IN = {
    "analyses.diagnose": ("diagnose",),
    "anonymity": ("anonymise",),
    "data": ("datasets", "load", "world", "write_folder"),
    "encoding": ("encoder",),
    "evaluation": ("Grid", "Run", "Verdict", "evaluate", "grid"),
    "evaluation.agreement": ("compare_extractions",),
    "operators.checkup": ("checkup",),
    "evaluation.estimate": ("estimate_build", "estimate_run"),
    "papers.reproduce": ("reproduce",),
    "evaluation.listing": ("between", "runs"),
    "papers.tables": ("compare", "tables"),
    "operators.neighbourhood": ("complete", "neighbourhood"),
    "operators.node_details": ("node_details",),
    "index": ("Index",),
    "llm": ("engine",),
    "methods": ("method",),
    "methods.baselines": ("oracle",),
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


if not TYPE_CHECKING:  # with it, type checkers accept any name

    def __getattr__(name: str) -> Any:
        from importlib.util import find_spec

        if name in _MODULE_OF:
            value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        elif not name.startswith("_") and find_spec(f"{__name__}.{name}"):
            value = import_module(f"{__name__}.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def ablate(source: Any, questions: Sequence[Question] = (), **settings: Any) -> Ablator | Failures:
    """Widgets to change one thing at a time between retrieval and answer, over an index, or to inspect the wrong
    answers of a grid or a run; see :mod:`workbench.views.ablator`."""
    from workbench.views.ablator import ablator  # only notebooks need the widgets

    return ablator(source, questions, **settings)


def bundle(*runs: Run | Grid | str | Path, **settings: Any) -> Path:
    """Write runs as pages that open without a kernel and a network; see :func:`workbench.views.bundle.bundle`."""
    from workbench.views.bundle import bundle as write

    return write(*runs, **settings)


def explore(index: Index, start: str | int | None = None, *, theme: str = "auto", **settings: Any) -> Explorer:
    """Widgets to explore the graph of an index; see :class:`workbench.views.explorer.Explorer`."""
    from workbench.views.explorer import Explorer

    return Explorer(index, start, theme=theme, **settings)


def messages(source: Source, questions: Sequence[Question] = (), **settings: Any) -> Messages:
    """Widgets to watch GFM-RAG pass messages, live or saved; see :class:`workbench.views.passing_widget.Messages`."""
    from workbench.views.passing_widget import Messages

    return Messages(source, questions, **settings)


def replay(source: Source, questions: Sequence[Question] = (), **settings: Any) -> ReplayWidget:
    """Widgets to step through iterative retrieval, live or saved; see
    :class:`workbench.views.replay_widget.ReplayWidget`."""
    from workbench.views.replay_widget import ReplayWidget

    return ReplayWidget(source, questions, **settings)


def steer(source: Source, questions: Sequence[Question] = (), **settings: Any) -> Steer:
    """Widgets to steer CatRAG's walk, live or over the replies of a saved run; see
    :class:`workbench.views.steering_widget.Steer`."""
    from workbench.views.steering_widget import Steer

    return Steer(source, questions, **settings)


def trace_dots(source: Source, questions: Sequence[Question] = (), **settings: Any) -> Tracer:
    """Widgets to watch DotRAG search, live or saved; see :class:`workbench.views.dot_tracer.Tracer`."""
    from workbench.views.dot_tracer import Tracer

    return Tracer(source, questions, **settings)


def tree(source: Source, questions: Sequence[Question] = (), **settings: Any) -> Tree:
    """Widgets to walk a knowledge tree and to send questions through it, live or saved; see
    :class:`workbench.views.tree_widget.Tree`."""
    from workbench.views.tree_widget import Tree

    return Tree(source, questions, **settings)


def verdicts(
    runs: Iterable[Run | Tables | str | Path] = (), paper: str | None = None, table: str | None = None, **settings: Any
) -> Verdicts:
    """Widgets with all tables of all sources beside the numbers of runs; see
    :class:`workbench.views.verdicts_widget.Verdicts`."""
    from workbench.views.verdicts_widget import Verdicts

    return Verdicts(runs, paper, table, **settings)
