"""Comparison of groupings of the same entities: the tree of Youtu-GraphRAG, Leiden's communities, RAPTOR's clusters.

A grouping puts each entity, by its name in the layer `schema_graph`, into one group at most. What it leaves out is not
compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from workbench.errors import SettingError
from workbench.index.communities import CommunitiesLayer
from workbench.index.facts import FactsLayer
from workbench.index.schema_graph import SchemaGraphLayer
from workbench.index.summaries import SummariesLayer
from workbench.index.tree import TreeLayer
from workbench.records import Record
from workbench.text import PHRASE_RULES

SHOWN = 10  # disagreements of a comparison
PARTS = 5  # groups into which a split group is seen to fall


@dataclass(frozen=True, slots=True, repr=False)
class Grouping(Record):
    """`group_of`: entity name → group; `titles`: group → what it is called."""

    name: str
    group_of: Mapping[str, int] = field(hash=False)
    titles: Mapping[int, str] = field(hash=False)

    @property
    def groups(self) -> int:
        return len(set(self.group_of.values()))


class Split(NamedTuple):
    """A group that another grouping tears apart: its `size`, how many are `apart` from the largest part, and the
    largest `parts` as (title, members)."""

    grouping: str
    group: int
    title: str
    size: int
    apart: int
    parts: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(Record):
    """How far two groupings of the same `entities` agree.

    `rand` is the adjusted Rand index, 0 for chance, 1 for the same; `nmi` the normalised mutual information, which
    grows with the number of groups. `purity` of the left grouping against the right one, and the reverse. `splits`:
    the groups that the other grouping tears apart most."""

    left: str
    right: str
    entities: int
    groups: tuple[int, int]
    rand: float
    nmi: float
    purity: tuple[float, float]
    splits: tuple[Split, ...]


def by_tree(tree: TreeLayer, graph: SchemaGraphLayer) -> Grouping:
    """Communities of the tree."""
    placed = zip(graph.names, tree.community_of.tolist())
    titles = {community.id: tree.label(community.id) for community in tree.communities}
    return Grouping("tree", {name: group for name, group in placed if group >= 0}, titles)


def by_type(graph: SchemaGraphLayer) -> Grouping:
    """Types of the entities."""
    types = sorted(set(graph.types))
    number = {kind: at for at, kind in enumerate(types)}
    return Grouping("types", dict(zip(graph.names, map(number.__getitem__, graph.types))), dict(enumerate(types)))


def by_leiden(
    communities: CommunitiesLayer, facts: FactsLayer, graph: SchemaGraphLayer, level: int | None = None
) -> Grouping:
    """Communities of the facts layer (Microsoft GraphRAG), of the entities whose names it holds as phrases. `level`:
    none finer than this one; by default the finest."""
    level = communities.levels if level is None else level
    group_of = {
        facts.phrases[member]: community
        for community in communities.rolled_up(level)
        for member in communities.communities[community].members
    }
    rule = PHRASE_RULES[facts.metadata["settings"]["normalise"]]
    by_name = {name: group_of[phrase] for name in graph.names if (phrase := rule(name)) in group_of}
    titles = {id: report.title for id, report in communities.reports.items()}
    return Grouping(
        "leiden", by_name, {group: titles.get(group, f"Community {group}") for group in set(by_name.values())}
    )


def by_raptor(summaries: SummariesLayer, graph: SchemaGraphLayer) -> Grouping:
    """Clusters of passages (RAPTOR's first level): an entity is in the one that holds most of its passages, in doubt
    the first."""
    first = [at for at, node in enumerate(summaries.nodes) if node.level == 1]
    held = (graph.stated @ summaries.leaves[first].astype(np.float32).T).tocsr()
    group_of = {}
    for row, name in enumerate(graph.names):
        begin, end = held.indptr[row], held.indptr[row + 1]
        if end > begin:
            most = held.data[begin:end].max()
            group_of[name] = int(held.indices[begin:end][held.data[begin:end] == most].min())
    titles = {group: _beginning(summaries.nodes[first[group]].text) for group in set(group_of.values())}
    return Grouping("raptor", group_of, titles)


def compare(left: Grouping, right: Grouping, limit: int = SHOWN) -> Agreement:
    """The agreement of two groupings on the entities that both have."""
    names = sorted(left.group_of.keys() & right.group_of.keys())
    if not names:
        raise SettingError(f"{left.name} and {right.name} have no entity in common; compare groupings of one corpus")
    sides = [[grouping.group_of[name] for name in names] for grouping in (left, right)]
    splits = [*_splits(left, right, names), *_splits(right, left, names)]
    splits.sort(key=lambda split: (-split.apart, split.grouping, split.group))
    return Agreement(
        left.name,
        right.name,
        len(names),
        (len(set(sides[0])), len(set(sides[1]))),
        adjusted_rand(*sides),
        normalised_information(*sides),
        (purity(*sides), purity(sides[1], sides[0])),
        tuple(splits[:limit]),
    )


def purity(groups: Sequence[Hashable], classes: Sequence[Hashable]) -> float:
    """The share of items that are of their group's most frequent class; 1 where every item is a group of its own.

    >>> purity([0, 0, 0, 1], ["town", "town", "lake", "lake"])
    0.75
    """
    counted: dict[Hashable, Counter] = defaultdict(Counter)
    for group, kind in zip(groups, classes, strict=True):
        counted[group][kind] += 1
    return sum(max(counter.values()) for counter in counted.values()) / len(groups) if len(groups) else 0.0


def adjusted_rand(groups: Sequence[Hashable], others: Sequence[Hashable]) -> float:
    """The adjusted Rand index (Hubert and Arabie 1985)."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(_numbers(groups), _numbers(others)))


def normalised_information(groups: Sequence[Hashable], others: Sequence[Hashable]) -> float:
    """Normalised mutual information, by the arithmetic mean of the entropies."""
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(_numbers(groups), _numbers(others)))


def _numbers(groups: Sequence[Hashable]) -> list[int]:
    number: dict[Hashable, int] = {}
    return [number.setdefault(group, len(number)) for group in groups]


def _splits(grouping: Grouping, other: Grouping, names: Sequence[str]) -> list[Split]:
    fallen: dict[int, Counter[int]] = defaultdict(Counter)
    for name in names:
        fallen[grouping.group_of[name]][other.group_of[name]] += 1
    splits_found = []
    for group, parts in fallen.items():
        largest = sorted(parts.items(), key=lambda item: (-item[1], item[0]))
        size = sum(parts.values())
        named = tuple((other.titles.get(part, str(part)), count) for part, count in largest[:PARTS])
        title = grouping.titles.get(group, str(group))
        splits_found.append(Split(grouping.name, group, title, size, size - largest[0][1], named))
    return splits_found


def _beginning(text: str) -> str:
    """The first words of a summary."""
    words = text.split()
    return " ".join(words[:12]) + ("…" if len(words) > 12 else "")
