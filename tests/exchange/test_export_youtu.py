"""The schema graph as Youtu-GraphRAG's list of edges: in its key scheme, and read back whole."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tiny import TinyEncoder

from workbench import exchange
from workbench.data import Dataset
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import DataError
from workbench.index import Index
from workbench.records import Passage

PASSAGES = (
    Passage("p1", "Orsby", "Orsby lies on\tthe Aldra.\nIt is \"old\"."), Passage("p2", "", "Quell lies on the Aldra."),
)  # fmt: skip
PROFILES = Profiles(
    (
        EntityProfile("Orsby", "town", "size: 4; age: old", ("p1",)),
        EntityProfile("Quell", "town", "size: 4", ("p2",)),
        EntityProfile("Aldra", "river", "", ("p1", "p2")),
        EntityProfile("Fog", "weather", "", ("p2",)),
    ),
    (
        RelationProfile("Orsby", "Aldra", "", (), None, ("p1",), "lies on"),
        RelationProfile("Quell", "Aldra", "", (), None, ("p2",), "lies on"),
    ),
)


def indexed(folder, data) -> Index:
    return Index.build(data, None, folder, encoder=TinyEncoder(), layers=["schema_graph"], progress=False)


@pytest.fixture
def index(tmp_path) -> Index:
    return indexed(tmp_path / "index", Dataset("towns", PASSAGES, profiles=PROFILES))


def test_every_edge_has_what_the_source_keys_nodes_by(index, tmp_path):
    file, chunks = exchange.write(index, tmp_path / "towns_new.json")
    assert chunks.name == "towns.txt"
    rows = json.loads(file.read_text())
    names = [(row["start_node"]["properties"]["name"], row["end_node"]["properties"]["name"]) for row in rows]
    assert [(head, row["relation"], tail) for row, (head, tail) in zip(rows, names)] == [
        ("Orsby", "has_attribute", "age: old"), ("Orsby", "has_attribute", "size: 4"),
        ("Quell", "has_attribute", "size: 4"), ("Orsby", "lies on", "Aldra"), ("Quell", "lies on", "Aldra"),
    ]  # fmt: skip
    assert rows[-1]["end_node"] == {
        "label": "entity",
        "properties": {"name": "Aldra", "chunk id": "p1", "chunk ids": ["p1", "p2"], "schema_type": "river"},
    }
    assert {row["end_node"]["label"] for row in rows[:3]} == {"attribute"}


def test_it_reads_back_as_the_same_graph(index, tmp_path):
    exchange.write(index, tmp_path / "out" / "towns_new.json")
    data = exchange.read(tmp_path / "out", "youtu")
    assert [(one.id, one.title, one.text) for one in data.passages] == [(p.id, p.title, p.text) for p in PASSAGES]
    again, graph = indexed(tmp_path / "again", data).schema_graph, index.schema_graph
    kept = [name for name in graph.names if name != "Fog"]  # in no edge
    assert (again.names, again.labels) == (kept, graph.labels)
    assert [(again.names[one.entity], one.text) for one in again.attributes] == [
        (graph.names[one.entity], one.text) for one in graph.attributes
    ]
    rows = [graph.row[name] for name in kept]
    assert again.stated.toarray().tolist() == graph.stated.toarray()[rows].tolist()


def test_an_id_that_would_break_the_file_of_chunks_is_refused(tmp_path):
    data = Dataset("towns", (replace(PASSAGES[0], id="p\t1"),), profiles=Profiles())
    with pytest.raises(DataError, match="has a tab or a line break"):
        exchange.write(indexed(tmp_path / "index", data), tmp_path / "towns.json")
    assert not (tmp_path / "towns.json").exists() and not (tmp_path / "towns.txt").exists()
