"""Rule body of `graph_records`: the facts of `extraction` as entities with descriptions and relationships with
strengths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from workbench.rules import extraction

TOLD = 5  # facts in a description


class Entity(NamedTuple):
    name: str
    type: str
    description: str


class Relation(NamedTuple):
    source: str
    target: str
    description: str
    strength: float


class Related(NamedTuple):
    entities: list[Entity]
    relations: list[Relation]


def relate(passages: Sequence[tuple[str, str]]) -> list[Related]:
    """Per (title, text): the ends of its facts, each with its first facts; pairs of ends with all that joins them, and
    as strength how many facts that are, at most 10."""
    return [_related(reading) for reading in extraction.read(passages)]


def _related(reading: extraction.Reading) -> Related:
    about: dict[str, list[str]] = defaultdict(list)
    joined: dict[frozenset[str], list[tuple[str, str, str]]] = defaultdict(list)
    for subject, relation, obj in reading.triples:
        for end in dict.fromkeys((subject, obj)):
            about[end].append(f"{subject} {relation} {obj}")
        if subject != obj:
            joined[frozenset((subject, obj))].append((subject, relation, obj))
    entities = [Entity(name, reading.types.get(name, ""), "; ".join(told[:TOLD])) for name, told in about.items()]
    relations = [
        Relation(facts[0][0], facts[0][2], "; ".join(map(" ".join, facts)), float(min(len(facts), 10)))
        for facts in joined.values()
    ]
    return Related(entities, relations)
