"""Navigation of a knowledge tree: communities (level 4), keywords (3), entities and triples (2), attributes (1), and
the place of a passage in it (Youtu-GraphRAG, Eq. 8).

The tree is in two layers of an index: `schema_graph` holds levels 1 and 2, `tree` levels 3 and 4. A `KnowledgeTree`
answers where something stands; what it returns are records of names, which need neither layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from workbench.errors import SettingError
from workbench.index import Index
from workbench.index.dual_perception import Merge, TreeCommunity
from workbench.index.tree import TreeLayer, relation_counts
from workbench.records import Passage, Record, Triple
from workbench.steps.name_communities import Name
from workbench.text import counted

if TYPE_CHECKING:
    import pandas as pd

LEVELS = {"communities": 4, "keywords": 3, "triples": 2, "attributes": 1}
NONE = -1  # the community of an entity that is in none
PROPOSED = 20  # names that an error proposes


class Member(NamedTuple):
    """An entity in its community, and how well it fits: the overlap of its relations with the centre's (`structure`)
    and its cosine to the centroid (`meaning`)."""

    row: int
    name: str
    type: str
    structure: float
    meaning: float
    keyword: bool = False
    centre: bool = False


class Neighbour(NamedTuple):
    """Another community, and the relations that join the two."""

    id: int
    name: str
    relations: int


class Stated(NamedTuple):
    """An attribute of an entity, and the ids of the passages that state it."""

    entity: str
    type: str
    value: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class CommunityPlace(Record):
    """A community. `members` are the keywords first, then by `meaning`; `structure` and `meaning` are their means,
    `inside` counts the relations among them. `failure` says why an engine did not name it."""

    id: int
    name: str
    summary: str
    failure: str
    cohesion: float
    structure: float
    meaning: float
    inside: int
    types: tuple[tuple[str, int], ...]
    members: tuple[Member, ...]
    neighbours: tuple[Neighbour, ...]
    passages: tuple[str, ...]

    @property
    def keywords(self) -> tuple[str, ...]:
        return tuple(member.name for member in self.members if member.keyword)


@dataclass(frozen=True, slots=True, repr=False)
class EntityPlace(Record):
    """An entity with its triples and attributes; `community` is -1 if it is in none."""

    row: int
    name: str
    type: str
    community: int
    community_name: str
    role: str
    triples: tuple[Triple, ...]
    attributes: tuple[Stated, ...]
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class PassagePlace(Record):
    """What a passage states, and the communities (id, name, how many of its entities) to which that leads."""

    passage: Passage
    entities: tuple[tuple[int, str, str, int], ...]
    triples: tuple[Triple, ...]
    attributes: tuple[Stated, ...]
    communities: tuple[Neighbour, ...]


class Hit(NamedTuple):
    """What a search found: kind is "community", "entity" or "passage", `key` its id or row."""

    kind: str
    key: int | str
    label: str


class Regrouped(NamedTuple):
    """Communities that are in no index, with what of the layer `tree` a walk needs."""

    communities: list[TreeCommunity]
    community_of: np.ndarray
    named: dict[int, Name]
    entity_matrix: np.ndarray
    merges: list[Merge]
    failures: dict[int, str] = {}


class KnowledgeTree:
    """The four levels over an index that has the layers `schema_graph` and `tree`, or with communities of other
    settings in place of those of the index."""

    def __init__(self, index: Index, tree: TreeLayer | Regrouped | None = None):
        self.index, self.graph, self.tree = index, index.schema_graph, tree or index.tree
        self.passages: list[Passage] = index.passages.passages

    def __repr__(self) -> str:
        graph = self.graph
        return (
            f"KnowledgeTree of {self.index.name!r}: {counted(len(self.tree.communities), 'community', 'communities')}, "
            f"{counted(sum(len(community.keywords) for community in self.tree.communities), 'keyword')}, "
            f"{counted(len(graph.names), 'entity', 'entities')}, "
            f"{counted(len(graph.labels), 'triple')}, {counted(len(graph.attributes), 'attribute')}"
        )

    # -- places -------------------------------------------------------------------------------------------------------

    def community(self, wanted: int | str) -> CommunityPlace:
        """A community by its id or name."""
        at = self._community_id(wanted)
        record, named = self.tree.communities[at], self.tree.named.get(at)
        rows = np.array(record.members, dtype=np.int64)
        stated = np.unique(self.graph.stated[rows].indices).tolist() if len(rows) else []
        return CommunityPlace(
            at, self.name(at), named.summary if named else "", self.tree.failures.get(at, ""), float(record.cohesion),
            *self.tightness[at].tolist(), int(self.joined[at, at]), self.types_of(at), tuple(self._members(at)),
            tuple(self._neighbours(at)), tuple(self.passages[row].id for row in stated),
        )  # fmt: skip

    def entity(self, wanted: int | str) -> EntityPlace:
        """An entity by its row or name."""
        row, graph = self._entity_row(wanted), self.graph
        at = int(self.tree.community_of[row])
        return EntityPlace(
            row, graph.names[row], graph.types[row], at, self.name(at) if at != NONE else "", self._role(row, at),
            tuple(map(self.triple, graph.incident(row).tolist())),
            tuple(map(self._attribute, graph.attributes_of(row))),
            self._ids(graph.stated, row),
        )  # fmt: skip

    def passage(self, wanted: str) -> PassagePlace:
        """The place of a passage, by its id."""
        row = self.index.passages.row.get(wanted)
        if row is None:
            raise SettingError(f"the index has no passage {wanted!r}; passages have ids such as {self._some_ids()}")
        entities = self._columns(self._stated_in, row)
        of = [int(self.tree.community_of[entity]) for entity in entities]
        counted = Counter(at for at in of if at != NONE)
        return PassagePlace(
            self.passages[row],
            tuple((e, self.graph.names[e], self.graph.types[e], at) for e, at in zip(entities, of)),
            tuple(map(self.triple, self._columns(self._relations_in, row))),
            tuple(map(self._attribute, self._columns(self._attributes_in, row))),
            tuple(Neighbour(at, self.name(at), count) for at, count in counted.most_common()),
        )

    def find(self, typed: str, limit: int = PROPOSED) -> list[Hit]:
        """Communities, entities and passages whose name, title or id holds the typed text: those that begin with it
        first, then by name."""
        words = typed.casefold().strip()
        if not words:
            return []
        hits = [(not name.startswith(words), name, hit) for name, hit in self._names if words in name]
        return [hit for _, _, hit in sorted(hits)[:limit]]

    # -- numbers ------------------------------------------------------------------------------------------------------

    @cached_property
    def perceptions(self) -> np.ndarray:
        """How well each entity fits its community, as `fit` has it."""
        return self.fit(self.tree.community_of, [community.centre for community in self.tree.communities])

    @cached_property
    def tightness(self) -> np.ndarray:
        """The means of `perceptions` over the members of each community, float (communities, 2)."""
        return group_means(self.perceptions, self.tree.community_of, len(self.tree.communities))

    def fit(self, groups: np.ndarray, centres: Sequence[int]) -> np.ndarray:
        """How well each entity fits its group, float (n, 2): the multiset Jaccard of its relation types with those of
        the group's centre (row), and its cosine to the group's centroid; 0 for a group below 0.

        With the whole group instead of its centre, as in Eq. 6, the mean of the first would be one by the number of
        members, however alike they are."""
        return np.c_[overlaps(self.relation_counts, groups, centres), cosines(self.tree.entity_matrix, groups)]

    @cached_property
    def plane(self) -> np.ndarray:
        """The two directions along which the communities of the index differ most, float (d, 2): every map of them is
        drawn on these."""
        return principal_plane(group_means(self.tree.entity_matrix, self.tree.community_of, len(self.tree.communities)))

    @cached_property
    def relation_counts(self) -> sp.csr_array:
        """How often each entity is an end of each relation, int (n, labels)."""
        return relation_counts(self.graph)[0]

    @cached_property
    def joined(self) -> sp.csr_array:
        """The relations that join two communities, and on the diagonal those within one, int (c, c), symmetric."""
        return joined_by(self.tree.community_of, self.graph.sources, self.graph.targets, len(self.tree.communities))

    def types_of(self, at: int) -> tuple[tuple[str, int], ...]:
        """The types of a community's members, most frequent first."""
        counted = Counter(self.graph.types[row] for row in self.tree.communities[at].members)
        return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))

    def name(self, at: int) -> str:
        """The name of a community; that of its centre if it has none."""
        named = self.tree.named.get(at)
        if named:
            return named.name
        return self.graph.names[self.tree.communities[at].centre]

    def triple(self, row: int) -> Triple:
        """The triple of a row of `schema_graph`."""
        graph = self.graph
        ends = (graph.names[graph.sources[row]], graph.labels[row], graph.names[graph.targets[row]])
        return Triple(*ends, self._ids(graph.relation_stated, row))

    def frame(self) -> pd.DataFrame:
        """A row per community: name, most frequent type, members, mean φ, how alike its members are by their relations
        (`structure`) and by what is said of them (`meaning`), and how many relations join them (`inside`)."""
        import pandas as pd

        rows = [
            (self.name(community.id), self.types_of(community.id)[0][0], len(community.members), community.cohesion,
             *self.tightness[community.id], int(self.joined[community.id, community.id]))
            for community in self.tree.communities
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=["name", "type", "members", "φ", "structure", "meaning", "inside"])

    # -- parts --------------------------------------------------------------------------------------------------------

    def _members(self, at: int) -> list[Member]:
        tree_community = self.tree.communities[at]
        keywords = {row: rank for rank, row in enumerate(tree_community.keywords)}
        rows = sorted(
            tree_community.members, key=lambda row: (keywords.get(row, len(keywords)), -self.perceptions[row, 1], row)
        )
        return [
            Member(row, self.graph.names[row], self.graph.types[row], *self.perceptions[row].tolist(), row in keywords,
                   row == tree_community.centre)
            for row in rows
        ]  # fmt: skip

    def _neighbours(self, at: int) -> list[Neighbour]:
        row = self.joined[[at]].tocoo()
        neighbours = [
            Neighbour(int(c), self.name(int(c)), int(n)) for c, n in zip(row.coords[1], row.data) if c != at and n
        ]
        return sorted(neighbours, key=lambda neighbour: (-neighbour.relations, neighbour.id))

    def _role(self, row: int, at: int) -> str:
        if at == NONE:
            return "in no community"
        tree_community = self.tree.communities[at]
        return "centre" if row == tree_community.centre else "keyword" if row in tree_community.keywords else "member"

    def _attribute(self, row: int) -> Stated:
        attribute = self.graph.attributes[row]
        return Stated(
            self.graph.names[attribute.entity],
            attribute.type,
            attribute.value,
            self._ids(self.graph.attribute_stated, row),
        )

    def _ids(self, stated: sp.csr_array, row: int) -> tuple[str, ...]:
        return tuple(self.passages[at].id for at in self._columns(stated, row))

    @staticmethod
    def _columns(matrix: sp.csr_array, row: int) -> list[int]:
        return matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]].tolist()

    @cached_property
    def _stated_in(self) -> sp.csr_array:
        return _turned(self.graph.stated)

    @cached_property
    def _relations_in(self) -> sp.csr_array:
        return _turned(self.graph.relation_stated)

    @cached_property
    def _attributes_in(self) -> sp.csr_array:
        return _turned(self.graph.attribute_stated)

    @cached_property
    def _names(self) -> list[tuple[str, Hit]]:
        hits = [Hit("community", at, self.name(at)) for at in range(len(self.tree.communities))]
        hits += [Hit("entity", row, name) for row, name in enumerate(self.graph.names)]
        hits += [
            Hit("passage", passage.id, f"{passage.title} ({passage.id})" if passage.title else passage.id)
            for passage in self.passages
        ]
        return [(hit.label.casefold(), hit) for hit in hits]

    def _community_id(self, wanted: int | str) -> int:
        count = len(self.tree.communities)
        if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool) and 0 <= wanted < count:
            return int(wanted)
        named = [at for at in range(count) if self.name(at) == wanted]
        if not named:
            raise SettingError(f"there is no community {wanted!r}; give an id from 0 to {count - 1}, or a name")
        return named[0]

    def _entity_row(self, wanted: int | str) -> int:
        count = len(self.graph.names)
        if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool) and 0 <= wanted < count:
            return int(wanted)
        if wanted in self.graph.row:
            return self.graph.row[wanted]
        near = ", ".join(repr(hit.label) for hit in self.find(str(wanted)) if hit.kind == "entity")
        raise SettingError(
            f"the tree has no entity {wanted!r}; {f'there are {near}' if near else 'names must match exactly'}"
        )

    def _some_ids(self) -> str:
        return ", ".join(repr(passage.id) for passage in self.passages[:3]) or "none: the index is empty"


