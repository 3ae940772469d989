"""Schemas of well-known graphs that come as bare triples. Names of types and relations are the graphs' own; the
definitions are ours."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from workbench.data.graph import Relation, Schema, read_schema


def covering(labels: Iterable[str]) -> Schema | None:
    """The bundled schema whose relations include all of the labels; None where there is none."""
    wanted = set(labels)
    found = (read_schema(path) for path in sorted(Path(__file__).parent.glob("*.json")))
    return next((schema for schema in found if wanted and wanted <= {r.name for r in schema.relations}), None)


def bare(labels: Iterable[str]) -> Schema:
    """What is known without a schema: the relations' names."""
    return Schema((), tuple(Relation(label, "", (), ()) for label in sorted(set(labels))))
