"""The schema of a world: kinds of entities and their shares, relations with head and tail, attributes with units; its
dials and their bounds; the templates of sentences and questions. The tables are TOML files beside this one."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from workbench.data.graph import Attribute, EntityType, Relation, Schema
from workbench.settings import Natural, Number, Share, validated


class Kind(NamedTuple):
    """A kind of entities: its share of the articles in percent, its definition and its noun."""

    share: int
    definition: str
    open_name: bool = False


class Related(NamedTuple):
    """A relation: the kind of its heads, which is one, so that "all of a head" has one meaning; the kind of its tails;
    whether it has a period."""

    head: str
    tail: str
    definition: str
    timed: bool = False


class Valued(NamedTuple):
    """An attribute: the kinds that have it, the kind of its values, their unit, and of numbers the bounds."""

    of: Sequence[str]
    value: str
    definition: str
    unit: str = ""
    between: Sequence[int] = ()


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))


WORDINGS, PHRASINGS, _TABLES = _read("wordings.toml"), _read("phrasings.toml"), _read("schema.toml")
KINDS = {name: Kind(**row) for name, row in _TABLES["kinds"].items()}
RELATIONS = {name: Related(**row) for name, row in _TABLES["relations"].items()}
ATTRIBUTES = {name: Valued(**row) for name, row in _TABLES["attributes"].items()}
ALWAYS = frozenset(_TABLES["always"])  # what every article states
OCCUPATIONS, PRODUCTS, PATTERNS, SOUNDS, PERIODS = (
    _TABLES[name] for name in ("occupations", "products", "patterns", "sounds", "periods")
)


def schema() -> Schema:
    """As a data folder holds it."""
    described = "An invented land: its people, towns, regions, rivers, companies, books, ships, schools and buildings."
    return Schema(
        tuple(EntityType(name, kind.definition) for name, kind in KINDS.items()),
        tuple(Relation(name, row.definition, (row.head,), (row.tail,)) for name, row in RELATIONS.items()),
        tuple(Attribute(name, row.definition, tuple(row.of), row.value, row.unit) for name, row in ATTRIBUTES.items()),
        described,
    )


Locale = Literal["en-GB", "en-US", "de", "fr", "iso", "mixed"]


@validated
class Dials:
    """What determines a world, byte by byte.

    passages     how many, distractors included
    seed         of everything: names, facts, wordings, questions
    questions    how many, whatever the size, spread evenly over types and hops
    aliases      share of entities with a second name; half of the mentions of such an entity use it
    hubs         share of relations that end in few entities: of n, half of them in √n, a quarter in √√n, …
    paraphrase   0: articles and questions use the words of the schema; 1: all wordings, the most distant included
    density      probability of each fact beyond those that every article states
    hearsay      share of articles with a false statement that is marked as such
    distractors  share of passages that mention entities and state no fact
    locale       how dates and numbers are written; `mixed`: each passage in one of these ways
    """

    passages: Annotated[int, Field(ge=100, le=2_000_000, title="number of passages")] = 1_000
    seed: Natural = 0
    questions: Annotated[int, Field(ge=0, le=100_000, title="number of questions")] = 300
    aliases: Share = 0.3
    hubs: Annotated[Number, Field(ge=0, le=0.9, title="share")] = 0.2
    paraphrase: Share = 0.7
    density: Share = 0.8
    hearsay: Share = 0.2
    distractors: Annotated[Number, Field(ge=0, le=0.5, title="share")] = 0.1
    locale: Locale = "en-GB"