def cosines(vectors: np.ndarray, groups: Sequence[int]) -> np.ndarray:
    """The cosine of each row with the sum of the rows of its group, float (n,); 0 for a group below 0."""
    groups = np.asarray(groups)
    grouped = np.flatnonzero(groups >= 0)
    values = np.zeros(len(groups))
    if len(grouped):
        sums = group_sums(vectors[grouped], groups[grouped])[groups[grouped]]
        lengths = np.linalg.norm(sums, axis=1) * np.linalg.norm(vectors[grouped], axis=1)
        values[grouped] = np.einsum("nd,nd->n", sums, vectors[grouped]) / np.where(lengths > 0, lengths, 1.0)
    return values


def overlaps(counts: sp.csr_array, groups: Sequence[int], centres: Sequence[int]) -> np.ndarray:
    """Σ min / Σ max of the counts of each row and of its group's centre, float (n,); 0 for a group below 0."""
    groups = np.asarray(groups)
    grouped = np.flatnonzero(groups >= 0)
    values = np.zeros(len(groups))
    if len(grouped):
        own, other = counts[grouped], counts[np.asarray(centres)[groups[grouped]]]
        shared = _row_sums(own.minimum(other))
        either = _row_sums(own) + _row_sums(other) - shared
        values[grouped] = shared / np.where(either > 0, either, 1.0)
    return values


