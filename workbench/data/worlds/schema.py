"""What a world is made of: kinds of entities and their shares, relations with head and tail, attributes with units;
the dials that can be set, and between which bounds; the sentences and questions of all worlds, which `wordings.toml`
and `phrasings.toml` hold."""

from __future__ import annotations

import tomllib
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


KINDS = {
    "person": Kind(40, "A human being."),
    "town": Kind(10, "A town with a council of its own."),
    "region": Kind(1, "One of the parts into which the land is divided.", True),
    "river": Kind(4, "A river that has a name.", True),
    "firm": Kind(8, "A company that makes something other than ships."),
    "shipyard": Kind(4, "A company that builds ships."),
    "book": Kind(12, "A novel."),
    "ship": Kind(8, "A vessel."),
    "school": Kind(4, "A place of learning."),
    "building": Kind(9, "A notable building."),
}


class Related(NamedTuple):
    """A relation: the kind of its heads, which is one, so that "all of a head" has one meaning; the kind of its tails;
    whether it has a period."""

    head: str
    tail: str
    definition: str
    timed: bool = False


RELATIONS = {
    "born in": Related("person", "town", "The person was born in the town."),
    "mother": Related("person", "person", "The mother of the first person was the second person."),
    "father": Related("person", "person", "The father of the first person was the second person."),
    "married to": Related("person", "person", "The first person was married to the second person.", True),
    "studied at": Related("person", "school", "The person studied at the school.", True),
    "worked for": Related("person", "firm", "The person worked for the firm.", True),
    "located in": Related("town", "region", "The town lies in the region."),
    "lies on": Related("town", "river", "The town lies on the river."),
    "mayor": Related("town", "person", "The mayor of the town was the person.", True),
    "capital": Related("region", "town", "The capital of the region is the town."),
    "rises in": Related("river", "region", "The river rises in the region."),
    "enters the sea at": Related("river", "town", "The river enters the sea at the town."),
    "founded by": Related("firm", "person", "The firm was founded by the person."),
    "based in": Related("firm", "town", "The firm is based in the town."),
    "yard founded by": Related("shipyard", "person", "The shipyard was founded by the person."),
    "yard based in": Related("shipyard", "town", "The shipyard is based in the town."),
    "written by": Related("book", "person", "The book was written by the person."),
    "set in": Related("book", "town", "The book is set in the town."),
    "dedicated to": Related("book", "person", "The book is dedicated to the person."),
    "built by": Related("ship", "shipyard", "The ship was built by the shipyard."),
    "home port": Related("ship", "town", "The home port of the ship is the town."),
    "captain": Related("ship", "person", "The captain of the ship was the person.", True),
    "situated in": Related("school", "town", "The school is situated in the town."),
    "head": Related("school", "person", "The head of the school was the person.", True),
    "stands in": Related("building", "town", "The building stands in the town."),
    "designed by": Related("building", "person", "The building was designed by the person."),
}


class Valued(NamedTuple):
    """An attribute: the kinds that have it, the kind of its values, their unit."""

    of: tuple[str, ...]
    value: str
    definition: str
    unit: str = ""


ATTRIBUTES = {
    "date of birth": Valued(("person",), "date", "The date on which the person was born."),
    "date of death": Valued(("person",), "date", "The date on which the person died."),
    "occupation": Valued(("person",), "text", "The occupation of the person."),
    "population": Valued(("town",), "number", "How many people live in the town.", "inhabitants"),
    "area": Valued(("region",), "number", "The area of the region.", "square kilometres"),
    "length": Valued(("river",), "number", "The length of the river.", "kilometres"),
    "founded": Valued(("town", "firm", "shipyard", "school"), "date", "The year of foundation."),
    "product": Valued(("firm",), "text", "What the firm makes."),
    "published": Valued(("book",), "date", "The year in which the book was published."),
    "launched": Valued(("ship",), "date", "The date on which the ship was launched."),
    "completed": Valued(("building",), "date", "The year in which the building was completed."),
    "height": Valued(("building",), "number", "The height of the building.", "metres"),
}

ALWAYS = frozenset({  # what every article states
    "born in", "located in", "capital", "rises in", "based in", "yard based in", "written by", "built by",
    "situated in", "stands in",
})  # fmt: skip


def schema() -> Schema:
    """As a data folder holds it."""
    described = "An invented land: its people, towns, regions, rivers, companies, books, ships, schools and buildings."
    return Schema(
        tuple(EntityType(name, kind.definition) for name, kind in KINDS.items()),
        tuple(Relation(name, one.definition, (one.head,), (one.tail,)) for name, one in RELATIONS.items()),
        tuple(Attribute(name, one.definition, one.of, one.value, one.unit) for name, one in ATTRIBUTES.items()),
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


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))


WORDINGS, PHRASINGS = _read("wordings.toml"), _read("phrasings.toml")
