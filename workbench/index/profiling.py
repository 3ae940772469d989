"""Profiles written by an engine from passages (LightRAG's extraction and merging): what the layer `profiles`
holds where the data bring none.

Two journals (`journal.py`) keep the engine's answers: `records.jsonl` by passage, `fused.jsonl` the fused descriptions.
Everything else is merged anew, in the order of the corpus, so an insert or a delete gives what a fresh build gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench import tokens
from workbench.data import Dataset
from workbench.data.graph import EntityType, Schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import IndexFault
from workbench.index.journal import Answer, StepJournal, by_rules, counts, is_rules, request_key
from workbench.index.layer import Build
from workbench.language.entity_types import KINDS, UNKNOWN
from workbench.llm.step import Result
from workbench.records import Passage
from workbench.steps import entity_relations, summarising

if TYPE_CHECKING:
    from workbench.index.profiles import ProfilesLayer, Settings

WINDOW = 12_000  # cl100k tokens of fragments that are fused at once, as in LightRAG 1.5.7


class Written(NamedTuple):
    """The profiles, the types that they name, and what the manifest says of how they came about."""

    profiles: Profiles
    schema: Schema
    summary: dict


def write(folder: Path, build: Build, settings: Settings, old: ProfilesLayer | None) -> Written:
    """Request what is missing, write both files into `folder`, and merge.

    A passage that failed adds nothing, and a description that could not be fused stays one line per fragment. Both are
    counted; the next build that requests the layer retries them.

    Raises :class:`IndexFault` if a passage needs a request and there is no engine."""
    types = _types(build.data, settings)
    records = StepJournal(folder, "records.jsonl", build.engine, entity_relations.STEP, old, build.progress)
    found = _records(records, build, settings, types)
    written = [name for name, _ in types or entity_relations.TYPES]
    nodes, edges = entity_relations.merged(found, written)
    engine = build.writer
    fused = StepJournal(folder, "fused.jsonl", engine, summarising.FUSE, old, build.progress)
    described = _fused(
        [summarising.Fragments(node.name, "entity", node.fragments) for node in nodes]
        + [summarising.Fragments(f"{edge.source} – {edge.target}", "relation", edge.fragments) for edge in edges],
        fused,
        settings,
    )
    profiles = Profiles(
        tuple(EntityProfile(n.name, n.type, text, n.passages) for n, text in zip(nodes, described)),
        tuple(
            RelationProfile(e.source, e.target, text, e.keywords, float(e.weight), e.passages, e.label)
            for e, text in zip(edges, described[len(nodes) :])
        ),
    )
    for journal in (records, fused):
        journal.settle()
    summary = {
        **counts([*records.used.values(), *fused.used.values()]),
        "skipped": sum(answer.output["skipped"] for answer in records.used.values() if answer.output),
        "extracted": records.asked,
        "fused": fused.asked,
    }
    description = build.data.schema.description if build.data.schema else ""
    return Written(profiles, _schema(profiles, records, types, description), summary)


# -- requests --------------------------------------------------------------------------------------------------------


def _types(data: Dataset, settings: Settings) -> tuple[tuple[str, str], ...]:
    """The types to look for, (name, definition), as the settings or the data name them. Without any, a model is given
    LightRAG's types and the rules use their own."""
    given = [(found.name, found.definition) for found in data.schema.entity_types] if data.schema else []
    if settings.types is None:
        return tuple(given)
    known = {**KINDS, **dict(entity_relations.TYPES), **dict(given)}
    return tuple((name, known.get(name, "")) for name in settings.types)


