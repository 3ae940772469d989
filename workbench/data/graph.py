"""A gold graph of a corpus: typed entities, relations between them and attributes. See `docs/data.md`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.data.lines import once, read_object, record, rows, short, string
from workbench.errors import DataError
from workbench.text import counted

VALUES = ("date", "number", "text")
KINDS = ("relation", "attribute")
UNKNOWN = "unknown"  # the type of an entity whose type is unknown
MADE_BY = ("by hand", "generated")


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type of entities."""

    name: str
    definition: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation, and the allowed entity types of its head and tail."""

    name: str
    definition: str
    head: tuple[str, ...]
    tail: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute, the entity types that may have it, and the kind of its values: date, number or text."""

    name: str
    definition: str
    of: tuple[str, ...]
    value: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """The types and relations of a graph, with a `description` in a sentence or two."""

    entity_types: tuple[EntityType, ...]
    relations: tuple[Relation, ...]
    attributes: tuple[Attribute, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class GoldEntity:
    """An entity; `passage` is its own article, `mentions` are phrases that refer to it without naming it."""

    name: str
    type: str
    aliases: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    passage: str | None = None


@dataclass(frozen=True, slots=True)
class GoldTriple:
    """A fact and the passages that state it. The tail of a relation is an entity's name, that of an attribute a
    value. `since` and `until` are the first and the last year in which it holds, where that is stated."""

    head: str
    relation: str
    tail: str
    kind: str
    passages: tuple[str, ...]
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class GoldGraph:
    """The facts that a corpus states, as entities and triples of a schema; `made_by`: by hand, or generated."""

    schema: Schema
    entities: tuple[GoldEntity, ...]
    triples: tuple[GoldTriple, ...]
    made_by: str = MADE_BY[0]

    def __repr__(self) -> str:
        kinds, schema = Counter(triple.kind for triple in self.triples), self.schema
        return (
            f"GoldGraph: {counted(len(self.entities), 'entity', 'entities')} of {len(schema.entity_types)} types, "
            f"{kinds['relation']:,} triples of {len(schema.relations)} relations, "
            f"{kinds['attribute']:,} of {len(schema.attributes)} attributes"
        )


def read_graph(folder: Path, ids: set[str]) -> GoldGraph:
    """Read and check `schema.json`, `entities.jsonl` and `triples.jsonl`; `ids` are the corpus's passage ids."""
    schema = read_schema(folder / "schema.json", typed=True)
    entities = _read_entities(folder / "entities.jsonl", schema, ids)
    triples = _read_triples(folder / "triples.jsonl", schema, entities, ids)
    made_by = string(read_object(folder / "schema.json"), "made_by", folder / "schema.json", default=MADE_BY[0])
    if made_by not in MADE_BY:
        raise DataError(
            f"{folder / 'schema.json'}: 'made_by' is {short(made_by)}; it should be one of {', '.join(MADE_BY)}"
        )
    return GoldGraph(schema, tuple(entities.values()), triples, made_by)


def read_schema(path: Path, *, typed: bool = False) -> Schema:
    """Read and check a `schema.json`. `typed`: every relation must declare the types of its ends, and every attribute
    the types that may have it."""
    content = read_object(path)
    types, relations, attributes = (_part(path, content, part, kind) for part, kind in _PARTS.items())
    type_names = {type_.name for _, type_ in types}
    for where, relation in relations:
        for end in ("head", "tail"):
            _check_types(getattr(relation, end), end, where, type_names, typed)
    for where, attribute in attributes:
        if attribute.value not in VALUES:
            raise DataError(f"{where}: 'value' is {short(attribute.value)}; it should be one of {', '.join(VALUES)}")
        _check_types(attribute.of, "of", where, type_names, typed)
    parts = (tuple(item for _, item in part) for part in (types, relations, attributes))
    return Schema(*parts, string(content, "description", path, default=""))


_PARTS = {"entity_types": EntityType, "relations": Relation, "attributes": Attribute}


def _part(path: Path, content: dict, part: str, kind: type) -> list[tuple[str, Any]]:
    """(place, record) of a list of a schema; only attributes may be left out."""
    listed = content.get(part, [] if part == "attributes" else None)
    if not isinstance(listed, list) or not all(isinstance(row, dict) for row in listed):
        raise DataError(f"{path}: {part!r} is {short(listed)}; it should be a list of objects")
    read, seen = [], {}
    for position, row in enumerate(listed, 1):
        where = f"{path}, {part} {position}"
        read.append((where, record(kind, row, where)))
        once(seen, read[-1][1].name, part, where, "name")
    return read


def _check_types(named: Collection[str], field: str, where: str, type_names: set[str], needed: bool) -> None:
    for name in named:
        if name not in type_names:
            raise DataError(f"{where}: {field!r} has {short(name)}, which is not in 'entity_types'; add it there")
    if needed and not named:
        raise DataError(f"{where}: {field!r} is empty; it should list entity types")


def _read_entities(path: Path, schema: Schema, ids: set[str]) -> dict[str, GoldEntity]:
    types = {entity_type.name for entity_type in schema.entity_types}
    entities: dict[str, GoldEntity] = {}
    seen: dict[str, str] = {}
    for where, row in rows(path):
        entity = record(GoldEntity, row, where)
        once(seen, entity.name, "entity", where, "name")
        if entity.type not in types:
            raise DataError(
                f"{where}: the type {short(entity.type)} is not in schema.json; correct 'type' or add it there"
            )
        in_corpus((entity.passage,) if entity.passage is not None else (), ids, where, "passage")
        entities[entity.name] = entity
    return entities


def _read_triples(path: Path, schema: Schema, entities: dict[str, GoldEntity], ids: set[str]) -> tuple[GoldTriple, ...]:
    heads = {
        **{("relation", relation.name): relation.head for relation in schema.relations},
        **{("attribute", attribute.name): attribute.of for attribute in schema.attributes},
    }
    tails = {relation.name: relation.tail for relation in schema.relations}

    def check(end: str, name: str, allowed: tuple[str, ...], where: str) -> None:
        if name not in entities:
            raise DataError(f"{where}: the {end} {short(name)} is not in entities.jsonl; correct it or add the entity")
        if (actual := entities[name].type) not in allowed:
            raise DataError(
                f"{where}: the {end} {short(name)} is of type {actual!r}, but schema.json allows {', '.join(allowed)}; "
                "correct the triple or the schema"
            )

    triples: list[GoldTriple] = []
    seen: dict[str, str] = {}
    for where, row in rows(path):
        triple = record(GoldTriple, row, where)
        kind, relation = triple.kind, triple.relation
        if kind not in KINDS:
            raise DataError(f"{where}: 'kind' is {short(kind)}; it should be one of {', '.join(KINDS)}")
        if (kind, relation) not in heads:
            raise DataError(f"{where}: the {kind} {short(relation)} is not in schema.json; correct it or add it there")
        check("head", triple.head, heads[kind, relation], where)
        if kind == "relation":
            check("tail", triple.tail, tails[relation], where)
        if not triple.passages:
            raise DataError(f"{where}: 'passages' is empty; it should list the passages that state the triple")
        in_corpus(triple.passages, ids, where, "passages")
        once(seen, (triple.head, relation, triple.tail), "triple", where, "")
        triples.append(triple)
    return tuple(triples)


def in_corpus(passages: tuple[str, ...], ids: set[str], where: str, field: str) -> None:
    for passage in passages:
        if passage not in ids:
            raise DataError(
                f"{where}: the passage {short(passage)} is not in the corpus; correct {field!r} or add the passage"
            )
