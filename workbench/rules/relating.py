"""Rule bodies of `graph_records` and `entity_relations`: the facts of `extraction` as entities with descriptions, and
as relationships with strengths or relations with labels."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from workbench.language.entity_types import type_of
from workbench.language.pipeline import content_words, parse
from workbench.rules import extraction
from workbench.steps import entity_relations as typed
from workbench.steps import graph_records as graph
from workbench.steps.entity_relations import clean_name

FACTS = 5  # facts in a description
SENTENCES = 3  # in a description


def graph_records(values: Sequence[graph.Input]) -> list[graph.Output]:
    """The rules name no types but their own. A text that is put together from parts is read part by part."""
    parts = [value.parts or ((value.title, value.text),) for value in values]
    readings = iter(extraction.read([part for some in parts for part in some]))
    return [_joined([_records(next(readings)) for _ in some]) for some in parts]


def _joined(outputs: Sequence[graph.Output]) -> graph.Output:
    entities = [entity for output in outputs for entity in output.entities]
    relationships = [relationship for output in outputs for relationship in output.relationships]
    return graph.Output(entities=entities, relationships=relationships)


def _records(reading: extraction.Reading) -> graph.Output:
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
    readings = extraction.read([(value.title, value.text) for value in values])
    docs = parse([value.text for value in values], lemmas=False)
    return [_typed(reading, doc, value.types) for reading, doc, value in zip(readings, docs, values)]


def _typed(reading: extraction.Reading, doc, types: Sequence[tuple[str, str]]) -> typed.Output:
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
