"""Encoding the texts of a layer into a matrix on disk: known texts are copied, the rest is encoded in blocks, and a
build that was stopped goes on at the first block that is not finished."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from workbench.encoding import Encoder
from workbench.errors import IndexFault
from workbench.index.store import key_of, write_atomically
from workbench.spread import spread

BLOCK_CHARACTERS = 64_000  # one to three seconds of encoding on two cores: what a stopped build may lose

SAME = 0.9  # cosine of a text's vectors by one model; a device, a precision or a batch changes the last digits
_COPIED = 100_000  # known vectors copied together


class Known:
    """Vectors that exist already, by text."""

    def __init__(self, texts: Sequence[str] = (), vectors: np.ndarray | None = None):
        self.vectors = vectors if len(texts) else None
        self._rows: Mapping[str, int] = {text: row for row, text in enumerate(texts)}

    def rows_of(self, texts: Sequence[str]) -> np.ndarray:
        """For each text the row of its vector, -1 where there is none; int64 (n,)."""
        return np.array([self._rows.get(text, -1) for text in texts] if self._rows else [-1] * len(texts), dtype=int)


def answers_now(encoder: Encoder) -> bool:
    """Whether an encoder gives vectors of its own, and not a recording alone those of an endpoint."""
    return getattr(encoder, "live", True)


def check_same_model(encoder: Encoder, texts: Sequence[str], vectors: np.ndarray) -> None:
    """Raise :class:`IndexFault` where an encoder gives the shortest of some texts another vector than it has, shape
    (n, d): it is another model under the same name, such as a folder whose weights were exchanged, or an endpoint that
    serves another one. Where an endpoint is asked, it says what it gives now, and not what is recorded of it."""
    row = min(range(len(texts)), key=lambda row: len(texts[row]))
    text, before = texts[row], vectors[row]
    now = encoder.anew(text) if getattr(encoder, "live", False) else encoder.encode([text])[0]
    if len(now) == len(before) and now @ before < SAME * np.linalg.norm(now) * np.linalg.norm(before):
        raise IndexFault(
            f"the encoder {encoder.name!r} gives a text another vector than the index has of it: it is another model "
            "under the same name; use the one that made the index, or build another index"
        )


def encode_to(
    path: Path, texts: Sequence[str], encoder: Encoder, known: Known, *, label: str, progress: bool = True
) -> int:
    """Write unit vectors of `texts` to `path` (.npy, float32, shape (n, d)) and return how many were encoded anew.

    Blocks hold texts of similar length, longest first, so that batches waste little on padding and a run that will
    not fit into memory fails at its beginning. The matrix grows in `<name>.part.npy`, with a record of its finished
    blocks beside it, and takes its name when it is whole. Which block holds which text depends on the texts alone, so
    a resumed build gives the same bytes.
    """
    from tqdm.auto import tqdm

    known_rows = known.rows_of(texts)
    new = np.flatnonzero(known_rows < 0).tolist()
    if path.exists():  # from an attempt that was stopped later
        path.with_suffix(".progress.json").unlink(missing_ok=True)
        return len(new)
    made = {row: texts[row] for row in new}
    blocks = blocks_of(new, made, encoder)
    _check_dimension(known, encoder)
    job = key_of(texts=list(made.values()), of=len(texts), encoder=encoder.name, dimension=encoder.dimension, new=new)
    part, progress_file = path.with_suffix(".part.npy"), path.with_suffix(".progress.json")
    done = _finished_blocks(progress_file, job) if part.exists() else 0
    if done:
        matrix = np.lib.format.open_memmap(part, mode="r+")
    else:
        matrix, old = _create(part, (len(texts), encoder.dimension)), np.flatnonzero(known_rows >= 0)
        for start in range(0, len(old), _COPIED):
            some = old[start : start + _COPIED]
            matrix[some] = known.vectors[known_rows[some]]
    with tqdm(total=len(new), desc=f"encode {label}", unit="text", disable=not progress or not new) as bar:
        bar.update(sum(map(len, blocks[:done])))
        pieces = ([made[row] for row in block] for block in blocks[done:])
        for position, vectors in enumerate(spread(pieces, partial(_encoded, encoder)), done + 1):
            block = blocks[position - 1]
            matrix[block] = vectors
            matrix.flush()
            write_atomically(progress_file, json.dumps({"job": job, "done": position}))
            bar.update(len(block))
    matrix.flush()
    os.replace(part, path)
    progress_file.unlink(missing_ok=True)
    return len(new)


def _encoded(encoder: Encoder, texts: Sequence[str]) -> np.ndarray:
    vectors = encoder.encode(texts)
    _give_memory_back()
    return vectors


def _check_dimension(known: Known, encoder: Encoder) -> None:
    stored = encoder.dimension if known.vectors is None else known.vectors.shape[1]
    if stored != encoder.dimension:
        raise IndexFault(
            f"the encoder {encoder.name!r} gives vectors of {encoder.dimension} dimensions, and those that it made for "
            f"this index have {stored}: it is another model under the same name; give one of them another name, or "
            "build into another folder"
        )


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


def blocks_of(rows: Sequence[int], texts: Sequence[str] | Mapping[int, str], encoder: Encoder) -> list[list[int]]:
    """Rows by the calls of the encoder in which they are encoded."""
    blocks: list[list[int]] = []
    characters = size = getattr(encoder, "block_characters", BLOCK_CHARACTERS)
    for row in sorted(rows, key=lambda row: (-len(texts[row]), texts[row])):
        if characters >= size:
            blocks.append([])
            characters = 0
        blocks[-1].append(row)
        characters += len(texts[row])
    return blocks


def _finished_blocks(progress_file: Path, job: str) -> int:
    try:
        progress = json.loads(progress_file.read_text())
    except (FileNotFoundError, ValueError):
        return 0
    return progress["done"] if progress.get("job") == job else 0
