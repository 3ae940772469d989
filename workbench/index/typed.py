"""Layer `typed`: the graph of typed entities and described relations that DotRAG, LightRAG and PathRAG search, with its
vectors. It is made of the layer `profiles`, or of what `resolved` and `relabelled` made of them where they stand.

A node is a name, exactly as it is written: `Comedy` and `comedy` are two. What several profiles say of a name stands
together; the type is the one that most of them give. Relations stay apart, also those that join one pair; paths run on
the simple, undirected projection (`adjacency`). An end without a profile is a node of type `unknown`. What
is encoded follows LightRAG: "name, description" of an entity, "keywords, source, target, description" of a
relation.
"""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from workbench.data.graph import EntityType, Schema, read_schema
from workbench.data.profiles import EntityProfile, RelationProfile
from workbench.index.layer import Build, Layer
from workbench.index.profiles import ProfilesLayer
from workbench.index.store import map_vectors, read_table, write_table
from workbench.index.vectors import Known, encode_to
from workbench.records import Entity
from workbench.settings import validated

Hop = tuple[str, bool]  # a label, and whether its relation is followed from source to target

UNKNOWN = "unknown"
LABELS = 100  # relations that no schema defines


@validated
class Settings:
    """None."""


class TypedLayer(Layer):
    """Rows of entities (n) are sorted by name, those of relations (m) as in the layer `profiles`.

    names, types, descriptions        list[str] (n); `row` name → row
    sources, targets                  int32 (m), rows of entities, in the direction in which the relation is stated
    labels, relation_descriptions     list[str] (m); "" for none
    keywords, weights                 of each relation: list[str]; float32
    entity_vectors, relation_vectors  float32 (n, d), (m, d), unit rows
    """

    kind = "typed"
    needs = ("passages", "profiles")
    where_standing = ("resolved", "relabelled")
    linked = ("entity", "relation")  # what has passages

    @classmethod
    def identity(cls, build: Build, settings: Settings) -> dict:
        return {"encoder": build.encoder.name}

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: TypedLayer | None) -> dict:
        profiles = topmost(build, cls.where_standing)
        passage_row = build.layers["passages"].row
        relations = [relation for relation in profiles.relations if relation.source and relation.target]
        entities = merged(profiles.entities, relations)
        encoded = write_graph(cls, folder, build, entities, relations, old)
        types = Counter(entity.type for entity in entities)
        shutil.copyfile(profiles.folder / "schema.json", folder / "schema.json")
        return {
            "passages": len(passage_row),
            "entities": len(entities),
            "relations": len(relations),
            "types": dict(sorted(types.items())),
            "encoded": encoded,
        }

    def __init__(self, folder: Path):
        super().__init__(folder)
        table = read_table(folder / "entities.parquet", strings=("name", "type", "description"))
        self.names: list[str] = table["name"]
        self.types: list[str] = table["type"]
        self.descriptions: list[str] = table["description"]
        self.row: dict[str, int] = {name: at for at, name in enumerate(self.names)}
        # Read at once, because a later build takes the files away; made into lists when they are looked at.
        self._relations = pq.read_table(folder / "relations.parquet")
        self.sources, self.targets, self.weights = (
            self._relations[n].to_numpy() for n in ("source", "target", "weight")
        )
        self._linked = {what: read_table(folder / f"{what}_passages.parquet") for what in self.linked}
        self._schema = read_schema(folder / "schema.json")
        self.entity_vectors = map_vectors(folder / "entities.npy")
        self.relation_vectors = map_vectors(folder / "relations.npy")

    # -- what the rows hold -------------------------------------------------------------------------------------------

    @cached_property
    def entities(self) -> list[Entity]:
        return list(map(Entity, self.names, self.types, self.descriptions))

    @cached_property
    def labels(self) -> list[str]:
        return self._relations["label"].to_pylist()

    @cached_property
    def relation_descriptions(self) -> list[str]:
        return self._relations["description"].to_pylist()

    @cached_property
    def keywords(self) -> list[list[str]]:
        return self._relations["keywords"].to_pylist()

    @cached_property
    def type_counts(self) -> dict[str, int]:
        """Type → how many entities have it, most first."""
        return dict(Counter(self.types).most_common())

    @cached_property
    def schema(self) -> Schema:
        """What the graph speaks of. Types that nobody defined are named, without a definition."""
        defined = {entity_type.name for entity_type in self._schema.entity_types}
        more = tuple(EntityType(name, "") for name in self.type_counts if name not in defined and name != UNKNOWN)
        return replace(self._schema, entity_types=(*self._schema.entity_types, *more))

    @cached_property
    def relations(self) -> tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...]:
        """(label, types of heads, types of tails, definition) of the relations that the graph has, by label: as its
        schema has them, the others with the types of their ends. Where more than `LABELS` are in no schema, they are
        wordings of texts and not among them."""
        known = {r.name: (r.name, tuple(r.head), tuple(r.tail), r.definition) for r in self.schema.relations}
        ends: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
        for label, source, target in zip(self.labels, self.sources.tolist(), self.targets.tolist()):
            if label and label not in known:
                ends[label][0].add(self.types[source])
                ends[label][1].add(self.types[target])
        found = {label: known[label] for label in set(self.labels) if label in known}
        if len(ends) <= LABELS:
            found |= {
                label: (label, tuple(sorted(one)), tuple(sorted(other)), "") for label, (one, other) in ends.items()
            }
        return tuple(found[label] for label in sorted(found))

    @cached_property
    def joins(self) -> frozenset[tuple[Hop, Hop]]:
        """The hops that follow one another somewhere: two relations at an entity, without a return to where the first
        one came from. A hop is (label, whether it goes from source to target); relations as in `relations`."""
        named = {label for label, _, _, _ in self.relations}
        leaving: dict[int, Counter[Hop]] = defaultdict(Counter)
        for label, source, target in dict.fromkeys(zip(self.labels, self.sources.tolist(), self.targets.tolist())):
            if label in named and source != target:
                leaving[source][label, True] += 1
                leaving[target][label, False] += 1
        kinds = {frozenset((hop, min(count, 2)) for hop, count in hops.items()) for hops in leaving.values()}
        return frozenset(
            ((label, not forward), onwards)
            for counts in kinds
            for (label, forward), count in counts
            for onwards, _ in counts
            if count > 1 or onwards != (label, forward)
        )

    def leaving(self, entities: Iterable[int]) -> tuple[Hop, ...]:
        """The hops that leave one of these entities, by label; relations as in `joins`."""
        named = {label for label, _, _, _ in self.relations}
        found: set[Hop] = set()
        for entity in entities:
            rows = self.incident(entity)
            ends = zip(rows.tolist(), self.sources[rows].tolist())
            found.update((self.labels[row], source == entity) for row, source in ends if self.labels[row] in named)
        return tuple(sorted(found))

    # -- the graph ----------------------------------------------------------------------------------------------------

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """The simple undirected projection, (n, n): 1 where a relation joins two entities, no self-loops."""
        apart = self.sources != self.targets
        ends = self.sources[apart], self.targets[apart]
        n = len(self.names)
        joined = sp.coo_array((np.ones(apart.sum(), np.float32), ends), shape=(n, n)).tocsr()
        joined = (joined + joined.T).tocsr()
        joined.data[:] = 1.0
        joined.sort_indices()
        return joined

    @cached_property
    def degrees(self) -> np.ndarray:
        """Neighbours of each entity, int (n,)."""
        return np.diff(self.adjacency.indptr)

    def between(self, a: int, b: int) -> list[int]:
        """Rows of the relations that join two entities, in either direction, by label, then row."""
        keys, rows = self._pairs
        key = min(a, b) * len(self.names) + max(a, b)
        return rows[np.searchsorted(keys, key) : np.searchsorted(keys, key, side="right")].tolist()

    def incident(self, a: int) -> np.ndarray:
        """Rows of the relations of an entity, int, ascending."""
        return self.incidence.indices[self.incidence.indptr[a] : self.incidence.indptr[a + 1]]

    @cached_property
    def incidence(self) -> sp.csr_array:
        """(n, m): 1 where the entity is an end of the relation."""
        m = len(self.sources)
        return _ones(np.r_[self.sources, self.targets], np.r_[np.arange(m), np.arange(m)], (len(self.names), m))

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Sorted keys of unordered pairs, and the relation of each."""
        low, high = np.minimum(self.sources, self.targets), np.maximum(self.sources, self.targets)
        keys = low.astype(np.int64) * len(self.names) + high
        _, label = np.unique(np.array(self.labels, dtype=np.str_), return_inverse=True)
        order = np.lexsort((np.arange(len(keys)), label, keys))
        return keys[order], order

    # -- passages -----------------------------------------------------------------------------------------------------

    @cached_property
    def stated(self) -> sp.csr_array:
        """(n, passages): 1 where the entity is described from the passage; where it is from none, the passages of its
        relations."""
        own = self._links("entity", len(self.names))
        bare = np.diff(own.indptr) == 0
        if bare.any():
            own = own + sp.diags_array(bare.astype(np.float32)) @ (self.incidence @ self.relation_stated)
            own.data[:] = 1.0
        return _sorted(own.tocsr())

    @cached_property
    def relation_stated(self) -> sp.csr_array:
        """(m, passages): 1 where the passage states the relation."""
        return self._links("relation", len(self.sources))

    @cached_property
    def represented(self) -> sp.csr_array:
        """(passages, n): the nodes that a passage stands for, as in DotRAG's evaluation on MetaQA: what is described
        from it, and both ends of what it states."""
        held = (self._links("entity", len(self.names)) + self.incidence @ self.relation_stated).T.tocsr()
        held.data[:] = 1.0
        return _sorted(held)

    def nodes_of(self, passages: Iterable[int]) -> list[int]:
        """Rows of the entities that some passages (rows) stand for, ascending."""
        rows = [self.represented.indices[self.represented.indptr[p] : self.represented.indptr[p + 1]] for p in passages]
        return np.unique(np.concatenate(rows)).tolist() if rows else []

    def _links(self, what: str, rows: int) -> sp.csr_array:
        links = self._linked[what]
        return _ones(links[what], links["passage"], (rows, int(self.metadata["passages"])))

    # -- files --------------------------------------------------------------------------------------------------------

    @staticmethod
    def entity_text(entity: Entity | EntityProfile) -> str:
        """What of an entity is encoded."""
        return f"{entity.name}\n{entity.description}"

    @staticmethod
    def relation_text(relation: RelationProfile) -> str:
        """What of a relation is encoded."""
        return f"{','.join(relation.keywords)}\t{relation.source}\n{relation.target}\n{relation.description}"

    def _encoded(self, part: str) -> tuple[list[str], np.ndarray]:
        """The texts that were encoded, and their vectors."""
        if part == "entities":
            return list(map(self.entity_text, self.entities)), self.entity_vectors
        ends = ([self.names[row] for row in rows.tolist()] for rows in (self.sources, self.targets))
        rows = zip(*ends, self.relation_descriptions, self.keywords, self.labels)
        profiles = (RelationProfile(*row, label=label) for *row, label in rows)
        return list(map(self.relation_text, profiles)), self.relation_vectors

    def __repr__(self) -> str:
        entities, types = len(self.names), len(self.type_counts)
        return f"TypedLayer({entities:,} entities of {types} types, {len(self.sources):,} relations)"


def topmost(build: Build, kinds: Sequence[str]) -> ProfilesLayer:
    """The last of the layers of profiles that stand, of these kinds and the profiles themselves."""
    return next(build.layers[kind] for kind in (*reversed(kinds), "profiles") if kind in build.layers)


def merged(profiles: Sequence[EntityProfile], relations: Sequence[RelationProfile]) -> list[EntityProfile]:
    """One per name, sorted: the type that most give, in doubt the first, all descriptions, all passages."""
    found: dict[str, list[EntityProfile]] = defaultdict(list)
    for profile in profiles:
        if profile.name:
            found[profile.name].append(profile)
    for relation in relations:
        for end in (relation.source, relation.target):
            found[end]  # a node without a profile
    entities = []
    for name, same in sorted(found.items()):
        types = Counter(profile.type for profile in same if profile.type)
        descriptions = dict.fromkeys(profile.description for profile in same if profile.description)
        passages = dict.fromkeys(chain.from_iterable(profile.passages for profile in same))
        kind = types.most_common(1)[0][0] if types else UNKNOWN
        entities.append(EntityProfile(name, kind, "\n".join(descriptions), tuple(passages)))
    return entities


def write_graph(
    layer: type[TypedLayer],
    folder: Path,
    build: Build,
    entities: Sequence[EntityProfile],
    relations: Sequence[RelationProfile],
    old: TypedLayer | None,
) -> int:
    """Write the tables of entities, which are sorted by name, and of relations, the passages of each, and the vectors;
    return how many of these were encoded anew."""
    _write_tables(folder, entities, relations, {entity.name: at for at, entity in enumerate(entities)})
    encoded = 0
    for part, what, items, text in (
        ("entities", "entity", entities, layer.entity_text),
        ("relations", "relation", relations, layer.relation_text),
    ):
        write_links(folder, what, (item.passages for item in items), build.layers["passages"].row)
        encoded += encode_part(folder, build, part, list(map(text, items)), old)
    return encoded


def write_links(folder: Path, what: str, passages: Iterable[Iterable[str]], passage_row: Mapping[str, int]) -> None:
    """The passages (ids) of each row."""
    links = [(at, passage_row[passage]) for at, of in enumerate(passages) for passage in of]
    rows = np.array(links, dtype=np.int32).reshape(-1, 2)
    write_table(folder / f"{what}_passages.parquet", **{what: rows[:, 0], "passage": rows[:, 1]})


def encode_part(folder: Path, build: Build, part: str, texts: Sequence[str], old: TypedLayer | None) -> int:
    """The vectors of a part, those of `old` where the same encoder made them."""
    same_encoder = old is not None and old.metadata.get("encoder", build.encoder.name) == build.encoder.name
    known = Known(*old._encoded(part)) if same_encoder else Known()
    return encode_to(folder / f"{part}.npy", texts, build.encoder, known, label=part, progress=build.progress)


def _write_tables(folder, entities, relations, row) -> None:
    write_table(
        folder / "entities.parquet",
        name=[entity.name for entity in entities],
        type=[entity.type for entity in entities],
        description=[entity.description for entity in entities],
    )
    write_table(
        folder / "relations.parquet",
        source=np.array([row[relation.source] for relation in relations], dtype=np.int32),
        target=np.array([row[relation.target] for relation in relations], dtype=np.int32),
        label=pa.array([relation.label for relation in relations], pa.string()),
        description=pa.array([relation.description for relation in relations], pa.string()),
        keywords=pa.array([list(relation.keywords) for relation in relations], pa.list_(pa.string())),
        weight=np.array([1.0 if r.weight is None else r.weight for r in relations], dtype=np.float32),
    )


def _ones(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    found = sp.coo_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape).tocsr()
    found.data[:] = 1.0
    return _sorted(found)


def _sorted(found: sp.csr_array) -> sp.csr_array:
    found.sort_indices()
    return found
