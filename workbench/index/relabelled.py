"""Layer `relabelled`: the profiles with the types of one list (DotRAG, on UltraDomain), of the resolved entities where
they stand. A Step gives the types to a few entities at a time; an entity for which no reply fits is `unsure`, and the
next build asks again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from workbench.data.graph import EntityType, Schema
from workbench.data.profiles import Profiles
from workbench.index.journal import StepJournal, counts, request_key
from workbench.index.layer import Build, Layer
from workbench.index.profiles import ProfilesLayer, entities_of, relations_of, write_profiles
from workbench.index.typed import merged, topmost
from workbench.language.entity_types import KINDS
from workbench.llm.step import Result
from workbench.settings import Natural, Positive, validated
from workbench.steps import curating, retrying
from workbench.steps.entity_relations import TYPES

UNSURE = curating.UNSURE


@validated
class Settings:
    """`types`: names of the types to give; by default those that the data's schema defines, or that the graph has.
    `batch`: entities of a request, the paper does not say; `retries`: how often a reply that does not fit is asked for
    again."""

    types: Annotated[tuple[str, ...], Field(strict=False)] | None = None
    batch: Positive = 20
    retries: Natural = 3


class Type(BaseModel):
    """What the journal keeps of an entity."""

    type: str


class RelabelledLayer(ProfilesLayer):
    """The profiles with other types."""

    kind = "relabelled"
    inputs = ("passages", "profiles")
    optional = ("resolved",)
    steps = (curating.TYPES,)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: Layer | None) -> dict:
        engine, below = build.writer, topmost(build, cls.optional)
        tables = merged(below.tables)
        entities = entities_of(tables.entities)
        types = types_of(below.schema, settings)
        inputs = {request_key(entity.name, entity.type, entity.description, types): entity for entity in entities}
        journal = StepJournal(folder, "types.jsonl", engine, curating.TYPES, old, build.progress)

        def relabel(group: list) -> list[Result]:
            values = [
                _types_input(group[at : at + settings.batch], types) for at in range(0, len(group), settings.batch)
            ]
            results = retrying.ask(engine, curating.TYPES, values, curating.types_flaw, settings.retries)
            return [part for value, result in zip(values, results) for part in _parts(value, result)]

        answers = journal.run(inputs, relabel, "relabel entities")
        journal.settle()
        given = [answer.output["type"] if answer.output else UNSURE for answer in answers.values()]
        changed = sum(entity.type != kind for entity, kind in zip(entities, given))
        typed = tuple(replace(entity, type=kind) for entity, kind in zip(entities, given))
        schema = replace(below.schema, entity_types=tuple(EntityType(*pair) for pair in _with_unsure(types)))
        summary = {**counts(answers.values()), "asked": journal.requested, "changed": changed}
        return write_profiles(folder, Profiles(typed, relations_of(tables.relations)), schema, summary)

    def __repr__(self) -> str:
        entities, changed = self.metadata["entities"], self.metadata["changed"]
        return f"RelabelledLayer({entities:,} entities, {changed:,} of another type than before)"


def types_of(schema: Schema, settings: Settings) -> tuple[tuple[str, str], ...]:
    """The types to assign, (name, definition): those of the settings, of the schema, or LightRAG's."""
    defined = {entity_type.name: entity_type.definition for entity_type in schema.entity_types}
    if settings.types is None:
        return tuple(defined.items()) or TYPES
    definitions = {**KINDS, **dict(TYPES), **defined}
    return tuple((name, definitions.get(name, "")) for name in settings.types)


def _with_unsure(types: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return types if UNSURE in dict(types) else (*types, (UNSURE, "fits no other type with any certainty"))


def _types_input(entities: Sequence, types: tuple[tuple[str, str], ...]) -> curating.TypesInput:
    """A request; ids are places."""
    return curating.TypesInput(
        tuple(curating.Entity(str(at), e.name, e.description, e.type) for at, e in enumerate(entities, 1)),
        types,
    )


def _parts(value: curating.TypesInput, result: Result) -> list[Result]:
    """What a reply states about each entity of its request."""
    if result.value is None:
        return [Result(None, result.failure) for _ in value.entities]
    types = {entity.id: entity.type for entity in result.value.entities}
    return [Result(Type(type=types[entity.id]), parse=result.parse) for entity in value.entities]
