"""Layer `profiles`: types, descriptions, keywords and weights of entities and relations.

It comes from `Dataset.profiles` where the data bring some, and is written from the passages where they do not, by the
engine, or by the rules without one (`profiling.py`). It may cost money, so it is kept apart from the graph that is made
of it, the layer `typed`. Names stay as they came; `phrased` finds those that the data brought by the phrases of the
facts layer. Rows are sorted, so they do not depend on the order in which the profiles came.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from workbench.data.graph import Schema, read_schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import DataError
from workbench.index import profiling
from workbench.index.facts import FactsLayer
from workbench.index.layer import Build, Kept, Layer
from workbench.index.profile_tables import (
    SCHEMAS,
    Tables,
    changed,
    content_hash,
    entities_of,
    relations_of,
    sorted_rows,
    tables_of,
)
from workbench.index.store import read_columns, write_table
from workbench.llm.engine import RulesEngine
from workbench.settings import Natural, Positive, validated
from workbench.text import PHRASE_RULES, text_hash


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
    needs = ("passages",)
    old_must_share = ()  # the keys of a journal say what each answer was made from

    @classmethod
    def identity(cls, build: Build, settings: Settings) -> dict:
        schema = None if build.data.schema is None else _hash(asdict(build.data.schema))
        if build.data.profiles is not None:
            given, stands = build.data.profiles, _standing(build)
            kept = {"kept": [stands.metadata["content"], build.kept.rows.tolist()]} if stands else {}
            return {"given": _hash(*sorted_rows(given)), "made_by": given.made_by, "schema": schema} | kept
        return {"maker": profiling.maker(build) if build.engine else None, "schema": schema}

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: ProfilesLayer | None) -> dict:
        schema = build.data.schema
        if build.data.profiles is not None:
            _check(build.data.profiles, build.layers["passages"].row)
            tables, made_by = _given(build.data.profiles, _standing(build), build.kept)
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


def _standing(build: Build) -> ProfilesLayer | None:
    """The layer whose profiles an insert or a delete keeps, but for those of passages that are taken out."""
    layer = build.kept.layers.get("profiles") if build.kept else None
    return layer if layer is not None and layer.given and build.data.profiles is not None else None


def _given(new: Profiles, stands: ProfilesLayer | None, kept: Kept | None) -> tuple[Tables, list[str]]:
    """What the data bring, together with what stands, and who made it."""
    if stands is None:
        return tables_of(new), list(new.made_by)
    ids = kept.layers["passages"].passages
    gone = {ids[row].id for row in kept.gone.tolist()}
    made_by = dict.fromkeys([*stands.metadata.get("made_by", ()), *new.made_by])
    return changed(stands.tables, gone, new), list(made_by)


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
