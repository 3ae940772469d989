"""What the words of a question may mean in a graph: which of its relations, and which of its entity types.

A schema is read once: its names and, for less, its definitions give the words; families of words and groups of like
meaning (`relations.relatedness`) carry over to other words. All other words the packaged encoder reads in the question
and compares with what tells a relation or a type: names, definitions, and for a type that has no noun of its own the
relations at it and some of its entities. A word means what is nearer to it than the schema is on the whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from workbench.encoding import SentenceEncoder, encoder
from workbench.language.pipeline import parse
from workbench.language.relations import kind_of, relatedness, stem, words
from workbench.rules.path_judging import spelled
from workbench.rules.sentences import EMPTY, Word

Types = Sequence[tuple[str, str, int]]
Relations = Sequence[tuple[str, tuple[str, ...], tuple[str, ...], str]]
Facets = Sequence[Sequence[str]]  # texts; something is as near as the best of a facet, on average of the facets

DEFINED = 0.6  # worth of a word of a definition, beside one of a name
GENUS = 0.9  # of the noun that a type is defined as: "A ship or a boat."
OWN = 0.9  # of the name of a type to which only one relation leads, for that relation
ENDS = 0.6  # of a compound by its last part: "screenwriter"
OTHERWISE = 0.9  # share left to a word with another preposition than the relation's: "made of", "made in"
UNLIKE = 0.3  # share left to a word of another kind than the type: "painting", "painter"
SEEN = 0.7  # worth of a meaning that only the encoder sees
KNOWN = 0.8  # worth of a word from which on the encoder is not asked about it
FAR, NEAR = 0.04, 0.2  # by how much more than the mean of all cosines one means little, and means the same

_EXAMPLES = re.compile(r"\bsuch as (.+)\.$")  # in a definition that was inferred from a graph
_DEFINING = frozenset(map(stem, words("entity thing name something value item work")))


class Senses(NamedTuple):
    """Name -> worth, what is worth nothing left out."""

    relations: dict[str, float]
    types: dict[str, float]


@dataclass(frozen=True)
class Lexicon:
    """`relations` and `types`: name -> {stem of a word: worth}; `called`: as `relations`, by the labels alone;
    `descriptions`: texts about the relations and about the types, by name; `kinds`: type -> kind of answer (person,
    date, …); `acting`: label -> whether the head is what acts; `particles`: label -> the preposition that ends it;
    `of_persons`: the relations that may have a person at an end."""

    relations: Mapping[str, Mapping[str, float]]
    types: Mapping[str, Mapping[str, float]]
    called: Mapping[str, Mapping[str, float]]
    descriptions: tuple[Mapping[str, Facets], Mapping[str, Facets]]
    kinds: Mapping[str, str]
    acting: Mapping[str, bool]
    particles: Mapping[str, str]
    of_persons: frozenset[str]

    def senses(self, words: Sequence[Word]) -> list[Senses]:
        """What each word may mean. A light word means the relations that are called so and nothing else."""
        read = [Senses(self._relations(word), {} if word.light else self._types(word)) for word in words]
        strange = [at for at, senses in enumerate(read) if max(map(_most, senses)) < KNOWN and words[at].telling]
        if strange:
            vectors = _in_context(words[strange[0]].text, tuple(words[at].part for at in strange))
            for at, seen in zip(strange, zip(*(_worths(vectors, table) for table in self._tables))):
                read[at] = Senses(*map(_better, read[at], seen))
        return read

    def doubt(self, words: Sequence[Word]) -> float:
        """0 where names of the schema tell every word, 1 where neither they nor definitions tell any; light words and
        one that governs the question word do not count."""
        worths = [max(map(_most, (self._relations(word), self._types(word)))) for word in words
                  if not word.light and not word.governs]  # fmt: skip
        return 1 - sum(worths) / len(worths) if worths else 1.0

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
        if word.governs and word.particle != "by" == self.particles.get(label):
            return UNLIKE  # where something was headed does not tell who headed it
        otherwise = word.particle and self.particles.get(label, word.particle) != word.particle
        return OTHERWISE if otherwise else 1.0

    def _types(self, word: Word) -> dict[str, float]:
        kind, fits = kind_of(word.lemma), _fits(stem(word.lemma), self.types)
        return {name: worth * (UNLIKE if self._unlike(name, kind) else 1.0) for name, worth in fits.items()}

    def _unlike(self, name: str, kind: str) -> bool:
        return "other" not in (kind, self.kinds[name]) and kind != self.kinds[name]

    @cached_property
    def _tables(self) -> tuple[_Table, _Table]:
        return tuple(map(_table, self.descriptions))


class _Table(NamedTuple):
    """The vectors of texts, (n, d); for each name the rows of its facets."""

    vectors: np.ndarray
    rows: dict[str, list[list[int]]]


def _table(facets_of: Mapping[str, Facets]) -> _Table:
    texts = list(dict.fromkeys(text for facets in facets_of.values() for facet in facets for text in facet))
    vectors = _encoder().encode(texts) if texts else np.zeros((0, 1), np.float32)
    row = {text: at for at, text in enumerate(texts)}
    return _Table(
        vectors, {name: [[row[text] for text in facet] for facet in facets] for name, facets in facets_of.items()}
    )


def _worths(words: np.ndarray, table: _Table) -> list[dict[str, float]]:
    """For each word, a row of unit vectors (n, d): name -> worth, by how far its cosine exceeds the mean of all names.
    The cosine of a name is the mean of its facets, which are as near as their best text."""
    if len(table.rows) < 2:
        return [{} for _ in words]
    cosines = table.vectors @ words.T
    best = np.stack([np.mean([cosines[rows].max(axis=0) for rows in facets], axis=0) for facets in table.rows.values()])
    ahead = np.round(best - best.mean(axis=0), 3)  # the last bits hang on the processor
    worths = SEEN * np.clip((ahead - FAR) / (NEAR - FAR), 0, 1)
    return [{name: worth for name, worth in zip(table.rows, column) if worth} for column in worths.T.tolist()]


def _most(worths: Mapping[str, float]) -> float:
    return max(worths.values(), default=0.0)


def _better(first: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Name -> the greater worth of two."""
    return {name: max(first.get(name, 0.0), other.get(name, 0.0)) for name in {**first, **other}}


