"""Profiles written by an engine from passages (LightRAG's extraction and merging, spec A4): what the layer `profiles`
holds where the data bring none.

Two files keep what the engine said, a line each: `records.jsonl` by passage, `fused.jsonl` the descriptions that it put
together. They cost the money: every finished group is on disk before the next is asked for, and a line of the layer
that stood is taken over if the engine at hand wrote it; without an engine, whoever wrote it; with the engine `rules`,
if a model did. All else is merged anew, in the order of the corpus, so an insert or a delete gives what a fresh build
gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench import tokens
from workbench.data.graph import EntityType, Schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import IndexFault
from workbench.index.kept import Kept, by_rules, is_rules, key_of, said_of
from workbench.index.layer import Build
from workbench.language.entity_types import KINDS, UNKNOWN
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.records import Passage
from workbench.steps import entity_relations, fuse_descriptions

if TYPE_CHECKING:
    from workbench.index.profiles import ProfilesLayer, Settings

WINDOW = 12_000  # cl100k tokens of fragments that are fused at once (spec A3)


class Written(NamedTuple):
    """The profiles, the types they speak of, and what is worth saying of how they came about."""

    profiles: Profiles
    schema: Schema
    said: dict


def maker(build: Build) -> str:
    """Who writes profiles, with the versions of what it is asked."""
    return f"{build.engine.name} ({entity_relations.STEP.identity}, {fuse_descriptions.STEP.identity})"


def write(folder: Path, build: Build, settings: Settings, old: ProfilesLayer | None) -> Written:
    """Ask for what is missing, write both files into `folder`, and merge.

    Raises :class:`IndexFault` if a passage is still to be asked about and there is no engine. A passage that failed
    adds nothing, and a description that could not be fused stays a row of its fragments; both are counted, and asked
    for again by the next build that is asked for the layer."""
    types = _types(build, settings)
    records = Kept("records.jsonl", folder, build.engine, entity_relations.STEP, old)
    found = _records(records, build, settings, types)
    written = [name for name, _ in types or entity_relations.TYPES]
    nodes, edges = entity_relations.merged(found, written)
    fused = Kept("fused.jsonl", folder, build.engine or RulesEngine(), fuse_descriptions.STEP, old)
    told = _fused(
        [fuse_descriptions.Input(node.name, "entity", node.fragments) for node in nodes]
        + [fuse_descriptions.Input(f"{edge.source} – {edge.target}", "relation", edge.fragments) for edge in edges],
        fused,
        settings,
        build.progress,
    )
    profiles = Profiles(
        tuple(EntityProfile(n.name, n.type, text, n.passages) for n, text in zip(nodes, told)),
        tuple(
            RelationProfile(e.source, e.target, text, e.keywords, float(e.weight), e.passages, e.label)
            for e, text in zip(edges, told[len(nodes) :])
        ),
    )
    said = {
        **said_of(records, fused),
        "skipped": sum(line.output["skipped"] for line in records.used.values() if line.output),
        "extracted": records.asked,
        "fused": fused.asked,
    }
    description = build.data.schema.description if build.data.schema else ""
    return Written(profiles, _schema(profiles, records, types, description), said)


# -- what is asked ----------------------------------------------------------------------------------------------------


def _types(build: Build, settings: Settings) -> tuple[tuple[str, str], ...]:
    """The types to look for, (name, definition), as the settings or the data name them; none leaves them to the
    engine: a model is then given LightRAG's, the rules have their own."""
    given = [(found.name, found.definition) for found in build.data.schema.entity_types] if build.data.schema else []
    if settings.types is None:
        return tuple(given)
    known = {**KINDS, **dict(entity_relations.TYPES), **dict(given)}
    return tuple((name, known.get(name, "")) for name in settings.types)


def _records(
    kept: Kept, build: Build, settings: Settings, types: tuple[tuple[str, str], ...]
) -> list[tuple[str, entity_relations.Output]]:
    """(id, what was read) of each passage that did not fail, in the order of the corpus."""
    keys = [key_of(passage.title, passage.text, types, settings.gleanings) for passage in build.data.passages]
    passages = dict(zip(keys, build.data.passages))
    if build.engine is None and (missing := kept.missing(passages)):
        raise IndexFault(
            f"{len(missing)} passages have no profiles (the first is {passages[missing[0]].id!r}) and no engine was "
            "given to write them; pass engine=wb.engine('rules'), or a model"
        )
    looked_for = types if types or is_rules(build.engine) else entity_relations.TYPES

    def ask(group: Sequence[Passage]) -> list[Result]:
        inputs = [entity_relations.Input(passage.title, passage.text, looked_for) for passage in group]
        return entity_relations.extract(build.engine, inputs, rounds=settings.gleanings)

    kept.ask(passages, ask, "profile passages" if build.progress else None)
    outputs = {key: entity_relations.Output(**line.output) for key, line in kept.used.items() if line.output}
    return [(passage.id, outputs[key]) for key, passage in zip(keys, build.data.passages) if key in outputs]


def _fused(things: Sequence[fuse_descriptions.Input], kept: Kept, settings: Settings, progress: bool) -> list[str]:
    """A description per thing: its fragments, a line each; or one that is put together from them, where they are many
    or long. Where they do not fit into one request, groups are fused first, then what came of these."""
    texts = ["\n".join(thing.fragments) for thing in things]
    left = {
        at: thing.fragments
        for at, thing in enumerate(things)
        if len(thing.fragments) > 1
        and (len(thing.fragments) >= settings.fragments or tokens.count(texts[at]) >= settings.summary_tokens)
    }
    while left:
        inputs = {
            at: [fuse_descriptions.Input(things[at].name, things[at].kind, part) for part in _groups(fragments)]
            for at, fragments in left.items()
        }
        several = (value for values in inputs.values() for value in values if len(value.fragments) > 1)
        kept.ask(
            {_key(value): value for value in several},
            lambda group: kept.engine.run(fuse_descriptions.STEP, group),
            "fuse descriptions" if progress else None,
        )
        for at, values in inputs.items():
            parts = [value.fragments[0] if len(value.fragments) == 1 else _description(kept, value) for value in values]
            if None not in parts and len(parts) > 1:
                left[at] = tuple(parts)
                continue
            texts[at] = parts[0] if parts[0] is not None and len(parts) == 1 else texts[at]
            del left[at]
    return texts


def _key(value: fuse_descriptions.Input) -> str:
    """Without the limit, which is always the same: files that stand have keys without it."""
    return key_of({"name": value.name, "kind": value.kind, "fragments": value.fragments})


def _description(kept: Kept, value: fuse_descriptions.Input) -> str | None:
    output = kept.used[_key(value)].output
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


def _schema(profiles: Profiles, kept: Kept, types: Sequence[tuple[str, str]], description: str) -> Schema:
    """The types that were looked for, and those that occur beside them; of the rules, which look for none, only those
    that occur. Relations are told in free words and have no list."""
    occurring = {entity.type for entity in profiles.entities}
    looked_for = types or entity_relations.TYPES
    if all(map(by_rules, kept.used.values())):
        looked_for = [(name, definition) for name, definition in types if name in occurring]
    more = sorted(occurring - {name for name, _ in looked_for} - {UNKNOWN})
    found = [*looked_for, *((name, KINDS.get(name, "")) for name in more)]
    return Schema(tuple(EntityType(*pair) for pair in found), (), description=description)
