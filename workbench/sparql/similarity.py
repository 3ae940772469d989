"""Similarity of two names, and of two relations, for soft matching.

Names are compared by their words first: articles, accents, plurals and brackets aside; surnames, initials, dates and
numbers in other notations. Vectors count only where they are all but equal, because names that differ in one word
("River Avon", "River Arun") are close for every encoder and are two.

Relations are compared by the families of their words and by vectors. What the words tell apart (birth and death, father
and mother) no vector brings together. Each has a direction: "designed by" runs from the work, "designed" and "designer
of" from the person, so that one is the other turned round."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache

import numpy as np

from workbench.language.pipeline import content_words, irregular_forms
from workbench.language.quantities import MEASURES, dates, numbers
from workbench.language.relations import KIN, kind_of, relatedness, stem, words
from workbench.language.spans import plain, same
from workbench.text import unicode_phrase

fold = lru_cache(200_000)(unicode_phrase)

EQUAL = 0.93  # cosine from which names of other words are one
TURNED = 0.8  # price of a match against the direction in which the relation reads
ANOTHER = 0.2  # worth of a relation whose words say another one


class NameSimilarity:
    """`encode(texts)` gives unit rows, as an encoder does; without it words alone count. It is asked for the same texts
    again and again, so it should keep them, as `Index.encode` does. `known(text)` is a vector that is there already, or
    None. `aliases`: name → the name that it stands for."""

    def __init__(
        self,
        encode: Callable[[list[str]], np.ndarray] | None = None,
        aliases: Mapping[str, str] | None = None,
        vector_of: Callable[[str], np.ndarray | None] = lambda text: None,
    ):
        self.encode, self.vector_of = encode, vector_of
        self.aliases = {fold(alias): name for alias, name in (aliases or {}).items()}

    def vectors(self, texts: Sequence[str]) -> np.ndarray | None:
        """(n, d) float32 rows, None without an encoder."""
        if self.encode is None or not texts:
            return None
        vectors_by_text = {text: self.vector_of(text) for text in dict.fromkeys(texts)}
        new = [text for text, vector in vectors_by_text.items() if vector is None]
        vectors_by_text |= zip(new, np.asarray(self.encode(new), dtype=np.float32) if new else ())
        return np.stack([vectors_by_text[text] for text in texts])

    def name(self, text: str) -> str:
        """The name that an alias stands for, else the text itself."""
        return self.aliases.get(fold(text), text)

    def relations(self, predicate: str, labels: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """How similar `predicate` is to each relation as it stands, and reversed: two float rows in [0, 1]. Of several
        predicates, "founded|opened", the best counts."""
        ways = [way.strip() for way in predicate.split("|") if way.strip()]
        straight, turned = np.zeros(len(labels)), np.zeros(len(labels))
        vectors = self.vectors([*labels, *ways])
        for at, way in enumerate(ways):
            n = len(labels)
            cosines = vectors[:n] @ vectors[n + at] if vectors is not None else np.zeros(n)
            alike = np.array([_relation(way, other, float(cosine)) for other, cosine in zip(labels, cosines)])
            against = np.array([turns(way, other) for other in labels], dtype=bool)
            straight = np.maximum(straight, alike * np.where(against, TURNED, 1.0))
            turned = np.maximum(turned, alike * np.where(against, 1.0, TURNED))
        return straight, turned


# Names


@lru_cache(200_000)
def alike(name: str, other: str) -> float:
    """How surely two names are one, by their words alone.

    >>> alike("the Tessel Bridge", "Tessel Bridge"), alike("Lindqvist", "Ada Lindqvist"), alike("3 May 1889", "1889")
    (0.95, 0.85, 0.9)
    >>> alike("A. Lindqvist", "Ada Lindqvist"), alike("River Avon", "River Arun"), alike("57", "fifty-seven")
    (0.85, 0.0, 0.95)
    """
    if fold(name) == fold(other):
        return 1.0 if fold(name) else 0.0
    quantity = _quantities(name, other)
    if quantity is not None:
        return quantity
    first, second = plain(name), plain(other)
    if first == second:
        return 0.95 if first else 0.0
    if same(name, other) or _initials(first, second):
        return 0.85
    short, long = sorted((set(first), set(second)), key=len)
    digits = any(word.isdigit() for word in long - short)
    contained = short <= long and any(len(word) > 3 for word in short) and not digits
    return 0.8 * (len(short) / len(long)) ** 0.5 if contained else 0.0


def _quantities(first: str, other: str) -> float | None:
    """For dates and for numbers; None where neither is one."""
    a, b = when(first), when(other)
    if a and b:
        both = [(x, y) for x, y in zip(a, b) if x and y]
        return (1.0 if a == b else 0.9) if both and all(x == y for x, y in both) else 0.0
    if a or b:
        return 0.0
    a, b = amount(first), amount(other)
    if a and b:
        return 0.95 if a[0] == b[0] and (a[1] == b[1] or not a[1] or not b[1]) else 0.0
    return None


@lru_cache(50_000)
def when(text: str) -> tuple[int, int, int] | None:
    """(year, month, day), 0 where missing, of a text that is a date and little else."""
    dates_found = dates(text) if len(text) < 80 and any(map(str.isdigit, text)) else []
    if not dates_found or (not dates_found[0].when[0] and not dates_found[0].when[1]):
        return None
    return dates_found[0].when if len(content_words(text.replace(dates_found[0].text, " ", 1))) <= 1 else None


@lru_cache(50_000)
def amount(text: str) -> tuple[float, str] | None:
    """(value, unit) of a text that begins with a number, roughly or not."""
    numbers_found = numbers(text) if len(text) < 80 else []
    if not numbers_found:
        return None
    before, behind = text[: numbers_found[0].start], text[numbers_found[0].end :]
    if set(before.casefold().split()) - _ROUGHLY or len(behind.split()) > 4:
        return None
    return numbers_found[0].value, numbers_found[0].unit


_ROUGHLY = words("a about almost around at circa c. in just least more most nearly of only over some than the to up")


def _initials(first: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """One surname, and first names of which one is the other's initial."""
    if min(len(first), len(other)) < 2 or first[-1] != other[-1] or len(first[-1]) < 3:
        return False
    pairs = list(zip(first[:-1], other[:-1]))
    return all(a == b or (min(len(a), len(b)) == 1 and a[0] == b[0]) for a, b in pairs)


