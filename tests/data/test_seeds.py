"""Seed schemas: the bundled ones, and files in either form."""

from __future__ import annotations

import json

import pytest

from workbench.data.schemas import seed, seeds
from workbench.errors import DataError
from workbench.text import normal_form

SIZES = {  # of the authors' files, where a name that is listed twice counts once
    "general": (10, 12, 11), "hotpotqa": (10, 23, 25), "2wikimultihopqa": (24, 31, 31), "textbook": (8, 13, 8),
    "literary": (10, 24, 16), "empty": (0, 0, 0),
}  # fmt: skip


def sizes(schema):
    return len(schema.entity_types), len(schema.relations), len(schema.attributes)


def test_the_bundled_seeds():
    assert {name: sizes(seed(name)) for name in seeds()} == SIZES
    for name in seeds():
        for kind in ("entity_types", "relations", "attributes"):
            found = [normal_form(one.name) for one in getattr(seed(name), kind)]
            assert len(set(found)) == len(found) and all(found)


def test_the_source_s_form(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"Nodes": ["a b", "A_b", " c "], "Relations": ["r"], "Other": 3}))
    found = seed(str(path))
    assert ([one.name for one in found.entity_types], [one.name for one in found.relations]) == (["a b", "c"], ["r"])
    assert found.attributes == ()


def test_the_project_s_own_form(tmp_path):
    path = tmp_path / "schema.json"
    rows = {"entity_types": [{"name": "town", "definition": "A town."}], "relations": [],
            "attributes": [{"name": "size", "definition": "", "value": "number"}]}  # fmt: skip
    path.write_text(json.dumps(rows))
    assert seed(str(path)).entity_types[0].definition == "A town." and seed(str(path)).attributes[0].of == ()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "is a JSON list, not a dict"),
        ('{"Nodes": "person"}', "'Nodes' is 'person'; it should be a list of strings"),
        ('{"Nodes": [3]}', r"'Nodes' is \[3\]; it should be a list of strings"),
        ("{}", "'entity_types' is None"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, content, said):
    path = tmp_path / "mine.json"
    path.write_text(content)
    with pytest.raises(DataError, match=said) as error:
        seed(str(path))
    assert "mine.json" in str(error.value)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(DataError, match="no schema is called 'musik'; name one of 2wikimultihopqa, empty, general"):
        seed("musik")