@lru_cache(1024)
def _in_context(text: str, parts: tuple[tuple[int, int], ...]) -> np.ndarray:
    return _encoder().encode_parts(text, parts)


@cache
def _encoder() -> SentenceEncoder:
    return encoder()


def _fits(word: str, entries: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    worth = {
        name: max((_alike(word, other) * weight for other, weight in weights.items()), default=0.0)
        for name, weights in entries.items()
    }
    return {name: value for name, value in worth.items() if value}


@cache
def _alike(word: str, other: str) -> float:
    if related := relatedness(word, other):
        return related
    return ENDS if len(other) >= 4 and word.endswith(other) else 0.0


# Reading a schema


@lru_cache(32)
def lexicon(types: Types, relations: Relations) -> Lexicon:
    """The words of a schema."""
    type_words = _families(name for name, _, _ in types if not unnamed(name))
    label_words = _families(label for label, _, _, _ in relations)
    labels = [label for label, _, _, _ in relations]
    kinds = {name: _kind(name, definition) for name, definition, _ in types}
    ends = {relation[0]: [*relation[1], *relation[2]] for relation in relations}
    of_persons = {label for label, of in ends.items() if not of or any(kinds.get(e, "person") == "person" for e in of)}
    return Lexicon(
        {row[0]: _words(row[0], row[3], type_words) | _own(row, relations) for row in relations},
        {
            name: {} if unnamed(name) else _words(name, definition, type_words | label_words) | _genus(name, definition)
            for name, definition, _ in types
        },
        {label: dict.fromkeys(_families([label]), 1.0) for label in labels},
        (
            {relation[0]: _describe_relation(relation) for relation in relations},
            {name: _describe_type(name, what, relations) for name, what, _ in types},
        ),
        kinds,
        {relation[0]: acts for relation in relations if (acts := _head_acts(*relation[:3])) is not None},
        {label: particle for label in labels if (particle := _particle(label))},
        frozenset(of_persons),
    )


def _words(name: str, definition: str, others: set[str]) -> dict[str, float]:
    """The words of a name, and those of its definition that do not speak of the `others`."""
    (doc,) = parse([definition])
    stems = {stem(token.lemma_) for token in doc if token.pos_ in ("NOUN", "VERB") and not token.is_stop}
    defining = (word for word in stems - _DEFINING if not any(_alike(word, other) for other in others))
    return dict.fromkeys(defining, DEFINED) | dict.fromkeys(_families([name]), 1.0)


def _genus(name: str, definition: str) -> dict[str, float]:
    """What a definition says that a type is."""
    roots = [token for token in parse([definition])[0] if token.dep_ == "ROOT" and token.pos_ == "NOUN"]
    nouns = {stem(token.lemma_) for root in roots for token in (root, *root.conjuncts) if token.pos_ == "NOUN"}
    return dict.fromkeys(nouns - _DEFINING - _families([name]), GENUS)


def _describe_relation(relation) -> Facets:
    label, heads, tails, definition = relation
    ends = " ".join(filter(None, (_end(heads), spelled(label), _end(tails))))
    return [[text for text in (spelled(label), ends, definition) if text] or [label]]


def _end(types: Sequence[str]) -> str:
    return spelled(types[0]) if types and not unnamed(types[0]) else ""


def unnamed(type_: str) -> bool:
    """Is a type called after the side of a relation only, as `inferred` calls those for which no noun stands?"""
    return "→" in type_


def _describe_type(name: str, definition: str, relations: Relations) -> Facets:
    """Its name and definition; of a type that was inferred, its examples, its name and relations, and both together."""
    if not (match := _EXAMPLES.search(definition)):
        return [[spelled(name) or name, *([f"{spelled(name)}: {definition}"] if definition else [])]]
    leaving = [spelled(label) for label, heads, _, _ in relations if name in heads]
    entering = [spelled(label) for label, _, tails, _ in relations if name in tails]
    roles = ", ".join([*leaving, *(f"something is {label}" for label in entering)])
    own = [] if unnamed(name) else [spelled(name)]
    return [[match[1]], [*own, *leaving, *entering], [f"what {roles}; such as {match[1]}"]]


def _own(relation: tuple[str, Sequence[str], Sequence[str], str], relations: Relations) -> dict[str, float]:
    """The words of the types that no other relation leads to."""
    others = {name for row in relations if row[0] != relation[0] for name in (*row[1], *row[2])}
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
