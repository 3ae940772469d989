"""The typed graph: what a node and a relation are, what stands in which passage, and what a change costs."""

from __future__ import annotations

import pytest
from tiny import CountingEncoder, TinyEncoder, files

from workbench.data import Dataset
from workbench.data.graph import EntityType, Relation, Schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.index import Index
from workbench.records import Entity, Passage

PASSAGES = tuple(Passage(f"a{n}", title, text) for n, (title, text) in enumerate([
    ("The Weir", "The Weir was directed by Ana Holm and is a drama."),
    ("Ana Holm", "Ana Holm directed The Weir and acted in it."),
    ("drama", "The Weir is a drama."),
]))  # fmt: skip
SCHEMA = Schema(
    (EntityType("film", "a film"), EntityType("person", "somebody")),
    (Relation("directed by", "who directed the film", ("film",), ("person",)),),
    description="Films.",
)
PROFILES = Profiles(
    (
        EntityProfile("The Weir", "film", "A film by Ana Holm.", ("a0",)),
        EntityProfile("The Weir", "film", "A drama.", ("a2",)),
        EntityProfile("The Weir", "play", "A drama.", ()),
        EntityProfile("Ana Holm", "person", "A director.", ("a1",)),
        EntityProfile("drama", "genre", "", ("a2",)),
    ),
    (
        RelationProfile("The Weir", "Ana Holm", "She directed it.", ("directed",), 1.0, ("a0", "a1"), "directed by"),
        RelationProfile("The Weir", "Ana Holm", "Ana Holm acts.", ("acted", "in"), None, ("a1",), "acted in"),
        RelationProfile("The Weir", "Drama", "It is one.", (), 2.0, ("a0",), "genre"),
        RelationProfile("drama", "drama", "Itself.", (), 1.0, ("a2",), "is"),
    ),
)
DATA = Dataset("films", PASSAGES, profiles=PROFILES, schema=SCHEMA)


def build(folder, data=DATA, encoder=None) -> Index:
    return Index.build(data, None, folder, encoder=encoder or TinyEncoder(), layers=["typed"], progress=False)


@pytest.fixture
def graph(tmp_path):
    return build(tmp_path / "typed").typed


def test_a_node_is_a_name_as_it_is_written(graph):
    assert graph.names == ["Ana Holm", "Drama", "The Weir", "drama"]
    assert graph.types == ["person", "unknown", "film", "genre"]
    assert graph.entities[graph.row["The Weir"]] == Entity("The Weir", "film", "A drama.\nA film by Ana Holm.")
    assert graph.type_counts == {"person": 1, "unknown": 1, "film": 1, "genre": 1}
    assert [t.name for t in graph.schema.entity_types] == ["film", "person", "genre"]
    assert graph.schema.description == "Films." and graph.schema.relations == SCHEMA.relations


def test_relations_stay_apart_and_paths_run_on_pairs(graph):
    weir, ana, drama = graph.row["The Weir"], graph.row["Ana Holm"], graph.row["drama"]
    assert [graph.labels[row] for row in graph.between(weir, ana)] == ["acted in", "directed by"]
    assert graph.between(ana, weir) == graph.between(weir, ana) and graph.between(ana, drama) == []
    assert [graph.labels[row] for row in graph.between(drama, drama)] == ["is"]
    assert graph.adjacency.toarray().tolist() == [[0, 0, 1, 0], [0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert graph.degrees.tolist() == [1, 1, 2, 0]
    assert sorted(graph.labels[row] for row in graph.incident(weir)) == ["acted in", "directed by", "genre"]
    assert graph.weights[graph.between(weir, ana)].tolist() == [1.0, 1.0]


def test_what_stands_in_which_passage(graph):
    def passages(name):
        return graph.stated[[graph.row[name]]].indices.tolist()

    assert passages("The Weir") == [0, 2] and passages("Ana Holm") == [1]
    assert passages("Drama") == [0]  # it has no profile: the passage of its relation
    held = [[graph.names[row] for row in graph.nodes_of([passage])] for passage in range(3)]
    assert held == [["Ana Holm", "Drama", "The Weir"], ["Ana Holm", "The Weir"], ["The Weir", "drama"]]
    assert graph.nodes_of([]) == []


def test_opened_again_it_is_the_same_and_nothing_is_encoded_twice(tmp_path):
    index = build(tmp_path, encoder=(encoder := CountingEncoder()))
    before = files(tmp_path)
    assert files(build(tmp_path, encoder=encoder).folder) == before and len(set(encoder.texts)) == len(encoder.texts)
    encoder.calls.clear()
    smaller = index.delete(["a2"], progress=False)
    assert "drama" in index.typed.row and index.typed.labels.count("is") == 1 and index.typed.represented.shape[0] == 3
    assert index.profiles.profiles.relations  # an opened index goes on showing its state
    assert len(encoder.texts) == 1, "The Weir: it has lost a description"
    assert "drama" not in smaller.typed.row and smaller.typed.schema.description == "Films."
    assert Index.open(tmp_path).typed.names == smaller.typed.names
