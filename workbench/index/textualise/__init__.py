"""Textualisation: a graph of triples becomes a corpus and profiles (DotRAG on MetaQA).

    data = textualise(wb.load("metaqa"), wb.engine("rules"), "texts/metaqa")

Each entity gets an article, or several where it has many relations; then a type and a description; then each triple
gets a sentence, from the article of its subject. The engine's texts are checked name by name and requested again with
the names that they lack. The template writer, which is the rule body of the same Steps, adds what is still missing;
with `rules` it writes everything.

A graph that has labels and no schema gets one (`inferred`). Every relation has two ends, the entities that it leaves
and those that it enters. Two ends are of one type if at least half of the entities of the smaller one stand at the
larger one as well; so the types are groups of ends. A type is called after a relation that names what it leads to
(`master_builder`), else after a word that most of its names have (`comet`), else after the relation with most entities
at that end, with an arrow for the side (`→ laid_down_at`). Its definition says what kind of names it has, and gives
examples.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from workbench.data import Dataset, Extraction
from workbench.data.graph import EntityType, Relation, Schema
from workbench.data.origin import Origin
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.data.schemas import covering
from workbench.errors import DataError, IndexFault, SettingError
from workbench.index import usage
from workbench.index.journal import Journal, lines, maker, read
from workbench.index.store import Store, write_atomically
from workbench.index.textualise.writers import ARTICLES, WORKBENCH, Facts, Row, Shard, Text, Writers, plain
from workbench.language.pipeline import parse
from workbench.language.verbalisation import words
from workbench.llm.engine import Engine
from workbench.records import Passage, Triple
from workbench.steps import textualising
from workbench.text import text_hash


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Explains a full or write-protected disk, and that nothing paid for is lost."""
    try:
        yield
    except OSError as error:
        raise IndexFault(
            f"{folder} could not be written or read ({error.strerror or error}); what is done is kept: make room, or "
            "make it writable, and give the same command again"
        ) from error


def same_work(folder: Path, made_of: Mapping[str, Any]) -> None:
    """Record what the texts in a folder are made of. Texts made of something else are refused, not continued."""
    path = folder / "made_of.json"
    wanted = json.loads(json.dumps(made_of))
    if path.exists():
        noted = json.loads(path.read_text(encoding="utf-8"))
        if different := [name for name in wanted if noted.get(name) != wanted[name]]:
            name = different[0]
            raise IndexFault(
                f"{folder} holds texts with another {name!r} ({noted.get(name)!r}, not {wanted[name]!r}); "
                "choose another folder, or delete this one first"
            )
    else:
        write_atomically(path, json.dumps(wanted, indent=1) + "\n")


__all__ = ["induced", "textualise"]

SHARD, HUB, ATTEMPTS = 25, 500, 4  # triples of an article; above so many the template writes; articles asked for
STEPS = (textualising.ARTICLE, textualising.ENTITY, textualising.RELATIONS)
SETTINGS = ("shard", "template_above", "attempts", "profile")


def textualise(
    data: Dataset,
    engine: Engine,
    folder: str | Path,
    *,
    shard: int = SHARD,
    template_above: int = HUB,
    attempts: int = ATTEMPTS,
    profile: str = WORKBENCH,
    progress: bool = True,
) -> Dataset:
    """The data set with passages (one article each), the triples that each states, profiles of all entities and
    relations, and a schema.

    An article states at most `shard` triples. Entities with more than `template_above` of them are written about by the
    template; of others the engine is asked up to `attempts` times for a text, with `profile="paper"` as DotRAG's figure
    5 asks for it. The profiles name the engine and its Steps. In `folder`, `marked.jsonl` keeps the articles with their
    marks (`{"id", "central", "text_marked", "writer", "repaired", "hallucinated"}`). Texts that stand are kept, and
    failures are retried.

    Raises :class:`DataError` for data without triples or with passages of its own, and for names that cannot be marked;
    :class:`IndexFault` where the folder cannot be written, or holds texts that were made of something else.
    """
    settings = {"shard": shard, "template_above": template_above, "attempts": attempts}
    _check(data, settings)
    if profile not in ARTICLES:
        raise SettingError(f"profile={profile!r} is not known; use {' or '.join(ARTICLES)}")
    (facts, schema), folder = facts_of(data), Path(folder)
    shards, steps = facts.shards(shard), (ARTICLES[profile], *STEPS[1:])
    writers = Writers(facts, schema, engine, template_above, attempts, profile)
    made_of = {
        "triples": text_hash(json.dumps(facts.triples)),
        "schema": text_hash(json.dumps(asdict(schema))),
        "engine": engine.name,
        "steps": [step.identity for step in steps],
        **settings,
    }

    def written(name: str, wanted: Sequence[Shard], write: Callable[[Sequence[Shard]], Iterable[Row]]) -> dict:
        """Rows by id: those on disk, and what `write` gives for the others."""
        path, of_engine = folder / f"{name}.jsonl", partial(Text, engine.name)
        journal = Journal(engine.name, read(path, of_engine), progress=progress)

        def texts(group: dict[str, Shard]) -> Iterable[Text]:
            return (Text(engine.name, row) for row in write(list(group.values())))

        answers = journal.ask({shard.id: shard for shard in wanted}, texts, f"write {name}")
        write_atomically(path, lines(text.row() for text in answers.values()))
        return {id: text.fields for id, text in answers.items()}

    with writable(folder), Store(folder).lock():
        same_work(folder, made_of)
        articles = written("marked", shards, writers.articles)
        firsts = [shard for shard in shards if shard.number == 1]
        entities = written("entities", firsts, partial(writers.entities, articles=articles))
        subjects = [shard for shard in shards if facts.stated_by(shard)]
        relations = written("relations", subjects, partial(writers.relations, articles=articles))
    origin = data.origin or Origin(data.name)
    noted_settings = {**origin.settings, usage.ARTICLES: {**settings, "profile": profile}}
    return replace(
        data,
        origin=replace(origin, settings=noted_settings),
        passages=tuple(
            Passage(shard.id, plain(shard.central), plain(articles[shard.id]["text_marked"])) for shard in shards
        ),
        profiles=Profiles(_entities(shards, entities), _relations(facts, shards, relations), (maker(engine, *steps),)),
        extractions=tuple(_extraction(facts, shard) for shard in shards),
        schema=schema,
    )


