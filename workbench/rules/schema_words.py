"""What the words of a question may mean in a graph: which of its relations, which of its types of entities.

A schema is read once: its names and, for less, its definitions give the words; families of words and groups of like
meaning (`relations.relatedness`, and below) carry over to other words. A word that matches neither is compared with the
schema's names by the packaged encoder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from workbench.encoding import CachedEncoder, cached, encoder
from workbench.language.pipeline import parse
from workbench.language.relations import kind_of, relatedness, stem, words
from workbench.rules.sentences import EMPTY, Word
from workbench.rules.walk_lines import spelled

Types = Sequence[tuple[str, str, int]]
Relations = Sequence[tuple[str, tuple[str, ...], tuple[str, ...], str]]

DEFINED = 0.6  # worth of a word of a definition, beside one of a name
OWN = 0.9  # of the name of a type to which only one relation leads, for that relation
ENDS = 0.9  # of a compound by its last part: "screenwriter"
ALIKE = 0.8  # of a word of like meaning
OTHERWISE = 0.9  # share left to a word with another preposition than the relation's: "made of", "made in"
UNLIKE = 0.3  # share left to a word of another kind than the type: "painting", "painter"
SEEN = 0.6  # worth of a meaning that only the encoder sees
STRANGE = 10  # words of one question that it is asked about
FAR, NEAR = 0.4, 0.7  # cosines of words that have little in common, and of words that mean the same

# General English for what schemas tend to be about; the groups of `relations` are about relations between things.
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
    "write script screenplay scriptwriter screenwriter scenario",
    "rating rate score grade",
    "vote popularity popular",
    "appear act star feature play cast role",
    "make create creator produce",
    "exhibit display show collection hold house",
)
_DEFINING = frozenset(map(stem, words("entity thing name something value item work")))


class Senses(NamedTuple):
    """Name -> worth, what is worth nothing left out."""

    relations: dict[str, float]
    types: dict[str, float]


@dataclass(frozen=True)
class Lexicon:
    """`relations` and `types`: name -> {stem of a word: worth}; `called`: as `relations`, by the labels alone; `kinds`:
    type -> kind of answer (person, date, …); `acting`: label -> whether the head is what acts; `particles`: label ->
    the preposition that ends it; `of_persons`: the relations that may have a person at an end."""

    relations: Mapping[str, Mapping[str, float]]
    types: Mapping[str, Mapping[str, float]]
    called: Mapping[str, Mapping[str, float]]
    kinds: Mapping[str, str]
    acting: Mapping[str, bool]
    particles: Mapping[str, str]
    of_persons: frozenset[str]

    def senses(self, words: Sequence[Word]) -> list[Senses]:
        """What each word may mean. A light word means the relations that are called so and nothing else."""
        found = [Senses(self._relations(word), {} if word.light else self._types(word)) for word in words]
        strange = [at for at, senses in enumerate(found) if not any(senses) and not words[at].light][:STRANGE]
        for at, senses in zip(strange, self._seen([words[at].lemma for at in strange])):
            found[at] = senses
        return found

    def labels(self, word: Word) -> dict[str, float]:
        """The relations that are called by a word."""
        return _fits(stem(word.lemma), self.called)

    def _relations(self, word: Word) -> dict[str, float]:
        fits = self.labels(word) if word.light else _fits(stem(word.lemma), self.relations)
        return {label: worth * self._share(label, word) for label, worth in fits.items()}

    def _share(self, label: str, word: Word) -> float:
        """What is left of a word's worth for a relation of its family."""
        if kind_of(word.lemma) == "person" and label not in self.of_persons:
            return UNLIKE  # a founder does not tell when something was founded
        otherwise = word.particle and self.particles.get(label, word.particle) != word.particle
        return OTHERWISE if otherwise else 1.0

    def _types(self, word: Word) -> dict[str, float]:
        kind, fits = kind_of(word.lemma), _fits(stem(word.lemma), self.types)
        return {name: worth * (UNLIKE if self._unlike(name, kind) else 1.0) for name, worth in fits.items()}

    def _unlike(self, name: str, kind: str) -> bool:
        return "other" not in (kind, self.kinds[name]) and kind != self.kinds[name]

    def _seen(self, words: Sequence[str]) -> Iterator[Senses]:
        """What the encoder makes of words."""
        if not words or not self.relations:
            return
        labels, types = list(self.relations), list(self.types)
        names = _encoder().encode([spelled(name) for name in (*labels, *types)])
        for word in words:
            cosines = np.round(names @ _encoder().encode([word])[0], 3)  # the last bits hang on the processor
            worths = (SEEN * np.clip((cosines - FAR) / (NEAR - FAR), 0, 1)).tolist()
            relations, others = zip(labels, worths), zip(types, worths[len(labels) :])
            yield Senses({name: worth for name, worth in relations if worth},
                         {name: worth for name, worth in others if worth})  # fmt: skip


