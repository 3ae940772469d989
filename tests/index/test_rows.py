"""Rows of a layer: lists up to a size, above it sequences that make a record each time it is read."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from workbench.index import Index, store
from workbench.records import Passage

CELLS = [("p1", "Orsby", "A town."), ("p2", "", "Ümlaut and\nline"), ("p3", "Lake Mira", "🦉"), ("p4", "x", "y")]
LINES = "".join(json.dumps({"id": cell[0], "text": cell[2]}) + "\n" for cell in CELLS).encode()


@pytest.fixture(params=["list", "sequence"])
def passages(request, monkeypatch):
    if request.param == "sequence":
        monkeypatch.setattr(store, "KEPT", 2)
    parts = [dict(zip(("id", "title", "text"), zip(*part))) for part in (CELLS[:3], CELLS[3:])]
    chunks = pa.concat_tables(map(pa.table, parts))
    found = store.table_rows(chunks, Passage)
    assert isinstance(found, list) == (request.param == "list")
    return found


def test_both_kinds_hold_the_same(passages, monkeypatch):
    expected = [Passage(*cell) for cell in CELLS]
    monkeypatch.setattr(store, "_AT_ONCE", 3)
    assert list(passages) == expected and len(passages) == 4
    assert [passages[row] for row in (0, 3, -1, np.int64(2))] == [expected[row] for row in (0, 3, -1, 2)]
    assert passages[1:3] == expected[1:3] and passages[::-1] == expected[::-1] and passages[9:] == []
    assert passages.index(expected[2]) == 2 and expected[1] in passages
    for row in (4, -5):
        with pytest.raises(IndexError):
            passages[row]


def test_lines_are_parsed_when_they_are_read(monkeypatch):
    monkeypatch.setattr(store, "KEPT", 2)
    found = store.json_rows(LINES, lambda row: (row["id"], row["text"]))
    assert list(found) == [(cell[0], cell[2]) for cell in CELLS]
    assert found[2] == ("p3", "🦉") and found[-1] == ("p4", "y") and found[0] == ("p1", "A town.")
    broken = store.json_rows(LINES + b"no JSON\n", lambda row: row["id"])
    assert broken[3] == "p4" and len(broken) == 5
    with pytest.raises(ValueError):
        broken[4]


@pytest.mark.parametrize("kind", ["table", "json"])
def test_nothing_is_a_sequence_too(kind, monkeypatch):
    monkeypatch.setattr(store, "KEPT", -1)
    table = pa.table({"id": pa.array([], pa.string())})
    empty = store.table_rows(table, str) if kind == "table" else store.json_rows(b"", str)
    assert len(empty) == 0 and list(empty) == [] and empty[:] == []


def test_an_index_of_many_rows_answers_as_one_of_few(tiny_index, tiny_encoder, monkeypatch):
    """The same folder, opened with records kept and with records made when they are read."""
    import workbench as wb

    question = "Which river flows past the town that Nora Whitlock founded?"
    methods = ("dense", "bm25", "hipporag2")
    kept = {name: wb.method(name, tiny_index, wb.engine("rules")).retrieve(question) for name in methods}
    monkeypatch.setattr(store, "KEPT", 2)
    index = Index.open(tiny_index.folder, tiny_encoder)
    assert not isinstance(index.passages.passages, list) and not isinstance(index.facts.facts, list)
    assert not isinstance(index.extractions.records, list)
    for name, evidence in kept.items():
        assert wb.method(name, index, wb.engine("rules")).retrieve(question) == evidence
