"""The communities of a knowledge tree under other settings, what became of each, and other groupings of the same
entities (`groupings.py`)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from workbench.errors import SettingError
from workbench.index import leiden
from workbench.index.dual_perception import BEGINS, Communities, Perception, Start, detect, start
from workbench.index.tree import arrays
from workbench.operators.groupings import Grouping, by_leiden, by_raptor
from workbench.operators.knowledge_tree import NONE, KnowledgeTree, Regrouped
from workbench.settings import settle

LEIDEN = "leiden"
LAYERS = {"graphrag": {"communities", "facts"}, "raptor": {"summaries"}}  # grouping: the layers that hold it
MOST, PART = 0.5, 0.25  # shares of a group that count as its bulk, and as a part of it


class Division(NamedTuple):
    """Communities as arrays: the group of each entity, int (n,), -1 for none; name and central entity (row) of each
    group. Groups with the same key stand for one community in two divisions."""

    groups: np.ndarray
    names: tuple[str, ...]
    centres: tuple[int, ...]
    keys: tuple[int, ...]

    @classmethod
    def built(cls, tree: KnowledgeTree) -> Division:
        """The communities of the index."""
        count = len(tree.tree.communities)
        centres = tuple(community.centre for community in tree.tree.communities)
        return cls(
            np.asarray(tree.tree.community_of), tuple(map(tree.name, range(count))), centres, tuple(range(count))
        )

    def grouping(self, names: Sequence[str], called: str = "tree") -> Grouping:
        """It by the names of the entities."""
        group_of = {name: group for name, group in zip(names, self.groups.tolist()) if group >= 0}
        return Grouping(called, group_of, dict(enumerate(self.names)))

    @property
    def sizes(self) -> np.ndarray:
        """Members of each group, int (groups,)."""
        return np.bincount(self.groups[self.groups >= 0], minlength=len(self.names))

    def rows(self) -> list[np.ndarray]:
        """The rows of the members of each group, ascending."""
        order = np.argsort(self.groups, kind="stable")
        bounds = np.searchsorted(self.groups[order], np.arange(len(self.names) + 1))
        return [order[start:end] for start, end in itertools.pairwise(bounds)]


class Change(NamedTuple):
    """What became of communities under other settings: `kind` is "merged" (several into one) or "split" (one into
    several)."""

    kind: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    entities: int


class Weighing:
    """Communities of a tree by other settings: k-means runs once, and each other weight merges its parts anew."""

    def __init__(self, tree: KnowledgeTree):
        self.tree = tree
        self.own = perception_of(tree)
        self._arrays = arrays(tree.graph, tree.tree.entity_matrix)
        self._begun: dict[tuple, Start] = {}

    def adjusted(self, **settings: Any) -> Perception:
        """The index's own settings with some of them changed; raises SettingError for an unknown or wrong one."""
        return settle("the perception", Perception, asdict(self.own) | settings)

    def weigh(self, perception: Perception) -> KnowledgeTree:
        """The tree with the communities of other settings than the index has. Communities that stay what they were keep
        their names."""
        key = tuple(getattr(perception, name) for name in BEGINS)
        if key not in self._begun:
            self._begun[key] = start(self._arrays, perception)
        return self._named(detect(self._arrays, perception, self._begun[key]))

    def _named(self, communities: Communities) -> KnowledgeTree:
        layer = self.tree.tree
        own = communities.of_entities(len(layer.community_of))
        made = Regrouped(communities.communities, own, {}, layer.entity_matrix, communities.merges)
        bare = KnowledgeTree(self.tree.index, made)
        before, after = Division.built(self.tree), Division.built(bare)
        source = {key: at for at, key in enumerate(before.keys)}
        named = {}
        for at, (key, same) in enumerate(zip(*_continued(before, after))):
            if same and source[key] in layer.named:
                named[at] = layer.named[source[key]]
        return KnowledgeTree(self.tree.index, made._replace(named=named))


def perception_of(tree: KnowledgeTree) -> Perception:
    """The settings by which the index found its communities."""
    given = tree.index.manifest["layers"]["tree"]["settings"]
    return Perception(**{field.name: given[field.name] for field in fields(Perception)})


def offered(tree: KnowledgeTree) -> list[str]:
    """The groupings that `other` can make: Leiden's on the tree's own graph always, the others from their layers."""
    layers = tree.index.manifest["layers"]
    return [LEIDEN, *(name for name, needed in LAYERS.items() if needed <= layers.keys())]


def other(tree: KnowledgeTree, name: str) -> Grouping:
    """Another grouping of the entities: `leiden` on their relations, `graphrag` from the layer `communities`, which are
    Leiden's on the facts, or `raptor` from the layer `summaries`."""
    index = tree.index
    if name not in (LEIDEN, *LAYERS):
        raise SettingError(f"there is no grouping {name!r}; there are {', '.join((LEIDEN, *LAYERS))}")
    if name not in offered(tree):
        raise SettingError(f"the index lacks the layers of {name}; wb.method({name!r}, index) adds them")
    if name == LEIDEN:
        return by_own_leiden(tree)
    if name == "raptor":
        return by_raptor(index.summaries, tree.graph)
    return replace(by_leiden(index.communities, index.facts, tree.graph), name=name)


