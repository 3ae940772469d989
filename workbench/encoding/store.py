"""Vectors by content: the vector of each encoded text is stored in the working folder, so that no text is encoded
twice.

A store is a pair of files for one encoder and dimension. `….f32` holds rows of float32 and only grows; `….sqlite` holds
hash of a text → row, and how many rows count. Rows are on the disk before their keys are: what a killed process leaves
behind the last row that counts, the next one overwrites. Who may not write there computes with what it reads.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import sqlite3
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from workbench import places
from workbench.errors import IndexFault
from workbench.text import text_hash

FORMAT = 1  # `PRAGMA user_version`
SAME = 0.9  # cosine of a text's vectors by one model; a device, a precision or a batch changes the last digits
WAIT = 60  # seconds for another process that is writing
_AT_ONCE = 10_000  # keys of one SELECT; SQLite takes 32,766
_TABLES = (
    "CREATE TABLE vectors (text BLOB PRIMARY KEY, row INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE store (encoder TEXT NOT NULL, dimension INTEGER NOT NULL, rows INTEGER NOT NULL)",
)
_UNWRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


@dataclass(frozen=True)
class VectorStore:
    """The vectors of the encoder `name`, of so many dimensions, in a folder. Threads and processes may share it."""

    folder: Path
    name: str
    dimension: int

    @classmethod
    def in_folder(cls, folder: Path, name: str | None = None) -> list[VectorStore]:
        """All stores in a folder, or those of one encoder, by name and dimension."""
        stores = []
        for keys in folder.glob("*.sqlite"):
            with _opened(keys, keys.with_suffix(".f32")) as connection:
                encoder, dimension, _ = connection.execute("SELECT * FROM store").fetchone()
            stores += [cls(folder, encoder, dimension)] if name in (None, encoder) else []
        return sorted(stores, key=lambda store: (store.name, store.dimension))

    @property
    def keys(self) -> Path:
        """The file of keys."""
        readable = re.sub(r"[^A-Za-z0-9.-]+", "_", self.name)[:60]
        return self.folder / f"{readable}-{text_hash(self.name)[:12]}-{self.dimension}.sqlite"

    @property
    def matrix(self) -> Path:
        """The file of rows."""
        return self.keys.with_suffix(".f32")

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return sum(file.stat().st_size for file in (self.keys, self.matrix) if file.exists())

    def __len__(self) -> int:
        if not self.keys.exists():
            return 0
        with _opened(self.keys, self.matrix) as connection:
            return _rows(connection)

    def rows(self, texts: Sequence[str]) -> np.ndarray:
        """For each text the row of its vector, -1 where there is none; int64 (n,)."""
        positions = np.full(len(texts), -1, dtype=np.int64)
        if len(texts) and self.keys.exists():
            with _opened(self.keys, self.matrix) as connection:
                _fill(positions, connection, [_key(text) for text in texts])
        return positions

    def take(self, rows: np.ndarray) -> np.ndarray:
        """The vectors of rows, float32 (n, d). Raises :class:`IndexFault` where the file does not hold them."""
        if not len(rows):
            return np.zeros((0, self.dimension), dtype=np.float32)
        whole = self.matrix.stat().st_size // (4 * self.dimension) if self.matrix.exists() else 0
        if whole <= rows.max():
            raise _damaged(self.keys, self.matrix, f"{rows.max() + 1:,} rows count, and {whole:,} are there")
        return np.memmap(self.matrix, np.float32, mode="r", shape=(whole, self.dimension))[rows]

    def add(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Keep the vectors of texts, (n, d), but for texts that have one. Raises :class:`IndexFault` where the store is
        damaged or the disk is full; warns where the folder may only be read."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with _opened(self.keys, self.matrix) as connection:
                connection.execute("BEGIN IMMEDIATE")
                if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                    self._create(connection)
                self._append(connection, [_key(text) for text in texts], vectors)
                connection.execute("COMMIT")
        except (sqlite3.OperationalError, OSError) as error:
            code = getattr(error, "sqlite_errorcode", None)
            if code not in _UNWRITABLE and getattr(error, "errno", None) not in _FORBIDDEN:
                raise
            warnings.warn(
                f"vectors cannot be kept in {self.folder} ({error}), and will be made again; name a folder that may be "
                "written: WORKBENCH_VECTORS=FOLDER",
                stacklevel=2,
            )

    def forget(self) -> int:
        """Delete the store; how many vectors it held."""
        held = len(self)
        for file in (self.keys, self.matrix):
            file.unlink(missing_ok=True)
        return held

    def _create(self, connection: sqlite3.Connection) -> None:
        for statement in (*_TABLES, f"PRAGMA user_version = {FORMAT}"):
            connection.execute(statement)
        connection.execute("INSERT INTO store VALUES (?, ?, 0)", (self.name, self.dimension))

    def _append(self, connection: sqlite3.Connection, keys: list[bytes], vectors: np.ndarray) -> None:
        end, there = _rows(connection), np.full(len(keys), -1, dtype=np.int64)
        _fill(there, connection, keys)
        first = {key: at for at, key in reversed(list(enumerate(keys))) if there[at] < 0}
        new = sorted(first.values())
        with self.matrix.open("r+b" if self.matrix.exists() else "w+b") as file:
            if file.seek(0, os.SEEK_END) < end * 4 * self.dimension:
                raise _damaged(self.keys, self.matrix, "rows are missing")
            file.seek(end * 4 * self.dimension)
            file.write(np.ascontiguousarray(vectors[new], dtype=np.float32).tobytes())
            file.flush()
            os.fsync(file.fileno())
        numbered = sorted((keys[at], end + number) for number, at in enumerate(new))
        connection.executemany("INSERT INTO vectors VALUES (?, ?)", numbered)
        connection.execute("UPDATE store SET rows = ?", (end + len(new),))


def store_of(encoder: Any) -> VectorStore | None:
    """The working folder's store for an encoder; None for an encoder that needs none (`Encoder`)."""
    return VectorStore(places.vectors(), encoder.name, encoder.dimension) if getattr(encoder, "stored", True) else None


