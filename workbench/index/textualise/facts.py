"""The triples of a graph, from the side of each entity: what it takes part in, its type, its articles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from workbench.data.graph import Schema
from workbench.index.textualise.markup import plain, safe, shielded
from workbench.records import Triple
from workbench.text import text_hash

UNKNOWN = "unknown"


class Shard(NamedTuple):
    """One article: its id, the entity it is about, which of that entity's articles it is, the rows of the triples that
    it states."""

    id: str
    central: str
    number: int
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Facts:
    """`triples` (subject, relation, object) stand once each, written as in marked text. `rows` entity → its
    triples, sorted by relation, then by the name at the other end."""

    triples: list[tuple[str, str, str]]
    rows: dict[str, list[int]]
    types: dict[str, str]

    @classmethod
    def of(cls, triples: Iterable[Triple], schema: Schema) -> Facts:
        written: dict[str, str] = {}
        for triple in triples:
            for name in triple.members:
                if name not in written:
                    written[name] = safe(name)
        members = dict.fromkeys(tuple(written[member] for member in triple.members) for triple in triples)
        found, rows = list(members), defaultdict(list)
        for row, (subject, _, obj) in enumerate(found):
            for name in {subject, obj}:
                rows[name].append(row)
        for name, mine in rows.items():
            mine.sort(key=lambda row: (found[row][1], _other(found[row], name), row))
        return cls(found, dict(sorted(rows.items())), _types(found, rows, schema))

    def of_rows(self, rows: Iterable[int]) -> tuple[tuple[str, str, str], ...]:
        return tuple(self.triples[row] for row in rows)

    def neighbours(self, name: str, rows: Iterable[int]) -> set[str]:
        """The names at the other ends; of a triple that leads back to the entity, its own."""
        return {_other(self.triples[row], name) for row in rows}

    def stated_by(self, shard: Shard) -> list[int]:
        """The triples of a shard that its entity is the subject of."""
        return [row for row in shard.rows if self.triples[row][0] == shard.central]

    def shards(self, size: int) -> list[Shard]:
        """The articles of all entities, of at most `size` triples each, by name: `name#1`, `name#2`, …"""
        return [
            Shard(f"{key}#{number}", name, number, tuple(rows[start : start + size]))
            for name, rows in self.rows.items()
            for key in [_key(plain(name))]
            for number, start in enumerate(range(0, len(rows), size), 1)
        ]


def _other(triple: tuple[str, str, str], name: str) -> str:
    subject, _, obj = triple
    return obj if subject == name else subject


def _key(name: str) -> str:
    """A name as it can stand in an id: without control characters, and unlike any other even so."""
    return name if name.isprintable() else f"{''.join(filter(str.isprintable, name))}~{text_hash(name)}"


def _types(triples: list[tuple[str, str, str]], rows: dict[str, list[int]], schema: Schema) -> dict[str, str]:
    """Entity → type: one that all its relations allow at its end, else one that any does; the first in the schema."""
    order = {kind.name: at for at, kind in enumerate(schema.entity_types)}
    ends = {shielded(relation.name): (relation.head, relation.tail) for relation in schema.relations}
    roles: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for subject, label, obj in triples:
        head, tail = ends.get(label, ((), ()))
        roles[subject].add(head)
        roles[obj].add(tail)
    types = {}
    for name in rows:
        allowed = [set(role) for role in roles[name] if role]
        choice = (set.intersection(*allowed) or set.union(*allowed)) if allowed else {UNKNOWN}
        types[name] = min(choice, key=lambda kind: order.get(kind, len(order)))
    return types
