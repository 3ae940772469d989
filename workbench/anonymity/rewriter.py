"""Replacement of names by placeholders in texts: the forms of a name, their occurrences, and the entity that each
occurrence means.

Forms are matched whole and the longest first, regardless of case and accents. A form is a name, an alias, a part of
a name that no text has in lower case, or a word derived from one (`Norland` → `Norlanders`). A form that several share
is decided by its text: its own article, then who else is named there in full, then whose passages it is among; what
none of these decides is a name of its own (a family name)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from workbench.anonymity.names import PLACEHOLDER, Name, Named, kind_of
from workbench.errors import DataError
from workbench.text import UNSPACED

NAME, ALIAS, PART = range(3)  # how a form belongs to an entity
SHORTEST = 3  # letters of a part, and of a word that others are derived from
SUFFIXES = ("s", "es", "er", "ers", "an", "ans", "ian", "ians", "ish", "ese", "ite", "ites", "ic", "ensis")
CALENDAR = frozenset((
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
))  # fmt: skip
_VOWELS = "aeouy"
_ARTICLE = re.compile(r"(?:the|an?)\s+", re.IGNORECASE)
_INSIDE = re.compile(rf"[^\W{UNSPACED}]")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_FOLDED = {"ø": "o", "đ": "d", "ł": "l", "ß": "s", "æ": "a", "œ": "o", "’": "'", "‘": "'", "-": " ", "‑": " ", "–": " "}


class Owner(NamedTuple):
    """That a form belongs to an entity (its row), and how."""

    row: int
    rank: int


@dataclass(frozen=True, slots=True)
class Form:
    """Whose form it is; `suffix` is what a derived word has beyond the name; `described`: it is a description, which
    means its owner only in passages about that."""

    owners: tuple[Owner, ...]
    suffix: str = ""
    described: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """Where a text stands: the ids of its passages, of which `own` is the article that it is."""

    passages: frozenset[str] = frozenset()
    own: str | None = None


class Occurrence(NamedTuple):
    start: int
    end: int
    form: str


def folded(text: str) -> str:
    """The text as forms are compared: lower case, without accents, hyphens as spaces; as long as the text.

    >>> folded("Söndrel-Øy’s")
    "sondrel oy's"
    """
    return "".join(map(_folded, text))


def _folded(character: str) -> str:
    plain = unicodedata.normalize("NFKD", character)[0].lower()
    return _FOLDED.get(plain, plain if len(plain) == 1 else character)


class Rewriter:
    """Replaces the forms of entities in texts; `texts` are all that the data hold, by which parts of names are told
    from common words."""

    def __init__(self, entities: Iterable[Named], texts: Iterable[str]):
        self.entities = tuple(entities)
        tokens = {word for text in texts for word in _WORD.findall(text)}
        self.common = {folded(word) for word in tokens if word[0].islower()}
        self.words = {folded(word) for word in tokens}
        stated = (form for entity in self.entities for form in (entity.name, *entity.aliases) if not is_proper(form))
        self.lower = {folded(form) for form in stated}  # names that are written so as well
        self.forms = self._forms()
        self.replaced: dict[str, set[str]] = defaultdict(set)  # placeholder → surface forms

    def _forms(self) -> dict[str, Form]:
        owners: dict[str, dict[int, int]] = defaultdict(dict)
        for row, entity in enumerate(self.entities):
            for rank, form in self._of(entity):
                owners[folded(form)].setdefault(row, rank)
        proper = {folded(form) for entity in self.entities for _, form in self._of(entity) if is_proper(form)}
        forms = {
            form: Form(tuple(Owner(*owner) for owner in sorted(of.items())), described=form not in proper)
            for form, of in owners.items()
        }
        return {**dict(self._derived(forms, proper)), **forms}

    def _of(self, entity: Named) -> Iterator[tuple[int, str]]:
        """(rank, form), the closest rank of a form first."""
        bare = re.sub(r"\s*\([^()]*\)$", "", entity.name)
        yield from ((NAME, form) for form in (entity.name, without_article(entity.name)))
        yield from ((ALIAS, form) for form in (bare, *map(without_article, (bare, *entity.aliases))))
        for form in (bare, *entity.aliases):
            if is_proper(form):
                yield from ((PART, part) for part in self._parts(form))

    def _parts(self, form: str) -> Iterator[str]:
        for part in dict.fromkeys((*form.replace(",", " ").split(), *_WORD.findall(form))):
            single = folded(part)
            words = set(_WORD.findall(single))
            if len(part) >= SHORTEST and part[0].isupper() and not words & (self.common | CALENDAR):
                yield part

    def _derived(self, forms: dict[str, Form], proper: Collection[str]) -> Iterator[tuple[str, Form]]:
        """Words of the texts that are made of a name of one word, and plurals of names of several."""
        for form in sorted(proper):
            if len(form) <= SHORTEST or form in self.common:
                continue
            for stem, suffix in _endings(form):
                word = stem + suffix
                if word not in forms and (" " in form or (word in self.words and word not in self.common)):
                    yield word, replace(forms[form], suffix=suffix)

    @cached_property
    def starting(self) -> dict[str, list[str]]:
        """First word → the forms that begin with it, the longest first."""
        by_word: dict[str, list[str]] = defaultdict(list)
        for form in sorted(self.forms, key=lambda form: (-len(form), form)):
            if first := _WORD.match(form):
                by_word[first[0]].append(form)
        return by_word

    @cached_property
    def placeholders(self) -> dict[int | str, str]:
        """Row of an entity, or a form that may be a name of its own → its placeholder. Entities have the first numbers
        of a kind. The numbers follow a hash, so that they tell nothing of the names."""
        kinds = {row: kind_of(entity.type) for row, entity in enumerate(self.entities)}
        keys: dict[int | str, str] = dict(kinds) | {form: self._kind(form, kinds) for form in self.forms}
        counts: dict[str, int] = defaultdict(int)
        by_key = {}
        for key in sorted(keys, key=self._order):
            counts[keys[key]] += 1
            by_key[key] = f"[{keys[key]}#{counts[keys[key]]}]"
        return by_key

    def _order(self, key: int | str) -> tuple[bool, bytes]:
        named = key if isinstance(key, str) else repr(self.entities[key])
        return isinstance(key, str), hashlib.sha256(named.encode()).digest()

    def _kind(self, form: str, kinds: dict[int, str]) -> str:
        """TERM for a common word or a description that is also a name somewhere; else the kind of those who share it,
        a place before others."""
        if self.forms[form].described or form in self.common:
            return "TERM"
        of = sorted({kinds[owner.row] for owner in self.forms[form].owners})
        return of[0] if len(of) == 1 else "LOCATION" if "LOCATION" in of else "NAME"

    def text(self, text: str, context: Context = Context()) -> str:
        """One text with placeholders."""
        return self.rewritten([text], context)[0][0]

    def rewritten(self, texts: Iterable[str], context: Context = Context()) -> list[tuple[str, tuple[str, ...]]]:
        """(text with placeholders, the forms that they replaced) for texts that stand together."""
        texts = list(texts)
        all_occurrences = [self._occurrences(text) for text in texts]
        full = {
            row
            for text, occurrences in zip(texts, all_occurrences)
            for occurrence in occurrences
            if (row := self._alone(text, occurrence)) is not None
        }
        return [self._written(text, occurrences, full, context) for text, occurrences in zip(texts, all_occurrences)]

    def _occurrences(self, text: str) -> list[Occurrence]:
        if held := PLACEHOLDER.search(text):
            raise DataError(
                f"a text already contains the placeholder {held[0]!r} and could not be restored; anonymise the original"
            )
        plain, occurrences, at = folded(text), [], 0
        for word in _WORD.finditer(plain):
            form = self._longest(plain, word) if word.start() >= at else None
            if form is not None:
                at = word.start() + len(form)
                occurrences.append(Occurrence(word.start(), at, form))
        return occurrences

    def _longest(self, plain: str, word: re.Match) -> str | None:
        """The longest form that begins with this word and ends where a word does."""
        start = word.start()
        return next((form for form in self.starting.get(word[0], ()) if plain.startswith(form, start)
                     and not _goes_on(form[-1], plain[start + len(form) : start + len(form) + 1])), None)  # fmt: skip

    def _alone(self, text: str, occurrence: Occurrence) -> int | None:
        """The entity that this form names whatever the text: no other has it as a name or alias."""
        stated = [owner.row for owner in self.forms[occurrence.form].owners if owner.rank < PART]
        return stated[0] if len(stated) == 1 and self._is_name(text, occurrence) else None

    def _is_name(self, text: str, occurrence: Occurrence) -> bool:
        form = self.forms[occurrence.form]
        lower = not any(map(str.isupper, _ARTICLE.sub("", text[occurrence.start : occurrence.end])))
        return not (form.described or (lower and occurrence.form in self.common and occurrence.form not in self.lower))

    def _written(
        self, text: str, occurrences: list[Occurrence], full: Collection[int], context: Context
    ) -> tuple[str, tuple[str, ...]]:
        parts, surfaces, at = [], [], 0
        for occurrence in occurrences:
            suffix = self.forms[occurrence.form].suffix
            end = occurrence.end - len(suffix)
            placeholder = self.placeholders[self._meant(text, occurrence, full, context)]
            self.replaced[placeholder].add(text[occurrence.start : end])
            surfaces.append(text[occurrence.start : end])
            parts += [text[at : occurrence.start], placeholder]
            at = end
        return "".join([*parts, text[at:]]), tuple(surfaces)

    def _meant(self, text: str, occurrence: Occurrence, full: Collection[int], context: Context) -> int | str:
        """The row of the entity that a form means here, or the form itself where nothing decides."""
        rows = self._candidates(self.forms[occurrence.form].owners)
        is_name = self._is_name(text, occurrence)
        if len(rows) == 1 and is_name:
            return rows[0]
        own = [row for row in rows if context.own and self.entities[row].passages[:1] == (context.own,)]
        here = [row for row in rows if context.passages & set(self.entities[row].passages)]
        for some in (own, [row for row in rows if row in full] if is_name else [], here):
            if len(some) == 1:
                return some[0]
        ranks = {owner.row: owner.rank for owner in self.forms[occurrence.form].owners}
        best = [row for row in rows if ranks[row] == min(ranks[other] for other in rows)]
        return best[0] if len(best) == 1 and is_name and ranks[best[0]] < PART else occurrence.form

    def _candidates(self, owners: tuple[Owner, ...]) -> list[int]:
        """Parts of names count beside names and aliases only among people; a part that two other things have, such as
        the town in the names of its clubs, is none of them."""
        stated = [owner.row for owner in owners if owner.rank < PART]
        people = [owner.row for owner in owners if self._is_person(owner.row)]
        if not stated:
            return [owner.row for owner in owners] if len(owners) == 1 or len(people) == len(owners) else []
        return people if len(people) >= len(stated) and all(map(self._is_person, stated)) else stated

    def _is_person(self, row: int) -> bool:
        return kind_of(self.entities[row].type) == "PERSON"

    def table(self) -> tuple[Name, ...]:
        """A row for each placeholder in the texts, by kind and number."""
        of = {placeholder: key for key, placeholder in self.placeholders.items()}
        names = (self._row(of[placeholder], placeholder) for placeholder in self.replaced)
        return tuple(sorted(names, key=lambda name: _number(name.placeholder)))

    def _row(self, key: int | str, placeholder: str) -> Name:
        forms = tuple(sorted(self.replaced[placeholder]))
        if isinstance(key, int):
            return Name(placeholder, self.entities[key].name, self.entities[key].type, forms)
        return Name(placeholder, forms[0], "name", forms)


def is_proper(form: str) -> bool:
    """Whether a form is a name and not a description: beyond its article, it has a capital letter, or letters of a
    script without capitals.

    >>> is_proper("the Stairs"), is_proper("A theatre"), is_proper("鲁智深")
    (True, False, True)
    """
    bare = _ARTICLE.sub("", form, count=1)
    return any(word.isupper() or (word.isalpha() and word.lower() == word.upper()) for word in bare)


def _endings(form: str) -> Iterator[tuple[str, str]]:
    """(stem, suffix) of the words that may be derived from a name: from all of it, or all but its last vowel."""
    if " " in form:
        yield form, "s"
        return
    for stem in (form, form[:-1]) if form[-1] in _VOWELS else (form,):
        yield from ((stem, suffix) for suffix in SUFFIXES)


def _goes_on(last: str, after: str) -> bool:
    """Whether a word goes on behind this character; scripts without spaces have no words to go on.

    >>> _goes_on("y", "s"), _goes_on("y", "'"), _goes_on("深", "在")
    (True, False, False)
    """
    return bool(_INSIDE.match(last) and _INSIDE.match(after))


def without_article(form: str) -> str:
    """A name without its article, which stays in the text; a description keeps it.

    >>> without_article("the Berengar"), without_article("a theatre")
    ('Berengar', 'a theatre')
    """
    return _ARTICLE.sub("", form, count=1) if is_proper(form) and _ARTICLE.match(form) else form


def _number(placeholder: str) -> tuple[str, int]:
    kind, number = PLACEHOLDER.fullmatch(placeholder).groups()
    return kind, int(number)
