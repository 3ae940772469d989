"""Layer `passages`: the corpus in its order, and a unit vector for each passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from workbench.encoding import Encoder
from workbench.encoding.store import check_same_model
from workbench.errors import DataError
from workbench.index.layer import Build, Layer, NoSettings
from workbench.index.store import made_rows, map_vectors, read_columns, table_rows, write_table
from workbench.index.vectors import answers_now, encode_to
from workbench.records import Passage
from workbench.text import storable

_COLUMNS = ["id", "title", "text"]


class PassagesLayer(Layer):
    """`passages`: the records in corpus order; `ids`: theirs, in Arrow; `vectors`: float32, shape (n, d), row i of the
    title, newline and text of passage i."""

    kind = "passages"

    @classmethod
    def of_data(cls, build: Build, settings: NoSettings) -> dict:
        return {"passages": build.fingerprint}

    @classmethod
    def build(cls, folder: Path, build: Build, settings: NoSettings, old: PassagesLayer | None) -> dict:
        passages = build.data.passages
        _check(passages)
        encode_to(folder / "vectors.npy", _contents(passages), build, "passages")
        columns = {name: pa.array([getattr(passage, name) for passage in passages], pa.string()) for name in _COLUMNS}
        write_table(folder / "table.parquet", **columns)
        return {"passages": len(passages)}

    def __init__(self, folder: Path):
        super().__init__(folder)
        table = read_columns(folder / "table.parquet", _COLUMNS)
        self.passages = table_rows(table, Passage)
        self.ids = table["id"]
        self.vectors = map_vectors(folder / "vectors.npy")

    def check_encoder(self, encoder: Encoder) -> None:
        """Raise :class:`IndexFault` if the encoder encodes the shortest of some passages differently from the index. An
        endpoint is asked anew for this; stored vectors are not used."""
        contents = [passage.content for passage in self.passages[:20]]
        row = min(range(len(contents)), key=lambda row: len(contents[row]))
        live = answers_now(encoder) and hasattr(encoder, "anew")
        now = encoder.anew(contents[row]) if live else encoder.encode([contents[row]])[0]
        check_same_model(encoder.name, self.vectors[row], now, "the index")

    def encoded(self) -> Iterator[tuple[Sequence[str], np.ndarray]]:
        yield _contents(self.passages), self.vectors

    @cached_property
    def row(self) -> dict[str, int]:
        """Id of a passage → its row."""
        return {passage_id: row for row, passage_id in enumerate(self.ids.to_pylist())}


def _contents(passages: Sequence[Passage]) -> Sequence[str]:
    return made_rows(len(passages), lambda row: passages[row].content)


def _check(passages: Sequence[Passage]) -> None:
    """What a data folder is checked for when it is read; a data set made by hand comes here first."""
    if not passages:
        raise DataError("an index needs at least one passage; the data set has none")
    seen: set[str] = set()
    for passage in passages:
        if passage.id in seen:
            raise DataError(f"the passage id {passage.id!r} occurs twice; ids must be unique")
        seen.add(passage.id)
    for passage in passages:
        if any(storable(part) != part for part in (passage.id, passage.title, passage.text)):
            raise DataError(
                f"passage {passage.id!r} holds half a character (a lone surrogate), which no file can hold; "
                "pass its texts through workbench.text.storable"
            )