@cache
def _encoder() -> CachedEncoder:
    return cached(encoder())


def _fits(word: str, entries: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    worth = {
        name: max((_alike(word, other) * weight for other, weight in weights.items()), default=0.0)
        for name, weights in entries.items()
    }
    return {name: one for name, one in worth.items() if one}


@cache
def _alike(one: str, other: str) -> float:
    if found := relatedness(one, other):
        return found
    if len(other) >= 4 and one.endswith(other):
        return ENDS
    return ALIKE if _groups().get(one, frozenset()) & _groups().get(other, frozenset()) else 0.0


@cache
def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, group in enumerate(_ALIKE):
        for word in group.split():
            found.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


# Reading a schema


@lru_cache(32)
def lexicon(types: Types, relations: Relations) -> Lexicon:
    """The words of a schema."""
    type_words = _families(name for name, _, _ in types)
    label_words = _families(label for label, _, _, _ in relations)
    labels = [label for label, _, _, _ in relations]
    kinds = {name: _kind(name, definition) for name, definition, _ in types}
    of_persons = {one[0] for one in relations if _may_be_person([*one[1], *one[2]], kinds)}
    return Lexicon(
        {one[0]: _words(one[0], one[3], type_words) | _own(one, relations) for one in relations},
        {name: _words(name, definition, type_words | label_words) for name, definition, _ in types},
        {label: dict.fromkeys(_families([label]), 1.0) for label in labels},
        kinds,
        {one[0]: acts for one in relations if (acts := _head_acts(*one[:3])) is not None},
        {label: particle for label in labels if (particle := _particle(label))},
        frozenset(of_persons),
    )


def _words(name: str, definition: str, others: set[str]) -> dict[str, float]:
    """The words of a name, and those of its definition that do not speak of the `others`."""
    (doc,) = parse([definition])
    stems = {stem(token.lemma_) for token in doc if token.pos_ in ("NOUN", "VERB") and not token.is_stop}
    defining = (word for word in stems - _DEFINING if not any(_alike(word, other) for other in others))
    return dict.fromkeys(defining, DEFINED) | dict.fromkeys(_families([name]), 1.0)


def _own(relation: tuple[str, Sequence[str], Sequence[str], str], relations: Relations) -> dict[str, float]:
    """The words of the types that no other relation leads to."""
    others = {name for one in relations if one[0] != relation[0] for name in (*one[1], *one[2])}
    ends = [end for end in relation[1:3] if not others & set(end)]
    return dict.fromkeys(_families(name for end in ends for name in end) - _families([relation[0]]), OWN)


def _families(names: Iterable[str]) -> set[str]:
    """The stems of the words in names of types or relations."""
    return {
        stem(token.lemma_)
        for doc in parse([spelled(name) for name in names])
        for token in doc
        if token.is_alpha and token.lemma_ not in EMPTY and (not token.is_stop or token.pos_ == "VERB")
    }


def _kind(name: str, definition: str) -> str:
    """The kind of answer that a type is, by the last noun of its name or the first of its definition that tells one."""
    (doc,) = parse([definition])
    nouns = [*reversed(spelled(name).split()), *(token.lemma_ for token in doc if token.pos_ in ("NOUN", "PRON"))]
    kinds = ("person" if noun in ("someone", "somebody") else kind_of(noun) for noun in nouns)
    return next((kind for kind in kinds if kind != "other"), "other")


def _may_be_person(ends: Sequence[str], kinds: Mapping[str, str]) -> bool:
    return not ends or any(kinds.get(end, "person") == "person" for end in ends)


def _head_acts(label: str, head: Sequence[str], tail: Sequence[str]) -> bool | None:
    """Is the head what a label speaks of as acting: "acquired", "member of", but not "acquired by", "owner"? None where
    that is hard to say and the types tell which end is which."""
    if "by" in spelled(label).split():
        return False
    (doc,) = parse([spelled(label)])
    if not len(doc) or not set(head) & set(tail):
        return None
    return doc[0].pos_ in ("VERB", "AUX") or doc[-1].pos_ == "ADP"


def _particle(label: str) -> str:
    (doc,) = parse([spelled(label)])
    return doc[-1].lower_ if len(doc) and doc[-1].pos_ == "ADP" else ""
