"""Evidence to context text to answer. A new reader is a file in this folder and a line in `_PLACES`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.reading.render import render  # a function of its module's name cannot wait
from workbench.registry import Registry, exporting
from workbench.settings import parse_spec

if TYPE_CHECKING:
    from workbench.index import Index
    from workbench.llm.engine import Engine
    from workbench.reading.base import Reader
    from workbench.reading.direct import Cot, Direct, Sparql
    from workbench.reading.graphrag import Global, Local
    from workbench.reading.sparql_exec import SparqlExec
    from workbench.reading.structured import Essay, Structured

# Each is imported when it is looked up, so that no reader pays for another's dependencies.
_PLACES = {
    "direct": "workbench.reading.direct:Direct",
    "sparql": "workbench.reading.direct:Sparql",
    "cot": "workbench.reading.direct:Cot",
    "sparql-exec": "workbench.reading.sparql_exec:SparqlExec",
    "global": "workbench.reading.graphrag:Global",
    "local": "workbench.reading.graphrag:Local",
    "structured": "workbench.reading.structured:Structured",
    "essay": "workbench.reading.structured:Essay",
}
READERS: Registry[type[Reader]] = Registry(
    "readers", _PLACES, needs=("name", "paper", "Settings", "asked", "reads_index")
)

__all__ = [
    "READERS", "Cot", "Direct", "Essay", "Global", "Local", "Reader", "Sparql", "SparqlExec", "Structured", "reader",
    "render",
]  # fmt: skip

if not TYPE_CHECKING:  # with it, type checkers accept any name
    __getattr__ = exporting(__name__, [*_PLACES.values(), "workbench.reading.base:Reader"])


def reader(
    spec: str = "direct", engine: Engine | None = None, *, index: Index | None = None, **settings: Any
) -> Reader:
    """The reader of this SPEC: `direct`, `direct[k=3]`, `cot[compress=graph-walk[budget=4000]]`. `index` is for those
    that read an index and not only the evidence, such as `global`, and for `check=true`; others do without.
    `rewrite=true`, of any reader, has its answers made short for EM and F1 (`rewriting`)."""
    from workbench.reading.rewriting import Rewriting, asked_for

    name, given = parse_spec(spec)
    given = {**given, **settings}
    rewrite = asked_for(given)
    make: Any = READERS.look_up(name)
    made = make(engine, **{**given, "index": index})
    return Rewriting(made) if rewrite else made
