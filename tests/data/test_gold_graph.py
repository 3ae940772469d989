"""Reading a gold graph: schema, entities and triples that fit each other and the corpus, or file, line and remedy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.data import load
from workbench.data.graph import Attribute, EntityType, GoldEntity, GoldTriple, Relation
from workbench.errors import DataError

SCHEMA = {
    "entity_types": [
        {"name": "person", "definition": "A human being."},
        {"name": "town", "definition": "A town."},
    ],
    "relations": [
        {"name": "born in", "definition": "The person was born in the town.", "head": ["person"], "tail": ["town"]}
    ],
    "attributes": [
        {"name": "length", "definition": "How long.", "of": ["town"], "value": "number", "unit": "metres"},
        {"name": "born", "definition": "When born.", "of": ["person"], "value": "date"},
    ],
}
ENTITIES = [
    {"name": "Ilse", "type": "person", "aliases": ["I. V."], "mentions": ["the engineer"], "passage": "p1"},
    {"name": "Orsby", "type": "town", "passage": None},
]
BORN_IN = {"head": "Ilse", "relation": "born in", "tail": "Orsby", "kind": "relation", "passages": ["p1"]}
BORN = {"head": "Ilse", "relation": "born", "tail": "1889", "kind": "attribute", "passages": ["p1", "p2"]}


def lines(*rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path) -> Path:
    """A good folder with a gold graph; a test spoils one file of it."""
    (tmp_path / "corpus.jsonl").write_text(lines({"id": "p1", "text": "Ilse."}, {"id": "p2", "text": "Orsby."}))
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "graph" / "entities.jsonl").write_text(lines(*ENTITIES))
    (tmp_path / "graph" / "triples.jsonl").write_text(lines(BORN_IN, BORN))
    return tmp_path


def test_a_good_graph_is_read_as_it_stands(folder):
    graph = load(folder).graph
    assert graph.schema.entity_types == (EntityType("person", "A human being."), EntityType("town", "A town."))
    assert graph.schema.relations == (Relation("born in", "The person was born in the town.", ("person",), ("town",)),)
    assert graph.schema.attributes[0] == Attribute("length", "How long.", ("town",), "number", "metres")
    assert graph.entities == (
        GoldEntity("Ilse", "person", ("I. V.",), ("the engineer",), "p1"),
        GoldEntity("Orsby", "town"),
    )
    assert graph.triples == (
        GoldTriple("Ilse", "born in", "Orsby", "relation", ("p1",)),
        GoldTriple("Ilse", "born", "1889", "attribute", ("p1", "p2")),
    )
    assert repr(graph) == "GoldGraph: 2 entities of 2 types, 1 triples of 1 relations, 1 of 2 attributes"
    assert len({graph, load(folder).graph}) == 1


def test_a_folder_need_not_have_one(folder):
    for path in (folder / "graph").iterdir():
        path.unlink()
    (folder / "graph").rmdir()
    assert load(folder).graph is None


@pytest.mark.parametrize("name", ["schema.json", "entities.jsonl", "triples.jsonl"])
def test_but_one_that_it_has_is_whole(folder, name):
    (folder / "graph" / name).unlink()
    with pytest.raises(DataError, match=r"is missing; see .*docs/data\.md for"):
        load(folder)


@pytest.mark.parametrize(
    ("change", "where", "said"),
    [
        ({"entity_types": "person"}, "", "'entity_types' is 'person'; it should be a list of objects"),
        ({"attributes": SCHEMA["attributes"] * 2}, ", attributes 3", "'length' is already in .*must be unique"),
        ({"relations": [{**SCHEMA["relations"][0], "tail": ["sea"]}]}, ", relations 1", "'tail' has 'sea', .*add it"),
        ({"relations": [{**SCHEMA["relations"][0], "head": []}]}, ", relations 1", "'head' is empty; it should list"),
        ({"attributes": [{**SCHEMA["attributes"][0], "value": "int"}]}, ", attributes 1", "one of date, number, text"),
    ],
)
def test_the_schema_is_checked(folder, change, where, said):
    path = folder / "graph" / "schema.json"
    path.write_text(json.dumps({**SCHEMA, **change}))
    with pytest.raises(DataError, match=said) as error:
        load(folder)
    assert str(error.value).startswith(f"{path}{where}: ")


@pytest.mark.parametrize(
    ("name", "row", "said"),
    [
        ("entities", ENTITIES[0], "entity name 'Ilse' is already in .*line 1; names must be unique"),
        ("entities", {"name": "x", "type": "ship"}, "the type 'ship' is not in schema.json; correct 'type' or add"),
        ("entities", {"name": "x", "type": "town", "passage": "p9"}, "'p9' is not in the corpus; correct 'passage'"),
        ("triples", BORN, "already in .*line 2; they must be unique"),
        ("triples", {**BORN, "kind": "fact"}, "'kind' is 'fact'; it should be one of relation, attribute"),
        ("triples", {**BORN, "kind": "relation"}, "the relation 'born' is not in schema.json; correct it or add"),
        ("triples", {**BORN, "head": "Joren"}, "the head 'Joren' is not in entities.jsonl; correct it or add the"),
        ("triples", {**BORN_IN, "tail": "Ilse"}, "the tail 'Ilse' is of type 'person', .* allows town; correct"),
        ("triples", {**BORN, "tail": "1890", "passages": []}, "'passages' is empty; it should list the passages"),
        ("triples", {**BORN, "tail": "1890", "passages": ["p9"]}, "'p9' is not in the corpus; correct 'passages'"),
    ],
)
def test_entities_and_triples_are_checked(folder, name, row, said):
    path = folder / "graph" / f"{name}.jsonl"
    with path.open("a") as file:
        file.write(lines(row))
    with pytest.raises(DataError, match=said) as error:
        load(folder)
    assert str(error.value).startswith(f"{path}, line 3: ")