class Names:
    """Names that others are looked up in; what shares no word with a name is compared by its vector alone."""

    def __init__(self, names: Sequence[str], similarity: NameSimilarity):
        self.names, self._similarity = list(names), similarity
        self._meant = [similarity.name(name) for name in names]
        self._by_word: dict[str, list[int]] = {}
        for row, name in enumerate(self._meant):
            for word in set(plain(name)) | {str(amount(name)[0])} if amount(name) else set(plain(name)):
                self._by_word.setdefault(word, []).append(row)
        self._vectors = similarity.vectors(self._meant)
        self._cache: dict[str, np.ndarray] = {}

    def like(self, name: str) -> np.ndarray:
        """How alike each name is to this one, float (n,)."""
        name = self._similarity.name(name)
        if name not in self._cache:
            scores = np.zeros(len(self.names))
            if self._vectors is not None:
                cosines = self._vectors @ self._similarity.vectors([name])[0]
                close = (cosines >= EQUAL) & np.array([not when(n) and not amount(n) for n in self._meant])
                scores[close] = 0.8 * cosines[close]
            keys = set(plain(name)) | ({str(amount(name)[0])} if amount(name) else set())
            for row in {row for key in keys for row in self._by_word.get(key, ())}:
                scores[row] = max(
                    alike(name, self._meant[row]), 0.0 if _differ(name, self._meant[row]) else scores[row]
                )
            self._cache[name] = scores
        return self._cache[name]


def _differ(text: str, other: str) -> bool:
    """Whether each has a word that the other lacks, beside one that they share."""
    first, second = set(plain(text)), set(plain(other))
    return bool(first - second) and bool(second - first) and bool(first & second)


# Relations


_KINDS = words("date year day place number name time person")  # these say of what kind the value is
_FAMILIES = words("""born die found write marry study direct compose play sing locate own release end design build
    award lead invent teach work live tall long speak flow cross produce bury population govern father mother son
    daughter brother sister uncle aunt grandfather grandmother""")  # fmt: skip


@lru_cache(50_000)
def stems(relation: str) -> tuple[str, ...]:
    """The families of its words that mean something.

    >>> stems("was written by"), stems("date of birth")
    (('writ',), ('birth',))
    """
    words = [word for word in re.findall(r"\w+", relation.casefold()) if word not in _KINDS]
    tokens = [word for word in words if word in _KEPT_WORDS or content_words(word)] or words
    return tuple(dict.fromkeys(stem(_lemma(word)) for word in tokens))


_KEPT_WORDS = words("first last own call name")


@cache
def _lemma(word: str) -> str:
    forms = irregular_forms()
    return next((forms[kind][word][0] for kind in ("verb", "noun") if word in forms[kind]), word)