def by_own_leiden(tree: KnowledgeTree, max_size: int = 100) -> Grouping:
    """The finest communities that Leiden finds on the graph of the tree's entities; a pair weighs the relations that
    join it. Entities without a relation are in none."""
    graph = tree.graph
    ends = np.sort(np.c_[graph.sources, graph.targets], axis=1)
    pairs, of = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0, return_inverse=True)
    weights = np.bincount(of.ravel(), minlength=len(pairs)).astype(float)
    groups = np.full(len(graph.names), NONE, dtype=np.int64)
    for cluster in leiden.hierarchy(len(groups), pairs, weights, max_size=max_size):
        groups[cluster.members] = cluster.id  # parts come after the communities that contain them
    joined = np.unique(pairs)
    strongest = np.bincount(pairs.ravel(), minlength=len(groups))
    titles = {
        group: graph.names[max(rows, key=lambda row: (strongest[row], -row))]
        for group, rows in _rows_of(groups[joined], joined).items()
    }
    return Grouping(LEIDEN, {graph.names[row]: int(groups[row]) for row in joined.tolist()}, titles)


def rows_of(grouping: Grouping, names: Sequence[str]) -> np.ndarray:
    """The group of each entity, int (n,), -1 for none."""
    return np.array([grouping.group_of.get(name, NONE) for name in names], dtype=np.int64)


def followed(before: Division, after: Division) -> Division:
    """`after`, in which each group has the key of the group before that most of it comes from, the largest overlaps
    first; the others have new keys."""
    return after._replace(keys=tuple(_continued(before, after)[0]))


def _continued(before: Division, after: Division) -> tuple[list[int], list[bool]]:
    """The key of each group afterwards, and whether it is what it was: more than half of that group, which makes more
    than half of it."""
    overlaps = _overlaps(before, after).tocoo()
    (olds, news), counts = overlaps.coords, overlaps.data
    source: dict[int, tuple[int, int]] = {}
    used: set[int] = set()
    for at in np.lexsort((news, olds, -counts)).tolist():
        old, new = int(olds[at]), int(news[at])
        if new not in source and old not in used:
            source[new] = old, int(counts[at])
            used.add(old)
    new_key = itertools.count(max(before.keys, default=-1) + 1)
    keys = [before.keys[source[new][0]] if new in source else next(new_key) for new in range(len(after.names))]
    sizes = before.sizes, after.sizes
    continued = [
        new in source and 2 * source[new][1] > max(sizes[0][source[new][0]], sizes[1][new])
        for new in range(len(after.names))
    ]
    return keys, continued


def changes(before: Division, after: Division) -> list[Change]:
    """Communities that merged or split, those of most entities first."""
    overlaps, old_sizes = _overlaps(before, after), before.sizes
    shares = (sp.diags_array(1 / np.maximum(old_sizes, 1)) @ overlaps).tocsr()
    changes_found = []
    into = shares.tocsc()
    for new in range(len(after.names)):
        here = slice(into.indptr[new], into.indptr[new + 1])
        bulk = into.indices[here][into.data[here] > MOST]
        if len(bulk) > 1:
            names = tuple(before.names[old] for old in sorted(bulk.tolist()))
            changes_found.append(Change("merged", names, (after.names[new],), int(old_sizes[bulk].sum())))
    for old in range(len(before.names)):
        here = slice(shares.indptr[old], shares.indptr[old + 1])
        parts = shares.indices[here][shares.data[here] >= PART]
        if len(parts) > 1:
            names = tuple(after.names[new] for new in sorted(parts.tolist()))
            changes_found.append(Change("split", (before.names[old],), names, int(old_sizes[old])))
    return sorted(changes_found, key=lambda change: (-change.entities, change))


def moved(before: Division, after: Division) -> np.ndarray:
    """Whether each entity is in another community than before, bool (n,); a community stays what most of it was."""
    divisions = (before, followed(before, after))
    keys = [np.r_[np.array(division.keys, dtype=np.int64), NONE][division.groups] for division in divisions]
    return keys[0] != keys[1]


def _overlaps(before: Division, after: Division) -> sp.csr_array:
    """How many entities each pair of groups shares, (before, after)."""
    in_both = (before.groups >= 0) & (after.groups >= 0)
    shape = (len(before.names), len(after.names))
    ones = np.ones(int(in_both.sum()), dtype=np.int64)
    return sp.coo_array((ones, (before.groups[in_both], after.groups[in_both])), shape=shape).tocsr()


def _rows_of(groups: np.ndarray, rows: np.ndarray) -> dict[int, list[int]]:
    rows_by_group: dict[int, list[int]] = {}
    for group, row in zip(groups.tolist(), rows.tolist()):
        rows_by_group.setdefault(group, []).append(row)
    return rows_by_group