def facts_of(data: Dataset) -> tuple[Facts, Schema]:
    """The triples of a data set by entity, and the schema that they are read by: its own, a bundled one that has all
    its relations, or one that is inferred from the triples."""
    labels = {triple.relation for triple in data.triples}
    schema = data.schema or covering(labels) or inferred(data.triples)
    return Facts.of(data.triples, schema), schema


def _check(data: Dataset, settings: dict[str, int]) -> None:
    for name, value in settings.items():
        if type(value) is not int or value < 1:
            raise SettingError(f"{name}={value!r}; it should be a whole number of at least 1")
    if not data.triples:
        raise DataError(f"{data.name!r} has no triples to write about; it needs a triples.tsv")
    if data.passages:
        raise DataError(
            f"{data.name!r} has {len(data.passages):,} passages of its own, which articles would replace; "
            "textualise a data set that has triples alone"
        )


def _extraction(facts: Facts, shard: Shard) -> Extraction:
    """The triples of an article, for methods that search the graph of the facts."""
    triples = [tuple(map(plain, triple)) for triple in facts.of_rows(shard.rows)]
    names = dict.fromkeys(name for subject, _, obj in triples for name in (subject, obj))
    return Extraction(shard.id, tuple(names), tuple(triples), "triples.tsv")


def _entities(shards: Sequence[Shard], rows: dict[str, Row]) -> tuple[EntityProfile, ...]:
    own = defaultdict(list)
    for shard in shards:
        own[shard.central].append(shard.id)
    rows_of = (rows[ids[0]] for ids in own.values())
    return tuple(
        EntityProfile(row["name"], row["type"], row["description"], tuple(ids))
        for row, ids in zip(rows_of, own.values())
    )


def _relations(facts: Facts, shards: Sequence[Shard], rows: dict[str, Row]) -> tuple[RelationProfile, ...]:
    """One per triple, in their order, with the articles that state it: the subject's, then the object's."""
    stating: dict[int, list[str]] = defaultdict(list)
    sentences: dict[int, str] = {}
    for shard in shards:
        for row in shard.rows:
            stating[row].insert(0 if facts.triples[row][0] == shard.central else 1, shard.id)
        sentences.update(map(tuple, rows[shard.id]["told"] if shard.id in rows else ()))
    return tuple(
        RelationProfile(subject, obj, sentences[row], (words(label),), 1.0, tuple(stating[row]), label)
        for row, (subject, label, obj) in enumerate(tuple(map(plain, triple)) for triple in facts.triples)
    )


ENOUGH = 0.5  # share of the smaller of two ends that also occurs at the other, from which on both have one type
EXAMPLES = 3  # names in a definition
SAMPLE = 30  # names of which the kind is read
MOST = 200  # relations; more are wordings of texts, whose ends say nothing

_YEAR = re.compile(r"\d{4}")
_WHERE = {"in", "at", "on"}

End = tuple[str, bool]  # a relation, and whether it is entered there


