"""The context of the early LightRAG, and of PathRAG, which grew out of it, as text: tables of CSV. It is written only;
the columns are the source's (PathRAG, snapshot of 17 December 2025), the headings ours.

Entities and relationships of the high level come first, then the texts, then entities of the low level, and last the
paths, of which the best, number 1, is next to the question. Where no level is given, all entities stand at the
beginning."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from workbench.layouts.paths import in_words, one_line
from workbench.records import ContextEntity, ContextGraph, ContextRelation

COLUMNS = {
    "entities": ("id", "entity", "type", "description", "rank"),
    "relations": ("id", "source", "target", "description", "keywords", "weight", "rank"),
    "sources": ("id", "content"),
    "paths": ("id", "context"),
}
FENCE = "```"
BETWEEN = "\n\n"  # tables


def write(graph: ContextGraph) -> str:
    """The context as text; empty for an empty graph."""
    low = [row for row in graph.entities if row.level == "low"]
    high = [row for row in graph.entities if row.level != "low"]
    units = (*graph.chunks, *graph.sources)
    paths = [(at, in_words(path)) for at, path in enumerate(graph.paths, 1)]
    tables = (
        table("Entities of the high level" if low else "Entities", "entities", _entities(high)),
        table("Relationships", "relations", _relations(graph.relations)),
        table("Sources", "sources", enumerate((unit.content for unit in units), 1)),
        table("Entities of the low level", "entities", _entities(low)),
        table("Paths", "paths", reversed(paths)),
    )
    return BETWEEN.join(table for table in tables if table)


def table(title: str, columns: str, rows: Iterable[Sequence]) -> str:
    """Empty without rows."""
    lines = [row_of(*cells) for cells in rows]
    return "\n".join([head(title, COLUMNS[columns]), *lines, FENCE]) if lines else ""


def head(title: str, columns: Iterable[str]) -> str:
    return f"-----{title}-----\n{FENCE}csv\n{','.join(columns)}"


def row_of(*cells: object) -> str:
    """A line of CSV; each cell is on one line."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(one_line(str(cell)) for cell in cells)
    return out.getvalue()


def _entities(rows: Iterable[ContextEntity]) -> Iterable[Sequence]:
    return ((at, row.name, row.type, row.description, _or_empty(row.degree)) for at, row in enumerate(rows, 1))


def _relations(rows: Iterable[ContextRelation]) -> Iterable[Sequence]:
    return (
        (at, row.source, row.target, row.description, ", ".join(row.keywords), float(row.weight), _or_empty(row.rank))
        for at, row in enumerate(rows, 1)
    )


def _or_empty(number: int | None) -> object:
    return "" if number is None else number
