"""Tables of any evidence, so that code for tables works with every method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from workbench import tokens
from workbench.layouts import ket_rag
from workbench.records import ContextEntity, ContextGraph, ContextRelation, Evidence, Passage, Report, Triple, Unit

SHARES = {"entities": 0.2, "relations": 0.25}  # of a budget; units have the rest
T = TypeVar("T")


def of_evidence(evidence: Evidence, tokens: int | None = None) -> ContextGraph:
    """The method's own layout, if there is one (`Evidence.context`). Otherwise its entities, followed by the ends of
    facts that are none; facts as relations, with their descriptions or else their words; reports as sources; the read
    passages as chunks.

    `tokens`: the maximum of cl100k tokens in the layout ket_rag. Entities and relations have a share of them and units
    the rest, sources first; each table is cut at the first row that does not fit. A layout of the method's own is cut
    in the same way.
    """
    graph = evidence.context or tables_of(evidence)
    return graph if tokens is None else within(graph, tokens)


def within(graph: ContextGraph, budget: int) -> ContextGraph:
    """The leading rows of each table that fit into `budget` cl100k tokens in the layout ket_rag."""
    spent = tokens.count(ket_rag.write(ContextGraph()))
    rows_by_table: dict[str, tuple] = {}
    for table, row in _ROWS.items():
        rows = getattr(graph, table)
        head = tokens.count(ket_rag.BETWEEN + ket_rag.head(table, rows))
        cap = min(budget - spent, int(budget * SHARES[table]) if table in SHARES else budget - spent)
        rows_by_table[table], used = fitting(rows, row, cap, 0 if table == "chunks" else head)
        spent += used
    return ContextGraph(**rows_by_table)


def fitting(rows: Sequence[T], row: Callable[[T, int], str], cap: float, head: int) -> tuple[tuple[T, ...], int]:
    """The leading rows that fit, and their tokens with those of the head."""
    fitting_rows, used = tokens.leading(rows, lambda item, place: tokens.count(row(item, place - 1)), cap, head)
    return tuple(fitting_rows), used


_ROWS: dict[str, Callable] = {  # with a row's own number, or the next one
    "entities": lambda row, at: ket_rag.entity_row(row, at if row.id is None else row.id),
    "relations": lambda row, at: ket_rag.relation_row(row, at if row.id is None else row.id),
    "sources": lambda unit, at: ket_rag.unit_row(unit, unit.id if unit.id.isdecimal() else str(at + 1)),
    "chunks": lambda unit, at: ket_rag.unit_row(unit, unit.id if unit.id.startswith("chunk_") else f"chunk_{at + 1}"),
}


def relation_of(fact: Triple) -> ContextRelation:
    """A fact as a relationship: its description, or else its words."""
    sentence = fact.description or " ".join(fact.members)
    return ContextRelation(fact.subject, fact.object, sentence, passages=fact.passages)


def chunk_of(passage: Passage) -> Unit:
    """A passage as a text of a context."""
    return Unit(passage.id, passage.text, passage.title, (passage.id,))


def report_of(report: Report) -> Unit:
    """A report as a source of a context."""
    return Unit(report.id, report.text, report.title, report.passages)


def tables_of(evidence: Evidence) -> ContextGraph:
    """The tables that an evidence without a context makes."""
    entities = {
        entity.name.casefold(): ContextEntity(entity.name, entity.description) for entity, _ in evidence.entities
    }
    facts = [fact for fact, _ in evidence.facts]
    for name in (end for fact in facts for end in (fact.subject, fact.object)):
        entities.setdefault(name.casefold(), ContextEntity(name))
    return ContextGraph(
        tuple(entities.values()),
        tuple(map(relation_of, facts)),
        tuple(report_of(report) for report, _ in evidence.reports),
        tuple(chunk_of(passage) for passage, _ in evidence.passages[: evidence.selected]),
    )
