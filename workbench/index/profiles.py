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
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from workbench.data import Dataset
from workbench.data.graph import Schema, read_schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import DataError
from workbench.index import profiling
from workbench.index.facts import FactsLayer
from workbench.index.forecast import Forecast, Range
from workbench.index.layer import Build, Layer
from workbench.index.store import write_table
from workbench.llm.engine import RulesEngine
from workbench.settings import Natural, Positive, validated
from workbench.text import PHRASE_RULES, text_hash

_LISTS = pa.list_(pa.string())
_ENTITY = ("name", "type", "description", "passages")
_RELATION = ("source", "target", "description", "keywords", "weight", "passages", "label")


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
            given = build.data.profiles
            return {"given": _hash(*_rows(given)), "made_by": given.made_by, "schema": schema}
        return {"maker": profiling.maker(build) if build.engine else None, "schema": schema}

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: ProfilesLayer | None) -> dict:
        if build.data.profiles is not None:
            profiles, schema = build.data.profiles, build.data.schema
            counts = {"given": True} | ({"made_by": list(profiles.made_by)} if profiles.made_by else {})
            _check(profiles, build.layers["passages"].row)
        else:
            if build.engine is None and old is None:
                build = replace(build, engine=RulesEngine())
            profiles, schema, counts = profiling.write(folder, build, settings, old)
        return write_profiles(folder, profiles, schema or Schema((), (), ()), counts)

    @classmethod
    def forecast(cls, data: Dataset, settings: Settings, facts: Range) -> Forecast | None:
        return None if data.profiles is not None else profiling.forecast(data, settings)

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.given = bool(self.metadata.get("given"))
        self.schema: Schema = read_schema(folder / "schema.json")
        # Read at once, because a later build takes the files away; made into records when they are looked at.
        self._entities = pq.read_table(folder / "entities.parquet", columns=list(_ENTITY))
        self._relations = pq.read_table(folder / "relations.parquet", columns=list(_RELATION))

    @cached_property
    def entities(self) -> list[EntityProfile]:
        return [EntityProfile(*row[:3], tuple(row[3])) for row in _rows_of(self._entities)]

    @cached_property
    def relations(self) -> list[RelationProfile]:
        rows = _rows_of(self._relations)
        return [RelationProfile(*row[:3], tuple(row[3]), row[4], tuple(row[5]), row[6]) for row in rows]

    @property
    def profiles(self) -> Profiles:
        """All of them, as a data set brings them."""
        return Profiles(tuple(self.entities), tuple(self.relations), tuple(self.metadata.get("made_by", ())))

    def __repr__(self) -> str:
        return f"ProfilesLayer({self.metadata['entities']:,} entities, {self.metadata['relations']:,} relations)"


def write_profiles(folder: Path, profiles: Profiles, schema: Schema, counts: Mapping[str, Any]) -> dict[str, Any]:
    """Write what the constructor opens, and return the metadata with `counts` in them. `content` is what the layers
    above depend on, however it was come by."""
    entities, relations = _rows(profiles)
    _write(folder / "entities.parquet", _ENTITY, entities)
    _write(folder / "relations.parquet", _RELATION, relations)
    text = json.dumps(asdict(schema), ensure_ascii=False, indent=1)
    (folder / "schema.json").write_text(text + "\n", encoding="utf-8")
    content = _hash(entities, relations, text)
    return {"content": content, **counts, "entities": len(entities), "relations": len(relations)}


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


def _rows(profiles: Profiles) -> tuple[list[tuple], list[tuple]]:
    """Of entities and of relations, sorted, each once."""
    entities = sorted(set(map(attrgetter(*_ENTITY), profiles.entities)))
    # A weight that is missing is sorted apart, because None has no order.
    relations = sorted(
        set(map(attrgetter(*_RELATION), profiles.relations)),
        key=lambda row: (*row[:4], row[4] is not None, row[4] or 0.0, *row[5:]),
    )
    return entities, relations


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


def _write(path: Path, names: tuple[str, ...], rows: list[tuple]) -> None:
    columns = list(zip(*rows)) or [()] * len(names)
    kinds = {"passages": _LISTS, "keywords": _LISTS, "weight": pa.float64()}
    write_table(path, **{n: pa.array(c, kinds.get(n, pa.string())) for n, c in zip(names, columns)})


def _rows_of(table: pa.Table) -> list[tuple]:
    return list(zip(*(column.to_pylist() for column in table.columns)))
