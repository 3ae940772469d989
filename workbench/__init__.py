"""hopscope: a research workbench for multi-hop question answering over graphs.

import workbench as wb
data = wb.load("meridian")
index = wb.Index.build(data, wb.engine("rules"))
wb.method("hipporag2", index).retrieve("Which river …?")
"""

from workbench import methods
from workbench.data import load
from workbench.encoding import encoder
from workbench.experiments import Run, Verdict, evaluate
from workbench.index import Index
from workbench.llm import engine
from workbench.methods import method
from workbench.places import home
from workbench.reading import reader
from workbench.trace import Trace

__version__ = "0.1.0"
__all__ = [
    "Index",
    "Run",
    "Trace",
    "Verdict",
    "encoder",
    "engine",
    "evaluate",
    "home",
    "load",
    "method",
    "methods",
    "reader",
]
