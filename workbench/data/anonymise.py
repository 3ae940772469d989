"""Anonymisation of a data set: its names become placeholders, the same one for every form of a name, in passages,
titles, ids, questions, answers, decompositions and gold graph (AnonyRAG; Youtu-GraphRAG, arXiv 2508.19855).

    Ilse Varnessel … Miss Varnessel's brother Anselm   →   [PERSON#12] … Miss [PERSON#12]'s brother [PERSON#40]

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
from typing import Any, NamedTuple

from workbench.data.folder import Dataset, Extraction
from workbench.data.graph import GoldEntity, GoldGraph, GoldTriple, Schema
from workbench.data.names import PLACEHOLDER, Name, Named, Names, Replaced, kind_of
from workbench.data.origin import Origin
from workbench.errors import DataError
from workbench.records import Passage, Question, Triple

NAME, ALIAS, PART = range(3)  # how a form belongs to an entity
SHORTEST = 3  # letters of a part, and of a word that others are derived from
SUFFIXES = ("s", "es", "er", "ers", "an", "ans", "ian", "ians", "ish", "ese", "ite", "ites", "ic", "ensis")
CALENDAR = frozenset(
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday".split()
)
_VOWELS = "aeouy"
_ARTICLE = re.compile(r"(?:the|an?)\s+", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_FOLDED = {"ø": "o", "đ": "d", "ł": "l", "ß": "s", "æ": "a", "œ": "o", "’": "'", "‘": "'", "-": " ", "‑": " ", "–": " "}


class Anonymised(NamedTuple):
    """The anonymised data set, and the table of its names, which is to be kept apart from it."""

    data: Dataset
    names: Names


class Owner(NamedTuple):
    """That a form belongs to an entity (its row), and how."""

    row: int
    rank: int


@dataclass(frozen=True, slots=True)
class Form:
    """`suffix` is what a derived word has beyond the name; `weak`: so written, it is a description, not a name."""

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
            form: Form(tuple(Owner(*one) for one in sorted(of.items())), described=form not in proper)
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
        """Words of the texts that are made of a name of one word: of all of it, or of all but its last vowel."""
        for form in sorted(proper):
            if len(form) <= SHORTEST or form in self.common:
                continue
            several = " " in form
            stems = (form,) if several or form[-1] not in _VOWELS else (form, form[:-1])
            for stem, suffix in ((stem, suffix) for stem in stems for suffix in (SUFFIXES[:1] if several else SUFFIXES)):
                word = stem + suffix
                if word not in forms and (several or (word in self.words and word not in self.common)):
                    yield word, replace(forms[form], suffix=word[len(stem) :])

    @cached_property
    def pattern(self) -> re.Pattern:
        longest = sorted(self.forms, key=lambda form: (-len(form), form))
        return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest)) + r")(?!\w)")

    @cached_property
    def placeholders(self) -> dict[int | str, str]:
        """Row of an entity, or a form that may be a name of its own → its placeholder. Entities have the first numbers
        of a kind. The numbers follow a hash, so that they tell nothing of the names."""
        kinds = {row: kind_of(entity.type) for row, entity in enumerate(self.entities)}
        keys: dict[int | str, str] = dict(kinds) | {form: self._kind(form, kinds) for form in self.forms}
        counts: dict[str, int] = defaultdict(int)
        found = {}
        for key in sorted(keys, key=self._order):
            counts[keys[key]] += 1
            found[key] = f"[{keys[key]}#{counts[keys[key]]}]"
        return found

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

    def rewritten(self, texts: Iterable[str], context: Context = Context()) -> list[tuple[str, tuple[str, ...]]]:
        """(text with placeholders, the forms that they replaced) for texts that stand together."""
        texts = list(texts)
        found = [self._occurrences(text) for text in texts]
        full = {
            row
            for text, occurrences in zip(texts, found)
            for one in occurrences
            if (row := self._alone(text, one)) is not None
        }
        return [self._written(text, occurrences, full, context) for text, occurrences in zip(texts, found)]

    def _occurrences(self, text: str) -> list[Occurrence]:
        if held := PLACEHOLDER.search(text):
            raise DataError(f"a text holds {held[0]!r} already, so it could not be restored; anonymise the original")
        return [Occurrence(*one.span(), one[0]) for one in self.pattern.finditer(folded(text))] if self.forms else []

    def _alone(self, text: str, one: Occurrence) -> int | None:
        """The entity that this form names whatever the text: no other has it as a name or alias."""
        stated = [owner.row for owner in self.forms[one.form].owners if owner.rank < PART]
        return stated[0] if len(stated) == 1 and self._is_name(text, one) else None

    def _is_name(self, text: str, one: Occurrence) -> bool:
        form = self.forms[one.form]
        lower = not any(map(str.isupper, _ARTICLE.sub("", text[one.start : one.end])))
        return not (form.described or (lower and one.form in self.common and one.form not in self.lower))

    def _written(
        self, text: str, occurrences: list[Occurrence], full: Collection[int], context: Context
    ) -> tuple[str, tuple[str, ...]]:
        parts, surfaces, at = [], [], 0
        for one in occurrences:
            suffix = self.forms[one.form].suffix
            end = one.end - len(suffix)
            placeholder = self.placeholders[self._meant(text, one, full, context)]
            self.replaced[placeholder].add(text[one.start : end])
            surfaces.append(text[one.start : end])
            parts += [text[at : one.start], placeholder]
            at = end
        return "".join([*parts, text[at:]]), tuple(surfaces)

    def _meant(self, text: str, one: Occurrence, full: Collection[int], context: Context) -> int | str:
        """The row of the entity that a form means here, or the form itself where nothing decides."""
        rows = self._candidates(self.forms[one.form].owners)
        is_name = self._is_name(text, one)
        if len(rows) == 1 and is_name:
            return rows[0]
        own = [row for row in rows if context.own and self.entities[row].passages[:1] == (context.own,)]
        here = [row for row in rows if context.passages & set(self.entities[row].passages)]
        for some in (own, [row for row in rows if row in full] if is_name else [], here):
            if len(some) == 1:
                return some[0]
        ranks = {owner.row: owner.rank for owner in self.forms[one.form].owners}
        best = [row for row in rows if ranks[row] == min(ranks[other] for other in rows)]
        return best[0] if len(best) == 1 and is_name and ranks[best[0]] < PART else one.form

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
        found = (self._row(of[placeholder], placeholder) for placeholder in self.replaced)
        return tuple(sorted(found, key=lambda name: _number(name.placeholder)))

    def _row(self, key: int | str, placeholder: str) -> Name:
        forms = tuple(sorted(self.replaced[placeholder]))
        if isinstance(key, int):
            return Name(placeholder, self.entities[key].name, self.entities[key].type, forms)
        return Name(placeholder, forms[0], "name", forms)


def is_proper(form: str) -> bool:
    """Whether a form is a name and not a description: beyond its article, it has a capital letter.

    >>> is_proper("the Stairs"), is_proper("A theatre")
    (True, False)
    """
    return any(map(str.isupper, _ARTICLE.sub("", form, count=1)))


def without_article(form: str) -> str:
    """A name without its article, which stays in the text; a description keeps it.

    >>> without_article("the Berengar"), without_article("a theatre")
    ('Berengar', 'a theatre')
    """
    return _ARTICLE.sub("", form, count=1) if is_proper(form) and _ARTICLE.match(form) else form


def _number(placeholder: str) -> tuple[str, int]:
    kind, number = PLACEHOLDER.fullmatch(placeholder).groups()
    return kind, int(number)


def names_of_graph(graph: GoldGraph) -> tuple[Named, ...]:
    """The entities of a gold graph with their aliases, each with the passages that state something of it."""
    stated: dict[str, dict[str, None]] = {
        entity.name: dict.fromkeys([entity.passage] if entity.passage else []) for entity in graph.entities
    }
    for triple in graph.triples:
        for member in (triple.head, triple.tail) if triple.kind == "relation" else (triple.head,):
            stated[member].update(dict.fromkeys(triple.passages))
    return tuple(Named(one.name, one.type, one.aliases, tuple(stated[one.name])) for one in graph.entities)


def anonymised(data: Dataset, entities: Iterable[Named]) -> Anonymised:
    """The data set with placeholders for the names of `entities`, and the table of names.

    Ids become numbers, because ids made of titles tell the names; answers that become equal are one. Profiles of an
    imported index are refused. Raises :class:`DataError` if a text holds placeholders already."""
    if data.profiles is not None:
        raise DataError(f"{data.name!r} is an imported index, whose profiles hold names; anonymise its documents")
    entities = tuple(entities)
    if not entities:
        raise DataError(f"no name was found in {data.name!r}; give a table of names")
    rewriter = Rewriter(entities, _texts(data))
    ids = {passage.id: f"p{number:04}" for number, passage in enumerate(data.passages, 1)}
    passages = [_passage(rewriter, passage, ids) for passage in data.passages]
    questions = [_question(rewriter, question, number, ids) for number, question in enumerate(data.questions, 1)]
    made = Dataset(
        f"{data.name}-anonymised",
        tuple(passage for passage, _ in passages),
        tuple(question for question, _ in questions),
        data.extractions and tuple(_extraction(rewriter, one, ids) for one in data.extractions),
        graph=data.graph and _graph(rewriter, data.graph, ids),
        triples=tuple(_triple(rewriter, triple, ids) for triple in data.triples),
        origin=Origin("names replaced by placeholders; the table of names is kept apart"),
        schema=data.schema and _schema(rewriter, data.schema),
    )
    names = Names(rewriter.table(), tuple(one for _, one in passages), tuple(one for _, one in questions))
    return Anonymised(made, names)


def _texts(data: Dataset) -> Iterator[str]:
    for passage in data.passages:
        yield passage.title
        yield passage.text
    for question in data.questions:
        yield from _strings([question.question, question.answers, question.decomposition or ()])
    for triple in data.triples:
        yield from triple.members


def _strings(value: Any) -> Iterator[str]:
    """Every text within lists and objects, but for ids of passages."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _strings([held for name, held in value.items() if name != "support"])
    elif isinstance(value, list | tuple):
        for held in value:
            yield from _strings(held)


