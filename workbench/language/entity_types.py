"""Which type an entity of a text has, from the noun that describes it or from the kind of its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from workbench.language.pipeline import content_words
from workbench.language.relations import kind_of

UNKNOWN = "unknown"  # of which no type is known
KINDS = {  # the rules' own types
    "person": "A human being, real or invented.",
    "place": "A country, region, settlement, natural feature, building or other spot.",
    "organisation": "A company, institution, club, party or another body of people.",
    "work": "A book, film, play, piece of music, picture or other work.",
    "event": "Something that happened or recurs: a war, a disaster, a festival, a contest.",
    "product": "A thing that is made, a vessel or vehicle among them.",
    "law": "An act, treaty or another document with legal force.",
    "language": "A language.",
    "nationality": "A nation, religion or other group that a person belongs to.",
    "date": "A day, month, year or period.",
    "number": "An amount, with what it counts or the unit it is in.",
}
_PARTS = re.compile(r"[,:;.()]| (?:or|and) ")
_TURN = re.compile(r"\b(?:of|in|on|by|to|from|for|with|that|which|whether|as)\b")  # after it, other things are named
_YEARS = re.compile(r"(?:\d{1,2} \w+ )?\d{4}s?(?:\s*[-–—]\s*\d{2,4})?")


def type_of(name: str, noun: str, types: Sequence[tuple[str, str]] = ()) -> str:
    """The type of a name: one of `types` (name, definition) where one fits, else one of `KINDS`.

    `noun` describes the name, or is a kind of names; it may be empty. Words fit a type by its name, or by a
    noun that its definition equals it with. What the name itself says ("River Tavrel", "Steadfast (ship)") comes before
    the kind that a recogniser gives it.

    >>> type_of("Mira", "novelist"), type_of("Mira", "town", [("settlement", "A city or town.")])
    ('person', 'settlement')
    """
    noun = noun.casefold()
    named = _heads(name, person=noun == "person")
    nouns = [noun, _kind(noun)] if noun not in KINDS else []
    words = [*nouns, *named, *(kind for kind in map(_kind, named) if kind != "person"), noun, _figure(name)]
    fitting = (_fit(word, types) for word in words if word)
    own = (word for word in words if word in KINDS)
    return next(filter(None, fitting), None) or next(own, UNKNOWN)


def _fit(word: str, types: Sequence[tuple[str, str]]) -> str | None:
    called = (name for name, _ in types if name.casefold() == word)
    meant = (name for name, definition in types if word in _meant(definition))
    return next(called, None) or next(meant, None)


@cache
def _meant(definition: str) -> frozenset[str]:
    """The words that say what a type is.

    >>> sorted(_meant("A figure invented in a work of fiction, such as a hero."))
    ['figure', 'hero', 'invented']
    """
    parts = _PARTS.split(definition.casefold().replace("such as", ""))
    return frozenset().union(*(content_words(_TURN.split(part)[0]) for part in parts))


def _kind(noun: str) -> str:
    kind = kind_of(noun) if noun else "other"
    return "" if kind == "other" else kind


def _heads(name: str, person: bool = False) -> list[str]:
    """The words of a name that may describe it: the last in a bracket at its end; and, of what is not taken for a
    person (Lake is a surname too), the last before "of" and the first.

    >>> _heads("Steadfast (expedition ship)"), _heads("University of Vennick"), _heads("Vennick")
    (['ship', 'steadfast'], ['university'], [])
    """
    bare, _, added = name.casefold().partition("(")
    inside, words = re.findall(r"\w+", added)[-1:], re.findall(r"\w+", bare.partition(" of ")[0])
    if person or not (inside or len(words) > 1 or " of " in bare):
        return inside
    return list(dict.fromkeys([*inside, *words[-1:], *words[:1]]))


def _figure(name: str) -> str:
    if not any(map(str.isdigit, name)):
        return ""
    return "date" if _YEARS.fullmatch(name) else "number"
