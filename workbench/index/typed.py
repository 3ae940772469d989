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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from workbench.data.graph import UNKNOWN, EntityType, Schema, read_schema
from workbench.index.layer import Build, Layer, NoSettings
from workbench.index.profiles import SCHEMAS, ProfilesLayer, Tables
from workbench.index.store import array_of, map_vectors, read_columns, read_table, write_table
from workbench.index.vectors import encode_to
from workbench.records import Entity

Hop = tuple[str, bool]  # a label, and whether its relation is followed from source to target

LABELS = 100  # relations that no schema defines


class TypedLayer(Layer):
    """Rows of entities (n) are sorted by name, those of relations (m) as in the layer `profiles`.

    names, types, descriptions        list[str] (n); `row` name → row
    sources, targets                  int32 (m), rows of entities, in the direction in which the relation is stated
    labels, relation_descriptions     list[str] (m); "" for none
    keywords, weights                 of each relation: list[str]; float32
    entity_vectors, relation_vectors  float32 (n, d), (m, d), unit rows
    """

    kind = "typed"
    inputs = ("passages", "profiles")
    optional = ("resolved", "relabelled")
    linked = ("entity", "relation")  # what has passages

    @classmethod
    def build(cls, folder: Path, build: Build, settings: NoSettings, old: TypedLayer | None) -> dict:
        profiles = topmost(build, cls.optional)
        entities, relations = merged(profiles.tables)
        write_graph(cls, folder, build, entities, relations)
        types = Counter(entities["type"].to_pylist())
        shutil.copyfile(profiles.folder / "schema.json", folder / "schema.json")
        return {
            "passages": len(build.layers["passages"].passages),
            "entities": len(entities),
            "relations": len(relations),
            "types": dict(sorted(types.items())),
        }

    def __init__(self, folder: Path):
        super().__init__(folder)
        table = read_table(folder / "entities.parquet", strings=("name", "type", "description"))
        self.names: list[str] = table["name"]
        self.types: list[str] = table["type"]
        self.descriptions: list[str] = table["description"]
        self.row: dict[str, int] = {name: at for at, name in enumerate(self.names)}
        # Read at once, because a later build takes the files away; made into lists when they are looked at.
        self._relations = read_columns(folder / "relations.parquet")
        self.sources, self.targets, self.weights = (
            array_of(self._relations[n]) for n in ("source", "target", "weight")
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
        declared = {r.name: (r.name, tuple(r.head), tuple(r.tail), r.definition) for r in self.schema.relations}
        ends: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
        for label, source, target in zip(self.labels, self.sources.tolist(), self.targets.tolist()):
            if label and label not in declared:
                ends[label][0].add(self.types[source])
                ends[label][1].add(self.types[target])
        by_label = {label: declared[label] for label in set(self.labels) if label in declared}
        if len(ends) <= LABELS:
            by_label |= {
                label: (label, tuple(sorted(pair)), tuple(sorted(other)), "") for label, (pair, other) in ends.items()
            }
        return tuple(by_label[label] for label in sorted(by_label))

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
        hops: set[Hop] = set()
        for entity in entities:
            rows = self.incident(entity)
            ends = zip(rows.tolist(), self.sources[rows].tolist())
            hops.update((self.labels[row], source == entity) for row, source in ends if self.labels[row] in named)
        return tuple(sorted(hops))

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
    def entity_texts(entities: pa.Table) -> pa.ChunkedArray:
        """What of entities is encoded, of a table with their names and descriptions."""
        return pc.binary_join_element_wise(entities["name"], entities["description"], "\n")

    @staticmethod
    def relation_texts(relations: pa.Table) -> pa.ChunkedArray:
        """What of relations is encoded, of a table with the names of their ends, keywords, labels and descriptions."""
        keywords = pc.binary_join(relations["keywords"], ",")
        first = pc.binary_join_element_wise(keywords, relations["source"], "\t")
        return pc.binary_join_element_wise(first, relations["target"], relations["description"], "\n")

    def encoded(self) -> Iterator[tuple[list[str], np.ndarray]]:
        names = pa.array(self.names, pa.string())
        table = pa.table({"name": names, "description": pa.array(self.descriptions, pa.string())})
        yield self.entity_texts(table).to_pylist(), self.entity_vectors
        ends = {end: names.take(self._relations[end].combine_chunks()) for end in ("source", "target")}
        columns = {name: self._relations[name] for name in ("label", "description", "keywords")}
        yield self.relation_texts(pa.table(ends | columns)).to_pylist(), self.relation_vectors

    def __repr__(self) -> str:
        entities, types = len(self.names), len(self.type_counts)
        return f"TypedLayer({entities:,} entities of {types} types, {len(self.sources):,} relations)"


def topmost(build: Build, kinds: Sequence[str]) -> ProfilesLayer:
    """The last present layer of profiles among these kinds and the profiles themselves."""
    return next(build.layers[kind] for kind in (*reversed(kinds), "profiles") if kind in build.layers)


def merged(tables: Tables) -> Tables:
    """The entities with one row per name, sorted: the type that most of its profiles give, in doubt the first, all
    descriptions, all passages; and the relations that have two ends, each of which has a row."""
    relations = tables.relations.filter(
        pc.and_(pc.not_equal(tables.relations["source"], ""), pc.not_equal(tables.relations["target"], ""))
    )
    given = tables.entities.filter(pc.not_equal(tables.entities["name"], "")).combine_chunks()
    named = [column for table, end in ((given, "name"), (relations, "source"), (relations, "target"))
             for column in table[end].chunks]  # fmt: skip
    names = pc.unique(pa.chunked_array(named, pa.string()))
    names = names.take(pc.array_sort_indices(names))
    of = pc.index_in(given["name"], names).to_numpy()
    descriptions, passages = _combined(given["description"]), _combined(given["passages"])
    described = pc.not_equal(descriptions, "")
    parents = pc.list_parent_indices(passages).to_numpy()
    columns = (
        names,
        _most_frequent(of, _combined(given["type"]), len(names)),
        pc.binary_join(_listed(of[_mask(described)], descriptions.filter(described), len(names)), "\n"),
        _listed(of[parents], passages.flatten(), len(names)),
    )
    return Tables(pa.table(list(columns), SCHEMAS["entities"]), relations)


def _most_frequent(of: np.ndarray, types: pa.Array, count: int) -> pa.Array:
    """The type of most rows `of` each of `count` names, in doubt the first; empty ones do not count."""
    rows = np.flatnonzero(_mask(pc.not_equal(types, "")))
    coded = types.take(pa.array(rows)).dictionary_encode()
    many = len(coded.dictionary) + 1
    pairs = of[rows].astype(np.int64) * many + coded.indices.to_numpy()
    pairs, first, times = np.unique(pairs, return_index=True, return_counts=True)
    order = np.lexsort((first, -times, pairs // many))
    names, best = np.unique(pairs[order] // many, return_index=True)
    chosen = np.full(count, many - 1)
    chosen[names] = pairs[order][best] % many
    return pa.array([*coded.dictionary.to_pylist(), UNKNOWN], pa.string()).take(pa.array(chosen))


def _listed(of: np.ndarray, values: pa.Array, count: int) -> pa.ListArray:
    """The values `of` each of `count` names, each once, in their order. `of` ascends."""
    coded = values.dictionary_encode()
    keys = of.astype(np.int64) * max(1, len(coded.dictionary)) + coded.indices.to_numpy()
    rows = np.sort(np.unique(keys, return_index=True)[1])
    ends = np.r_[0, np.cumsum(np.bincount(of[rows], minlength=count))]
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values.take(pa.array(rows)))


def _mask(condition: pa.BooleanArray) -> np.ndarray:
    return condition.to_numpy(zero_copy_only=False)


def _combined(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    whole = column.combine_chunks()
    return whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)


def write_graph(
    layer: type[TypedLayer],
    folder: Path,
    build: Build,
    entities: pa.Table,
    relations: pa.Table,
) -> None:
    """Write the tables of entities, which are sorted by name, and of relations (`SCHEMAS`), the passages of each, and
    the vectors."""
    write_table(folder / "entities.parquet", **{name: entities[name] for name in ("name", "type", "description")})
    names = entities["name"].combine_chunks()
    write_table(
        folder / "relations.parquet",
        **{end: pc.index_in(relations[end], names) for end in ("source", "target")},
        **{name: relations[name] for name in ("label", "description", "keywords")},
        weight=pc.fill_null(relations["weight"], 1.0).cast(pa.float32()),
    )
    for part, what, table, texts in (
        ("entities", "entity", entities, layer.entity_texts(entities)),
        ("relations", "relation", relations, layer.relation_texts(relations)),
    ):
        write_links(folder, what, table["passages"], build.layers["passages"].ids)
        encode_to(folder / f"{part}.npy", texts.to_pylist(), build, part)


def write_links(folder: Path, what: str, passages: pa.ChunkedArray, ids: pa.ChunkedArray) -> None:
    """The passages (ids) of each row, by their rows."""
    lists = _combined(passages)
    rows = pc.list_parent_indices(lists).to_numpy().astype(np.int32)
    write_table(folder / f"{what}_passages.parquet", **{what: rows, "passage": pc.index_in(lists.flatten(), ids)})


def counted(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int], dtype: type = np.float32) -> sp.csr_array:
    """How often each pair of a row and a column is among these, sorted."""
    matrix = sp.coo_array((np.ones(len(rows), dtype), (rows, columns)), shape=shape).tocsr()
    return _sorted(matrix)


def _ones(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    matrix = counted(rows, columns, shape)
    matrix.data[:] = 1.0
    return matrix


def _sorted(matrix: sp.csr_array) -> sp.csr_array:
    matrix.sort_indices()
    return matrix