def _replaced(value: Any, texts: Iterator[str], ids: dict[str, str]) -> Any:
    """The same lists and objects with the next texts in the place of theirs, and the new ids of passages."""
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, dict):
        return {
            name: ids.get(held, held) if name == "support" else _replaced(held, texts, ids)
            for name, held in value.items()
        }
    return type(value)(_replaced(held, texts, ids) for held in value) if isinstance(value, list | tuple) else value


def _passage(rewriter: Rewriter, passage: Passage, ids: dict[str, str]) -> tuple[Passage, Replaced]:
    context = Context(frozenset([passage.id]), passage.id)
    (title, in_title), (text, in_text) = rewriter.rewritten([passage.title, passage.text], context)
    surfaces = {"title": in_title, "text": in_text}
    return Passage(ids[passage.id], title, text), Replaced(ids[passage.id], passage.id, surfaces)


def _question(rewriter: Rewriter, question: Question, number: int, ids: dict[str, str]) -> tuple[Question, Replaced]:
    fields = [question.question, question.answers, question.start, question.decomposition or ()]
    written = rewriter.rewritten(_strings(fields), Context(frozenset(question.support)))
    asked, answers, start, steps = _replaced(fields, iter([text for text, _ in written]), ids)
    made = replace(
        question,
        id=f"q{number:04}",
        question=asked,
        answers=tuple(dict.fromkeys(answers)),
        start=start,
        support=tuple(ids[id] for id in question.support),
        decomposition=steps or None,
    )
    return made, Replaced(made.id, question.id, {"question": written[0][1]})


