"""Types of entities: which one an entity of a text has, from the noun that describes it or from the kind of its name;
and which types and relations of a schema the words of a question evoke."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from workbench.language.pipeline import content_words, parse
from workbench.language.relations import LISTS, kind_of, relatedness, spoken, stem

UNKNOWN = "unknown"  # without a known type
KINDS: dict[str, str] = LISTS["entity_types"]  # the rules' own types, with definitions
_PARTS = re.compile(r"[,:;.()]| (?:or|and) ")
_TURN = re.compile(r"\b(?:of|in|on|by|to|from|for|with|that|which|whether|as)\b")  # words after it name other things
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
    """The words that define a type.

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


# -- schema terms -----------------------------------------------------------------------------------------------------

LONGEST = 2_000  # characters of a question that are read
_PART = 4  # letters of a stem that is looked for inside a longer word

Relation = tuple[str, Sequence[str], Sequence[str], str]  # label, head types, tail types, definition


class SchemaTerms:
    """The labels of a schema's relations, by the stems of their words, and its types."""

    def __init__(self, relations: Sequence[Relation]):
        labels = unique(" ".join(re.split(r"[\W_]+", label)).strip() for label, *_ in relations)
        self._labels = {
            label: {stem(token.lemma_) for token in doc if not token.is_stop}
            for label, doc in zip(labels, parse(labels))
        }
        self._types = unique(kind for _, heads, tails, _ in relations for kind in (*heads, *tails))

    def relations(self, word: str) -> list[str]:
        """Labels with a word of the same family or meaning, or that ends the word: "screenwriter" "written by"."""
        wanted = stem(word)
        return [
            label
            for label, stems in self._labels.items()
            if any(relatedness(wanted, other) or (len(other) >= _PART and wanted.endswith(other)) for other in stems)
        ]

    def types(self, word: str) -> list[str]:
        """Types that a word names, or whose kind it names: "film" the type "movie"."""
        kind = kind_of(word)
        return [name for name in self._types if stem(word) == stem(name) or (kind != "other" and kind_of(name) == kind)]


def names_meant(question: str, named: Sequence[str], relations: Sequence[Relation]) -> list[str]:
    """Of the names that occur in a question those that it is about: a graph may have a node "film", and "which film …"
    does not mean it. All of them, where nothing else is named."""
    (doc,) = parse([" ".join(question[:LONGEST].split())])
    terms = SchemaTerms(relations)
    lower = [token for token in doc if token.text.islower()]
    asking = {token.text for token in lower if terms.relations(spoken(token)) or terms.types(spoken(token))}
    return [span for span in named if span not in asking] or list(named)


def unique(items: Iterable[str]) -> list[str]:
    """Each item once, blank ones left out."""
    return list(dict.fromkeys(item for item in items if item.strip()))
