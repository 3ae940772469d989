"""Profiles as tables, sorted, each row once: what the layer `profiles` has on disk.

An insert or a delete does not make records of the rows that stay: it takes out the rows of what is gone, and puts new
ones between those that stand."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.data.profiles import EntityProfile, Profiles, RelationProfile, within

LIST = pa.list_(pa.string())
SCHEMAS = {
    "entities": pa.schema(
        [("name", pa.string()), ("type", pa.string()), ("description", pa.string()), ("passages", LIST)]
    ),
    "relations": pa.schema(
        [("source", pa.string()), ("target", pa.string()), ("description", pa.string()), ("keywords", LIST),
         ("weight", pa.float64()), ("passages", LIST), ("label", pa.string())]
    ),
}  # fmt: skip
_WEIGHT = SCHEMAS["relations"].names.index("weight")
_LEADING = 2  # columns of strings by which a row is looked for first


class Tables(NamedTuple):
    """One row for each profile, in the columns of `SCHEMAS`."""

    entities: pa.Table
    relations: pa.Table


def tables_of(profiles: Profiles) -> Tables:
    return Tables(*(_table(rows, schema) for rows, schema in zip(sorted_rows(profiles), SCHEMAS.values())))


def table_of(profiles: Iterable[EntityProfile] | Iterable[RelationProfile], schema: pa.Schema) -> pa.Table:
    """Profiles of one kind, in their order."""
    return _table(list(map(attrgetter(*schema.names), profiles)), schema)


def entities_of(table: pa.Table) -> tuple[EntityProfile, ...]:
    return tuple(EntityProfile(*row) for row in rows_of(table))


def relations_of(table: pa.Table) -> tuple[RelationProfile, ...]:
    return tuple(RelationProfile(*row) for row in rows_of(table))


def changed(tables: Tables, gone: Collection[str], new: Profiles) -> Tables:
    """What `tables_of` gives for the profiles of the tables, without the passages (ids) that are `gone`, and new
    ones."""
    out = [_naming(table, gone) for table in tables]
    touched = Profiles(entities_of(tables.entities.filter(out[0])), relations_of(tables.relations.filter(out[1])))
    left = within(touched, _Without(gone))
    rows = sorted_rows(Profiles((*left.entities, *new.entities), (*left.relations, *new.relations)))
    stay = (table.filter(pc.invert(mask)) for table, mask in zip(tables, out))
    return Tables(*map(_joined, stay, rows, SCHEMAS.values(), (tuple, _relation_order)))


def rows_of(table: pa.Table) -> list[tuple]:
    """Rows with tuples for lists."""
    columns = (column.to_pylist() for column in table.columns)
    return list(zip(*(map(tuple, c) if t.type == LIST else c for c, t in zip(columns, table.schema))))


def sorted_rows(profiles: Profiles) -> tuple[list[tuple], list[tuple]]:
    """Of entities and of relations, sorted, each once."""
    entities, relations = (
        set(map(attrgetter(*schema.names), found))
        for schema, found in zip(SCHEMAS.values(), (profiles.entities, profiles.relations))
    )
    weighted = all(row[_WEIGHT] is not None for row in relations)  # then rows have their order without a key for each
    return sorted(entities), sorted(relations, key=None if weighted else _relation_order)


def content_hash(table: pa.Table) -> str:
    """Of what the cells hold, however they lie in memory."""
    digest = hashlib.sha256()
    for column in table.columns:
        for part in _flat(column):
            digest.update(part)
    return digest.hexdigest()


class _Without:
    """All ids but these."""

    def __init__(self, gone: Collection[str]):
        self._gone = gone

    def __contains__(self, passage_id: object) -> bool:
        return passage_id not in self._gone


def _relation_order(row: tuple) -> tuple:
    """A weight that is missing is sorted apart, because None has no order."""
    weight = row[_WEIGHT]
    return (*row[:_WEIGHT], weight is not None, weight or 0.0, *row[_WEIGHT + 1 :])


def _table(rows: Sequence[tuple], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows)) or [()] * len(schema)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, schema)], schema)


def _naming(table: pa.Table, gone: Collection[str]) -> pa.Array:
    """Which rows name one of some passages."""
    mask = np.zeros(len(table), dtype=bool)
    if gone:
        passages = table["passages"].combine_chunks()
        named = pc.is_in(passages.flatten(), pa.array(sorted(gone))).to_numpy(zero_copy_only=False)
        mask[pc.list_parent_indices(passages).to_numpy()[named]] = True
    return pa.array(mask)


def _joined(table: pa.Table, rows: Sequence[tuple], schema: pa.Schema, order: Callable[[tuple], Any]) -> pa.Table:
    """A sorted table with sorted rows put where they belong, but for those that it has."""
    leading = [table[at].to_pylist() for at in range(_LEADING)] if rows else []

    def key(at: int) -> Any:
        return order(rows_of(table.slice(at, 1))[0])

    places = []
    for row in rows:
        begin, end = 0, len(table)
        for column, cell in zip(leading, row):
            begin, end = bisect_left(column, cell, begin, end), bisect_right(column, cell, begin, end)
        place = bisect_left(range(end), order(row), begin, key=key)
        if place == end or key(place) != order(row):
            places.append((place, row))
    more, parts = _table([row for _, row in places], schema), []
    for at, (begin, end) in enumerate(pairwise([0, *(place for place, _ in places), len(table)])):
        parts += [table.slice(begin, end - begin), more.slice(at, 1)]
    return pa.concat_tables(parts).combine_chunks()


def _flat(column: pa.ChunkedArray) -> Iterator[bytes | np.ndarray]:
    """What distinguishes the cells of a column: of lists and strings their lengths and then what they hold, of numbers
    which there are."""
    if pa.types.is_list(column.type):
        yield from _numbers(pc.list_value_length(column))
        yield from _flat(pa.chunked_array([chunk.flatten() for chunk in column.chunks], column.type.value_type))
    elif pa.types.is_string(column.type):
        yield from _numbers(pc.binary_length(column))
        for chunk in column.chunks:
            ends = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
            if len(chunk) and chunk.buffers()[2] is not None:
                yield memoryview(chunk.buffers()[2])[ends[0] : ends[-1]]
    else:
        yield from _numbers(pc.cast(pc.is_valid(column), pa.uint8()))
        yield from _numbers(pc.fill_null(column, 0))


def _numbers(column: pa.ChunkedArray) -> Iterator[np.ndarray]:
    return (np.ascontiguousarray(chunk.to_numpy(zero_copy_only=False)) for chunk in column.chunks)
