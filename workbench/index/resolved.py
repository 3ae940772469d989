"""Layer `resolved`: the profiles after entity resolution, which merges entities that are one thing (DotRAG on
UltraDomain).

Entities whose vectors are similar form clusters, and a Step says which members of a cluster are the same. "Greedy
agglomerative" is all that the paper says of the clusters; here they are stars: the entity with the most neighbours that
is in no cluster collects those that are similar to *it*, so that no chain of similarities joins half of the graph. The
other layers find what is here in place of the profiles (`Layer.optional`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.index.journal import StepJournal, counts, read, request_key, write_lines
from workbench.index.layer import Build, Layer
from workbench.index.profiles import ProfilesLayer, entities_of, relations_of, write_profiles
from workbench.index.store import map_vectors, read_table, write_table
from workbench.index.typed import TypedLayer, merged
from workbench.index.vectors import encode_to
from workbench.llm.step import Result
from workbench.settings import Natural, Positive, Share, validated
from workbench.steps import curating, retrying

BLOCK = 256  # rows of similarities held at once


@validated
class Settings:
    """`threshold`: the least cosine similarity to the seed of a cluster (the paper's 0.60); `most`: members of a
    cluster, the paper does not say; `retries`: how often a reply that does not fit is asked for again."""

    threshold: Share = 0.6
    most: Positive = curating.MOST
    retries: Natural = 2


class Merge(NamedTuple):
    """Entities that are one thing, by name: the canonical one, and all of them."""

    canonical: str
    names: tuple[str, ...]


class ResolvedLayer(ProfilesLayer):
    """The profiles after merging. `merges`: what was merged; `aliases`: under which other names."""

    kind = "resolved"
    inputs = ("passages", "profiles")
    steps = (curating.CLUSTER,)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: Layer | None) -> dict:
        engine, below = build.writer, build.layers["profiles"]
        tables = merged(below.tables)
        entities, relations = entities_of(tables.entities), relations_of(tables.relations)
        texts = TypedLayer.entity_texts(tables.entities).to_pylist()
        write_table(folder / "texts.parquet", text=texts)
        encode_to(folder / "entities.npy", texts, build, "entities")
        vectors, degrees = map_vectors(folder / "entities.npy"), _degrees(entities, relations)
        groups = clusters(vectors, degrees, settings.threshold, settings.most)
        inputs = {}
        for cluster in groups:
            value = cluster_input([entities[row] for row in cluster])
            key = request_key([[member.label, member.type, member.description] for member in value.members])
            inputs[key] = value
        journal = StepJournal(folder, "clusters.jsonl", engine, curating.CLUSTER, old, build.progress)

        def curate(group: list[curating.ClusterInput]) -> list[Result]:
            return retrying.ask(engine, curating.CLUSTER, group, curating.cluster_flaw, settings.retries)

        answers = journal.run(inputs, curate, "curate clusters")
        journal.settle()
        merges = [
            merge
            for key, value in inputs.items()
            if answers[key].output
            for merge in merges_of(value, curating.ClusterOutput(**answers[key].output))
        ]
        profiles = resolved(Profiles(entities, relations), merges)
        write_lines(folder / "merges.jsonl", (merge._asdict() for merge in merges))
        summary = {
            **counts(answers.values()), "encoder": build.encoder.name, "asked": journal.requested,
            "clusters": len(inputs), "merged": sum(len(merge.names) - 1 for merge in merges),
        }  # fmt: skip
        return write_profiles(folder, profiles, below.schema, summary)

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.merges = read(folder / "merges.jsonl", lambda row: Merge(row["canonical"], tuple(row["names"])))
        self.entity_vectors = map_vectors(folder / "entities.npy")

    @property
    def aliases(self) -> dict[str, tuple[str, ...]]:
        """Canonical name → the other names that were merged into it."""
        return {
            merge.canonical: tuple(name for name in merge.names if name != merge.canonical) for merge in self.merges
        }

    def encoded(self) -> Iterator[tuple[list[str], np.ndarray]]:
        """The texts of the entities before merging, and their vectors."""
        yield read_table(self.folder / "texts.parquet", strings=("text",))["text"], self.entity_vectors

    def __repr__(self) -> str:
        return f"ResolvedLayer({self.metadata['entities']:,} entities, {self.metadata['merged']:,} merged into others)"


def clusters(vectors: np.ndarray, degrees: Sequence[int], threshold: float, most: int) -> list[list[int]]:
    """Rows of each cluster of two or more, the seed first, then by similarity. Seeds are taken in the order of falling
    degree, then of rows; a row is in one cluster at most.

    vectors: (n, d), unit rows
    """
    order = sorted(range(len(vectors)), key=lambda row: (-degrees[row], row))
    free, groups = np.ones(len(vectors), dtype=bool), []
    for start in range(0, len(order), BLOCK):
        seeds = order[start : start + BLOCK]
        similar = vectors[seeds] @ vectors.T  # (block, n)
        for seed, row in zip(seeds, similar):
            if not free[seed]:
                continue
            free[seed] = False
            near = np.flatnonzero(free & (row >= threshold))
            near = near[np.lexsort((near, -row[near]))][: most - 1]
            if len(near):
                free[near] = False
                groups.append([seed, *near.tolist()])
    return groups


def cluster_input(members: Iterable[EntityProfile]) -> curating.ClusterInput:
    """A cluster as the Step sees it; ids are places."""
    return curating.ClusterInput(
        tuple(
            curating.Member(str(at), member.name, member.type, member.description)
            for at, member in enumerate(members, 1)
        )
    )


def merges_of(value: curating.ClusterInput, output: curating.ClusterOutput) -> Iterator[Merge]:
    """What a curator merged of a cluster."""
    labels = {member.id: member.label for member in value.members}
    for group in output.groups:
        names = tuple(sorted(labels[id] for id in group.member_ids))
        if len(names) > 1:
            yield Merge(group.canonical_label, names)


def resolved(profiles: Profiles, merges: Iterable[Merge]) -> Profiles:
    """The profiles with the entities of each merge as one entity.

    The canonical entity has its own type, all descriptions one below the other, then the other names, and the passages
    of all. Relations point to it; one from an entity to itself is dropped. Relations that a merge made parallel, of one
    label and direction, or of one pair where they have no label, become one with all descriptions, keywords and
    passages and the sum of their weights. Without merges nothing changes."""
    into = {name: merge.canonical for merge in merges for name in merge.names}
    groups: dict[str, list[EntityProfile]] = defaultdict(list)
    for entity in profiles.entities:
        groups[into.get(entity.name, entity.name)].append(entity)
    entities = tuple(_merged_profile(name, same) if name in into else same[0] for name, same in groups.items())
    return Profiles(entities, tuple(_relations(profiles.relations, into)), profiles.made_by)


def _merged_profile(name: str, same: Sequence[EntityProfile]) -> EntityProfile:
    own = next(entity for entity in same if entity.name == name)
    others = sorted(entity.name for entity in same if entity.name != name)
    descriptions = dict.fromkeys(profile.description for profile in (own, *same) if profile.description)
    lines = [*descriptions, *([f"Also called: {'; '.join(others)}."] if others else [])]
    passages = dict.fromkeys(chain.from_iterable(profile.passages for profile in (own, *same)))
    return EntityProfile(name, own.type, "\n".join(lines), tuple(passages))


def _relations(relations: Iterable[RelationProfile], into: Mapping[str, str]) -> Iterator[RelationProfile]:
    groups: dict[tuple, list[tuple[RelationProfile, bool]]] = defaultdict(list)
    for relation in relations:
        source, target = (into.get(end, end) for end in (relation.source, relation.target))
        moved = (source, target) != (relation.source, relation.target)
        if moved and source == target:
            continue
        ends = (source, target) if relation.label else tuple(sorted((source, target)))
        made = RelationProfile(
            source, target, relation.description, relation.keywords, relation.weight, relation.passages, relation.label
        )
        groups[(*ends, relation.label)].append((made, moved))
    for same in groups.values():
        parts = [relation for relation, _ in same]
        yield from [_joined(parts)] if any(moved for _, moved in same) else parts


def _joined(parts: Sequence[RelationProfile]) -> RelationProfile:
    first, weights = parts[0], [part.weight for part in parts if part.weight is not None]
    return RelationProfile(
        first.source,
        first.target,
        "\n".join(dict.fromkeys(part.description for part in parts if part.description)),
        tuple(dict.fromkeys(chain.from_iterable(part.keywords for part in parts))),
        sum(weights) if weights else None,
        tuple(dict.fromkeys(chain.from_iterable(part.passages for part in parts))),
        first.label,
    )


def _degrees(entities: Sequence[EntityProfile], relations: Iterable[RelationProfile]) -> list[int]:
    """Neighbours of each entity."""
    near: dict[str, set[str]] = defaultdict(set)
    for relation in relations:
        if relation.source != relation.target:
            near[relation.source].add(relation.target)
            near[relation.target].add(relation.source)
    return [len(near[entity.name]) for entity in entities]
