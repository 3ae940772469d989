"""Rule body of `schema_extraction`: the facts of `extraction`, as triples and attributes within a schema.

    Orrin Vale    "Orrin Vale (born 1889) is a novelist from Tarn. His third book was printed by Ash & Sons in 1931."

    entity types    Orrin Vale: person, Tarn: location, Ash & Sons: organization
    triples         (Orrin Vale, novelist from, Tarn), (Orrin Vale, third book printed by, Ash & Sons)
    attributes      Orrin Vale: date: born 1889; type: novelist; date: third book printed in 1931

A fact with a name at both ends is a triple; one with a date, an amount or a description at its end is an attribute. A
name of the schema is used where the words of the fact say what the name says, and no more; elsewhere the fact keeps its
own words. Facts that `extraction` ties to the title of a passage, for the sake of walks, are left out: they are not
what the passage says. Where no type of the schema fits, the noun that describes a thing is its type, and is
proposed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from workbench.language.entity_types import KINDS, UNKNOWN, type_of
from workbench.language.quantities import MEASURES, dates, life, numbers
from workbench.language.relations import KIN, LISTS, kind_of, relatedness, stem, words
from workbench.rules import extraction
from workbench.steps.entity_relations import clean_name
from workbench.steps.schema_extraction import AttributeRecord, Input, Output, ProposalRecord, type_name
from workbench.text import normal_form

_LABEL = 6  # words of a relation
_LISTS = LISTS["structuring"]
_COPULAS, _VAGUE, _DATES, _NUMBERS, _DURATIONS, _EVENTS = (
    words(_LISTS[name]) for name in ("copulas", "vague", "dates", "numbers", "durations", "events")
)
_FUNCTION = _COPULAS | words(_LISTS["function"])
_PREPOSITIONS: dict[str, str] = _LISTS["prepositions"]
_RELATED = ("related to", "associated with", "connected to")  # of two names, without what joins them
_WITHIN = ("located in", "part of", "in")  # of a place and the one that it lies in

_FIRST = {"date": ("date", "year", "time", "when"), "number": ("quantity", "number", "amount", "value", "size")}
_STAR = stem("star")
_TEXTUAL = frozenset(map(stem, words(_LISTS["textual"])))
_OCCUPATIONS = ("occupation", "profession", "career", "role", "job")
_CLASSES = ("type", "kind", "category", "class")
_FULL_NAME = ("full name", "name")


def schema_extraction(values: Sequence[Input]) -> list[Output]:
    readings = extraction.read([(value.title, value.text) for value in values], tied=False)
    return [_Structure(value, reading).output() for value, reading in zip(values, readings)]


class _Structure:
    """The records of one passage."""

    def __init__(self, value: Input, reading: extraction.Reading):
        self.value, self.reading = value, reading
        self.schema = _compiled(value.entity_types, value.relations, value.attributes)
        self.names = {name: _cleaned(name) for name in reading.entities if not _figure(name)}
        self.triples: dict[tuple[str, str, str], None] = {}
        self.attributes: dict[tuple[str, str, str], None] = {}

    def output(self) -> Output:
        self._life()
        later = [fact for fact in self.reading.triples if not self._fact(*fact)]
        for subject, label, obj in later:
            self._description(subject, label, obj)
        ends = [name for head, _, tail in self.triples for name in (head, tail)]
        types, proposed = self._types(dict.fromkeys([*ends, *(entity for entity, _, _ in self.attributes)]))
        return Output(
            attributes=[AttributeRecord(entity=e, type=t, value=v) for e, t, v in self.attributes],
            triples=list(self.triples),
            entity_types=types,
            proposed=[ProposalRecord(kind="entity_types", name=name) for name in proposed if self.value.propose],
        )

    # -- facts --------------------------------------------------------------------------------------------------------

    def _fact(self, subject: str, label: str, obj: str) -> bool:
        """Take a fact as a triple or an attribute; false where it describes its subject in other words."""
        head = self.names.get(subject)
        if not head or not _words(label):
            return True
        if tail := self.names.get(obj):
            self._triple(head, label, tail)
        elif kind := _figure(obj):
            self._figure(head, label, obj, kind)
        elif label == "full name":
            self._attribute(head, self.schema.named(_FULL_NAME), obj)
        elif _words(label)[-1] in _COPULAS:
            self._class(head, obj)
        else:
            return False
        return True

    def _class(self, head: str, noun: str) -> None:
        last = noun.split()[-1].casefold()
        person = kind_of(last) == "person"
        if noun.casefold() not in _VAGUE and last not in KIN and not numbers(noun):
            self._attribute(head, self.schema.named((*_OCCUPATIONS, *_CLASSES) if person else _CLASSES, "type"), noun)

    def _triple(self, head: str, label: str, tail: str) -> None:
        spoken = _spoken(label)
        if not spoken:
            places = self._kind(head) == self._kind(tail) == "place"
            names, named = _WITHIN if places else _RELATED, self.schema.relation_names
            name, turned = next((named[n] for n in names if n in named), names[0]), False
        else:
            name, turned = self.schema.relation(spoken)
        if head != tail:
            self.triples[(tail, name, head) if turned else (head, name, tail)] = None

    def _figure(self, head: str, label: str, figure: str, kind: str) -> None:
        spoken = _spoken(label)
        if self.lived and all(date.text in self.lived for date in dates(figure)) and (head == self.topic or not spoken):
            return
        if kind == "date" and kind_of(spoken) == "work":
            spoken = "released"  # a 1931 film
        name, meant = self.schema.attribute(f"{spoken} {figure}" if kind == "number" else spoken, kind)
        self._attribute(head, name, figure if meant else f"{spoken} {figure}".strip())

    def _life(self) -> None:
        """Birth and death, as an article gives them in brackets behind its title."""
        self.topic, self.lived = clean_name(self.value.title.partition(" › ")[0]), ""
        dates_found = life(self.value.text) if self.topic else ()
        for verb, noun, date in zip(("born", "died"), ("birth", "death"), dates_found):
            if date is not None and _opening(self.value.text, date.start):
                self.lived += f" {date.text}"
                name, meant = self.schema.attribute(noun, "date")
                self._attribute(self.topic, name, date.text if meant else f"{verb} {date.text}")

    def _description(self, subject: str, label: str, obj: str) -> None:
        """What a subject does to a thing without a name, unless a triple says it more fully."""
        head, spoken = self.names[subject], _spoken(label)
        last = obj.split()[-1] if obj.split() else ""
        fuller = any(head == name and f" {last} " in f" {relation} " for name, relation, _ in self.triples)
        if last and not fuller:
            self._attribute(head, self.schema.named(("description",)), f"{spoken} {obj}".strip())

    def _attribute(self, entity: str, kind: str, value: str) -> None:
        if value := _tidy(value):
            self.attributes[entity, kind, value] = None

    # -- types --------------------------------------------------------------------------------------------------------

    def _types(self, names: Sequence[str]) -> tuple[dict[str, str], list[str]]:
        """The types of names, and the nouns among them that the schema lacks."""
        original = {cleaned: name for name, cleaned in self.names.items()}
        kinds, proposed = {}, {}
        for name in names:
            kind, new = self.schema.type(original.get(name, name), self._nouns(original.get(name, name)))
            if kind:
                kinds[name] = kind
            if new:
                proposed[kind] = None
        return self._shared(names, kinds), list(proposed)

    def _shared(self, names: Sequence[str], types: dict[str, str]) -> dict[str, str]:
        """A name of which no type is known has that of another in its place: "designed by Ada Lind and Bo Marr"."""
        beside = {}
        for head, label, tail in self.triples:
            for name, place in ((tail, (head, label)), (head, (label, tail))):
                if name in types:
                    beside.setdefault(place, types[name])
        for head, label, tail in self.triples:
            for name, place in ((tail, (head, label)), (head, (label, tail))):
                if name not in types and place in beside:
                    types[name] = beside[place]
        return {name: types[name] for name in names if name in types}

    def _nouns(self, name: str) -> list[str]:
        """What describes a name, the most telling first: the descriptions of it, then the kind of name that it is."""
        nouns_said = [
            _singular(obj.split()[-1].casefold())
            for subject, label, obj in self.reading.triples
            if subject == name and obj not in self.names and _COPULAS.issuperset(_words(label)) and not numbers(obj)
        ]
        kind = _singular(self.reading.types.get(name, ""))
        before = [
            label.split()[-1].casefold() for _, label, obj in self.reading.triples if obj == name and label.split()
        ]
        type_nouns = [noun for noun in before if noun in self.schema.type_names and kind in ("", kind_of(noun))]
        return list(dict.fromkeys([*nouns_said, *type_nouns, kind]))

    def _kind(self, name: str) -> str:
        return type_of(name, self.reading.types.get(name, ""))


# -- a schema, as the rules look things up in it ----------------------------------------------------------------------


class _Relation(NamedTuple):
    name: str
    stems: tuple[str, ...]
    preposition: str
    noun: bool  # for a person or a relative: founder, child


class _Attribute(NamedTuple):
    name: str
    stems: tuple[str, ...]  # of the words that are not of a kind
    kinds: frozenset[str]


class _Schema:
    def __init__(self, types: Sequence[tuple[str, str]], relations: Sequence[str], attributes: Sequence[str]):
        self.types = types
        self.type_names = {normal_form(name): name for name, _ in reversed(types)}
        self.relation_names = {normal_form(name): name for name in reversed(relations)}
        self.attribute_names = {normal_form(name): name for name in reversed(attributes)}
        self.relations = [relation for relation in map(_relation, relations) if relation.stems]
        self.attributes = [_attribute(name) for name in attributes]
        self.relation = lru_cache(50_000)(self._relation)
        self.attribute = lru_cache(50_000)(self._attribute)

    def named(self, names: Sequence[str], otherwise: str = "") -> str:
        """The first of some names that the attributes have; `otherwise`, or the first, where they have none."""
        return next((self.attribute_names[n] for n in names if n in self.attribute_names), otherwise or names[0])

    def type(self, name: str, nouns: Sequence[str]) -> tuple[str, bool]:
        """The type of a name, and whether it is a noun that the schema lacks."""
        fitting = (self._type(name, noun) for noun in nouns)
        if kind := next(filter(None, fitting), ""):
            return kind, False
        noun = next((n for n in nouns if n and n not in KINDS and n not in _VAGUE and n.isalpha()), "")
        own = noun or type_of(name, nouns[0] if nouns else "")
        return ("", False) if own == UNKNOWN else (own, own not in ("date", "number"))

    def _type(self, name: str, noun: str) -> str:
        if noun in self.type_names:
            return self.type_names[noun]
        if kind := self._person(noun):
            return kind
        entity_type = type_of(name, noun, self.types)
        if normal_form(entity_type) in self.type_names:
            return self.type_names[normal_form(entity_type)]
        more = (kind for kind, nouns in _LISTS["more"].items() if noun in words(nouns))
        kind = next(more, entity_type)
        return next((self.type_names[n] for n in _LISTS["names"].get(kind, ()) if n in self.type_names), "")

    def _person(self, noun: str) -> str:
        """A type of persons whose name means what the noun means: "novelist" the type "writer"."""
        if kind_of(noun) != "person":
            return ""
        return next(
            (name for form, name in self.type_names.items() if kind_of(form) == "person" and _related(noun, form)), ""
        )

    def _relation(self, label: str) -> tuple[str, bool]:
        """The relation that some words name, and whether it runs the other way; else the words."""
        spoken = _relation(label)
        for relation in self.relations:
            if _same(relation.stems, spoken.stems) and (turned := _turned(relation, spoken)) is not None:
                return relation.name, turned
        return self.relation_names.get(normal_form(label), label), False

    def _attribute(self, label: str, kind: str) -> tuple[str, bool]:
        """The attribute for a date or a number of which something is said, and whether its name says all of that."""
        stems = [stem(MEASURES.get(word, word)) for word in _words(label) if word not in _FUNCTION]
        meant = [
            attribute for attribute in self.attributes
            if attribute.stems and (kind in attribute.kinds or not attribute.kinds) and not _textual(attribute)
            and (kind in attribute.kinds or _eventful(attribute) == (kind == "date"))
            and all(any(relatedness(a, b) for b in stems) for a in attribute.stems)
        ]  # fmt: skip
        if meant:
            return max(meant, key=lambda attribute: (kind in attribute.kinds, len(attribute.stems))).name, True
        if kind == "number" and "duration" in self.attribute_names and set(_words(label)) & _DURATIONS:
            return self.attribute_names["duration"], False
        return self.named(_FIRST[kind]), False


@lru_cache(64)
def _compiled(types: tuple, relations: tuple[str, ...], attributes: tuple[str, ...]) -> _Schema:
    return _Schema(types, relations, attributes)


def _relation(name: str) -> _Relation:
    words = _words(normal_form(name))
    content = [word for word in words if word not in _FUNCTION]
    last = _PREPOSITIONS.get(words[-1], "") if words else ""
    noun = len(content) == 1 and (content[0] in KIN or kind_of(content[0]) == "person")
    return _Relation(name, tuple(map(_family, content)), last, noun)


def _family(word: str) -> str:
    """A relative is of one family with its like, whichever the gender."""
    return KIN[word][0] if word in KIN else stem("lie" if word in ("lies", "lay") else word)


def _same(first: Sequence[str], other: Sequence[str]) -> bool:
    """Whether every stem of each is related to one of the other's: neither says more."""
    related = [[relatedness(a, b) > 0 for b in other] for a in first]
    return all(map(any, related)) and all(map(any, zip(*related)))


