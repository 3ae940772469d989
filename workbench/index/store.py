"""Layers on disk. A killed process, a full disk or a second process loses nothing.

A layer is written into `<kind>-<key>.part/`, flushed to disk and renamed to `<kind>-<key>/`: a folder without the
suffix is whole. When all layers that were asked for stand, `manifest.json` is replaced in one step. What the manifest
does not name does not count, except that the next build finds it and need not make it again.

Arrays that a method computes from a layer alone, cached_arrays in the folder of the index: `derived/NAME-KEY.npz`.

They are no layer: nothing names them, they may be deleted at any time, and who cannot write there computes them anew. A
name holds the key of its layer, and `Store.prune` removes those of layers that are gone.

Rows of a layer's files are sequences of records. Up to `KEPT` rows, the records are made once and kept in a list. Of
more, the columns stay in Arrow's memory, or the lines in their bytes, and a record is made each time it is read: a
million passages then take the room of their texts.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar, overload
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from workbench.data.graph import Schema, read_schema
from workbench.errors import IndexFault
from workbench.integrity import seal, unseal
from workbench.places import flush, locked, write_atomically

FORMAT = 1
DERIVED = "derived"  # the folder of what is derived from layers


def key_of(**parts: Any) -> str:
    """12 hex digits that identify a layer by all that determines it."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:12]


