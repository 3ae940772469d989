"""What a graph speaks of: the schema beside the triples, else a bundled one, else the gold graph's, else none."""

from __future__ import annotations

import json

import pytest

from workbench.data import load
from workbench.data.graph import EntityType, Relation, Schema
from workbench.data.schemas import covering
from workbench.errors import DataError
from workbench.language.verbalisation import Wording, wordings

OWN = {"entity_types": [{"name": "town", "definition": "A town."}], "relations": [{"name": "on", "definition": ""}]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "triples.tsv").write_text("Orsby\ton\tQuell\n")
    return tmp_path


def test_a_schema_beside_the_triples_is_read(folder):
    (folder / "schema.json").write_text(json.dumps({**OWN, "description": "Towns."}))
    assert load(folder).schema == Schema((EntityType("town", "A town."),), (Relation("on", "", (), ()),), (), "Towns.")


def test_it_has_every_relation_of_the_triples(folder):
    (folder / "schema.json").write_text(json.dumps({**OWN, "relations": []}))
    with pytest.raises(DataError, match=r"schema.json has no relation 'on', which triples.tsv has; add it"):
        load(folder)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is not JSON"),
        (b"\xff", "is not UTF-8"),
        (b"[]", "is a JSON list, not a dict"),
        (json.dumps({**OWN, "description": 3}).encode(), "'description' is 3; it should be a string"),
        (json.dumps({**OWN, "attributes": 3}).encode(), "'attributes' is 3; it should be a list"),
        (json.dumps({**OWN, "entity_types": None}).encode(), "'entity_types' is None"),
    ],
)
def test_a_damaged_schema_is_named(folder, content, said):
    (folder / "schema.json").write_bytes(content)
    with pytest.raises(DataError, match=said) as error:
        load(folder)
    assert str(folder / "schema.json") in str(error.value)


def test_a_bundled_schema_must_cover_all_relations(folder):
    assert load(folder).schema is None
    (folder / "triples.tsv").write_text("Red Sea\tdirected_by\tMira\nRed Sea\ton\tQuell\n")
    assert load(folder).schema is None
    (folder / "triples.tsv").write_text("Red Sea\tdirected_by\tMira\n")
    assert load(folder).schema == covering(["directed_by"])
    assert covering([]) is None


def test_the_schema_of_films():
    schema = covering(["directed_by"])
    assert [kind.name for kind in schema.entity_types] == [
        "movie", "person", "genre", "language", "year", "tag", "theme"
    ]  # fmt: skip
    assert {tail for relation in schema.relations for tail in relation.tail} == {
        "person", "genre", "language", "year", "tag"
    }  # fmt: skip
    assert all(relation.head == ("movie",) and relation.definition for relation in schema.relations)
    assert all(kind.definition.endswith(".") for kind in schema.entity_types) and schema.description
    # Every definition begins with a sentence that the template can use.
    told = wordings(tuple((r.name, r.head, r.tail, r.definition) for r in schema.relations))
    assert Wording(*told["has_genre"]) == Wording("is of", "the genre", "", "The movie", "the genre")
    assert all(wording.it == "The movie" for wording in told.values())