def _records(
    journal: StepJournal, build: Build, settings: Settings, types: tuple[tuple[str, str], ...]
) -> list[tuple[str, entity_relations.Output]]:
    """(id, records) of each passage that did not fail, in the order of the corpus."""
    keys = [request_key(passage.title, passage.text, types, settings.gleanings) for passage in build.data.passages]
    passages = dict(zip(keys, build.data.passages))
    if build.engine is None and (missing := journal.missing(passages)):
        raise IndexFault(
            f"{len(missing)} passages have no profiles (the first is {passages[missing[0]].id!r}) and no engine was "
            "given to write them; pass engine=wb.engine('rules'), or a model"
        )
    looked_for = types if types or is_rules(build.engine) else entity_relations.TYPES

    def extract(group: Sequence[Passage]) -> list[Result]:
        return entity_relations.extract(build.engine, _inputs(group, looked_for), rounds=settings.gleanings)

    answers = journal.run(passages, extract, "profile passages")
    outputs = {key: entity_relations.Output(**answer.output) for key, answer in answers.items() if answer.output}
    return [(passage.id, outputs[key]) for key, passage in zip(keys, build.data.passages) if key in outputs]


def _inputs(passages: Sequence[Passage], types: tuple[tuple[str, str], ...]) -> list[entity_relations.Input]:
    return [entity_relations.Input(passage.title, passage.text, types) for passage in passages]


def _fused(things: Sequence[summarising.Fragments], journal: StepJournal, settings: Settings) -> list[str]:
    """A description per thing: one line per fragment or, where these are many or long, one text fused from them.
    Fragments that do not fit into one request are fused in groups first, then the results of these."""
    texts = ["\n".join(thing.fragments) for thing in things]
    left = {
        at: thing.fragments
        for at, thing in enumerate(things)
        if len(thing.fragments) > 1
        and (len(thing.fragments) >= settings.fragments or tokens.count(texts[at]) >= settings.summary_tokens)
    }
    while left:
        inputs = {
            at: [summarising.Fragments(things[at].name, things[at].kind, part) for part in _groups(fragments)]
            for at, fragments in left.items()
        }
        several = (value for values in inputs.values() for value in values if len(value.fragments) > 1)
        answers = journal.run(
            {_key(value): value for value in several},
            lambda group: journal.engine.run(summarising.FUSE, group),
            "fuse descriptions",
        )
        for at, values in inputs.items():
            parts = [_description(answers, value) for value in values]
            if None not in parts and len(parts) > 1:
                left[at] = tuple(parts)
                continue
            texts[at] = parts[0] if parts[0] is not None and len(parts) == 1 else texts[at]
            del left[at]
    return texts


def _key(value: summarising.Fragments) -> str:
    """Without the limit, which is always the same: files that stand have keys without it."""
    return request_key({"name": value.name, "kind": value.kind, "fragments": value.fragments})


def _description(answers: Mapping[str, Answer], value: summarising.Fragments) -> str | None:
    """The fused text, None where that failed; a single fragment stays as it is."""
    if len(value.fragments) == 1:
        return value.fragments[0]
    output = answers[_key(value)].output
    return output and output["description"]


def _groups(fragments: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Fragments in their order, as many together as fit into the window, but never one alone where another follows."""
    groups, total = [[]], 0
    for fragment in fragments:
        length = tokens.count(fragment)
        if len(groups[-1]) > 1 and total + length > WINDOW:
            groups.append([])
            total = 0
        groups[-1].append(fragment)
        total += length
    return list(map(tuple, groups))


# -- the schema -------------------------------------------------------------------------------------------------------


def _schema(profiles: Profiles, records: StepJournal, types: Sequence[tuple[str, str]], description: str) -> Schema:
    """The types that were looked for, then the others that occur. The rules look for none, so a type is listed only if
    it occurs. Relations are described in free words and have no list."""
    occurring = {entity.type for entity in profiles.entities}
    looked_for = types or entity_relations.TYPES
    if all(by_rules(answer.made_by) for answer in records.used.values()):
        looked_for = [(name, definition) for name, definition in types if name in occurring]
    more = sorted(occurring - {name for name, _ in looked_for} - {UNKNOWN})
    found = [*looked_for, *((name, KINDS.get(name, "")) for name in more)]
    return Schema(tuple(EntityType(*pair) for pair in found), (), description=description)
