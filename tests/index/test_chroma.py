"""Chroma collections follow the index; the matrices stay the truth."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli.app import app
from workbench.data import Dataset
from workbench.errors import IndexFault, SettingError
from workbench.index import Index, chroma
from workbench.index.chroma import agreement, collection_name, derive
from workbench.llm.engine import RulesEngine
from workbench.records import Passage
from workbench.testing import HashEncoder
from workbench.views import html, text

QUESTION = "Which lake does the River Aldra flow into?"


@pytest.fixture
def client(tmp_path):
    import chromadb

    return chromadb.PersistentClient(str(tmp_path / "chroma"), settings=chromadb.Settings(anonymized_telemetry=False))


def held(client, index, kind):
    return client.get_collection(collection_name(index, kind))


def test_holds_the_vectors_and_texts_of_the_index(tiny_index, client):
    derive(tiny_index, client=client)
    found = held(client, tiny_index, "passages").get(ids=["p2"], include=["embeddings", "documents", "metadatas"])
    row = tiny_index.passages.row["p2"]
    assert np.allclose(found["embeddings"][0], tiny_index.passages.vectors[row])
    assert found["documents"] == [tiny_index.passages.passages[row].content]
    assert found["metadatas"][0]["title"] == "River Aldra"
    assert held(client, tiny_index, "facts").count() == len(tiny_index.facts.facts)
    assert held(client, tiny_index, "phrases").count() == len(tiny_index.facts.phrases)


def test_a_damaged_store_is_named_with_what_mends_it(tiny_index):
    (tiny_index.folder / "chroma").mkdir()
    (tiny_index.folder / "chroma" / "chroma.sqlite3").write_bytes(b"no database" * 999)
    with pytest.raises(IndexFault, match=r"chroma cannot be used .* delete it, and the same command in a new process"):
        derive(tiny_index)


@pytest.fixture
def written(client, tiny_index, monkeypatch):
    """The ids of what is written into collections from here on."""
    derive(tiny_index, ["passages"], client)
    ids, kind = [], type(held(client, tiny_index, "passages"))
    upsert = kind.upsert
    monkeypatch.setattr(kind, "upsert", lambda self, **given: (ids.extend(given["ids"]), upsert(self, **given)))
    return ids


def test_insert_and_delete_write_only_what_changed(tiny_index, client, written):
    new = [Passage("p9", "Mill", "A mill."), Passage("p8", "Orsby Mill", "Another text under an id that was there.")]
    changed = tiny_index.delete(["p8"], progress=False).insert(new, RulesEngine(), progress=False)
    derive(changed, ["passages"], client)
    found = held(client, changed, "passages").get(include=["documents"])
    assert dict(zip(found["ids"], found["documents"])) == {p.id: p.content for p in changed.passages.passages}
    assert sorted(written) == ["p8", "p9"]


def test_a_filling_that_was_stopped_is_gone_on_with(tiny_index, client, monkeypatch):
    """The last half is missing when the process dies before it says that it is done."""
    derive(tiny_index, ["passages"], client)
    collection = held(client, tiny_index, "passages")
    collection.delete(ids=["p1", "p2"])
    collection.modify(metadata={"made_from": "stopped"})
    derive(tiny_index, ["passages"], client)
    assert set(held(client, tiny_index, "passages").get()["ids"]) == set(tiny_index.passages.row)


# -- read back ------------------------------------------------------------------------------------------------------


def found(index: Index, spec: str, k: int = 3) -> list[tuple[str, float]]:
    return [(p.id, round(score, 5)) for p, score in wb.method(spec, index).retrieve(QUESTION, k=k).passages]


def test_chroma_finds_what_exact_search_finds(tiny_index):
    assert found(tiny_index, "dense[store=chroma]") == found(tiny_index, "dense")
    said = agreement(tiny_index, [QUESTION, "Who founded Orsby?"], k=4)
    assert said.shares == (1.0, 1.0) and "100.0%" in text(said) and "100.0%" in html(said)


@pytest.mark.parametrize("store", ["exact", "chroma"])
def test_filters_let_only_some_passages_through(tiny_index, store):
    by_title = found(tiny_index, f"dense[store={store},title=River Aldra]")
    assert [one for one, _ in by_title] == ["p2"]
    words = found(tiny_index, f"dense[store={store},contains=Orsby]", k=8)
    those = {p.id for p in tiny_index.passages.passages if "Orsby" in p.content}
    assert {one for one, _ in words} == those and words == sorted(words, key=lambda one: -one[1])
    assert found(tiny_index, f"dense[store={store},title=No such title]") == []


def test_agreement_counts_what_is_missed(tiny_index, monkeypatch):
    monkeypatch.setattr(chroma.PassageStore, "nearest", lambda self, vector, k: (np.array([0]), np.array([1.0])))
    shares = agreement(tiny_index, [QUESTION], k=4).shares
    assert shares in ((0.25,), (0.0,))
    with pytest.raises(SettingError, match="was given no questions"):
        agreement(tiny_index, [])


def test_a_server_belongs_to_chroma_and_has_an_address(tiny_index):
    with pytest.raises(SettingError, match="store=chroma"):
        wb.method("dense[server=localhost:8000]", tiny_index)
    with pytest.raises(SettingError, match="host:port"):
        wb.method("dense[store=chroma,server=here]", tiny_index)


# -- a server -------------------------------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path):
    """`chroma run` on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("chroma")
    given = [program, "run", "--path", tmp_path / "served", "--host", "127.0.0.1", "--port", str(port)]
    running = subprocess.Popen(given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait(30)


def test_the_command_fills_a_server_which_then_agrees(tiny_index, server, tmp_path):
    data = Dataset("hashed", tuple(tiny_index.passages.passages))
    index = Index.build(data, None, tmp_path / "hashed", encoder=HashEncoder(), layers=["passages"], progress=False)
    said = CliRunner().invoke(app, ["export", str(index.folder), "--chroma", server, "--json"])
    assert said.exit_code == 0, said.output
    (held,) = json.loads(said.stdout)
    assert (held["kind"], held["vectors"]) == ("passages", len(data.passages))
    assert agreement(index, [QUESTION], 3, server=server).mean == 1.0