def principal_plane(vectors: np.ndarray) -> np.ndarray:
    """The two directions along which the rows differ most (principal components), float (d, 2). A direction points to
    where its largest entry is positive, so that the same rows always give the same plane."""
    plane = np.zeros((vectors.shape[1], 2))
    if len(vectors) > 1:
        centred = np.asarray(vectors, dtype=np.float64) - np.mean(vectors, axis=0)
        _, _, directions = np.linalg.svd(centred, full_matrices=False)
        for at, direction in enumerate(directions[:2]):
            plane[:, at] = direction * (np.sign(direction[np.abs(direction).argmax()]) or 1.0)
    return plane


def group_sums(values: np.ndarray, groups: np.ndarray, count: int | None = None) -> np.ndarray:
    """The sum of the rows of each group, float (groups, d)."""
    count = int(groups.max(initial=-1)) + 1 if count is None else count
    order = np.argsort(groups, kind="stable")
    member = sp.csr_array((np.ones(len(groups)), order, np.searchsorted(groups[order], np.arange(count + 1))),
                          shape=(count, len(groups)))  # fmt: skip
    return member @ np.asarray(values, dtype=np.float64)


def group_means(values: np.ndarray, groups: Sequence[int], count: int) -> np.ndarray:
    """The mean of the rows of each group from 0 to `count`, float (count, d)."""
    groups = np.asarray(groups)
    grouped = groups >= 0
    sizes = np.bincount(groups[grouped], minlength=count)[:, None]
    return group_sums(np.asarray(values)[grouped], groups[grouped], count) / np.maximum(sizes, 1)


def joined_by(groups: np.ndarray, sources: np.ndarray, targets: np.ndarray, count: int) -> sp.csr_array:
    """How many relations join two groups, int (count, count), symmetric; on the diagonal those within one."""
    ends = np.asarray(groups)[np.c_[sources, targets]]
    ends = ends[(ends >= 0).all(axis=1)]
    one_way = sp.coo_array((np.ones(len(ends), np.int64), (ends[:, 0], ends[:, 1])), shape=(count, count)).tocsr()
    both = one_way + one_way.T
    both.setdiag(one_way.diagonal())
    return both.tocsr()


def dominant(types: Iterable[str]) -> str:
    """The most frequent type, in doubt the first by name; "" for none."""
    counted = Counter(types)
    return min(counted, key=lambda name: (-counted[name], name)) if counted else ""


def _row_sums(counts: sp.csr_array) -> np.ndarray:
    return np.asarray(counts.sum(axis=1), dtype=float).ravel()


def _turned(stated: sp.csr_array) -> sp.csr_array:
    turned = stated.T.tocsr()
    turned.sort_indices()
    return turned
