"""The vectors of a layer's texts, as a matrix on disk: those that the index or the working folder has are copied, and
only the rest is encoded."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.encoding import Encoder
from workbench.encoding.store import ModelCheck, VectorStore, store_of
from workbench.errors import IndexFault
from workbench.spread import spread

if TYPE_CHECKING:
    from workbench.index.layer import Build, Layer

BLOCK_CHARACTERS = 64_000  # one to three seconds of encoding on two cores: what a stopped build may lose
_COPIED = 100_000  # vectors copied together


class Vectors:
    """The sources of a build's vectors: the present layers of its index, and the store of the working folder."""

    def __init__(self, encoder: Encoder, standing: Callable[[], Iterable[Layer]]):
        self.encoder, self._standing, self.check = encoder, standing, ModelCheck(encoder)

    def fill(self, matrix: np.ndarray, wanted: Mapping[str, int]) -> dict[str, int]:
        """Write the available vectors of texts (text → row) into a matrix. Returns the texts without one."""
        left = dict(wanted)
        for rows, vectors in self._of_layers if left else ():
            pairs = [(left.pop(text), rows[text]) for text in left.keys() & rows.keys()]
            _copy(matrix, pairs, lambda some, vectors=vectors: vectors[some])
        if self._store is None or not left:
            return left
        stored = dict(zip(left, self._store.rows(list(left)).tolist()))
        held = [text for text, row in stored.items() if row >= 0]
        _copy(matrix, [(left[text], stored[text]) for text in held], self._store.take)
        if held:
            shortest = min(held, key=len)
            self.check.taken(shortest, matrix[left[shortest]].copy())
        return {text: row for text, row in left.items() if stored[text] < 0}

    def keep(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Store new vectors. Raises :class:`IndexFault` if the store has vectors of another model."""
        if self._store is not None:
            self.check.settle(lambda text: self.encoder.encode([text])[0])
            self._store.add(texts, vectors)

    @cached_property
    def _store(self) -> VectorStore | None:
        store = store_of(self.encoder)
        if store is not None and not len(store):
            self.check.passed()
        return store

    @cached_property
    def _of_layers(self) -> list[tuple[dict[str, int], np.ndarray]]:
        """The vectors of the present layers, and their rows by text."""
        pairs = [pair for layer in self._standing() for pair in layer.encoded()]
        for _, vectors in pairs:
            if vectors.shape[1] != self.encoder.dimension:
                raise IndexFault(
                    f"the encoder {self.encoder.name!r} gives vectors of {self.encoder.dimension} dimensions, and "
                    f"those that it made for this index have {vectors.shape[1]}: two models have the same name; "
                    "rename one of them, or build into another folder"
                )
        return [(dict(zip(texts, count())), vectors) for texts, vectors in pairs]


def answers_now(encoder: Encoder) -> bool:
    """Whether an encoder computes its vectors now, and does not replay stored ones of an endpoint."""
    return getattr(encoder, "live", True)


def encode_to(path: Path, texts: Sequence[str], build: Build, label: str) -> None:
    """Write unit vectors of `texts` to `path` (.npy, float32, shape (n, d)).

    Blocks hold texts of similar length, longest first, so that batches waste little on padding and a run that will
    not fit into memory fails at its beginning. A block is kept as soon as it is encoded, so a build that was stopped
    goes on at the first that is not, and with the same blocks.
    """
    from workbench.display import tqdm

    encoder, first = build.encoder, dict[str, int]()
    rows = np.fromiter((first.setdefault(text, row) for row, text in enumerate(texts)), np.int64, len(texts))
    matrix = _create(path, (len(texts), encoder.dimension))
    left = build.vectors.fill(matrix, first)
    blocks = blocks_of(left, getattr(encoder, "block_characters", BLOCK_CHARACTERS))
    with tqdm(total=len(left), desc=f"encode {label}", unit="text", disable=not build.progress or not left) as bar:
        for block, vectors in zip(blocks, spread(blocks, partial(_encoded, encoder))):
            build.vectors.keep(block, vectors)
            matrix[[left[text] for text in block]] = vectors
            bar.update(len(block))
    again = np.flatnonzero(rows != np.arange(len(rows)))
    _copy(matrix, list(zip(again.tolist(), rows[again].tolist())), lambda some: matrix[some])
    matrix.flush()


def blocks_of(texts: Iterable[str], characters: int) -> list[list[str]]:
    """Texts by the calls of the encoder in which they are encoded, longest first."""
    blocks: list[list[str]] = []
    held = characters
    for text in sorted(texts, key=lambda text: (-len(text), text)):
        if held >= characters:
            blocks.append([])
            held = 0
        blocks[-1].append(text)
        held += len(text)
    return blocks


def _encoded(encoder: Encoder, texts: Sequence[str]) -> np.ndarray:
    vectors = encoder.encode(texts)
    _give_memory_back()
    return vectors


def _copy(matrix: np.ndarray, pairs: Sequence[tuple[int, int]], take: Callable[[np.ndarray], np.ndarray]) -> None:
    """For pairs of rows, write what `take` gives of the second ones into the first."""
    for start in range(0, len(pairs), _COPIED):
        to, of = np.array(pairs[start : start + _COPIED], dtype=np.int64).T
        matrix[to] = take(of)


def _create(path: Path, shape: tuple[int, int]) -> np.ndarray:
    """An empty matrix whose room on disk is taken at once: a full disk then is an error, not a bus error later."""
    matrix = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return matrix


def _give_memory_back() -> None:
    """Freed memory back to the system. Each batch has another shape, and glibc keeps what each one left: without this
    the process grows by half a gigabyte on a corpus of 2,000 passages (`benchmarks/indexing.py`)."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)
