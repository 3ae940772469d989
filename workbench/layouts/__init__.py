"""Contexts as text and back: a layout is a module with `write(graph) -> str` and `parse(text) -> ContextGraph`.

    ket_rag    four tables of `|` under dashed headers (KET-RAG), which is Microsoft GraphRAG's layout
    lightrag   fenced blocks of JSON lines and a list of references (lightrag-hku 1.5.7)

What a layout writes is written the same once it was parsed. A new one is a file in this folder and a line in `LAYOUTS`.
"""

from __future__ import annotations

from types import ModuleType

from workbench.errors import DataError
from workbench.layouts import ket_rag, lightrag
from workbench.layouts.evidence import of_evidence
from workbench.records import ContextGraph

LAYOUTS: dict[str, ModuleType] = {"ket_rag": ket_rag, "lightrag": lightrag}

__all__ = ["LAYOUTS", "ket_rag", "lightrag", "of_evidence", "read"]


def read(text: str) -> tuple[str, ContextGraph]:
    """The name of the layout that a context is in, and its tables. DataError if it is in none of them."""
    for name, layout in LAYOUTS.items():
        if layout.fits(text):
            return name, layout.parse(text)
    raise DataError(
        f"a context that begins with {text[:60]!r} is in no layout known here ({', '.join(LAYOUTS)}); they are known "
        f"by a line such as {ket_rag.HEADERS['entities']!r} and by fenced blocks of JSON lines"
    )