def _turned(relation: _Relation, spoken: _Relation) -> bool | None:
    """Whether what is said runs against a relation; None where their prepositions do not agree.

    >>> _turned(_relation("created_by"), _relation("founded")), _turned(_relation("director"), _relation("directed by"))
    (True, False)
    """
    if spoken.stems == (_STAR,) and relation.stems != spoken.stems:
        return True  # a film starring somebody, for who plays in it
    if relation.preposition == spoken.preposition:
        return False
    ways = {
        ("by", ""): not spoken.noun,
        ("", "by"): not relation.noun,
        ("by", "of"): True if spoken.noun else None,
        ("of", "by"): True if relation.noun else None,
        ("of", ""): spoken.noun,
        ("", "of"): True if spoken.noun and relation.noun else None,
        ("in", ""): True if _STAR in relation.stems else None,
        ("in", "on"): False if relation.stems == (stem("located"),) else None,
        ("to", ""): False,
        ("", "to"): False,
    }
    return ways.get((relation.preposition, spoken.preposition))


def _attribute(name: str) -> _Attribute:
    parts = [part for word in _words(normal_form(name)) for part in _split(word)]
    kinds = {kind for kind, words in (("date", _DATES), ("number", _NUMBERS)) if words & set(parts)}
    rest = [word for word in parts if word not in _DATES | _NUMBERS | _FUNCTION]
    return _Attribute(name, tuple(map(stem, rest)), frozenset(kinds))


