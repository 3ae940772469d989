"""Layer `profiles`: types, descriptions, keywords and weights of entities and relations.

It comes from `Dataset.profiles` where the data bring some, and is written from the passages where they do not, by the
engine, or by the rules without one (LightRAG's extraction and merging). It may cost money, so it is kept apart from the
graph that is made of it, the layer `typed`. Names stay as they came; `phrased` finds those that the data brought by the
phrases of the facts layer. Rows are sorted, so they do not depend on the order in which the profiles came.

Two journals (`journal.py`) keep the engine's answers: `records.jsonl` by passage, `fused.jsonl` the fused descriptions.
Everything else is merged anew, in the order of the corpus, so an insert or a delete gives what a fresh build gives.
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

from workbench import tokens
from workbench.data import Dataset
from workbench.data.graph import EntityType, Schema, read_schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import DataError, IndexFault
from workbench.index.facts import FactsLayer
from workbench.index.journal import Answer, StepJournal, by_rules, counts, is_rules, request_key
from workbench.index.layer import Build, Layer
from workbench.index.store import TableRows, read_columns, rows_of, table_of_rows, write_table
from workbench.language.entity_types import KINDS, UNKNOWN
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.records import Passage
from workbench.settings import Natural, Positive, validated
from workbench.steps import entity_relations, summarising
from workbench.text import PHRASE_RULES, clean, text_hash

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


class _Unread(TableRows):
    """The profiles of a layer, whose `table` is sorted; each is made when it is read."""

    def __init__(self, table: pa.Table, kind: type[EntityProfile] | type[RelationProfile]):
        def made(*cells):
            return kind(*(tuple(cell) if isinstance(cell, list) else cell for cell in cells))

        super().__init__(table, made)
        self.table = table


class Tables(NamedTuple):
    """One row for each profile, in the columns of `SCHEMAS`."""

    entities: pa.Table
    relations: pa.Table


def tables_of(profiles: Profiles) -> Tables:
    if isinstance(profiles.entities, _Unread) and isinstance(profiles.relations, _Unread):
        return Tables(profiles.entities.table, profiles.relations.table)
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
        set(map(attrgetter(*schema.names), profile))
        for schema, profile in zip(SCHEMAS.values(), (profiles.entities, profiles.relations))
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
            tables, made_by = _given(build), list(build.data.profiles.made_by)
            _check(tables, build.layers["passages"].row)
            counts = {"given": True} | ({"made_by": made_by} if made_by else {})
        else:
            if build.engine is None and old is None:
                build = replace(build, engine=RulesEngine())
            profiles, schema, counts = _written(folder, build, settings, old)
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
        return replace(self.unread, entities=tuple(self.entities), relations=tuple(self.relations))

    @property
    def unread(self) -> Profiles:
        """As `profiles`, each made when it is read: a build that changes none makes none."""
        rows = map(_Unread, self.tables, (EntityProfile, RelationProfile))
        return Profiles(*rows, tuple(self.metadata.get("made_by", ())))

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


def _check(tables: Tables, rows: Mapping[str, int]) -> None:
    """Raise DataError for a profile of a passage that is not in the corpus."""
    for table, ends in zip(tables, (1, 2)):
        ids = pc.unique(pc.list_flatten(table["passages"])).to_pylist()
        if (unknown := next((passage_id for passage_id in ids if passage_id not in rows), None)) is not None:
            of = next(row[:ends] for row in rows_of(table) if unknown in row[table.column_names.index("passages")])
            raise DataError(
                f"the profile of {clean(' – '.join(of), 80)!r} names the passage {unknown!r}, which is not in the "
                "corpus; add the passage or take its id out of the profile"
            )


WINDOW = 12_000  # cl100k tokens of fragments that are fused at once, as in LightRAG 1.5.7


def _written(
    folder: Path, build: Build, settings: Settings, old: ProfilesLayer | None
) -> tuple[Profiles, Schema, dict[str, Any]]:
    """Request what is missing, write both files into `folder`, and merge: the profiles, the types that they name, and
    what the manifest says of how they came about.

    A passage that failed adds nothing, and a description that could not be fused stays one line per fragment. Both are
    counted; the next build that requests the layer retries them.

    Raises :class:`IndexFault` if a passage needs a request and there is no engine."""
    types = _types(build.data, settings)
    records = StepJournal(folder, "records.jsonl", build.engine, entity_relations.STEP, old, build.progress)
    by_passage = _records(records, build, settings, types)
    written = [name for name, _ in types or entity_relations.TYPES]
    nodes, edges = entity_relations.merged(by_passage, written)
    engine = build.writer
    fused = StepJournal(folder, "fused.jsonl", engine, summarising.FUSE, old, build.progress)
    described = _fused(
        [summarising.Fragments(node.name, "entity", node.fragments) for node in nodes]
        + [summarising.Fragments(f"{edge.source} – {edge.target}", "relation", edge.fragments) for edge in edges],
        fused,
        settings,
    )
    profiles = Profiles(
        tuple(EntityProfile(n.name, n.type, text, n.passages) for n, text in zip(nodes, described)),
        tuple(
            RelationProfile(e.source, e.target, text, e.keywords, float(e.weight), e.passages, e.label)
            for e, text in zip(edges, described[len(nodes) :])
        ),
    )
    for journal in (records, fused):
        journal.settle()
    summary = {
        **counts([*records.used.values(), *fused.used.values()]),
        "skipped": sum(answer.output["skipped"] for answer in records.used.values() if answer.output),
        "extracted": records.requested,
        "fused": fused.requested,
    }
    description = build.data.schema.description if build.data.schema else ""
    return profiles, _schema(profiles, records, types, description), summary


# -- requests --------------------------------------------------------------------------------------------------------


def _types(data: Dataset, settings: Settings) -> tuple[tuple[str, str], ...]:
    """The types to look for, (name, definition), as the settings or the data name them. Without any, a model is given
    LightRAG's types and the rules use their own."""
    given = (
        [(entity_type.name, entity_type.definition) for entity_type in data.schema.entity_types] if data.schema else []
    )
    if settings.types is None:
        return tuple(given)
    definitions = {**KINDS, **dict(entity_relations.TYPES), **dict(given)}
    return tuple((name, definitions.get(name, "")) for name in settings.types)