class Store:
    """The folder of an index: its manifest, its layers' folders, its lock."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)

    @property
    def manifest_path(self) -> Path:
        return self.folder / "manifest.json"

    def read_manifest(self) -> dict:
        """The manifest, or an empty one where there is none yet."""
        try:
            manifest = unseal(json.loads(self.manifest_path.read_text(encoding="utf-8")))
            if not isinstance(manifest.get("format"), int) or not isinstance(manifest.get("layers"), dict):
                raise ValueError("it is not a JSON object with a format and layers")
        except FileNotFoundError:
            return {"format": FORMAT, "layers": {}}
        except (ValueError, RecursionError, IsADirectoryError) as error:
            raise IndexFault(
                f"{self.manifest_path} is damaged ({error}); delete this one file and build the index again: "
                "its layers are reused"
            ) from None
        if manifest["format"] > FORMAT:
            raise IndexFault(
                f"{self.folder} has index format {manifest['format']}; this version reads up to {FORMAT}: "
                "upgrade hopscope"
            )
        return manifest

    def write_manifest(self, manifest: Mapping) -> None:
        write_atomically(self.manifest_path, json.dumps(seal(manifest), indent=1, ensure_ascii=False) + "\n")

    def read_schema(self) -> Schema | None:
        """The schema that came with the data, `schema.json`; None where none did."""
        path = self.folder / "schema.json"
        if not path.exists():
            return None
        schema = read_schema(path)
        try:
            unseal(json.loads(path.read_text(encoding="utf-8")))
        except ValueError as error:
            raise IndexFault(
                f"{path} is damaged ({error}); delete this one file, and build the index again: it comes from the data"
            ) from None
        return schema

    def write_schema(self, schema: Schema) -> None:
        content = seal(json.loads(json.dumps(asdict(schema))))
        write_atomically(self.folder / "schema.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def lock(self) -> AbstractContextManager[None]:
        """Held while building; a second builder fails at once instead of waiting."""
        taken = f"another process is building {self.folder}; wait for it, or choose another folder"
        return locked(self.folder, IndexFault(taken))

    def path(self, kind: str, key: str) -> Path:
        return self.folder / f"{kind}-{key}"

    @contextmanager
    def writing(self, kind: str, key: str) -> Iterator[Path]:
        """An empty `.part` folder to build a layer in. It becomes the layer when the block ends well; a folder without
        the suffix is therefore whole. A block that takes it away has found that nothing new came of it."""
        final = self.path(kind, key)
        part = final.with_name(final.name + ".part")
        shutil.rmtree(part, ignore_errors=True)  # of a build that was stopped
        part.mkdir(parents=True)
        yield part
        if not part.exists():
            return
        for file in part.iterdir():
            flush(file)
        shutil.rmtree(final, ignore_errors=True)  # one with more failures
        os.replace(part, final)
        flush(self.folder)

    def derived(self, name: str, layer: str, **parts: Any) -> Path:
        """The file of arrays derived (:mod:`workbench.index.store`) from the layer of this key and from `parts`."""
        return self.folder / DERIVED / f"{name}-{layer}-{key_of(**parts)}.npz"

    def prune(self, manifest: Mapping) -> None:
        """Remove the layers that the manifest does not name (superseded ones and abandoned attempts), and what is
        derived from them."""
        named = {self.path(kind, layer["key"]) for kind, layer in manifest["layers"].items()}
        for kind in manifest["layers"]:
            for folder in self.folder.glob(f"{kind}-*"):
                if folder not in named:
                    shutil.rmtree(folder)
        keys = [layer["key"] for layer in manifest["layers"].values()]
        for file in (self.folder / DERIVED).glob("*"):
            if not any(f"-{key}-" in file.name for key in keys):
                file.unlink(missing_ok=True)


def cut_torn_line(path: Path) -> None:
    """Cut off a last line that a killed process left unfinished."""
    raw = path.read_bytes()
    whole = raw.rfind(b"\n") + 1
    if whole < len(raw):
        os.truncate(path, whole)


def write_table(path: Path, **columns: Any) -> None:
    """Columns of equal length as Parquet. Nothing searches the files, and most texts in a column differ: statistics and
    dictionaries would cost time, and save no room."""
    pq.write_table(pa.table(columns), path, compression="zstd", use_dictionary=False, write_statistics=False)


def write_rows(path: Path, rows: Iterable[Sequence[Any]], schema: pa.Schema) -> None:
    """Rows with the columns of a schema as Parquet."""
    table = table_of_rows(rows, schema)
    write_table(path, **dict(zip(schema.names, table.columns)))


def table_of_rows(rows: Iterable[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows)) or [()] * len(schema)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, schema)], schema)


def rows_of(table: pa.Table) -> list[tuple]:
    """Rows with tuples for lists."""
    columns = (column.to_pylist() for column in table.columns)
    return list(zip(*(map(tuple, c) if pa.types.is_list(t.type) else c for c, t in zip(columns, table.schema))))


def read_columns(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A Parquet file, or some of its columns. `pyarrow.parquet.read_table` would load pandas and Arrow's data sets."""
    with pq.ParquetFile(path) as file:
        return file.read(columns and list(columns))


def read_table(path: Path, *, strings: tuple[str, ...] = ()) -> dict[str, Any]:
    """Columns of a Parquet file: numpy arrays, or lists for those named in `strings`."""
    table = read_columns(path)
    return {name: table[name].to_pylist() if name in strings else array_of(table[name]) for name in table.column_names}


def array_of(column: pa.ChunkedArray) -> np.ndarray:
    """A column of numbers, without a copy if it has one chunk; Arrow's own `to_numpy` would load pandas."""
    column = column.combine_chunks()
    plain = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    return np.from_dlpack(column) if plain and not column.null_count else column.to_numpy(zero_copy_only=False)


def map_vectors(path: Path) -> np.ndarray:
    """A memory-mapped float32 matrix, shape (n, d); rows are read from disk as they are touched."""
    vectors = np.load(path, mmap_mode="r")
    return vectors if len(vectors) else np.zeros(vectors.shape, dtype=np.float32)


Arrays = dict[str, np.ndarray]


def cached_arrays(path: Path, make: Callable[[], Arrays]) -> Arrays:
    """The arrays of a file; if it is missing or damaged (the members of a ZIP file have checksums), those of `make()`,
    which are then stored."""
    with suppress(OSError, EOFError, ValueError, KeyError, BadZipFile), np.load(path, allow_pickle=False) as file:
        return dict(file)
    made = make()
    part = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")  # others may be writing the same
    with suppress(OSError):  # a folder that may only be read, a full disk: the next process computes them again
        path.parent.mkdir(exist_ok=True)
        try:
            with part.open("wb") as file:
                np.savez(file, **made)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    return made


