"""Contexts as text and back: a layout is a module with `write(graph) -> str` and `parse(text) -> ContextGraph`.

    ket_rag    four tables of `|` under dashed headers (KET-RAG's released code), which is Microsoft GraphRAG's layout
    lightrag   fenced blocks of JSON lines and a list of references (lightrag-hku 1.5.7)
    youtu      triples with the types of their ends, communities, chunks (Youtu-GraphRAG)

Text that a layout writes and parses is written identically again. A new layout is a file in this folder and a line in
`LAYOUTS`.
"""

from __future__ import annotations

from types import ModuleType

from workbench.errors import DataError
from workbench.layouts import ket_rag, lightrag, youtu
from workbench.layouts.evidence import of_evidence
from workbench.records import ContextGraph

LAYOUTS: dict[str, ModuleType] = {"youtu": youtu, "ket_rag": ket_rag, "lightrag": lightrag}

__all__ = ["LAYOUTS", "ket_rag", "lightrag", "of_evidence", "read", "youtu"]


def read(text: str) -> tuple[str, ContextGraph]:
    """The name of a context's layout, and its tables. Raises DataError for an unknown layout."""
    for name, layout in LAYOUTS.items():
        if layout.fits(text):
            return name, layout.parse(text)
    raise DataError(
        f"a context that begins with {text[:60]!r} is in no layout known here ({', '.join(LAYOUTS)}); they are known "
        f"by a line such as {ket_rag.HEADERS['entities']!r} or {youtu.HEADINGS['triples']!r} and by fenced blocks of "
        "JSON lines"
    )
