"""Replies of `schema_extraction`: read in the source's form, whatever else a model writes, and nothing lost unseen."""

from __future__ import annotations

import json

import pytest

from workbench.llm.call import Reply
from workbench.llm.parse import Unreadable, parse
from workbench.steps.schema_extraction import PROPOSED, STEP, Input, Output, read

WHOLE = {
    "attributes": {"Kestrel FM": ["type: radio station", "date: founded: 1994"]},
    "triples": [["Kestrel FM", "located_in", "Alderby"]],
    "entity_types": {"Kestrel FM": "organization"},
    "new_schema_types": {"nodes": ["station"], "relations": [{"name": "airs", "score": 0.4}], "attributes": []},
}


def said(**parts) -> Output:
    return read(json.dumps(parts))


def attributes(output: Output) -> list[tuple[str, str, str]]:
    return [(one.entity, one.type, one.value) for one in output.attributes]


def proposed(output: Output) -> list[tuple[str, str, float | None]]:
    return [(one.kind, one.name, one.score) for one in output.proposed]


def flawless(output: Output) -> bool:
    return (output.dropped, output.shortened, output.repaired) == (0, 0, False)


def test_a_whole_reply():
    output = said(**WHOLE)
    assert attributes(output) == [
        ("Kestrel FM", "type", "radio station"), ("Kestrel FM", "date", "founded: 1994")
    ]  # fmt: skip
    assert output.triples == [("Kestrel FM", "located_in", "Alderby")]
    assert output.entity_types == {"Kestrel FM": "organization"}
    assert proposed(output) == [("entity_types", "station", None), ("relations", "airs", 0.4)]
    assert flawless(output)


def test_every_field_may_be_missing():
    assert flawless(read("{}")) and read("{}") == Output()
    assert said(triples=[]) == said(attributes={}) == said(new_schema_types=None) == Output()


def test_prose_and_fences_around_the_object_are_no_flaw():
    text = f"Here it is [1]:\n```json\n{json.dumps(WHOLE)}\n```\nDone."
    assert read(text) == said(**WHOLE)


def test_broken_json_is_repaired_and_says_so():
    output = read('{"triples": [["A b", "r", "C"],], "entity_types": {"A b": "person",}')
    assert output.repaired and output.triples == [("A b", "r", "C")] and output.entity_types == {"A b": "person"}


@pytest.mark.parametrize(
    ("row", "triple", "counted"),
    [
        (["A", "r", "B", "C"], [("A", "r", "B")], (0, 1)),
        (["A", "r"], [], (1, 0)),
        (["A", "", "B"], [], (1, 0)),
        (["A", "r", "?!"], [], (1, 0)),
        (["A", "r", {"name": "B"}], [], (1, 0)),
        ("A r B", [], (1, 0)),
        (None, [], (1, 0)),
        ([1994, "r", True], [("1994", "r", "True")], (0, 0)),
        (["A", ["r", "s"], "B"], [("A", "r, s", "B")], (0, 0)),
        (["A", [["r"]], "B"], [], (1, 0)),
        ([" <b>A</b>\n", "r\t", '"B"'], [("A", "r", "B")], (0, 0)),
    ],
)
def test_a_triple(row, triple, counted):
    output = said(triples=[row])
    assert (output.triples, (output.dropped, output.shortened)) == (triple, counted)


@pytest.mark.parametrize(
    ("of", "records", "dropped"),
    [
        ({"A": "size: 4"}, [("A", "size", "4")], 0),
        ({"A": ["a small town"]}, [("A", "description", "a small town")], 0),
        ({"A": [": 4", "size:", "", None, {}]}, [("A", "description", "4")], 4),
        (
            {"A": {"size": 4, "colour": ["red", "blue"], "x": None}},
            [("A", "size", "4"), ("A", "colour", "red, blue")],
            1,
        ),
        ({"": ["size: 4"]}, [], 1),
        ([{"A": ["size: 4"]}, "B", 3], [("A", "size", "4")], 2),
        ("A is small", [], 1),
        (7, [], 1),
    ],
)
def test_attributes(of, records, dropped):
    output = said(attributes=of)
    assert (attributes(output), output.dropped) == (records, dropped)


def test_types():
    output = said(entity_types={"A": "person", "B": None, "C": ["x", "y"], "?": "person", "D": {"type": "z"}})
    assert output.entity_types == {"A": "person", "C": "x, y"} and output.dropped == 3


def test_proposals_with_scores_that_are_no_scores():
    rows = [
        {"name": "a", "score": 1},
        {"name": "b", "score": 7},
        {"name": "c", "score": "high"},
        {"name": "d"},
        {},
        "",
        5,
    ]
    output = said(new_schema_types={"nodes": rows, "relations": "r", "others": ["x"]})
    assert proposed(output) == [
        ("entity_types", "a", 1.0), ("entity_types", "b", None), ("entity_types", "c", None),
        ("entity_types", "d", None), ("entity_types", "5", None),
    ]  # fmt: skip
    assert output.dropped == 3, "an object without a name, an empty name, and a word where a list should be"
    assert said(new_schema_types=["x"]).dropped == 1


def test_a_flood_of_proposals_is_cut_and_counted():
    output = said(new_schema_types={"attributes": [f"a{n}" for n in range(PROPOSED + 7)]})
    assert (len(output.proposed), output.dropped) == (PROPOSED, 7)


@pytest.mark.parametrize("text", ["", "no JSON", "[]", "3", '{"answer": 4}', "[" * 9_000, "{" * 9_000])
def test_what_holds_no_object_of_the_form_is_a_failure(text):
    with pytest.raises(Unreadable):
        parse(STEP, Reply(text))


def test_an_empty_object_inside_a_broken_reply_is_no_empty_reply():
    assert read('{"entity_types": {}, "triples": [["A", "r", "B"]').triples == [("A", "r", "B")]
    assert read('{"entity_types": {}').repaired


def test_new_types_are_asked_for_only_where_the_schema_evolves():
    def system(**changed):
        return STEP.prompt(Input("t", "x", **changed))[0]["content"]

    assert "new_schema_types" in system(propose=True) and "new_schema_types" not in system()


def test_the_schema_is_shown_in_the_source_s_form():
    asked = STEP.prompt(Input("t", "x", (("person", "A human."),), ("born_in",), ("date",)))[-1]["content"]
    shown = json.loads(asked.partition("Schema: ")[2].partition("\n")[0])
    assert shown == {"Nodes": ["person"], "Relations": ["born_in"], "Attributes": ["date"]}
