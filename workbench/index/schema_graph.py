"""Layer `schema_graph`: levels 1 and 2 of Youtu-GraphRAG's knowledge tree (arXiv 2508.19855, section 3): attributes of
entities, and triples between them, extracted within a schema that grows with the corpus (`schema_extracting.py`),
or taken from the profiles that the data bring.

It is a graph like that of the layer `typed`, with attributes beside it. A vector of an entity is that of its name, of a
relation that of "head relation tail", of an attribute that of "name has_attribute type: value", which are the texts of
Eq. 4.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from workbench.data import Dataset
from workbench.data.graph import Schema, read_schema
from workbench.data.schemas import seed as read_seed
from workbench.index import schema_extracting
from workbench.index.journal import request_key
from workbench.index.layer import Build
from workbench.index.profiles import LIST, SCHEMAS, table_of
from workbench.index.schema_extracting import Parts, Proposal
from workbench.index.store import map_vectors, read_table, write_table
from workbench.index.typed import TypedLayer, write_graph, write_links
from workbench.index.vectors import encode_to
from workbench.settings import Positive, Share, validated
from workbench.steps.schema_extraction import KINDS, STEP

HAS_ATTRIBUTE = "has_attribute"  # the relation between levels 2 and 1
GENERAL = "general"  # the seed where the data have no schema


@validated
class Settings:
    """`schema`: the seed, by the name of a bundled one or the path of a file; by default the data's own schema, or
    `general`. `evolution` of the schema: `off`, `llm` (what is proposed is admitted, as in the released code) or
    `gated` (from confidence `mu` on, the paper's μ; `support` passages count in full). Types are admitted after every
    `batch` passages. `strict` drops what the schema does not bound (Eq. 2), which the released code keeps."""

    schema: str | None = None
    evolution: Literal["off", "llm", "gated"] = "gated"
    mu: Share = 0.9
    support: Positive = 3
    batch: Positive = 64
    strict: bool = False


class Attribute(NamedTuple):
    """A value that describes an entity (its row)."""

    entity: int
    type: str
    value: str

    @property
    def text(self) -> str:
        """As the source writes it.

        >>> Attribute(0, "date", "3 May 1994").text
        'date: 3 May 1994'
        """
        return f"{self.type}: {self.value}"


class SchemaGraphLayer(TypedLayer):
    """Rows of entities (n) are sorted by name, those of relations (m) by source, target and label; what `TypedLayer`
    says of both holds. Besides:

    attributes        list[Attribute] (a), sorted by entity, type and value; `attribute_vectors` float32 (a, d), unit
                      rows; `attribute_stated` (a, passages)
    schema, seed      Schema: as evolved, and as it was before
    evolution         list[Proposal], in the order in which passages made them
    """

    kind = "schema_graph"
    inputs = ("passages",)
    with_given = ("profiles", "extractions")
    steps = (STEP,)
    linked = ("entity", "relation", "attribute")

    @classmethod
    def of_data(cls, build: Build, settings: Settings) -> dict:
        return {"seed": request_key(asdict(_seed(build.data, settings)))}

    @classmethod
    def maker(cls, build: Build) -> str | None:
        return None if _given(build) else super().maker(build)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: SchemaGraphLayer | None) -> dict:
        seed = _seed(build.data, settings)
        profiles = _given(build)
        if profiles is not None:
            extractions = build.layers.get("extractions")
            parts_found = schema_extracting.given(profiles.profiles, extractions.records if extractions else ())
            named = settings.schema is not None or build.data.schema is not None
            schema = seed = seed if named else schema_extracting.described(parts_found)
            by = profiles.metadata.get("made_by")
            evolution, summary = [], {"given": True} | ({"made_by": by} if by else {})
        else:
            extracted = schema_extracting.extract(folder, build, build.writer, settings, seed, old)
            schema, evolution = extracted.evolution.schema, extracted.evolution.proposals()
            parts_found = schema_extracting.assembled(extracted.outputs, schema, settings.strict)
            summary = extracted.summary | ({"left_out": parts_found.left_out} if settings.strict else {})
        tables = map(table_of, (parts_found.entities, parts_found.relations), SCHEMAS.values())
        write_graph(cls, folder, build, *tables)
        _write_attributes(folder, build, parts_found)
        _write_schemas(folder, seed, schema, evolution)
        rows = [asdict(record) for record in (*parts_found.entities, *parts_found.relations)]
        stated = [(key, list(passages)) for key, passages in parts_found.attributes.items()]
        return {
            "content": request_key(rows, stated, asdict(schema), build.encoder.name),
            **summary,
            "encoder": build.encoder.name,
            "passages": len(build.layers["passages"].row),
            "entities": len(parts_found.entities),
            "relations": len(parts_found.relations),
            "attributes": len(parts_found.attributes),
            "schema": {kind: len(getattr(schema, kind)) for kind in KINDS},
        }

    def __init__(self, folder: Path):
        super().__init__(folder)
        table = read_table(folder / "attributes.parquet", strings=("type", "value"))
        self.attributes: list[Attribute] = [*map(Attribute, table["entity"].tolist(), table["type"], table["value"])]
        self.attribute_vectors = map_vectors(folder / "attributes.npy")
        self.seed: Schema = read_schema(folder / "seed.json")
        rows = json.loads((folder / "evolution.json").read_text(encoding="utf-8"))
        self.evolution = [Proposal(**row | {"passages": tuple(row["passages"])}) for row in rows]
        self._begins = np.searchsorted(table["entity"], np.arange(len(self.names) + 1))

    @property
    def given(self) -> bool:
        """Whether the data brought it."""
        return bool(self.metadata.get("given"))

    @property
    def schema(self) -> Schema:
        """As evolved. Types that entities have beside it are not added: the schema bounds them only where `strict`."""
        return self._schema

    def attributes_of(self, entity: int) -> range:
        """Rows of the attributes of an entity."""
        return range(*self._begins[entity : entity + 2].tolist())

    @cached_property
    def attribute_stated(self) -> sp.csr_array:
        """(a, passages): 1 where the passage states the attribute."""
        return self._links("attribute", len(self.attributes))

    @staticmethod
    def entity_texts(entities: pa.Table) -> pa.ChunkedArray:
        return entities["name"]

    @staticmethod
    def relation_texts(relations: pa.Table) -> pa.ChunkedArray:
        return pc.binary_join_element_wise(relations["source"], relations["label"], relations["target"], " ")

    def attribute_text(self, row: int) -> str:
        """What of an attribute is encoded."""
        return _attribute_text(self.names[self.attributes[row].entity], *self.attributes[row][1:])

    def encoded(self) -> Iterator[tuple[list[str], np.ndarray]]:
        yield from super().encoded()
        yield [self.attribute_text(row) for row in range(len(self.attributes))], self.attribute_vectors

    def __repr__(self) -> str:
        counted = (
            (len(self.names), "entities"),
            (len(self.sources), "relations"),
            (len(self.attributes), "attributes"),
        )
        return f"SchemaGraphLayer({', '.join(f'{count:,} {what}' for count, what in counted)})"


def _given(build: Build):
    """The layer `profiles`, if the data brought it."""
    profiles = build.layers.get("profiles")
    return profiles if profiles is not None and profiles.given else None


def _seed(data: Dataset, settings: Settings) -> Schema:
    if settings.schema is None and data.schema is not None:
        return data.schema
    return read_seed(settings.schema or GENERAL)


def _attribute_text(name: str, kind: str, value: str) -> str:
    return f"{name} {HAS_ATTRIBUTE} {kind}: {value}"


def _write_attributes(folder: Path, build: Build, parts_found: Parts) -> None:
    """The table, its passages and its vectors."""
    row = {entity.name: at for at, entity in enumerate(parts_found.entities)}
    keys = list(parts_found.attributes)
    write_table(
        folder / "attributes.parquet",
        entity=np.array([row[entity] for entity, _, _ in keys], dtype=np.int32),
        type=pa.array([kind for _, kind, _ in keys], pa.string()),
        value=pa.array([value for _, _, value in keys], pa.string()),
    )
    passages = pa.chunked_array([pa.array(map(list, parts_found.attributes.values()), LIST)])
    write_links(folder, "attribute", passages, build.layers["passages"].ids)
    encode_to(folder / "attributes.npy", [_attribute_text(*key) for key in keys], build, "attributes")


def _write_schemas(folder: Path, seed: Schema, schema: Schema, evolution: list[Proposal]) -> None:
    for name, value in (
        ("seed", asdict(seed)),
        ("schema", asdict(schema)),
        ("evolution", [change._asdict() for change in evolution]),
    ):
        text = json.dumps(value, ensure_ascii=False, indent=1)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