def _split(word: str) -> list[str]:
    """
    >>> _split("birthday"), _split("holiday")
    (['birth', 'day'], ['holiday'])
    """
    return [word[:-3], "day"] if word in ("birthday", "deathday") else [word]


def _eventful(attribute: _Attribute) -> bool:
    """Whether an attribute is named for something that happened, so that its value is when: founded, birth."""
    return any(word.endswith("ed") or word in _EVENTS for word in _words(normal_form(attribute.name)))


def _textual(attribute: _Attribute) -> bool:
    return not attribute.kinds and bool(_TEXTUAL & set(attribute.stems))


@lru_cache(50_000)
def _related(word: str, other: str) -> bool:
    return relatedness(stem(word), stem(other)) > 0


# -- words ------------------------------------------------------------------------------------------------------------


def _words(text: str) -> list[str]:
    return re.findall(r"[\w'’&-]*\w", text.casefold())


def _spoken(label: str) -> str:
    """The words of a relation without a copula before them; empty where nothing is said but that.

    >>> _spoken("is singer of"), _spoken("is"), _spoken("produced In")
    ('singer of', '', 'produced in')
    """
    words = _words(type_name(label))
    if len(words) > 2 and (words[0] == "born" or words[0].endswith("ing")) and words[1] in _COPULAS:
        words = words[1:]  # "(born 1075) was a daughter of": two clauses
    while words and words[0] in _COPULAS:
        words = words[1:]
    while len(words) > 1 and words[-1] in _PREPOSITIONS and words[-2] in _PREPOSITIONS:
        words = [*words[:-2], words[-1]]  # "from 1931 to 1935"
    return " ".join(words[-_LABEL:])