def inferred(triples: Iterable[Triple]) -> Schema:
    """The relations by name, with the types of their ends."""
    members: dict[End, set[str]] = defaultdict(set)
    for triple in triples:
        members[triple.relation, False].add(triple.subject)
        members[triple.relation, True].add(triple.object)
    labels = sorted({label for label, _ in members})
    if len(labels) > MOST:
        return Schema((), tuple(Relation(label, "", (), ()) for label in labels))
    groups = _groups(members)
    called = _names(groups, members)
    type_of = {end: called[at] for at, group in enumerate(groups) for end in group}
    order = sorted(range(len(groups)), key=lambda at: (-len(_all(groups[at], members)), called[at]))
    return Schema(
        tuple(EntityType(called[at], _definition(groups[at], members)) for at in order),
        tuple(Relation(label, "", (type_of[label, False],), (type_of[label, True],)) for label in labels),
    )


def _groups(members: Mapping[End, set[str]]) -> list[list[End]]:
    """The ends of each type: those that are joined by others, one after another, count as joined."""
    parent = {end: end for end in members}

    def root(end: End) -> End:
        while parent[end] != end:
            end = parent[end]
        return end

    for first, other in combinations(sorted(members), 2):
        fewer = min(len(members[first]), len(members[other]))
        if len(members[first] & members[other]) >= ENOUGH * fewer:
            parent[root(other)] = root(first)
    groups: dict[End, list[End]] = defaultdict(list)
    for end in sorted(members):
        groups[root(end)].append(end)
    return list(groups.values())


def _all(group: Sequence[End], members: Mapping[End, set[str]]) -> set[str]:
    return set().union(*(members[end] for end in group))


def _names(groups: Sequence[Sequence[End]], members: Mapping[End, set[str]]) -> list[str]:
    """A name for each group of ends, no two alike."""
    nouns = {label for label in {label for label, _ in members} if _is_noun(label)}
    names: list[str] = []
    for group in groups:
        ranked = sorted(group, key=lambda end: (not (end[1] and end[0] in nouns), -len(members[end]), end))
        label, entered = ranked[0]
        noun = words(label) if entered and label in nouns else _common(_all(group, members))
        if not noun or noun in names:
            noun = f"→ {label}" if entered else f"{label} →"
        names.append(noun)
    return names


def _common(names: set[str]) -> str:
    """The word that most of some names have: "Comet Abel", "Comet Doru"; "" if there is none."""
    from spacy.lang.en.stop_words import STOP_WORDS  # loading spaCy takes seconds

    counts = Counter(word for name in names for word in set(re.findall(r"[^\W\d_]{3,}", name.casefold())) - STOP_WORDS)
    word, count = min(counts.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    return word if count > max(2, len(names) / 2) else ""


def _is_noun(label: str) -> bool:
    """Does a relation name what it leads to: "master builder", "genre", but not "directed by", "has genre"?"""
    (doc,) = parse([words(label)])
    return bool(len(doc)) and doc[-1].tag_ in ("NN", "NNP") and all(token.pos_ in _NOMINAL for token in doc)


_NOMINAL = ("NOUN", "PROPN", "ADJ", "ADV")


def _definition(group: Sequence[End], members: Mapping[End, set[str]]) -> str:
    names = sorted(_all(group, members))
    return f"{_kind(group, names)}such as {', '.join(names[:EXAMPLES])}."


def _kind(group: Sequence[End], names: Sequence[str]) -> str:
    """Whether a type is of dates, of places or of people, as far as its names and the prepositions that lead to it
    tell; else nothing."""
    some = names[:SAMPLE]
    if all(_YEAR.fullmatch(name) for name in some):
        return "A date, "
    if {words(label).split()[-1] for label, entered in group if entered} & _WHERE:
        return "A place, "
    people = sum(any(ent.label_ == "PERSON" and ent.text == doc.text for ent in doc.ents) for doc in parse(some))
    return "A person, " if people > len(some) / 2 else "Something, "


def induced(data: Dataset, names: Iterable[str], hops: int = 3, cap: int = 5_000) -> Dataset:
    """The graph of all entities within `hops` of the names, whatever the direction of the relations, and the questions
    whose start and answers are all among them. Where these are more than `cap`, the nearest stay, by name.

    Raises :class:`DataError` for a name that the graph does not have.
    """
    around: dict[str, set[str]] = defaultdict(set)
    for triple in data.triples:
        around[triple.subject].add(triple.object)
        around[triple.object].add(triple.subject)
    level = sorted(set(names))
    if unknown := [name for name in level if name not in around]:
        raise DataError(f"{data.name!r} has no entity {unknown[0]!r}; names must match exactly")
    if len(level) > cap:
        raise SettingError(f"cap={cap} is less than the {len(level):,} names; raise it")
    chosen = set(level)
    for _ in range(hops):
        level = sorted({near for name in level for near in around[name]} - chosen)[: cap - len(chosen)]
        chosen.update(level)
    return replace(
        data,
        name=f"{data.name}-part",
        triples=tuple(triple for triple in data.triples if {triple.subject, triple.object} <= chosen),
        questions=tuple(q for q in data.questions if {*q.start, *q.answers} <= chosen),
    )
