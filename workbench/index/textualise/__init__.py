"""Textualisation: a graph of triples becomes a corpus and profiles (DotRAG on MetaQA).

    data = textualise(wb.load("metaqa"), wb.engine("rules"), "texts/metaqa")

Each entity gets an article, or several where it has many relations; then a type and a description; then each triple
gets a sentence, from the article of its subject. The engine's texts are checked name by name and requested again with
the names that they lack. The template writer, which is the rule body of the same Steps, adds what is still missing;
with `rules` it writes everything.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from workbench.data import Dataset, Extraction
from workbench.data.graph import Schema
from workbench.data.origin import Origin
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.data.schemas import covering
from workbench.errors import DataError, IndexFault, SettingError
from workbench.index import usage
from workbench.index.journal import Journal, lines, maker, read
from workbench.index.store import Store, write_atomically
from workbench.index.textualise.inferred import induced, inferred
from workbench.index.textualise.writers import ARTICLES, WORKBENCH, Facts, Row, Shard, Text, Writers, plain
from workbench.language.verbalisation import words
from workbench.llm.engine import Engine
from workbench.records import Passage
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
        found = json.loads(path.read_text(encoding="utf-8"))
        if different := [name for name in wanted if found.get(name) != wanted[name]]:
            name = different[0]
            raise IndexFault(
                f"{folder} holds texts with another {name!r} ({found.get(name)!r}, not {wanted[name]!r}); "
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
        firsts = [one for one in shards if one.number == 1]
        entities = written("entities", firsts, partial(writers.entities, articles=articles))
        subjects = [one for one in shards if facts.stated_by(one)]
        relations = written("relations", subjects, partial(writers.relations, articles=articles))
    origin = data.origin or Origin(data.name)
    said = {**origin.settings, usage.ARTICLES: {**settings, "profile": profile}}
    return replace(
        data,
        origin=replace(origin, settings=said),
        passages=tuple(Passage(one.id, plain(one.central), plain(articles[one.id]["text_marked"])) for one in shards),
        profiles=Profiles(_entities(shards, entities), _relations(facts, shards, relations), (maker(engine, *steps),)),
        extractions=tuple(_extraction(facts, one) for one in shards),
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
            raise SettingError(f"{name}={value!r}; it should be a whole number from 1 on")
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
    for one in shards:
        own[one.central].append(one.id)
    found = (rows[ids[0]] for ids in own.values())
    return tuple(
        EntityProfile(row["name"], row["type"], row["description"], tuple(ids)) for row, ids in zip(found, own.values())
    )


def _relations(facts: Facts, shards: Sequence[Shard], rows: dict[str, Row]) -> tuple[RelationProfile, ...]:
    """One per triple, in their order, with the articles that state it: the subject's, then the object's."""
    stating: dict[int, list[str]] = defaultdict(list)
    sentences: dict[int, str] = {}
    for one in shards:
        for row in one.rows:
            stating[row].insert(0 if facts.triples[row][0] == one.central else 1, one.id)
        sentences.update(map(tuple, rows[one.id]["told"] if one.id in rows else ()))
    return tuple(
        RelationProfile(subject, obj, sentences[row], (words(label),), 1.0, tuple(stating[row]), label)
        for row, (subject, label, obj) in enumerate(tuple(map(plain, triple)) for triple in facts.triples)
    )
