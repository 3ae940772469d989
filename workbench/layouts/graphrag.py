"""The context of Microsoft GraphRAG's local search (microsoft/graphrag, commit 6dad6d2) as text: reports, entities,
relationships and text units, each a table of `|` with a line of columns. It is written only, with the rows of the
layout `ket_rag`, whose code grew out of it. The sources of a graph are its reports, the chunks its text units."""

from __future__ import annotations

from collections.abc import Sequence

from workbench import tokens
from workbench.layouts import ket_rag
from workbench.layouts.evidence import fitting
from workbench.records import ContextEntity, ContextGraph, ContextRelation, Unit

HEADS = {
    "sources": "-----Reports-----\nid|content\n",
    "entities": ket_rag.head("entities"),
    "relations": "\n".join([ket_rag.HEADERS["relations"], f"{ket_rag.COLUMNS['relations']}|rank\n"]),
    "chunks": "-----Sources-----\nid|text\n",
}


def write(graph: ContextGraph) -> str:
    """The context as text; rows are numbered from 0. Empty for an empty graph."""
    tables = ((head, getattr(graph, name)) for name, head in HEADS.items())
    return ket_rag.BETWEEN.join(head + "".join(map(_row, rows, range(len(rows)))) for head, rows in tables if rows)


def filled(graph: ContextGraph, budget: int, reports: float, sources: float) -> ContextGraph:
    """The leading rows of each table of at most `budget` cl100k tokens together: reports and text units have shares of
    it; entities have the rest, and relationships what entities leave."""
    fitting, _ = _fitting("sources", graph.sources, budget * reports)
    local = budget * (1 - reports - sources)
    entities, used = _fitting("entities", graph.entities, local)
    relations, _ = _fitting("relations", graph.relations, local - used)
    chunks, _ = _fitting("chunks", graph.chunks, budget * sources)
    return ContextGraph(entities, relations, fitting, chunks, layout="graphrag")


def _fitting(table: str, rows: Sequence, cap: float) -> tuple[tuple, int]:
    return fitting(rows, _row, cap, tokens.count(HEADS[table] + ket_rag.BETWEEN))


def _row(row: ContextEntity | ContextRelation | Unit, at: int) -> str:
    if isinstance(row, ContextEntity):
        return ket_rag.entity_row(row, at)
    if isinstance(row, ContextRelation):
        return ket_rag.relation_row(row, at, ("rank",))
    return ket_rag.unit_row(row, str(at))
