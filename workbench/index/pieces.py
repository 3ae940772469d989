"""Layer `pieces`: the corpus cut into pieces of equal length, and a unit vector for each (KET-RAG).

A document is a passage with its title. It is cut into overlapping chunks of `chunk_tokens` cl100k tokens, and each of
these into pieces that follow one another; so pieces at the border of two chunks repeat text. The source takes documents
in the order of their ids, which here is that of the corpus. A border within a character, which the source turns into
broken ones, is moved before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from workbench import tokens
from workbench.errors import SettingError
from workbench.index.layer import Build, Layer
from workbench.index.passages import PassagesLayer
from workbench.index.store import map_vectors, read_table, write_rows
from workbench.index.vectors import encode_to
from workbench.records import Passage, Unit
from workbench.settings import Natural, Positive, validated

_COLUMNS = pa.schema(
    dict.fromkeys(("text", "title", "id"), pa.string()) | dict.fromkeys(("tokens", "passage", "chunk"), pa.int32())
)


@validated
class Settings:
    """Lengths in cl100k tokens: of chunks, of what two chunks share, of pieces. Pieces no shorter than chunks
    are the chunks themselves."""

    chunk_tokens: Positive = 1200
    chunk_overlap: Natural = 100
    piece_tokens: Positive = 150

    def __post_init__(self):
        if self.chunk_overlap >= self.chunk_tokens:
            raise SettingError(
                f"chunk_overlap={self.chunk_overlap}; it should be below chunk_tokens={self.chunk_tokens}, "
                "or no chunk would begin after the first"
            )


class PiecesLayer(Layer):
    """Rows stand in the order of the corpus; a passage without text has none.

    pieces    list[Unit] (n); ids "0", "1", …
    tokens    int32 (n), cl100k
    passage   int32 (n), row of the passage
    chunk     int32 (n), number of the chunk: pieces of one follow one another without a gap
    vectors   float32 (n, d), unit rows
    """

    kind = "pieces"
    inputs = ("passages",)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: PiecesLayer | None) -> dict:
        below: PassagesLayer = build.layers["passages"]
        rows = list(cut(below.passages, settings))
        texts = tuple(text for text, *_ in rows)
        encode_to(folder / "vectors.npy", texts, build, "pieces")
        titled = (
            (text, "" if passage.title in text else passage.title, passage.id, size, row, chunk)
            for text, size, row, chunk in rows
            for passage in [below.passages[row]]
        )
        write_rows(folder / "table.parquet", titled, _COLUMNS)
        return {"passages": len(below.passages), "pieces": len(texts)}

    def __init__(self, folder: Path):
        super().__init__(folder)
        table = read_table(folder / "table.parquet", strings=("text", "title", "id"))
        self.pieces = [
            Unit(str(row), text, title, (passage,))
            for row, (text, title, passage) in enumerate(zip(table["text"], table["title"], table["id"]))
        ]
        self.tokens, self.passage, self.chunk = (table[name] for name in ("tokens", "passage", "chunk"))
        self.vectors = map_vectors(folder / "vectors.npy")

    def encoded(self) -> Iterator[tuple[list[str], np.ndarray]]:
        yield [piece.text for piece in self.pieces], self.vectors

    @property
    def whole(self) -> bool:
        """Whether pieces are whole chunks; the source then merges none of them."""
        return self.metadata["settings"]["piece_tokens"] >= self.metadata["settings"]["chunk_tokens"]

    @cached_property
    def of_passage(self) -> sp.csr_array:
        """(passages, n): 1 where a piece is cut from a passage."""
        n, starts = len(self.pieces), np.searchsorted(self.passage, np.arange(self.metadata["passages"] + 1))
        shape = (self.metadata["passages"], n)
        return sp.csr_array((np.ones(n, np.float32), np.arange(n, dtype=np.int32), starts), shape=shape)


def cut(passages: list[Passage], settings: Settings) -> Iterator[tuple[str, int, int, int]]:
    """(text, tokens, passage, chunk) of each piece. A short rest that the chunk before holds as well is one too, as in
    the released code."""
    chunk = 0
    for row, passage in enumerate(passages):
        starts = tokens.starts(passage.content)
        end = len(starts) - 1
        for start in range(0, end, settings.chunk_tokens - settings.chunk_overlap):
            last = min(start + settings.chunk_tokens, end)
            for first in range(start, last, settings.piece_tokens):
                after = min(first + settings.piece_tokens, last)
                text = passage.content[starts[first] : starts[after]]
                if text:  # else it lies within one character
                    yield text, after - first, row, chunk
            chunk += 1
