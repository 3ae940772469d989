"""Layer `passages`: the corpus in its order, and a unit vector for each passage."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pyarrow.parquet as pq

from workbench.errors import DataError
from workbench.index.layer import Build, Layer
from workbench.index.rows import table_rows
from workbench.index.store import map_vectors, write_table
from workbench.index.vectors import Known, KnownRows, encode_to
from workbench.records import Passage
from workbench.settings import validated
from workbench.text import storable


@validated
class Settings:
    """None: a passage is encoded as title, newline, text (as in the released HippoRAG 2)."""


class PassagesLayer(Layer):
    """`passages`: the records in corpus order; `vectors`: float32, shape (n, d), row i belongs to passage i."""

    kind = "passages"

    @classmethod
    def identity(cls, build: Build, settings: Settings) -> dict:
        return {"passages": build.fingerprint, "encoder": build.encoder.name}

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: PassagesLayer | None) -> dict:
        passages = build.data.passages
        _check(passages)
        if old and build.kept:
            known = KnownRows(old.vectors, build.kept.rows, len(passages))
        else:
            known = Known([passage.content for passage in old.passages], old.vectors) if old else Known()
        texts = [passage.content for passage in passages]
        encoded = encode_to(
            folder / "vectors.npy", texts, build.encoder, known, label="passages", progress=build.progress
        )
        write_table(
            folder / "table.parquet",
            id=[passage.id for passage in passages],
            title=[passage.title for passage in passages],
            text=[passage.text for passage in passages],
        )
        return {"passages": len(passages), "encoded": encoded}

    def __init__(self, folder: Path):
        super().__init__(folder)
        table = pq.read_table(folder / "table.parquet", columns=["id", "title", "text"])
        self.passages = table_rows(table, Passage)
        self._ids = table["id"]
        self.vectors = map_vectors(folder / "vectors.npy")

    @cached_property
    def row(self) -> dict[str, int]:
        """Id of a passage → its row."""
        return {passage_id: row for row, passage_id in enumerate(self._ids.to_pylist())}

    def __repr__(self) -> str:
        return f"PassagesLayer({len(self.passages):,} passages)"


def _check(passages: tuple[Passage, ...]) -> None:
    """What a data folder is checked for when it is read; a data set made by hand comes here first."""
    if not passages:
        raise DataError("an index needs at least one passage; the data set has none")
    seen: set[str] = set()
    for passage in passages:
        if passage.id in seen:
            raise DataError(f"the passage id {passage.id!r} occurs twice; ids must be unique")
        if any(storable(part) != part for part in (passage.id, passage.title, passage.text)):
            raise DataError(
                f"passage {passage.id!r} holds half a character (a lone surrogate), which no file can hold; "
                "pass its texts through workbench.text.storable"
            )
        seen.add(passage.id)
