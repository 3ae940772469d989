"""Chroma collections follow the index; the matrices stay the truth."""

import numpy as np
import pytest

from workbench.errors import SettingError
from workbench.index.chroma import derive
from workbench.llm.engine import RulesEngine
from workbench.records import Passage


@pytest.fixture
def client(tmp_path):
    import chromadb

    return chromadb.PersistentClient(str(tmp_path / "chroma"), settings=chromadb.Settings(anonymized_telemetry=False))


def test_holds_the_vectors_and_texts_of_the_index(tiny_index, client):
    derive(tiny_index, client=client)
    found = client.get_collection("passages").get(ids=["p2"], include=["embeddings", "documents", "metadatas"])
    row = tiny_index.passages.row["p2"]
    assert np.allclose(found["embeddings"][0], tiny_index.passages.vectors[row])
    assert found["documents"] == [tiny_index.passages.passages[row].content]
    assert found["metadatas"] == [{"title": "River Aldra"}]
    assert client.get_collection("facts").count() == len(tiny_index.facts.facts)
    assert client.get_collection("phrases").count() == len(tiny_index.facts.phrases)


def test_metadata_can_be_filtered_by(tiny_index, client):
    derive(tiny_index, ["facts"], client)
    found = client.get_collection("facts").get(where={"subject": "nora whitlock"})
    assert found["documents"] == ["nora whitlock born in orsby"]


def test_follows_insert_and_delete(tiny_index, client):
    derive(tiny_index, ["passages"], client)
    changed = tiny_index.delete(["p8"], progress=False).insert(
        [Passage("p9", "Mill", "A mill.")], RulesEngine(), progress=False
    )
    derive(changed, ["passages"], client)
    assert set(client.get_collection("passages").get()["ids"]) == set(changed.passages.row)


def test_a_collection_that_is_up_to_date_is_left_alone(tiny_index, client, monkeypatch):
    derive(tiny_index, ["passages"], client)
    collection = type(client.get_collection("passages"))
    monkeypatch.setattr(collection, "upsert", lambda *args, **kwargs: pytest.fail("written again"))
    derive(tiny_index, ["passages"], client)


def test_an_unknown_kind_is_refused(tiny_index, client):
    with pytest.raises(SettingError, match="passages, phrases, facts"):
        derive(tiny_index, ["synonyms"], client)