def _extraction(rewriter: Rewriter, one: Extraction, ids: dict[str, str]) -> Extraction:
    context = Context(frozenset([one.passage_id]), one.passage_id)
    fields = [one.entities, one.triples]
    written = (text for text, _ in rewriter.rewritten(_strings(fields), context))
    entities, triples = _replaced(fields, iter(list(written)), ids)
    return replace(one, passage_id=ids[one.passage_id], entities=entities, triples=triples)


def _triple(rewriter: Rewriter, triple: Triple, ids: dict[str, str]) -> Triple:
    written = [text for text, _ in rewriter.rewritten(triple.members, Context(frozenset(triple.passages)))]
    return Triple(*written, tuple(ids.get(id, id) for id in triple.passages))


def _graph(rewriter: Rewriter, graph: GoldGraph, ids: dict[str, str]) -> GoldGraph:
    """The gold graph: entities by their placeholders, of which there are no aliases; values and mentions rewritten as
    the passage that they are quoted from. An entity that is not replaced keeps its name, with those within it
    replaced."""
    at = {entity.name: rewriter.placeholders[row] for row, entity in enumerate(rewriter.entities)}
    for entity in graph.entities:
        if entity.name in at:
            rewriter.replaced[at[entity.name]].add(entity.name)
        else:
            ((at[entity.name], _),) = rewriter.rewritten([entity.name], _of_article(entity))
    return GoldGraph(
        _schema(rewriter, graph.schema),
        tuple(_entity(rewriter, entity, at, ids) for entity in graph.entities),
        tuple(_gold(rewriter, triple, at, ids) for triple in graph.triples),
    )


