"""Rows of a layer's files as sequences of records.

Up to `KEPT` rows, the records are made once and kept in a list. Of more, the columns stay in Arrow's memory, or the
lines in their bytes, and a record is made each time it is read: a million passages then take the room of their texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, overload

import numpy as np
import pyarrow as pa

T = TypeVar("T")
KEPT = 100_000
_OFFSETS = 1 << 31  # bytes that offsets of 32 bits do not reach
_AT_ONCE = 10_000  # rows that an iteration turns into Python objects together


def table_rows(table: pa.Table, make: Callable[..., T]) -> Sequence[T]:
    """`make(*cells)` of each row of a table."""
    found = _TableRows(table, make)
    return list(found) if len(found) <= KEPT else found


def json_rows(raw: bytes, parse: Callable[[dict[str, Any]], T]) -> Sequence[T]:
    """`parse(object)` of each line of a JSON Lines file, all of which end with a line feed."""
    found = _JsonRows(raw, parse)
    return list(found) if len(found) <= KEPT else found


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


class _TableRows(_Rows[T]):
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
        self._ends = _line_ends(raw)

    def __len__(self) -> int:
        return len(self._ends)

    def _between(self, begin: int, end: int) -> Iterator[T]:
        for row in range(begin, end):
            start = int(self._ends[row - 1]) + 1 if row else 0
            yield self._parse(json.loads(self._raw[start : self._ends[row]]))


def _line_ends(raw: bytes) -> np.ndarray:
    """Places of the line feeds, int64."""
    return np.flatnonzero(np.frombuffer(raw, dtype=np.uint8) == ord("\n"))


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece, so that a row is found without a search; texts of together more than 2 GiB need 64-bit
    offsets (and to cast loads `pyarrow.compute`)."""
    if pa.types.is_string(column.type) and column.nbytes >= _OFFSETS:
        column = column.cast(pa.large_string())
    whole = column.combine_chunks()
    return whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)
