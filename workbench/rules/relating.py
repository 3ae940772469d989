"""Rule bodies of `graph_records` and `entity_relations`: the facts of `extraction` as entities with descriptions, and
as relationships with strengths or relations with labels."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from workbench.language.entity_types import type_of
from workbench.language.pipeline import content_words, parse
from workbench.rules import extraction

TOLD = 5  # facts in a description
SENTENCES = 3  # in a description


class Entity(NamedTuple):
    name: str
    type: str
    description: str


class Relation(NamedTuple):
    source: str
    target: str
    description: str
    strength: float


class Related(NamedTuple):
    entities: list[Entity]
    relations: list[Relation]


class Fact(NamedTuple):
    """A relation of one fact: `label` is its words, `keywords` those of them that carry meaning, `description` the
    sentence that states it."""

    source: str
    target: str
    keywords: list[str]
    description: str
    label: str


class Told(NamedTuple):
    entities: list[Entity]
    facts: list[Fact]


def relate(passages: Sequence[tuple[str, str]]) -> list[Related]:
    """Per (title, text): the ends of its facts, each with its first facts; pairs of ends with all that joins them, and
    as strength how many facts that are, at most 10."""
    return [_related(reading) for reading in extraction.read(passages)]


def tell(passages: Sequence[tuple[str, str, Sequence[tuple[str, str]]]]) -> list[Told]:
    """Per (title, text, types): the names that facts join, with their types (`kinds.type_of`) and the first sentences
    with a fact about them; the facts that join two names. A fact with an end that is no name (a *novelist*, an
    *office*) makes neither entity nor relation: as a node it would join all that have one."""
    readings = extraction.read([(title, text) for title, text, _ in passages])
    docs = parse([text for _, text, _ in passages], lemmas=False)
    return [_told(reading, doc, types) for reading, doc, (_, _, types) in zip(readings, docs, passages)]


def _related(reading: extraction.Reading) -> Related:
    about: dict[str, list[str]] = defaultdict(list)
    joined: dict[frozenset[str], list[tuple[str, str, str]]] = defaultdict(list)
    for subject, relation, obj in reading.triples:
        for end in dict.fromkeys((subject, obj)):
            about[end].append(f"{subject} {relation} {obj}")
        if subject != obj:
            joined[frozenset((subject, obj))].append((subject, relation, obj))
    entities = [Entity(name, reading.types.get(name, ""), "; ".join(told[:TOLD])) for name, told in about.items()]
    relations = [
        Relation(facts[0][0], facts[0][2], "; ".join(map(" ".join, facts)), float(min(len(facts), 10)))
        for facts in joined.values()
    ]
    return Related(entities, relations)


def _told(reading: extraction.Reading, doc, types: Sequence[tuple[str, str]]) -> Told:
    names, stating = set(reading.entities), _Sentences(doc)
    about: dict[str, dict[str, None]] = defaultdict(dict)
    facts = []
    for subject, label, obj in reading.triples:
        sentence = stating.of(f"{subject} {label} {obj}")
        for end in (subject, obj):
            about[end][sentence] = None
        if subject in names and obj in names:
            facts.append(Fact(subject, obj, sorted(content_words(label)), sentence, label))
    entities = [
        Entity(name, type_of(name, reading.types.get(name, ""), types), " ".join(list(sentences)[:SENTENCES]))
        for name, sentences in about.items()
        if name in names
    ]
    return Told(entities, facts)


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
