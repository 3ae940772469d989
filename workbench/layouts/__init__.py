"""Contexts as text: a layout is a module with `write(graph) -> str`, `parse(text) -> ContextGraph` and `KNOWN_BY`.

    ket_rag    four tables of `|` under dashed headers (KET-RAG's released code), which is Microsoft GraphRAG's layout
    lightrag   fenced blocks of JSON lines and a list of references (lightrag-hku 1.5.7)
    youtu      triples with the types of their ends, communities, chunks (Youtu-GraphRAG)

Text that a layout writes and parses is written identically again. A new layout is a file in this folder and a line in
`LAYOUTS`. No code reads these, so they have `write` alone, and a line in `WRITTEN`:

    graphrag   tables of `|` that begin with reports (Microsoft GraphRAG's local search)
    tables     tables of CSV that end with paths (the early LightRAG, PathRAG)
    paths      paths in words, then texts (DotRAG)
    subgraph   tables of CSV of nodes and edges (G-Retriever)
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from types import ModuleType

from workbench import tokens
from workbench.errors import DataError
from workbench.layouts import graphrag, ket_rag, lightrag, paths, subgraph, tables, youtu
from workbench.layouts.evidence import of_evidence
from workbench.records import ContextGraph

LAYOUTS: dict[str, ModuleType] = {"youtu": youtu, "ket_rag": ket_rag, "lightrag": lightrag}
WRITTEN: dict[str, ModuleType] = {
    **LAYOUTS, "graphrag": graphrag, "tables": tables, "paths": paths, "subgraph": subgraph,
}  # fmt: skip

__all__ = ["LAYOUTS", "WRITTEN", "cut", "ket_rag", "lightrag", "of_evidence", "read", "write", "youtu"]

_PARTS = 1_000  # in which the tables of a context are cut


def write(graph: ContextGraph) -> str:
    """A context as text, in the layout that it names."""
    return WRITTEN[graph.layout].write(graph)


def cut(graph: ContextGraph, budget: int) -> ContextGraph:
    """The same share of each table, from their beginnings, as large as `budget` cl100k tokens hold in the layout that
    the context names: so its method's own shares of the tables stay."""
    names = ("entities", "relations", "sources", "chunks", "paths")

    def part(of: int) -> ContextGraph:
        rows = {name: getattr(graph, name)[: len(getattr(graph, name)) * of // _PARTS] for name in names}
        return replace(graph, **rows)

    held = bisect_right(range(_PARTS + 1), budget, key=lambda of: tokens.count(write(part(of))))
    return part(max(0, held - 1))


def read(text: str) -> tuple[str, ContextGraph]:
    """The name of a context's layout, and its tables. Raises DataError for an unknown layout."""
    for name, layout in LAYOUTS.items():
        if layout.fits(text):
            return name, layout.parse(text)
    lines = ", ".join(f"{name} by {layout.KNOWN_BY!r}" for name, layout in LAYOUTS.items())
    raise DataError(f"a context that begins with {text[:60]!r} is in no layout known here; {lines}")
