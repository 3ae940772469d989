"""What the words of a question may mean in a graph: which of its relations, which of its types of entities.

A schema is read once: its names and, for less, its definitions give the words; families of words and groups of like
meaning (`relations.likeness`, and below) carry over to other words. A word that tells nothing by letters is compared
with the schema's names by the packaged encoder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from workbench.rules.language import parse
from workbench.rules.relations import kind_of, likeness, stem, words

Types = Sequence[tuple[str, str, int]]
Relations = Sequence[tuple[str, tuple[str, ...], tuple[str, ...], str]]

DEFINED = 0.6  # worth of a word of a definition, beside one of a name
OWN = 0.9  # worth of the name of a type to which only one relation leads
NEAR, FAR = 0.55, 0.3  # cosines of two words that mean much the same, and of two that have nothing in common
VECTORS = 0.6  # worth of a meaning that only the encoder sees

# General English for what schemas tend to be about; the groups of `relations` are about what is said of things.
_ALIKE = (
    "film movie picture flick",
    "kind sort type category genre class style",
    "tag keyword topic theme subject word about describe description term",
    "year date when day time",
    "person people man woman human individual somebody someone",
    "company firm business corporation enterprise",
    "city town village municipality place",
    "country nation state land",
    "book novel volume",
    "painting artwork sculpture work piece",
    "artist painter sculptor",
    "write script screenplay scriptwriter screenwriter screenplay scenario",
    "rating rate score grade",
    "vote popularity popular",
    "exhibit display show collection hold house",
)
_DEFINING = frozenset(map(stem, words("entity thing name something value item whether")))


@dataclass(frozen=True)
class Lexicon:
    """`relations` and `types`: name -> {stem of a word: worth}; `kinds`: type -> kind of answer (person, date, …)."""

    relations: Mapping[str, Mapping[str, float]]
    types: Mapping[str, Mapping[str, float]]
    kinds: Mapping[str, str]
    names: tuple[str, ...] = field(default=())

    def senses(self, words: Sequence[str]) -> list[tuple[dict[str, float], dict[str, float]]]:
        """For each word ({relation: worth}, {type: worth}), what is worth nothing left out."""
        found = [(_fits(stem(word), self.relations), _fits(stem(word), self.types)) for word in words]
        strange = [at for at, (relations, types) in enumerate(found) if not relations and not types]
        for at, senses in zip(strange, self._by_vectors([words[at] for at in strange])):
            found[at] = senses
        return found

    def _by_vectors(self, words: Sequence[str]):
        return [({}, {}) for _ in words]


def _fits(word: str, entries: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    worth = {
        name: max((_alike(word, other) * weight for other, weight in words.items()), default=0.0)
        for name, words in entries.items()
    }
    return {name: one for name, one in worth.items() if one > 0}


@cache
def _alike(one: str, other: str) -> float:
    if (found := likeness(one, other)) or len(one) < 3:
        return found
    if len(other) >= 4 and one.endswith(other):  # the last part of a compound carries its meaning: screenwriter
        return 0.9
    return 0.8 if _groups().get(one, frozenset()) & _groups().get(other, frozenset()) else 0.0


@cache
def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, group in enumerate(_ALIKE):
        for word in group.split():
            found.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


@lru_cache(32)
def lexicon(types: Types, relations: Relations) -> Lexicon:
    """The words of a schema."""
    type_words = {name: _words(name, told) for name, told, _ in types}
    relation_words = {}
    for label, head, tail, told in relations:
        worth = _words(label, told)
        for ends, side in ((head, 1), (tail, 2)):
            for name in ends if _leads_alone(label, ends, side, relations) else ():
                for word in map(stem, spelled(name).split()):
                    worth[word] = max(OWN, worth.get(word, 0.0))
        relation_words[label] = worth
    return Lexicon(relation_words, type_words, {name: _kind(name, told) for name, told, _ in types})


def _leads_alone(label: str, ends: tuple[str, ...], side: int, relations: Relations) -> bool:
    others = {name for relation in relations if relation[0] != label for name in (*relation[1], *relation[2])}
    return not set(ends) & others


def _words(name: str, told: str) -> dict[str, float]:
    name_doc, told_doc = parse([spelled(name), told])
    worth = {
        stem(token.lemma_): DEFINED
        for token in told_doc
        if token.pos_ in ("NOUN", "VERB") and not token.is_stop and stem(token.lemma_) not in _DEFINING
    }
    return worth | {stem(token.lemma_): 1.0 for token in name_doc if token.is_alpha and not token.is_stop}


def spelled(name: str) -> str:
    """The name of a relation or type in plain words.

    >>> spelled("WORK_OF_ART"), spelled("directedBy")
    ('work of art', 'directed by')
    """
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|[\W_]+", " ", name).casefold().split())


def _kind(name: str, told: str) -> str:
    (doc,) = parse([told])
    nouns = [*spelled(name).split()[::-1], *(token.lemma_ for token in doc if token.pos_ in ("NOUN", "PRON"))]
    if any(noun in ("someone", "somebody") for noun in nouns):
        return "person"
    return next((kind for noun in nouns if (kind := kind_of(noun)) != "other"), "other")
