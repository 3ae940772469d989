"""Layer `profiles`: types, descriptions, keywords and weights of entities and relations.

It comes from `Dataset.profiles` where the data bring some, and is written from the passages where they do not, by the
engine, or by the rules without one (`profiling.py`). It may cost money, so it is kept apart from the graph that is made
of it, the layer `typed`. Names stay as they came; `phrased` finds those that the data brought by the phrases of the
facts layer. Rows are sorted, so they do not depend on the order in which the profiles came.

Profiles as tables, sorted, each row once: what the layer `profiles` has on disk.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from workbench.data.graph import Schema, read_schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import DataError
from workbench.index import profiling
from workbench.index.facts import FactsLayer
from workbench.index.layer import Build, Layer
from workbench.index.store import read_columns, rows_of, table_of_rows, write_table
from workbench.llm.engine import RulesEngine
from workbench.settings import Natural, Positive, validated
from workbench.steps import entity_relations, summarising
from workbench.text import PHRASE_RULES, text_hash

LIST = pa.list_(pa.string())
SCHEMAS = {
    "entities": pa.schema(
        [("name", pa.string()), ("type", pa.string()), ("description", pa.string()), ("passages", LIST)]
    ),
    "relations": pa.schema(
        [("source", pa.string()), ("target", pa.string()), ("description", pa.string()), ("keywords", LIST),
         ("weight", pa.float64()), ("passages", LIST), ("label", pa.string())]
    ),
}  # fmt: skip
_WEIGHT = SCHEMAS["relations"].names.index("weight")


class Tables(NamedTuple):
    """One row for each profile, in the columns of `SCHEMAS`."""

    entities: pa.Table
    relations: pa.Table


def tables_of(profiles: Profiles) -> Tables:
    return Tables(*map(table_of_rows, sorted_rows(profiles), SCHEMAS.values()))


def table_of(profiles: Iterable[EntityProfile] | Iterable[RelationProfile], schema: pa.Schema) -> pa.Table:
    """Profiles of one kind, in their order."""
    return table_of_rows(map(attrgetter(*schema.names), profiles), schema)


def entities_of(table: pa.Table) -> tuple[EntityProfile, ...]:
    return tuple(EntityProfile(*row) for row in rows_of(table))


def relations_of(table: pa.Table) -> tuple[RelationProfile, ...]:
    return tuple(RelationProfile(*row) for row in rows_of(table))


def sorted_rows(profiles: Profiles) -> tuple[list[tuple], list[tuple]]:
    """Of entities and of relations, sorted, each once."""
    entities, relations = (
        set(map(attrgetter(*schema.names), found))
        for schema, found in zip(SCHEMAS.values(), (profiles.entities, profiles.relations))
    )
    weighted = all(row[_WEIGHT] is not None for row in relations)  # then rows have their order without a key for each
    return sorted(entities), sorted(relations, key=None if weighted else _relation_order)


def content_hash(table: pa.Table) -> str:
    """Of what the cells hold, however they lie in memory."""
    digest = hashlib.sha256()
    for column in table.columns:
        for part in _flat(column):
            digest.update(part)
    return digest.hexdigest()


def _relation_order(row: tuple) -> tuple:
    """A weight that is missing is sorted apart, because None has no order."""
    weight = row[_WEIGHT]
    return (*row[:_WEIGHT], weight is not None, weight or 0.0, *row[_WEIGHT + 1 :])


def _flat(column: pa.ChunkedArray) -> Iterator[bytes | np.ndarray]:
    """What distinguishes the cells of a column: of lists and strings their lengths and then what they hold, of numbers
    which there are."""
    if pa.types.is_list(column.type):
        yield from _numbers(pc.list_value_length(column))
        yield from _flat(pa.chunked_array([chunk.flatten() for chunk in column.chunks], column.type.value_type))
    elif pa.types.is_string(column.type):
        yield from _numbers(pc.binary_length(column))
        for chunk in column.chunks:
            ends = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
            if len(chunk) and chunk.buffers()[2] is not None:
                yield memoryview(chunk.buffers()[2])[ends[0] : ends[-1]]
    else:
        yield from _numbers(pc.cast(pc.is_valid(column), pa.uint8()))
        yield from _numbers(pc.fill_null(column, 0))


def _numbers(column: pa.ChunkedArray) -> Iterator[np.ndarray]:
    return (np.ascontiguousarray(chunk.to_numpy(zero_copy_only=False)) for chunk in column.chunks)


@validated
class Settings:
    """How an engine writes them (LightRAG): the `types` it is asked for (the data's own, or LightRAG's,
    where none are given), further rounds for what was missed, and from how many fragments or cl100k tokens on the
    descriptions of one thing are condensed. Of profiles that the data bring nothing of this is changed."""

    types: Annotated[tuple[str, ...], Field(strict=False)] | None = None
    gleanings: Natural = 1
    fragments: Positive = 8
    summary_tokens: Positive = 1200


class ProfilesLayer(Layer):
    """`entities` list[EntityProfile] and `relations` list[RelationProfile], sorted; `schema` says which types and
    relations there are; `given`: the data brought them."""

    kind = "profiles"
    inputs = ("passages",)
    steps = (entity_relations.STEP, summarising.FUSE)

    @classmethod
    def of_data(cls, build: Build, settings: Settings) -> dict:
        schema = None if build.data.schema is None else _hash(asdict(build.data.schema))
        if build.data.profiles is None:
            return {"schema": schema}
        given = _hash(*map(content_hash, _given(build)))
        return {"schema": schema, "given": given, "made_by": build.data.profiles.made_by}

    @classmethod
    def maker(cls, build: Build) -> str | None:
        return super().maker(build) if build.engine and build.data.profiles is None else None

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: ProfilesLayer | None) -> dict:
        schema = build.data.schema
        if build.data.profiles is not None:
            _check(build.data.profiles, build.layers["passages"].row)
            tables, made_by = _given(build), list(build.data.profiles.made_by)
            counts = {"given": True} | ({"made_by": made_by} if made_by else {})
        else:
            if build.engine is None and old is None:
                build = replace(build, engine=RulesEngine())
            profiles, schema, counts = profiling.write(folder, build, settings, old)
            tables = tables_of(profiles)
        return _write(folder, tables, schema or Schema((), (), ()), counts)

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.given = bool(self.metadata.get("given"))
        self.schema: Schema = read_schema(folder / "schema.json")
        # Read at once, because a later build takes the files away; made into records when they are looked at.
        self.tables = Tables(*(read_columns(folder / f"{part}.parquet").cast(SCHEMAS[part]) for part in SCHEMAS))

    @cached_property
    def entities(self) -> list[EntityProfile]:
        return list(entities_of(self.tables.entities))

    @cached_property
    def relations(self) -> list[RelationProfile]:
        return list(relations_of(self.tables.relations))

    @property
    def profiles(self) -> Profiles:
        """All of them, as a data set brings them."""
        return Profiles(tuple(self.entities), tuple(self.relations), tuple(self.metadata.get("made_by", ())))

    def __repr__(self) -> str:
        return f"ProfilesLayer({self.metadata['entities']:,} entities, {self.metadata['relations']:,} relations)"


def _given(build: Build) -> Tables:
    """The profiles that the data bring, sorted once."""
    if "profiles" not in build.computed:
        build.computed["profiles"] = tables_of(build.data.profiles)
    return build.computed["profiles"]


def write_profiles(folder: Path, profiles: Profiles, schema: Schema, counts: Mapping[str, Any]) -> dict[str, Any]:
    """Write what the constructor opens, and return the metadata with `counts` in them. `content` is what the layers
    above depend on, however it was come by."""
    return _write(folder, tables_of(profiles), schema, counts)


def _write(folder: Path, tables: Tables, schema: Schema, counts: Mapping[str, Any]) -> dict[str, Any]:
    for part, table in tables._asdict().items():
        write_table(folder / f"{part}.parquet", **dict(zip(table.column_names, table.columns)))
    text = json.dumps(asdict(schema), ensure_ascii=False, indent=1)
    (folder / "schema.json").write_text(text + "\n", encoding="utf-8")
    content = _hash(*map(content_hash, tables), text)
    return {"content": content, **counts, "entities": len(tables.entities), "relations": len(tables.relations)}


class Phrased:
    """Profiles by the phrases that a rule of the facts layer (`unicode`, `ascii`) makes of their names."""

    def __init__(self, layer: ProfilesLayer, rule: str):
        normalise = PHRASE_RULES[rule]
        self._of: dict[str, list[EntityProfile]] = defaultdict(list)
        self._between: dict[frozenset[str], list[RelationProfile]] = defaultdict(list)
        for entity in layer.entities:
            self._of[normalise(entity.name)].append(entity)
        for relation in layer.relations:
            self._between[frozenset((normalise(relation.source), normalise(relation.target)))].append(relation)

    def of(self, phrase: str) -> Sequence[EntityProfile]:
        """The profiles of a phrase; none is an empty list."""
        return self._of.get(phrase, [])

    def between(self, a: str, b: str) -> Sequence[RelationProfile]:
        """The profiles of the relations that join two phrases, in either direction."""
        return self._between.get(frozenset((a, b)), [])


def phrased(facts: FactsLayer, layer: ProfilesLayer | None) -> Phrased | None:
    """The profiles that the data brought, by the phrases of the facts layer; None without any. What an engine wrote for
    the layer `typed` is left to it, so that adding that layer leaves others as they are."""
    return Phrased(layer, facts.metadata["settings"]["normalise"]) if layer is not None and layer.given else None


def _hash(*parts) -> str:
    return text_hash(json.dumps(parts))


def _check(profiles: Profiles, known: dict[str, int]) -> None:
    for profile in (*profiles.entities, *profiles.relations):
        for passage_id in profile.passages:
            if passage_id not in known:
                raise DataError(
                    f"{profile!r} names the passage {passage_id!r}, which is not in the corpus; "
                    "add the passage or take its id out of the profile"
                )