def check_same_model(name: str, before: np.ndarray, now: np.ndarray, where: str) -> None:
    """Raise :class:`IndexFault` where an encoder gives a text another vector `now` than what there is of it `before`:
    it is another model under the same name, such as a folder whose weights were exchanged, or an endpoint that serves
    another one."""
    if len(now) == len(before) and now @ before < SAME * np.linalg.norm(now) * np.linalg.norm(before):
        raise IndexFault(
            f"the encoder {name!r} computes another vector for a text than {where} holds: two models have the same "
            f"name; use the one that made the vectors, or forget them (workbench answers --forget {name!r}) and build "
            "another index"
        )


class ModelCheck:
    """Whether an encoder is the model that filled its store: a vector that was taken from there is compared with the
    encoder's own before another one is added, once in a process."""

    def __init__(self, encoder: Any):
        self.encoder, self._lock = encoder, threading.Lock()
        self._taken: tuple[str, np.ndarray] | None = None  # a text of the store, and its vector

    @property
    def pending(self) -> bool:
        """Whether vectors were taken that were compared with nothing yet."""
        return self._taken is not None and _trusted.get(id(self.encoder)) is not self.encoder

    def taken(self, text: str, vector: np.ndarray) -> None:
        """Note a vector of the store."""
        self._taken = self._taken or (text, vector)

    def passed(self) -> None:
        """Note that the vectors of the store are this encoder's, as when it fills an empty one."""
        _trusted[id(self.encoder)] = self.encoder

    def settle(self, encode: Callable[[str], np.ndarray]) -> None:
        """Compare, if it is pending, with what the encoder makes of the text. Raises :class:`IndexFault`."""
        with self._lock:
            if self.pending:
                text, before = self._taken
                check_same_model(self.encoder.name, before, encode(text), "the working folder")
                self.passed()


_trusted: WeakValueDictionary[int, Any] = WeakValueDictionary()


@contextmanager
def _opened(keys: Path, matrix: Path) -> Iterator[sqlite3.Connection]:
    connection = None
    try:
        connection = sqlite3.connect(keys, timeout=WAIT, isolation_level=None)
        connection.execute("PRAGMA cache_size = -65536")
        if (version := connection.execute("PRAGMA user_version").fetchone()[0]) > FORMAT:
            raise IndexFault(f"{keys} has format {version}; this version reads up to {FORMAT}: upgrade hopscope")
        yield connection
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code in _UNWRITABLE:
            raise
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_IOERR):
            raise IndexFault(
                f"{keys} cannot be used ({error}); free the disk or end the other program, and run the same again: "
                "its vectors are kept"
            ) from None
        raise _damaged(keys, matrix, error) from None
    finally:
        if connection is not None:
            connection.close()


def _damaged(keys: Path, matrix: Path, why: object) -> IndexFault:
    return IndexFault(
        f"the vectors in {keys} are damaged ({why}); delete both files, and they are made again: rm {str(keys)!r} "
        f"{str(matrix)!r}"
    )


def _rows(connection: sqlite3.Connection) -> int:
    return connection.execute("SELECT rows FROM store").fetchone()[0]


def _fill(positions: np.ndarray, connection: sqlite3.Connection, keys: Sequence[bytes]) -> None:
    """Write the row of each key that has one into `positions`."""
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        marks = ",".join("?" * len(some))
        rows = dict(connection.execute(f"SELECT text, row FROM vectors WHERE text IN ({marks})", some))
        positions[start : start + _AT_ONCE] = [rows.get(key, -1) for key in some]


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
