"""Rule bodies of `named_entities`, `question_entities` and `triples`: names, facts and types of encyclopedic English,
from spaCy's parse.

    Orrin Vale    "Orrin Vale is a novelist from Tarn. His third book was printed by Ash & Sons in 1931."

    (Orrin Vale, is, novelist)                          what the title is: copula, apposition
    (Orrin Vale, is novelist from, Tarn)                the words between the subject and a name
    (Orrin Vale, third book printed by, Ash & Sons)     a subject without a name stands for the title, its words stay
    (Orrin Vale, third book printed in, 1931)

Every name of a passage gets a fact: its relation is read off the parse, from the name up to the verb or to the next
name; its subject is that verb's subject, or that next name. Since an encyclopedia's passage is about its title, each
fact about something else is tied to the title as well (what something else *is*, the title *has*).

Rule bodies of `graph_records` and `entity_relations`: these facts as entities with descriptions, and as relationships
with strengths or relations with labels."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench.language.entity_types import type_of
from workbench.language.pipeline import content_words, parse
from workbench.language.relations import LISTS
from workbench.steps import entity_relations as typed
from workbench.steps import graph_records as graph
from workbench.steps import named_entities as ner
from workbench.steps.entity_relations import clean_name

_SUBJECTS = ("nsubj", "nsubjpass", "csubj", "expl")
_COMPLEMENTS = ("dobj", "attr", "oprd", "acomp")
_CARRIED = ("conj", "xcomp", "advcl", "ccomp", "pcomp")  # clauses that share the subject of the verb above
_NOUNS_BEFORE = ("compound", "amod", "nmod")
_MODIFIERS = (*_NOUNS_BEFORE, "nummod", "quantmod", "advmod")
_PROPER = ("NNP", "NNPS")
_RELATIVE = ("WDT", "WP", "WP$")
_PRONOUNS = ("PRP", "PRP$", "DT", "EX")
_AMOUNTS = ("CARDINAL", "QUANTITY", "MONEY", "PERCENT")
_MEASURES = (*_AMOUNTS, "ORDINAL", "TIME", "DATE")
_PLACES = ("GPE", "LOC", "FAC")
_KINDS: dict[str, str] = LISTS["labels"]["kinds"]
_ARTICLES = ("the ", "a ", "an ")
_STEPS = 15  # how far up a parse is followed; it bounds what a garbled one can cost
_DEEP = 4  # nouns within nouns that are followed to a name
_LONG = 8  # words of a noun phrase beyond which its head alone is its name
FACTS = 5  # facts in a description
SENTENCES = 3  # in a description


class Reading(NamedTuple):
    """What a passage says. `types` gives the class of an entity: the noun it is said to be, else the kind of name."""

    entities: list[str]
    triples: list[list[str]]
    types: dict[str, str]


class _Mention(NamedTuple):
    start: int
    end: int
    label: str
    name: str
    root: int


class _About(NamedTuple):
    """Whom a clause is about, and the words of its subject that are not the name."""

    name: str
    words: tuple[str, ...] = ()


def read(passages: Sequence[tuple[str, str]], *, tied: bool = True) -> list[Reading]:
    """One Reading per (title, text). `tied`: a fact about something else is told of the title too."""
    docs = parse([text for _, text in passages], lemmas=False)
    return [_reading(title, doc, tied) for (title, _), doc in zip(passages, docs)]


def _reading(title: str, doc, tied: bool) -> Reading:
    """Kept with the parse, because two Steps read the same passages one after the other."""
    title = title.partition(" › ")[0]  # of a section, what its document is about: a heading names no thing
    key = ("reading", title, tied)
    if key not in doc.user_data:
        doc.user_data[key] = _Passage(title, doc).read(tied)
    return doc.user_data[key]


def named_entities(values: Sequence[ner.Input]) -> list[ner.Output]:
    """The title, then the names of the text in their order, without repetition."""
    readings = read([(value.title, value.text) for value in values])
    return [ner.Output(named_entities=reading.entities) for reading in readings]


def question_entities(values: Sequence[ner.Question]) -> list[ner.Output]:
    """The names of the question in their order, without repetition."""
    return named_entities([ner.Input("", value.question) for value in values])


def triples(values: Sequence[ner.TriplesInput]) -> list[ner.Triples]:
    """The rules find names by themselves; they do not read `entities`."""
    readings = read([(value.title, value.text) for value in values])
    return [ner.Triples(triples=reading.triples) for reading in readings]


class _Passage:
    """One parsed passage. Tokens are numbers; `tag`, `dep`, `head`, `word`, `below` are looked up by them."""

    def __init__(self, title: str, doc):
        self.title, self.doc = title, doc
        self.tag, self.dep, self.word, self.head = [], [], [], []
        self.below: list[list[int]] = [[] for _ in doc]
        for token in doc:
            self.tag.append(token.tag_)
            self.dep.append(token.dep_)
            self.word.append(token.text)
            self.head.append(token.head.i)
            if token.head.i != token.i:
                self.below[token.head.i].append(token.i)
        self.mention: list[int | None] = [None] * len(doc)  # token -> number of the mention that it stands in
        self.mentions = [_Mention(*span, _bare(doc[span[0] : span[1]].text), doc[span[0] : span[1]].root.i)
                         for span in self._spans()]  # fmt: skip
        self.full_name = ""
        self._unify()
        self._count()
        self.topic = title or next((mention.name for mention in self.mentions), "")
        self.classes: set[str] = set()  # nouns that the title is said to be: "the novel" is then the title
        self.classes = {self.word[i].casefold() for i in self._complements() if self._above(i).name == self.topic}

    def read(self, tied: bool) -> Reading:
        facts = list(dict.fromkeys((s, " ".join(r.split()) or "is", o) for s, r, o in self._facts()))
        if tied and self.title:
            named = {mention.name for mention in self.mentions}
            more = [
                (self.title, "has" if r == "is" else r, o)
                for s, r, o in facts
                if self.title not in (s, o) and o in named
            ]
            if not any(self.title in (s, o) for s, _, o in facts):  # tie it to what most is said of
                more += [(self.title, "is about", s) for s, _ in Counter(s for s, _, _ in facts).most_common(1)]
            facts = list(dict.fromkeys(facts + more))
        triples = [[s, r, o] for s, r, o in facts if s and o and s.casefold() != o.casefold()]
        names = dict.fromkeys(name for name in (self.title, *(m.name for m in self.mentions)) if name)
        return Reading(list(names), triples, self._types())

    # -- names ----------------------------------------------------------------------------------------------------

    def _spans(self) -> Iterator[tuple[int, int, str]]:
        """(start, end, label) of the names and of the amounts and dates with a figure: spaCy's entities, grown over
        the proper nouns that hang on them, and the proper nouns left over. Nationalities are words, not names."""
        taken, number = self.mention, 0
        for entity in self.doc.ents:
            start, end, label = entity.start, entity.end, entity.label_
            if label == "NORP" or (label in _MEASURES and not any(map(str.isdigit, entity.text))):
                continue
            if label not in _MEASURES:
                while start and self._free(start - 1) and start <= self.head[start - 1] < end:
                    start -= 1
                while end < len(taken) and self._free(end) and start <= self.head[end] < end:
                    end += 1
            taken[start:end] = [number] * (end - start)
            yield start, end, label
            number += 1
        start = 0
        while start < len(taken):
            end = start
            while end < len(taken) and self._free(end) and not self.doc[end].ent_type_:
                end += 1
            if end > start:
                taken[start:end] = [number] * (end - start)
                yield start, end, ""
                number += 1
            start = end + 1

    def _free(self, token: int) -> bool:
        return self.tag[token] in _PROPER and self.mention[token] is None

    def _unify(self) -> None:
        """Mentions of one thing get one name."""
        plain = re.sub(r"\s*\([^)]*\)\s*$", "", self.title).casefold()
        of_title, before_comma = plain.split(), plain.split(",")[0]
        people: list[str] = []
        for number, mention in enumerate(self.mentions):
            name, folded = mention.name, mention.name.casefold()
            words = folded.split()
            whole = folded in (plain, before_comma, self.title.casefold())
            if whole or self._short_for(words, of_title, mention.label):
                name = self.title
            elif mention.label == "PERSON":
                name = next((p for p in people if _ends_with(p.casefold().split(), words)), name)
                people.append(name)
            self.mentions[number] = mention._replace(name=name)
        self._open(set(re.findall(r"\w+", plain)))

    def _short_for(self, words: list[str], title: list[str], label: str) -> bool:
        """Whether words are the title in short: its end ("Chopin"; of a person, its beginning too). Places and titles
        with a preposition are left out: Paris is not the University of Paris."""
        if label in (*_PLACES, *_MEASURES) or not 0 < len(words) < len(title) or {"of", "in", "at"} & set(title):
            return False
        return _ends_with(title, words) or (label == "PERSON" and title[: len(words)] == words)

    def _open(self, title: set[str]) -> None:
        """An article opens with its title under the full name; from there on both are the title."""
        for mention in self.mentions:
            if self.dep[mention.root] in _SUBJECTS and mention.label not in _MEASURES and mention.name != self.title:
                words = set(re.findall(r"\w+", mention.name.casefold()))
                if title and (title <= words or (mention.label == "PERSON" and len(title & words) > 1)):
                    self.full_name = mention.name
                    renamed = [m._replace(name=self.title) if m.name == self.full_name else m for m in self.mentions]
                    self.mentions = renamed
                return

    def _count(self) -> None:
        """The name of a number is the number with what it counts: 23 arches."""
        for number, (start, end, label, name, root) in enumerate(self.mentions):
            noun = self.head[root]
            if label in _AMOUNTS and self.dep[root] == "nummod" and self.mention[noun] is None and noun >= end:
                if noun - start < _LONG:
                    name = _bare(" ".join(self.word[start : noun + 1]))
                self.mentions[number] = _Mention(start, noun + 1, label, name, noun)
                self.mention[end : noun + 1] = [
                    number if other is None else other for other in self.mention[end : noun + 1]
                ]

    def _name(self, token: int) -> str | None:
        number = self.mention[token]
        return None if number is None else self.mentions[number].name

    def _phrase(self, noun: int) -> str:
        """A noun with the words before it that belong to it."""
        first = noun
        for child in self.below[noun]:
            if child < noun and self.dep[child] in (_MODIFIERS if self.mention[child] is None else _NOUNS_BEFORE):
                first = min(first, *self._subtree(child))
        return _bare(" ".join(self.word[first if noun - first < _LONG else noun : noun + 1]))

    def _subtree(self, token: int) -> list[int]:
        tokens = [token]
        for member in tokens:  # grows while it is read
            tokens += self.below[member]
        return tokens

    # -- who is spoken of -------------------------------------------------------------------------------------------

    def _above(self, token: int) -> _About:
        """Whom the verb above a token is about."""
        return self._subject(self.head[token])

    def _subject(self, verb: int) -> _About:
        """Its own subject; the noun that it describes; or the subject of the verb on which it hangs."""
        at = verb
        for _ in range(_STEPS):
            own = next((child for child in self.below[at] if self.dep[child] in _SUBJECTS), None)
            if own is not None:
                return self._referent(own, verb)
            above = self.head[at]
            if self.dep[at] in ("relcl", "acl"):
                return self._referent(above, verb)
            if self.dep[at] not in _CARRIED or above == at:
                break
            if self.mention[above] is not None or (self.tag[above].startswith("NN") and self.dep[above] != "prep"):
                return self._referent(above, verb)
            at = self.head[above] if self.dep[above] == "prep" else above
        return _About(self.topic)

    def _referent(self, token: int, verb: int, depth: int = 0) -> _About:
        """What a noun or pronoun in the clause of `verb` stands for. Words that are no name go into the relation."""
        name = self._name(token)
        if name is not None:
            return _About(name)
        if self.tag[token] in _RELATIVE or (self.tag[token] == "IN" and self.word[token] == "that"):
            at = token
            while self.dep[at] != "relcl" and self.head[at] != at:
                at = self.head[at]
            if self.dep[at] == "relcl" and depth < _DEEP:
                return self._referent(self.head[at], verb, depth + 1)
            return _About(self.topic)
        if self.tag[token] in _PRONOUNS or depth == _DEEP:
            return _About(self.topic)
        above = self.head[token]
        if self.dep[token] == "attr":  # "is a novel that …": what the novel is said of
            return self._subject(above) if above != verb else _About(self.topic)
        if self.dep[token] == "appos":
            return self._referent(above, verb, depth + 1)
        for child in self.below[token]:
            if self.dep[child] == "appos" and self.mention[child] is not None:
                return _About(self._name(child))
        for child in self.below[token]:
            if self.dep[child] == "poss":  # "her father", "the town's bridge"
                owner = self._referent(child, verb, depth + 1)
                return _About(owner.name, (*owner.words, self.word[token]))
        for preposition in self.below[token]:
            if self.dep[preposition] == "prep" and self.word[preposition] == "of":  # "the mayor of Tarn"
                for child in self.below[preposition]:
                    number = self.mention[child]
                    if number is not None and self.mentions[number].label not in _MEASURES:
                        return _About(self._name(child), (self._phrase(token),))
        is_general = self.word[token].casefold() in self.classes or self.word[token] in self.title.split()
        return _About(self.topic, () if is_general else (self._phrase(token),))

    # -- what is said -------------------------------------------------------------------------------------------------

    def _facts(self) -> Iterator[tuple[str, str, str]]:
        if self.full_name:
            yield self.title, "full name", self.full_name
        amounts = {mention.name for mention in self.mentions if mention.label in _MEASURES}
        for mention in self.mentions:
            about = self._relation(mention.root)
            if about is not None and not (about.name in amounts and mention.name in amounts):
                yield about.name, " ".join(about.words), mention.name
        for noun in self._complements():  # of the title alone: what others are is said in passing, and often loosely
            about = self._above(noun)
            if about.name == self.topic:
                yield self.topic, " ".join((*about.words, self.word[self.head[noun]])), self._phrase(noun)
        for name, noun in self._appositions():
            if name == self.topic:
                yield name, "is", self._phrase(noun)
        for noun in self._unnamed("dobj"):
            about = self._above(noun)
            if not about.words:
                yield about.name, self.word[self.head[noun]], self._phrase(noun)

    def _unnamed(self, dep: str) -> list[int]:
        return [
            token for token, role in enumerate(self.dep)
            if role == dep and self.mention[token] is None and self.tag[token].startswith("NN")
        ]  # fmt: skip

    def _complements(self) -> list[int]:
        """Nouns that say what a subject is."""
        return [noun for noun in self._unnamed("attr") if self.tag[self.head[noun]].startswith("VB")]

    def _appositions(self) -> Iterator[tuple[str, int]]:
        """(name, noun that says what it is)"""
        for noun in self._unnamed("appos"):
            name = self._name(self.head[noun])
            if name is not None:
                yield name, noun

    def _relation(self, token: int) -> _About | None:
        """Whom the fact with this name is about, and the words between. None for a subject: its clause speaks of it."""
        mention, at, words = self.mention[token], token, ()
        for _ in range(_STEPS):
            above, dep = self.head[at], self.dep[at]
            if above == at:
                break
            if self.mention[above] not in (None, mention) and dep != "conj":
                own = ("of",) if dep in ("poss", *_NOUNS_BEFORE) else ("is",) if dep == "appos" else ()
                return _About(self._name(above), (*own, *words))
            if dep == "conj" and not self._is_verb(above):
                at = above  # the second of a row stands where the first does
                continue
            if self._is_verb(above):
                if dep in _SUBJECTS:
                    return _About(self.topic, (self.word[above], *words)) if words else None
                clause = sorted([above, *(child for child in self.below[above] if self._belongs(child, at))])
                about = self._subject(above)
                return _About(about.name, (*about.words, *(self.word[i] for i in clause), *words))
            if self.tag[above] in ("IN", "TO") or self.tag[above].startswith("NN") or dep in ("poss", *_MODIFIERS):
                words = (self.word[above], *words)
            at = above
        return _About(self.topic, words)

    def _is_verb(self, token: int) -> bool:
        return self.tag[token].startswith("VB") and self.dep[token] not in ("aux", "auxpass", "amod", "compound")

    def _belongs(self, child: int, at: int) -> bool:
        """Whether a word of the clause belongs to its verb: a negation, a particle, an object before the name."""
        if self.dep[child] in ("neg", "prt"):
            return True
        return self.dep[child] in _COMPLEMENTS and self.mention[child] is None and child < at

    def _types(self) -> dict[str, str]:
        types: dict[str, str] = {}
        for noun in self._complements():
            about = self._above(noun)
            if not about.words:
                types.setdefault(about.name, self.word[noun].casefold())
        for name, noun in self._appositions():
            types.setdefault(name, self.word[noun].casefold())
        for mention in self.mentions:
            if mention.label in _KINDS:
                types.setdefault(mention.name, _KINDS[mention.label])
        return types


def _ends_with(words: list[str], end: list[str]) -> bool:
    return 0 < len(end) < len(words) and words[-len(end) :] == end


def _bare(phrase: str) -> str:
    """Without the article, the genitive and what punctuation surrounds it."""
    phrase = " ".join(phrase.split()).strip(" ,;:\"'()[]“”‘’–—-.")
    phrase = phrase[:-2] if phrase.endswith(("'s", "’s")) else phrase
    return next((phrase[len(article) :] for article in _ARTICLES if phrase.lower().startswith(article)), phrase)


# -- records of graphs -------------------------------------------------------------------------------------------------


def graph_records(values: Sequence[graph.Input]) -> list[graph.Output]:
    """The rules name no types but their own. A text that is put together from parts is read part by part."""
    parts = [value.parts or ((value.title, value.text),) for value in values]
    readings = iter(read([part for some in parts for part in some]))
    return [_joined([_records(next(readings)) for _ in some]) for some in parts]


def _joined(outputs: Sequence[graph.Output]) -> graph.Output:
    entities = [entity for output in outputs for entity in output.entities]
    relationships = [relationship for output in outputs for relationship in output.relationships]
    return graph.Output(entities=entities, relationships=relationships)


def _records(reading: Reading) -> graph.Output:
    """The ends of the facts, each with its first facts; pairs of ends with all that joins them, and as strength how
    many facts that is, at most 10."""
    about: dict[str, list[str]] = defaultdict(list)
    joined: dict[frozenset[str], list[tuple[str, str, str]]] = defaultdict(list)
    for subject, relation, obj in reading.triples:
        for end in dict.fromkeys((subject, obj)):
            about[end].append(f"{subject} {relation} {obj}")
        if subject != obj:
            joined[frozenset((subject, obj))].append((subject, relation, obj))
    return graph.Output(
        entities=[
            graph.EntityRecord(name=name, type=reading.types.get(name, ""), description="; ".join(facts[:FACTS]))
            for name, facts in about.items()
        ],
        relationships=[
            graph.RelationRecord(
                source=facts[0][0],
                target=facts[0][2],
                description="; ".join(map(" ".join, facts)),
                strength=float(min(len(facts), 10)),
            )
            for facts in joined.values()
        ],
    )


def entity_relations(values: Sequence[typed.Input]) -> list[typed.Output]:
    """The names that facts join, with their types (`entity_types.type_of`) and the first sentences with a fact about
    them; the facts that join two names, their words as label. A fact with an end that is no name (a *novelist*, an
    *office*) makes neither entity nor relation: as a node it would join all that have one."""
    readings = read([(value.title, value.text) for value in values])
    docs = parse([value.text for value in values], lemmas=False)
    return [_typed(reading, doc, value.types) for reading, doc, value in zip(readings, docs, values)]


def _typed(reading: Reading, doc, types: Sequence[tuple[str, str]]) -> typed.Output:
    names, sentences = {name: clean_name(name) for name in reading.entities}, _Sentences(doc)
    about: dict[str, dict[str, None]] = defaultdict(dict)
    relations = []
    for subject, label, obj in reading.triples:
        sentence = sentences.of(f"{subject} {label} {obj}")
        for end in (subject, obj):
            about[end][sentence] = None
        source, target = names.get(subject), names.get(obj)
        if source and target and source != target:
            words = sorted(content_words(label))
            record = typed.RelationRecord(
                source=source, target=target, keywords=words, description=sentence, label=label
            )
            relations.append(record)
    entities = [
        typed.EntityRecord(
            name=names[name],
            type=type_of(name, reading.types.get(name, ""), types),
            description=" ".join(list(stating)[:SENTENCES]),
        )
        for name, stating in about.items()
        if names.get(name)
    ]
    return typed.Output(entities=entities, relations=relations)


class _Sentences:
    """The sentences of a parsed text, to be found by their words."""

    def __init__(self, doc):
        self.texts = [" ".join(sentence.text.split()) for sentence in doc.sents]
        self.having: dict[str, list[int]] = defaultdict(list)
        for row, text in enumerate(self.texts):
            for word in content_words(text):
                self.having[word].append(row)

    def of(self, fact: str) -> str:
        """The sentence that shares most words with a fact, the first of several."""
        shared = Counter(row for word in content_words(fact) for row in self.having.get(word, ()))
        return self.texts[min(shared, key=lambda row: (-shared[row], row), default=0)]
