"""Step `find_names`: the names in a passage that are to become placeholders, with their types (the first step of
AnonyRAG's construction; Youtu-GraphRAG, arXiv 2508.19855; our wording).

Step `link_names`: which names mean the same person or thing (the entity linking of AnonyRAG's construction;
Youtu-GraphRAG, arXiv 2508.19855; our wording)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Step

TYPES = ("person", "place")


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