def _schema(rewriter: Rewriter, schema: Schema) -> Schema:
    """The schema with its definitions rewritten; the names of its types and relations are no names of the world."""
    parts = {
        part: tuple(replace(one, definition=rewriter.rewritten([one.definition])[0][0]) for one in getattr(schema, part))
        for part in ("entity_types", "relations", "attributes")
    }
    return replace(schema, **parts, description=rewriter.rewritten([schema.description])[0][0])


def _of_article(entity: GoldEntity) -> Context:
    return Context(frozenset([entity.passage] if entity.passage else []), entity.passage)


def _entity(rewriter: Rewriter, entity: GoldEntity, at: dict[str, str], ids: dict[str, str]) -> GoldEntity:
    known = (one.passages for one in rewriter.entities if one.name == entity.name)
    passages = next(known, (entity.passage,) if entity.passage else ())
    context = Context(frozenset(passages), passages[0] if passages else None)
    kept = () if at[entity.name] in rewriter.replaced else entity.aliases
    aliases, mentions = ([rewriter.rewritten([text], context)[0][0] for text in some] for some in (kept, entity.mentions))
    said = [tuple(dict.fromkeys(text for text in some if text != at[entity.name])) for some in (aliases, mentions)]
    return GoldEntity(at[entity.name], entity.type, *said, entity.passage and ids[entity.passage])


def _gold(rewriter: Rewriter, triple: GoldTriple, at: dict[str, str], ids: dict[str, str]) -> GoldTriple:
    tail = at.get(triple.tail) if triple.kind == "relation" else None
    if tail is None:
        context = Context(frozenset(triple.passages), triple.passages[0])
        ((tail, _),) = rewriter.rewritten([triple.tail], context)
    return replace(triple, head=at[triple.head], tail=tail, passages=tuple(ids[id] for id in triple.passages))


def restored(data: Dataset, names: Names) -> tuple[tuple[Passage, ...], tuple[Question, ...]]:
    """The passages as they were, and the questions: their text as it was, answers and steps in the usual form of each
    name, because these became fewer."""
    passages = {one.id: one for one in names.passages}
    questions = {one.id: one for one in names.questions}
    originals = {id: one.original for id, one in passages.items()}
    return (
        tuple(_restored_passage(passage, passages[passage.id], names) for passage in data.passages),
        tuple(_restored_question(one, questions.get(one.id), originals, names) for one in data.questions),
    )


def _restored_passage(passage: Passage, had: Replaced, names: Names) -> Passage:
    title, text = (names.restore(getattr(passage, part), had.surfaces.get(part, ())) for part in ("title", "text"))
    return Passage(had.original, title, text)


def _restored_question(question: Question, had: Replaced | None, ids: dict[str, str], names: Names) -> Question:
    fields = [question.answers, question.start, question.decomposition or ()]
    answers, start, steps = _replaced(fields, map(names.restore, _strings(fields)), ids)
    return replace(
        question,
        id=had.original if had else question.id,
        question=names.restore(question.question, had.surfaces.get("question", ()) if had else ()),
        answers=answers,
        start=start,
        support=tuple(ids.get(id, id) for id in question.support),
        decomposition=steps or None,
    )
