"""The layer `skeleton` on disk."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from pydantic import Field

from workbench.index.journal import StepJournal, counts
from workbench.index.layer import Build, Layer
from workbench.index.pieces import PiecesLayer
from workbench.index.skeleton import building
from workbench.index.store import map_vectors, read_table, write_rows
from workbench.index.vectors import encode_to
from workbench.records import ContextEntity, ContextRelation, Unit
from workbench.settings import Natural, Positive, Probability, Share, validated
from workbench.steps import graph_records, summarising

LONGEST = 500  # cl100k tokens of a description that is put together


@validated
class Settings:
    """Defaults of the released code. `beta`: share of the pieces that is extracted from, by `selection`: those
    of the highest PageRank (`damping`) in the graph that joins each piece to its `knn` nearest by words and by vectors,
    or a `uniform` sample (`seed`). They are merged into chunks of up to `merge_tokens`, of which each is shown in parts
    of `unit_tokens` (cl100k). `types` of entities that a model is asked for, and `gleanings`, further rounds for what
    was missed."""

    beta: Share = 0.8
    selection: Literal["pagerank", "uniform"] = "pagerank"
    knn: Positive = 1
    damping: Probability = 0.85
    merge_tokens: Positive = 1200
    unit_tokens: Positive = 300
    types: Annotated[tuple[str, ...], Field(strict=False)] = graph_records.TYPES
    gleanings: Natural = graph_records.ROUNDS
    seed: Natural = 42


class SkeletonLayer(Layer):
    """core       int32 (c), rows of the pieces that were extracted from, ascending
    chunks     list[Unit], what was extracted from; ids "0", "1", …
    units      list[Unit] (u), the parts in which chunks are shown; ids "<chunk>_<part>"; `unit_chunk` int32 (u)
    entities   list[ContextEntity] (e) in the order of the graph, `id` their row, names in upper case; `types`
               list[str] (e); `row` name → row; `entity_vectors` float32 (e, d), of "NAME:description"
    relations  list[ContextRelation] (r), undirected, `id` their row; `ends` int32 (r, 2), rows of entities
    entity_units, relation_units
               float32 csr, (e, u) and (r, u): 1 where the unit is part of a chunk that names it
    """

    kind = "skeleton"
    inputs = ("pieces",)
    steps = (graph_records.STEP, summarising.FUSE)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: SkeletonLayer | None) -> dict:
        pieces, passages = build.layers["pieces"], build.layers["passages"].passages
        chosen, notes = _core(pieces, settings, build.progress)
        rows = building.merged(chosen, pieces.tokens.tolist(), 0 if pieces.whole else settings.merge_tokens)
        chunks = [building.chunk_of(number, row, pieces) for number, row in enumerate(rows)]
        parts = [building.runs(row, pieces, passages) for row in rows]
        units = [building.units_of(chunk, row, pieces, settings.unit_tokens) for chunk, row in zip(chunks, rows)]

        engine = build.writer
        records = StepJournal(folder, "records.jsonl", engine, graph_records.STEP, old, build.progress)
        fused = StepJournal(folder, "fused.jsonl", engine, summarising.FUSE, old, build.progress)
        inputs = [graph_records.Input("", c.text, settings.types, parts=p) for c, p in zip(chunks, parts)]
        nodes, edges = building.merge(building.records(records, inputs, settings.gleanings))
        described = building.descriptions(fused, map(_thing, chain(nodes, edges)))

        _write(folder, chosen, chunks, units, nodes, edges, described, building.Stating(rows, pieces, passages))
        texts = [entity_text(node.name, text) for node, text in zip(nodes, described)]
        encode_to(folder / "entities.npy", texts, build, "entities")
        for journal in (records, fused):
            journal.settle()
        return {
            **counts([*records.used.values(), *fused.used.values()]),
            "skipped": sum(answer.output["skipped"] for answer in records.used.values() if answer.output),
            "extracted": records.requested,
            "fused": fused.requested,
            "encoder": build.encoder.name,
            "core": len(chosen),
            "chunks": len(chunks),
            "entities": len(nodes),
            "relations": len(edges),
            **notes,
        }

    def __init__(self, folder: Path):
        super().__init__(folder)
        chunks = read_table(folder / "chunks.parquet", strings=("text", "passages"))
        self.chunks = [Unit(str(at), *row) for at, row in enumerate(_units(chunks))]
        units = read_table(folder / "units.parquet", strings=("name", "text", "passages"))
        self.units = [Unit(name, *row) for name, row in zip(units["name"], _units(units))]
        self.unit_chunk: np.ndarray = units["chunk"]
        self.core: np.ndarray = read_table(folder / "core.parquet")["piece"]
        self._entities = read_table(folder / "entities.parquet", strings=("name", "type", "description", "chunks"))
        self._relations = read_table(folder / "relations.parquet", strings=("description", "chunks", "passages"))
        self.types: list[str] = self._entities["type"]
        self.row: dict[str, int] = {name: at for at, name in enumerate(self._entities["name"])}
        self.ends = np.stack([self._relations["source"], self._relations["target"]], axis=1)
        self.entity_vectors = map_vectors(folder / "entities.npy")
        if len(self.entity_vectors) != len(self.row):
            raise ValueError(f"{len(self.entity_vectors)} vectors for {len(self.row)} entities")

    def encoded(self) -> Iterator[tuple[list[str], np.ndarray]]:
        yield [entity_text(entity.name, entity.description) for entity in self.entities], self.entity_vectors

    @cached_property
    def degrees(self) -> np.ndarray:
        """Neighbours of each entity, int (e)."""
        return np.bincount(self.ends.ravel(), minlength=len(self.row))

    @cached_property
    def ranks(self) -> np.ndarray:
        """Neighbours of both ends of each relation, int (r)."""
        return self.degrees[self.ends].sum(axis=1)

    @cached_property
    def entities(self) -> list[ContextEntity]:
        rows = zip(self._entities["name"], self._entities["description"], range(len(self.row)), self.degrees.tolist())
        return [ContextEntity(*row) for row in rows]

    @cached_property
    def relations(self) -> list[ContextRelation]:
        names, table, ranks = self._entities["name"], self._relations, self.ranks.tolist()
        return [
            ContextRelation(names[source], names[target], text, weight, at, ranks[at], None, tuple(passages))
            for at, ((source, target), text, weight, passages) in enumerate(
                zip(self.ends.tolist(), table["description"], table["weight"].tolist(), table["passages"])
            )
        ]

    @cached_property
    def entity_units(self) -> sp.csr_array:
        return self._shown_in(self._entities["chunks"])

    @cached_property
    def relation_units(self) -> sp.csr_array:
        return self._shown_in(self._relations["chunks"])

    def _shown_in(self, chunks: Sequence[Sequence[int]]) -> sp.csr_array:
        """1 where a unit is part of one of the chunks of a row."""
        named = _ones([len(row) for row in chunks], [chunk for row in chunks for chunk in row], len(self.chunks))
        return (named @ _ones([1] * len(self.units), self.unit_chunk, len(self.chunks)).T).tocsr()

    def __repr__(self) -> str:
        return f"SkeletonLayer({len(self.chunks):,} chunks, {len(self.row):,} entities, {len(self.ends):,} relations)"


def entity_text(name: str, description: str) -> str:
    """What is encoded for an entity."""
    return f"{name}:{description}"


def _core(pieces: PiecesLayer, settings: Settings, progress: bool) -> tuple[list[int], dict[str, Any]]:
    """The rows to extract from, and the manifest's entry about an approximate graph."""
    n = len(pieces.pieces)
    count = math.floor(settings.beta * n)
    if settings.selection == "uniform":
        return building.at_random(n, count, settings.seed), {}
    graph, notes = _graph(pieces, settings.knn, progress)
    return building.by_pagerank(graph, count, settings.damping), notes


