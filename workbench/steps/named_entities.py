"""Step `named_entities`: the named entities of a passage (HippoRAG 2, arXiv 2502.14802; our wording), in at most 2048
new tokens.

Step `question_entities`: the named entities of a question, from which CatRAG anchors its walk (arXiv 2602.01965; as
in its code, by a prompt of its own and not the one for passages; our wording), in at most 2048 new tokens.

Step `triples`: facts of a passage as subject, relation, object, given its named entities (HippoRAG 2, arXiv
2502.14802; our wording).

Step `find_names`: the names in a passage that are to become placeholders, with their types (the first step of
AnonyRAG's construction; Youtu-GraphRAG, arXiv 2508.19855; our wording).

Step `link_names`: which names mean the same person or thing (the entity linking of AnonyRAG's construction;
Youtu-GraphRAG, arXiv 2508.19855; our wording)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.json_schema import SkipJsonSchema

from workbench.llm.shapes import Rows
from workbench.llm.step import Step

TYPES = ("person", "place")  # of names that become placeholders


@dataclass(frozen=True)
class Input:
    title: str
    text: str


class Output(BaseModel):
    """Years come as numbers from some models; anything else that is no string is left to fail."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    named_entities: list[str]


STEP = Step.from_text("named_entities", Input, Output, max_tokens=2048, version=2, most=100, longest=200)


@dataclass(frozen=True)
class Question:
    question: str


OF_QUESTION = Step.from_text("question_entities", Question, Output, max_tokens=2048, most=100, longest=200)


@dataclass(frozen=True)
class TriplesInput:
    title: str
    text: str
    entities: tuple[str, ...]


class Triples(BaseModel):
    """`dropped` counts members of the list that were no triple of plain values; it is counted here, never asked for."""

    triples: Rows
    dropped: SkipJsonSchema[int] = 0

    @model_validator(mode="before")
    @classmethod
    def _only_triples(cls, value):
        if not isinstance(value, dict) or not isinstance(value.get("triples"), list):
            return value
        good = [t for t in value["triples"] if isinstance(t, list | tuple) and len(t) == 3 and all(map(_plain, t))]
        return {"triples": [[str(m) for m in t] for t in good], "dropped": len(value["triples"]) - len(good)}


def _plain(member) -> bool:
    return isinstance(member, str | int | float) and not isinstance(member, bool)


TRIPLES = Step.from_text("triples", TriplesInput, Triples, max_tokens=2048, version=2, most=100, longest=300)


@dataclass(frozen=True)
class Text:
    """`types` are those asked for."""

    title: str
    text: str
    types: tuple[str, ...] = TYPES


class Found(BaseModel):
    name: str
    type: str


class Names(BaseModel):
    names: list[Found]


FIND = Step.from_text("find_names", Text, Names, max_tokens=1024, most=100, longest=200)


@dataclass(frozen=True)
class Mentions:
    """(name, type) of names that have words in common, each once."""

    names: tuple[tuple[str, str], ...]


class Links(BaseModel):
    """Names that mean the same, the fullest first. A name that is in no group stands for itself."""

    groups: list[list[str]]


LINK = Step.from_text("link_names", Mentions, Links, max_tokens=2048, most=100, longest=200)