@lru_cache(100_000)
def worded(predicate: str, label: str) -> float:
    """The share of the words of `predicate` that `label` has, or a word of like meaning; less if it has many others."""
    wanted, tokens = stems(predicate), stems(label)
    if not wanted or not tokens:
        return 0.0
    share = sum(max(relatedness(wanted_stem, other) for other in tokens) for wanted_stem in wanted) / len(wanted)
    return share * max(0.7, 1 - 0.06 * max(0, len(tokens) - len(wanted)))


def _relation(predicate: str, label: str, cosine: float) -> float:
    if fold(predicate) == fold(label):
        return 1.0
    by_kin, by_words = _kin(predicate, label), worded(predicate, label)
    if by_kin is not None:
        return by_kin
    if by_words == 0 and _another(predicate, label):
        return ANOTHER
    return max(by_words, 0.85 * float(np.clip((cosine - 0.3) / 0.5, 0, 1)))


@lru_cache(50_000)
def _families(relation: str) -> frozenset[str]:
    return frozenset(
        family for family in _FAMILIES if any(relatedness(stem(family), other) for other in stems(relation))
    )


def _another(predicate: str, label: str) -> bool:
    families, other = _families(predicate), _families(label)
    return bool(families) and bool(other) and not families & other


def _kinship(relation: str) -> tuple[str, str] | None:
    return next((KIN[word] for word in re.findall(r"\w+", relation.casefold()) if word in KIN), None)


def _kin(predicate: str, label: str) -> float | None:
    """For two words of kinship: the same, or seen from the other side; None where one is none."""
    kin, other = _kinship(predicate), _kinship(label)
    if kin is None or other is None:
        return None
    if kin[0] == other[0]:
        return ANOTHER if kin[1] and other[1] and kin[1] != other[1] and kin[0] != "spouse" else 0.95
    return 0.9 if {kin[0], other[0]} == {"parent", "child"} else ANOTHER


@lru_cache(100_000)
def turns(predicate: str, label: str) -> bool:
    """Whether `label` reads from the other end.

    >>> turns("designed by", "designed"), turns("director", "is director of"), turns("born in", "was born in")
    (True, True, False)
    """
    reading, other = _reads(predicate), _reads(label)
    inverse = {kin[0] for kin in (_kinship(predicate), _kinship(label)) if kin} == {"parent", "child"}
    against = (reading == "has") != (other == "has") and "" not in (reading, other)
    return against != inverse


@lru_cache(50_000)
def _reads(relation: str) -> str:
    """`has`: what stands behind does it or is it ("designed by", "director"); `does`: what stands before ("designed",
    "director of"); empty where it has no side, as "born in"."""
    tokens = re.findall(r"\w+", relation.casefold())
    if not tokens:
        return ""
    if tokens[-1] == "by":
        return "has"
    noun = tokens[-2] if tokens[-1] in ("of", "to", "for") and len(tokens) > 1 else tokens[-1]
    person = noun in KIN or kind_of(noun) == "person"
    if person:
        return "does" if tokens[-1] != noun else "has"
    return "does" if tokens[-1].endswith("ed") or _lemma(tokens[-1]) != tokens[-1] else ""


# Values


@lru_cache(10_000)
def expects(predicate: str) -> str:
    """Of what kind the value of a predicate is: date, number, name (of a person), place; empty for any.

    >>> expects("date of birth"), expects("height"), expects("designed by"), expects("born in"), expects("spouse")
    ('date', 'number', 'name', 'place', 'name')
    """
    if "|" in predicate:
        kinds = {expects(way) for way in predicate.split("|")}
        return kinds.pop() if len(kinds) == 1 else ""
    tokens = re.findall(r"\w+", predicate.casefold())
    if not tokens:
        return ""
    if {"date", "year", "day", "when", "birthday", "birthdate"} & set(tokens):
        return "date"
    if tokens[0] in ("number", "how", "amount") or any(kind_of(w) == "number" or w in _MEASURED for w in tokens):
        return "number"
    if tokens[-1] == "by" or tokens[-1] in KIN or kind_of(tokens[-1]) == "person":
        return "name"
    if "place" in tokens or tokens[-1] in ("in", "at") or kind_of(tokens[-1]) == "place":
        return "place"
    return ""


_MEASURED = frozenset(MEASURES.values()) | words("capacity")


@lru_cache(100_000)
def fits(kind: str, value: str) -> float:
    """How well a value is of the kind that is expected; a `thing` is whatever has further facts."""
    date, number = bool(when(value)), bool(amount(value))
    if kind == "date":
        return 1.0 if date else 0.0
    if kind == "number":
        return 1.0 if number and not date else 0.6 if number else 0.0
    if kind == "thing":
        return 0.0 if date or number else 1.0
    if kind in ("name", "place"):
        named = any(map(str.isupper, value)) or value == value.upper()
        return 0.0 if date or number else 1.0 if named else 0.6
    return 1.0