T = TypeVar("T")
KEPT = 100_000
_OFFSETS = 1 << 31  # bytes that offsets of 32 bits do not reach
_AT_ONCE = 10_000  # rows that an iteration turns into Python objects together


def table_rows(table: pa.Table, make: Callable[..., T]) -> Sequence[T]:
    """`make(*cells)` of each row of a table."""
    rows = TableRows(table, make)
    return list(rows) if len(rows) <= KEPT else rows


def json_rows(raw: bytes, parse: Callable[[dict[str, Any]], T]) -> Sequence[T]:
    """`parse(object)` of each line of a JSON Lines file, all of which end with a line feed."""
    rows = _JsonRows(raw, parse)
    return list(rows) if len(rows) <= KEPT else rows


def made_rows(count: int, make: Callable[[int], T]) -> Sequence[T]:
    """`make(row)` of each of `count` rows, made each time it is read."""
    return _MadeRows(count, make)


class _Rows(Sequence[T]):
    """What all kinds share: a slice is a list, and rows count from the end, too."""

    @overload
    def __getitem__(self, row: int) -> T: ...
    @overload
    def __getitem__(self, row: slice) -> list[T]: ...
    def __getitem__(self, row):
        if isinstance(row, slice):
            begin, end, step = row.indices(len(self))
            return list(self._between(begin, end)) if step == 1 else [self[at] for at in range(begin, end, step)]
        at = range(len(self))[row]  # raises IndexError, and takes numpy's integers
        return next(self._between(at, at + 1))

    def __iter__(self) -> Iterator[T]:
        for begin in range(0, len(self), _AT_ONCE):
            yield from self._between(begin, min(begin + _AT_ONCE, len(self)))

    def __repr__(self) -> str:
        return f"<{len(self):,} rows>"

    def _between(self, begin: int, end: int) -> Iterator[T]:
        raise NotImplementedError


class TableRows(_Rows[T]):
    """`make(*cells)` of each row of a table, made each time it is read."""

    def __init__(self, table: pa.Table, make: Callable[..., T]):
        self._columns = [_one_chunk(column) for column in table.columns]
        self._make, self._length = make, len(table)

    def __len__(self) -> int:
        return self._length

    def _between(self, begin: int, end: int) -> Iterator[T]:
        columns = (column.slice(begin, max(0, end - begin)).to_pylist() for column in self._columns)
        return map(self._make, *columns)


class _MadeRows(_Rows[T]):
    def __init__(self, count: int, make: Callable[[int], T]):
        self._length, self._make = count, make

    def __len__(self) -> int:
        return self._length

    def _between(self, begin: int, end: int) -> Iterator[T]:
        return map(self._make, range(begin, end))


class _JsonRows(_Rows[T]):
    def __init__(self, raw: bytes, parse: Callable[[dict[str, Any]], T]):
        self._raw, self._parse = raw, parse
        self._ends = np.flatnonzero(np.frombuffer(raw, dtype=np.uint8) == ord("\n"))  # places of the line feeds

    def __len__(self) -> int:
        return len(self._ends)

    def _between(self, begin: int, end: int) -> Iterator[T]:
        for row in range(begin, end):
            start = int(self._ends[row - 1]) + 1 if row else 0
            yield self._parse(json.loads(self._raw[start : self._ends[row]]))


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece, so that a row is found without a search; texts of together more than 2 GiB need 64-bit
    offsets (and to cast loads `pyarrow.compute`)."""
    if pa.types.is_string(column.type) and column.nbytes >= _OFFSETS:
        column = column.cast(pa.large_string())
    whole = column.combine_chunks()
    return whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)