def _records(
    journal: StepJournal, build: Build, settings: Settings, types: tuple[tuple[str, str], ...]
) -> list[tuple[str, entity_relations.Output]]:
    """(id, records) of each passage that did not fail, in the order of the corpus."""
    keys = [request_key(passage.title, passage.text, types, settings.gleanings) for passage in build.data.passages]
    passages = dict(zip(keys, build.data.passages))
    if build.engine is None and (missing := journal.missing(passages)):
        raise IndexFault(
            f"{len(missing)} passages have no profiles (the first is {passages[missing[0]].id!r}) and no engine was "
            "given to write them; pass engine=wb.engine('rules'), or a model"
        )
    looked_for = types if types or is_rules(build.engine) else entity_relations.TYPES

    def extract(group: Sequence[Passage]) -> list[Result]:
        inputs = [entity_relations.Input(passage.title, passage.text, looked_for) for passage in group]
        return entity_relations.extract(build.engine, inputs, rounds=settings.gleanings)

    answers = journal.run(passages, extract, "profile passages")
    outputs = {key: entity_relations.Output(**answer.output) for key, answer in answers.items() if answer.output}
    return [(passage.id, outputs[key]) for key, passage in zip(keys, build.data.passages) if key in outputs]


def _fused(things: Sequence[summarising.Fragments], journal: StepJournal, settings: Settings) -> list[str]:
    """A description per thing: one line per fragment or, where these are many or long, one text fused from them.
    Fragments that do not fit into one request are fused in groups first, then the results of these."""
    texts = ["\n".join(thing.fragments) for thing in things]
    left = {
        at: thing.fragments
        for at, thing in enumerate(things)
        if len(thing.fragments) > 1
        and (len(thing.fragments) >= settings.fragments or tokens.count(texts[at]) >= settings.summary_tokens)
    }
    while left:
        inputs = {
            at: [summarising.Fragments(things[at].name, things[at].kind, part) for part in _groups(fragments)]
            for at, fragments in left.items()
        }
        several = (value for values in inputs.values() for value in values if len(value.fragments) > 1)
        answers = journal.run(
            {_key(value): value for value in several},
            lambda group: journal.engine.run(summarising.FUSE, group),
            "fuse descriptions",
        )
        for at, values in inputs.items():
            parts = [_description(answers, value) for value in values]
            if None not in parts and len(parts) > 1:
                left[at] = tuple(parts)
                continue
            texts[at] = parts[0] if parts[0] is not None and len(parts) == 1 else texts[at]
            del left[at]
    return texts


def _key(value: summarising.Fragments) -> str:
    """Without the limit, which is always the same: files that stand have keys without it."""
    return request_key({"name": value.name, "kind": value.kind, "fragments": value.fragments})


def _description(answers: Mapping[str, Answer], value: summarising.Fragments) -> str | None:
    """The fused text, None if that failed; a single fragment stays as it is."""
    if len(value.fragments) == 1:
        return value.fragments[0]
    output = answers[_key(value)].output
    return output and output["description"]


def _groups(fragments: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Fragments in their order, as many together as fit into the window, but never a single one where another
    follows."""
    groups, total = [[]], 0
    for fragment in fragments:
        length = tokens.count(fragment)
        if len(groups[-1]) > 1 and total + length > WINDOW:
            groups.append([])
            total = 0
        groups[-1].append(fragment)
        total += length
    return list(map(tuple, groups))


# -- the schema -------------------------------------------------------------------------------------------------------


def _schema(profiles: Profiles, records: StepJournal, types: Sequence[tuple[str, str]], description: str) -> Schema:
    """The types that were looked for, then the others that occur. The rules look for none, so a type is listed only if
    it occurs. Relations are described in free words and have no list."""
    occurring = {entity.type for entity in profiles.entities}
    looked_for = types or entity_relations.TYPES
    if all(by_rules(answer.made_by) for answer in records.used.values()):
        looked_for = [(name, definition) for name, definition in types if name in occurring]
    more = sorted(occurring - {name for name, _ in looked_for} - {UNKNOWN})
    pairs = [*looked_for, *((name, KINDS.get(name, "")) for name in more)]
    return Schema(tuple(EntityType(*pair) for pair in pairs), (), description=description)
