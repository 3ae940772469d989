"""General English that the rules of answering share: word families, groups of like meaning, kinds of nouns, kinship.

The lists are in `lists.toml`. Nothing in it is drawn from a data set: the groups are the relations that any
encyclopedia tells (birth, death, founding, authorship, place …), the kinds are those of a dictionary."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


_Entry = str | list[str]
# The word lists of `lists.toml` by the module that reads them: a text is a list of words.
LISTS: dict[str, dict[str, Any]] = TypeAdapter(dict[str, dict[str, _Entry | dict[str, _Entry]]]).validate_python(
    tomllib.loads(Path(__file__).with_name("lists.toml").read_text("utf-8"))
)
_OWN = LISTS["relations"]
_SUFFIXES, _PERSON_ENDINGS = _OWN["suffixes"].split(), tuple(_OWN["person_endings"].split())
_KINDS = {kind: words(nouns) for kind, nouns in _OWN["kinds"].items()}
_NO_AGENTS = words(_OWN["no_agents"])
KIN: dict[str, tuple[str, str]] = {word: tuple(kin) for word, kin in _OWN["kin"].items()}
COMPOSED: dict[str, tuple[str, str]] = {word: tuple(kin) for word, kin in _OWN["composed"].items()}


def spoken(token) -> str:
    """The lemma of a spaCy token; a verb with its particle ("set up") is one word."""
    particle = next((child.lower_ for child in token.children if child.dep_ == "prt"), "")
    return token.lemma_.lower() + particle


@cache
def stem(word: str) -> str:
    """The family of a word: its lower-case form without one ending of inflection or derivation.

    >>> {stem(word) for word in ("directed", "director", "direction")}
    {'direct'}
    """
    word = word.lower()
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            word = word[: -len(suffix)]
            break
    if len(word) > 4 and word[-1] == word[-2]:  # travell(ed) -> travel
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 4 and word.endswith("y") else word


@cache
def _groups() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, group in enumerate(_OWN["groups"]):
        for word in group.split():
            groups.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in groups.items()}


@cache
def relatedness(word: str, other: str) -> float:
    """1 for one family of words, 0.8 for one group of like meaning, else 0. Both are stems.

    >>> relatedness(stem("founder"), stem("establish")), relatedness(stem("founder"), stem("bridge"))
    (0.8, 0.0)
    """
    if word == other:
        return 1.0
    groups = _groups()
    return 0.8 if groups.get(word, frozenset()) & groups.get(other, frozenset()) else 0.0


@cache
def kind_of(noun: str) -> str:
    """The kind of answer that "which NOUN" asks for; "other" for nouns of no kind in particular.

    >>> kind_of("river"), kind_of("composer"), kind_of("colour")
    ('place', 'person', 'other')
    """
    noun = noun.lower()
    if noun in KIN or noun in COMPOSED:
        return "person"
    for kind, nouns in _KINDS.items():
        if noun in nouns:
            return kind
    return "person" if noun.endswith(_PERSON_ENDINGS) and len(noun) > 4 and noun not in _NO_AGENTS else "other"
