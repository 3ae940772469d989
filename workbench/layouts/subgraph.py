"""The context of G-Retriever as text: two tables of CSV, the nodes with their numbers, and the edges with those
of their ends. It is written only."""

from __future__ import annotations

from workbench.layouts.tables import BETWEEN, row_of
from workbench.records import ContextGraph

NODES, EDGES = "node_id,node_attr", "src,edge_attr,dst"


def write(graph: ContextGraph) -> str:
    """The context as text; empty for an empty graph. An edge whose end a cut left out is left out as well."""
    number = {row.name: at for at, row in enumerate(graph.entities)}
    nodes = [row_of(at, name) for name, at in number.items()]
    edges = [
        row_of(number[row.source], row.description, number[row.target])
        for row in graph.relations
        if row.source in number and row.target in number
    ]
    return BETWEEN.join("\n".join([head, *rows]) for head, rows in ((NODES, nodes), (EDGES, edges)) if rows)
