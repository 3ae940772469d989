"""The store of vectors: what is kept is found by text, whatever is killed, damaged or written meanwhile; and no text is
encoded twice by any index of a working folder."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tiny import CountingEncoder, files, tiny_dataset

from workbench.data import Extraction
from workbench.encoding.store import VectorStore
from workbench.errors import IndexFault
from workbench.index import Index, vectors
from workbench.records import Passage

TEXTS = [f"text {number}" for number in range(50)] + ["", "東京", "\ud800 half"]


def vectors_of(texts, dimension: int = 8) -> np.ndarray:
    """A vector for each text, which depends on the text alone."""
    return np.array(
        [np.random.default_rng(list(text.encode("utf-8", "surrogatepass"))).random(dimension) for text in texts], "f4"
    )


@pytest.fixture
def store(tmp_path) -> VectorStore:
    made = VectorStore(tmp_path / "vectors", "openai:a/b[max_tokens=9]", 8)
    made.add(TEXTS, vectors_of(TEXTS))
    return made


# -- the store alone --------------------------------------------------------------------------------------------------


def test_what_is_kept_is_found_and_nothing_is_kept_twice(store):
    rows = store.rows([*reversed(TEXTS), "new"])
    assert rows[-1] == -1 and np.array_equal(store.take(rows[:-1]), vectors_of(TEXTS)[::-1])
    store.add(["new", TEXTS[0], "new"], np.ones((3, 8), "f4"))
    assert len(store) == len(TEXTS) + 1 and np.array_equal(store.take(store.rows([TEXTS[0]])), vectors_of(TEXTS[:1]))
    assert store.take(store.rows([])).shape == (0, 8)


def test_encoders_and_dimensions_do_not_mix(store):
    others = [replace(store, dimension=4), replace(store, name="openai:a_b[max_tokens=9]")]
    for other in others:
        assert len(other) == 0 and (other.rows(TEXTS) == -1).all()
    others[0].add(["a"], np.ones((1, 4), "f4"))
    assert VectorStore.in_folder(store.folder) == [others[0], store]
    assert VectorStore.in_folder(store.folder, "other") == VectorStore.in_folder(store.folder / "none") == []
    assert (store.forget(), len(store), len(others[0])) == (len(TEXTS), 0, 1)


def _add_many(store: VectorStore, first: int) -> None:
    for start in range(first, first + 300, 10):
        texts = [f"text {number}" for number in range(start, start + 10)]
        store.add(texts, vectors_of(texts))


def test_processes_that_write_at_once_lose_nothing(store):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_add_many, args=(store, first)) for first in (0, 100)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    texts = [f"text {number}" for number in range(400)]
    assert np.array_equal(store.take(store.rows(texts)), vectors_of(texts)) and len(store) == 403


def test_what_a_killed_process_left_behind_the_end_is_overwritten(store):
    with store.matrix.open("ab") as file:
        file.write(b"half a row of a process that was killed before it wrote its keys")
    store.add(["new"], np.ones((1, 8), "f4"))
    assert np.array_equal(store.take(store.rows(["new", "text 7"])), [np.ones(8), vectors_of(["text 7"])[0]])


@pytest.mark.parametrize("what", ["rows cut off", "rows gone", "other bytes", "another database", "half a database"])
def test_a_damaged_store_is_said_to_be_and_is_mended_as_it_says(store, what):
    if what == "rows cut off":
        os.truncate(store.matrix, 5 * 8 * 4)
    elif what == "rows gone":
        store.matrix.unlink()
    elif what == "other bytes":
        store.keys.write_bytes(b"something else" * 100)
    elif what == "another database":
        store.keys.unlink()
        sqlite3.connect(store.keys).execute("CREATE TABLE notes (text)").connection.close()
    else:
        os.truncate(store.keys, store.keys.stat().st_size // 2)
    for use in (lambda: store.take(store.rows(TEXTS)), lambda: store.add(["new"], np.ones((1, 8), "f4"))):
        with pytest.raises(IndexFault, match=r"are damaged .*delete both files, and they are made again: rm '") as said:
            use()
    for file in str(said.value).partition(" rm ")[2].split():
        Path(file.strip("'")).unlink(missing_ok=True)
    store.add(TEXTS, vectors_of(TEXTS))
    assert np.array_equal(store.take(store.rows(TEXTS)), vectors_of(TEXTS))


def test_a_newer_format_is_not_guessed_at(store):
    connection = sqlite3.connect(store.keys)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(IndexFault, match="has format 99; this version reads up to 1: upgrade"):
        store.rows(TEXTS)


def test_who_may_not_write_is_warned_and_reads_on(store, monkeypatch):
    def forbidden(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", forbidden)
    with pytest.warns(UserWarning, match="vectors cannot be kept in .*Read-only.*WORKBENCH_VECTORS=FOLDER"):
        store.add(["new"], np.ones((1, 8), "f4"))
    assert store.rows(["new", "text 1"])[0] == -1 and store.rows(["text 1"])[0] >= 0


def test_a_full_disk_is_an_error_and_keeps_what_is_there(store, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr(os, "fsync", full)
        store.add(["new"], np.ones((1, 8), "f4"))
    assert store.rows(["new"])[0] == -1 and np.array_equal(store.take(store.rows(TEXTS)), vectors_of(TEXTS))


def test_the_working_folder_says_what_it_holds_and_forgets_it(store, workbench, monkeypatch):
    monkeypatch.setenv("WORKBENCH_VECTORS", str(store.folder))
    assert "openai:a/b" in workbench("answers").output
    said = json.loads(workbench("answers", "--json").output)["vectors"]
    assert said == [{"encoder": store.name, "dimension": 8, "vectors": len(TEXTS), "bytes": store.size}]
    assert f"Forgot {len(TEXTS)} vectors of {store.name}" in workbench("answers", "--forget", store.name).output
    assert len(store) == 0 and list(store.folder.iterdir()) == []
    assert "holds no answer" in workbench("answers", "--forget", store.name, code=1).output


# -- indexes over it --------------------------------------------------------------------------------------------------

BLOCK = 50  # characters


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(vectors, "BLOCK_CHARACTERS", BLOCK)


def build(folder: Path, encoder=None, data=None, **options) -> Index:
    encoder = encoder or CountingEncoder()
    return Index.build(data or tiny_dataset(), None, folder, encoder=encoder, progress=False, **options)


def test_no_text_is_encoded_twice_by_the_indexes_of_a_working_folder(tmp_path):
    first, second = CountingEncoder(), CountingEncoder()
    build(tmp_path / "first", first)
    assert len(set(first.texts)) == len(first.texts) > 20, "also not by two layers of one"
    build(tmp_path / "second", second, layers=["synonyms", "pieces", "relations"])
    assert len(set(second.texts) & set(first.texts)) == 1 < len(second.texts), "to compare it with what is stored"
    third = CountingEncoder()
    build(tmp_path / "third", third)
    assert third.texts == [] and files(tmp_path / "third") == files(tmp_path / "first")


def test_a_stopped_build_encodes_what_is_missing_and_gives_the_same_bytes(tmp_path, small_blocks, monkeypatch):
    whole, stopped, resumed = CountingEncoder(), CountingEncoder(fail_at=7), CountingEncoder()
    build(tmp_path / "whole", whole)
    monkeypatch.setenv("WORKBENCH_VECTORS", str(tmp_path / "others"))
    with pytest.raises(RuntimeError, match="injected"):
        build(tmp_path / "index", stopped)
    build(tmp_path / "index", resumed)
    check = [min(stopped.texts, key=len)]
    assert [call for call in resumed.calls if call != check] == whole.calls[7:]
    assert files(tmp_path / "index") == files(tmp_path / "whole")


def test_an_index_whose_vectors_are_not_here_has_its_own(tmp_path, monkeypatch):
    """It was copied from elsewhere, or made by an earlier version."""
    index = build(tmp_path / "theirs")
    shutil.copytree(index.folder, tmp_path / "ours")
    monkeypatch.setenv("WORKBENCH_VECTORS", str(tmp_path / "none yet"))
    encoder = CountingEncoder()
    opened = Index.open(tmp_path / "ours", encoder)
    nothing = Extraction("p9", (), (), "by hand")
    opened = opened.insert([Passage("p9", "Skarne", "A port.")], extractions=[nothing], progress=False)
    assert encoder.texts[1:] == ["Skarne\nA port."], "the first is compared with the index"
    encoder.calls.clear()
    opened.delete(["p1"], progress=False).ensure(["pieces"], progress=False)
    assert encoder.texts == []
    more = (*tiny_dataset().passages, Passage("p9", "Skarne", "A pier."))
    data = replace(tiny_dataset(), passages=more, extractions=(*tiny_dataset().extractions, nothing))
    build(tmp_path / "ours", encoder, data)
    assert "Skarne\nA pier." in encoder.texts and not any("Quell" in text for text in encoder.texts)


class Exchanged(CountingEncoder):
    """Another model under the name of the first, with vectors as long as its."""

    def encode(self, texts):
        return np.roll(super().encode(texts), 7, axis=1)


def test_another_model_under_the_same_name_does_not_come_beside_what_is_stored(tmp_path):
    build(tmp_path / "first", layers=["passages"])
    said = "'tiny' computes another vector for a text than the working folder holds.*workbench answers --forget 'tiny'"
    with pytest.raises(IndexFault, match=said):
        build(tmp_path / "second", Exchanged())
    third = build(tmp_path / "third", Exchanged(), layers=["passages"])  # all of it is stored
    with pytest.raises(IndexFault, match="another vector for a text than the index holds"):
        third.encode_query("Which lake?")