def _singular(noun: str) -> str:
    """
    >>> _singular("employees"), _singular("companies"), _singular("species"), _singular("bus")
    ('employee', 'company', 'species', 'bus')
    """
    if noun.endswith("ies") and noun not in ("species", "series", "movies"):
        return noun[:-3] + "y"
    return noun[:-1] if re.search(r"[^aius]s$", noun) and noun not in ("species", "series") else noun


def _cleaned(name: str) -> str:
    """A name, without a bracket that does not close; empty for a letter."""
    whole = name if name.count("(") == name.count(")") else name.partition("(")[0]
    cleaned = clean_name(whole)
    return cleaned if len(cleaned) > 1 else ""


def _tidy(value: str) -> str:
    """
    >>> _tidy('Italian - born " waka " poet , b')
    'Italian-born waka poet, b'
    """
    value = re.sub(r'["“”\[\]]', " ", value)
    return " ".join(re.sub(r"\s+([,;.])", r"\1", re.sub(r"(?<=\w) - (?=\w)", "-", value)).split())


def _opening(text: str, at: int) -> bool:
    """Whether nothing but a name stands before the bracket in which a text has a place."""
    before = text[: text.rfind("(", 0, at)]
    return not re.search(r"\b[a-z]{4}", before)


@lru_cache(50_000)
def _figure(name: str) -> str:
    """`date` or `number` for what is nothing else, else empty.

    >>> _figure("3 May 1994"), _figure("2000 to 2001"), _figure("23 arches"), _figure("Studio 54")
    ('date', 'date', 'number', '')
    """
    if not any(map(str.isdigit, name)):
        return ""
    rest = name
    dates_found = dates(name)
    for date in dates_found:
        rest = rest.replace(date.text, " ", 1)
    capitals = any(word[:1].isupper() for word in re.findall(r"[^\W\d_]+", rest))
    if capitals:
        return ""
    return "date" if dates_found and (dates_found[0].when[1] or not any(map(str.isdigit, rest))) else "number"