def _graph(pieces: PiecesLayer, k: int, progress: bool) -> tuple[sp.csr_array, dict[str, Any]]:
    texts = [piece.text for piece in pieces.pieces]
    if len(texts) <= building.EXACT_UP_TO:
        return building.graph(texts, pieces.vectors, k), {}
    graph, approximate = building.likely_graph(texts, pieces.vectors, k, progress)
    return graph, {"approximate": approximate}


def _thing(item: building.Node | building.Edge) -> summarising.Fragments:
    named = (item.name, "entity") if isinstance(item, building.Node) else (f"{item.source} – {item.target}", "relation")
    return summarising.Fragments(*named, tuple(sorted(item.descriptions)), LONGEST)


def _ones(lengths: Sequence[int], columns: Sequence[int], width: int) -> sp.csr_array:
    """1 in the columns of each row, whose numbers are `lengths`."""
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    matrix = sp.csr_array((np.ones(len(columns), np.float32), np.asarray(columns, dtype=np.int32), starts),
                         shape=(len(lengths), width))  # fmt: skip
    matrix.sort_indices()
    return matrix


def _units(table: dict) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(text, "", tuple(passages)) for text, passages in zip(table["text"], table["passages"])]


_NUMBER, _TEXT, _TEXTS = pa.int32(), pa.string(), pa.list_(pa.string())
_CORE = pa.schema({"piece": _NUMBER})
_CHUNKS = pa.schema({"text": _TEXT, "passages": _TEXTS})
_UNITS = pa.schema({"name": _TEXT, "text": _TEXT, "passages": _TEXTS, "chunk": _NUMBER})
_ENTITIES = pa.schema({"name": _TEXT, "type": _TEXT, "description": _TEXT, "chunks": pa.list_(_NUMBER)})
_RELATIONS = pa.schema({
    "source": _NUMBER, "target": _NUMBER, "description": _TEXT, "weight": pa.float64(), "chunks": pa.list_(_NUMBER),
    "passages": _TEXTS,
})  # fmt: skip


def _write(
    folder: Path,
    chosen: Sequence[int],
    chunks: Sequence[Unit],
    units: Sequence[Sequence[Unit]],
    nodes: Sequence[building.Node],
    edges: Sequence[building.Edge],
    described: Sequence[str],
    stating: building.Stating,
) -> None:
    row = {node.name: at for at, node in enumerate(nodes)}
    write_rows(folder / "core.parquet", zip(chosen), _CORE)
    write_rows(folder / "chunks.parquet", ((chunk.text, chunk.passages) for chunk in chunks), _CHUNKS)
    parts = ((part.id, part.text, part.passages, chunk) for chunk, group in enumerate(units) for part in group)
    write_rows(folder / "units.parquet", parts, _UNITS)
    entities = ((node.name, node.type, text, node.chunks) for node, text in zip(nodes, described))
    write_rows(folder / "entities.parquet", entities, _ENTITIES)
    relations = (
        (row[edge.source], row[edge.target], text, edge.weight, edge.chunks, stating(edge))
        for edge, text in zip(edges, described[len(nodes) :])
    )
    write_rows(folder / "relations.parquet", relations, _RELATIONS)
