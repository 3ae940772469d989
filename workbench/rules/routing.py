"""Which names of a question a search begins at, and which topics it touches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.rules.language import content_words
from workbench.rules.schema_words import Relations, Types, lexicon, spelled
from workbench.rules.sentences import _ASKING, _LIGHT

BROAD = ["the question as a whole"]


class Regions(NamedTuple):
    """`anchors` are (span, description, type)."""

    anchors: list[tuple[str, str, str]]
    topics: list[str]
    routing: int


def regions(question: str, types: Types, relations: Relations, named: Sequence[tuple[str, str]], most: int) -> Regions:
    """The names that are more than ordinary words of the question, best first; topics are its other words."""
    schema = lexicon(tuple(types), tuple(relations))
    spans = [(span, type_) for span, type_ in named if content_words(span)]
    proper = [(span, type_) for span, type_ in spans if _proper(span, schema)]
    plain = [(span, type_) for span, type_ in spans if (span, type_) not in proper and not _of_schema(span, schema)]
    chosen = sorted(proper or plain, key=lambda one: (-len(one[0]), question.find(one[0])))[:most]
    anchors = [(span, _told(span, type_, question), type_) for span, type_ in chosen]
    names = {word for span, _ in chosen for word in content_words(span)}
    topics = [word for word in dict.fromkeys(question.casefold().split()) if content_words(word) - names]
    return Regions(anchors, topics[:3] or [question], int(bool(anchors)))


def _proper(span: str, schema) -> bool:
    return any(word[:1].isupper() or word[:1].isdigit() for word in span.split())


def _of_schema(span: str, schema) -> bool:
    words = content_words(span) - _ASKING - _LIGHT
    senses = schema.senses(sorted(words))
    return all(relations or types for relations, types in senses)


def _told(span: str, type_: str, question: str) -> str:
    return f"{span} is a {spelled(type_) or 'thing'}; asked is: {question}"
