"""The layer `schema_graph`: extraction within a schema that evolves in the order of the corpus."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tiny import TinyEncoder, tiny_dataset

from workbench.data import Dataset
from workbench.data.graph import EntityType, Relation, Schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.data.schemas import seed
from workbench.index import Index
from workbench.index.schema_extracting import assembled
from workbench.index.schema_graph import Attribute, SchemaGraphLayer
from workbench.llm.call import Reply
from workbench.llm.meter import Meter
from workbench.llm.parse import Unreadable, parse
from workbench.llm.step import Result
from workbench.records import Passage
from workbench.steps.schema_extraction import STEP, read

SMALL = Schema((EntityType("town", ""), EntityType("river", "")), (Relation("lies_on", "", (), ()),))


def corpus(count: int, schema: Schema | None = SMALL) -> Dataset:
    passages = (Passage(f"p{n}", f"Town {n}", f"Text {n}.") for n in range(1, count + 1))
    return Dataset("towns", tuple(passages), schema=schema)


def reply(*triples, attributes=None, types=None, new=None) -> str:
    parts = {"triples": triples, "attributes": attributes or {}, "entity_types": types or {}}
    return json.dumps(parts | ({"new_schema_types": new} if new else {}))


class Model:
    """Says `says(input)` of a passage, read as a reply is; remembers what it was asked."""

    def __init__(self, says: Callable[[object], str], name: str = "openai:one"):
        self.says, self.name, self.meter, self.asked = says, name, Meter(), []

    def run(self, step, inputs, *, trace=None) -> list[Result]:
        self.asked += inputs
        return [self._result(value) for value in inputs]

    def _result(self, value) -> Result:
        try:
            output, level = parse(STEP, Reply(self.says(value)))
        except Unreadable as error:
            return Result(None, failure=str(error))
        return Result(output, parse=level)

    def types(self) -> dict[str, list[str]]:
        """Title → names of the entity types that it was asked with."""
        return {value.title: [name for name, _ in value.entity_types] for value in self.asked}


def build(folder: Path, model, data: Dataset, **settings) -> Index:
    return Index.build(
        data, model, folder, encoder=TinyEncoder(), layers=["schema_graph"],
        settings={"schema_graph": settings}, progress=False,
    )  # fmt: skip


# -- the graph --------------------------------------------------------------------------------------------------------


@pytest.fixture
def layer(tmp_path) -> SchemaGraphLayer:
    """Three passages, of which two state one triple and one attribute, in other spellings of the schema's names."""
    said = {
        "Town 1": reply(["Orsby", "Lies-On", "Aldra"], attributes={"Orsby": ["size: 4", "founded: 1821"]},
                        types={"Orsby": "Town", "Aldra": "river"}),
        "Town 2": reply(["Orsby", "lies_on", "Aldra"], ["Orsby", "twinned with", "Quell"],
                        attributes={"Orsby": ["size: 4"], "Fog": ["mood: grey"]},
                        types={"Orsby": "port", "Quell": "town"}),
        "Town 3": reply(["Quell", "lies on", "Aldra"], types={"Orsby": "port", "Aldra": "river", "Nowhere": "town"}),
    }  # fmt: skip
    return build(tmp_path / "index", Model(lambda value: said[value.title]), corpus(3)).schema_graph


def test_entities_are_names_with_all_their_passages(layer):
    assert layer.names == ["Aldra", "Fog", "Orsby", "Quell"], "Nowhere is in no triple and has no attribute"
    assert layer.types == ["river", "unknown", "port", "town"], "the type that most give"
    assert layer.stated.toarray().tolist() == [[1, 1, 1], [0, 1, 0], [1, 1, 0], [0, 1, 1]]


def test_relations_are_spelled_as_in_the_schema_and_sorted(layer):
    rows = [(layer.names[s], label, layer.names[t]) for s, label, t in zip(layer.sources, layer.labels, layer.targets)]
    assert rows == [
        ("Orsby", "lies_on", "Aldra"), ("Orsby", "twinned with", "Quell"), ("Quell", "lies_on", "Aldra")
    ]  # fmt: skip
    assert layer.relation_stated.toarray().tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert layer.incident(layer.row["Orsby"]).tolist() == [0, 1] and layer.between(0, 3) == [2]


def test_attributes(layer):
    orsby = layer.row["Orsby"]
    assert layer.attributes == [
        Attribute(layer.row["Fog"], "mood", "grey"), Attribute(orsby, "founded", "1821"), Attribute(orsby, "size", "4")
    ]  # fmt: skip
    assert [layer.attributes_of(row) for row in range(4)] == [range(0), range(1), range(1, 3), range(3, 3)]
    assert layer.attribute_stated.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [1, 1, 0]]


def test_a_strict_schema_drops_and_counts_what_it_does_not_bound():
    """Each under its first reason: a relation or an attribute that it lacks, else an entity without a type of it."""
    schema = replace(seed("general"), relations=(Relation("lies_on", "", (), ()),))
    said = read(
        reply(
            ["Orsby", "Lies On", "Aldra"], ["Orsby", "twinned with", "Quell"], ["Orsby", "lies_on", "Fog"],
            attributes={"Orsby": ["size: 4", "mood: grey"], "Fog": ["size: 1"]},
            types={"Orsby": "Location", "Aldra": "location", "Quell": "location", "Fog": "weather"},
        )
    )  # fmt: skip
    found = assembled([("p1", said)], schema, strict=True)
    assert [(one.source, one.label, one.target) for one in found.relations] == [("Orsby", "lies_on", "Aldra")]
    assert list(found.attributes) == [("Orsby", "size", "4")] and [one.name for one in found.entities] == [
        "Aldra",
        "Orsby",
    ]
    assert found.left_out == {"relations": 1, "ends": 1, "attributes": 1, "described": 1}
    kept = assembled([("p1", said)], schema, strict=False)
    assert (len(kept.relations), len(kept.attributes), kept.left_out) == (3, 3, {})


# -- evolution --------------------------------------------------------------------------------------------------------


def evolving(value) -> str:
    """Every town proposes `port` until the schema has it."""
    known = "port" in [name for name, _ in value.entity_types]
    new = {"nodes": [] if known else ["Port" if value.title == "Town 3" else "port"]}
    return reply([value.title, "lies_on", "Aldra"], types={value.title: "port" if known else "town"}, new=new)


def test_types_are_admitted_between_batches_in_document_order(tmp_path):
    """Three passages support `port` within the second batch of two, so the third batch is asked with it."""
    index = build(tmp_path / "a", model := Model(evolving), corpus(7), batch=2, support=3)
    assert {title: "port" in types for title, types in model.types().items()} == {
        "Town 1": False, "Town 2": False, "Town 3": False, "Town 4": False,
        "Town 5": True, "Town 6": True, "Town 7": True,
    }  # fmt: skip
    graph = index.schema_graph
    assert [one.name for one in graph.schema.entity_types] == ["town", "river", "port"] and graph.seed == SMALL
    assert graph.evolution == [("entity_types", "port", ("p1", "p2", "p3", "p4"), 1.0, True)]
    assert graph.metadata["proposals"]["entity_types"] == {"admitted": 1, "rejected": 0, "known": 0}
    assert graph.metadata["gate"] == "support alone"


@pytest.mark.parametrize(
    ("settings", "asked_with", "admitted"),
    [
        ({"evolution": "off"}, 0, None),
        ({"evolution": "llm", "batch": 2}, 5, True),
        ({"evolution": "gated", "batch": 2, "support": 9}, 0, False),
        ({"evolution": "gated", "batch": 2, "support": 9, "mu": 0.4}, 3, True),
        ({"evolution": "gated", "batch": 100}, 0, True),
    ],
)
def test_policies(tmp_path, settings, asked_with, admitted):
    index = build(tmp_path / "a", model := Model(evolving), corpus(7), **settings)
    assert sum("port" in types for types in model.types().values()) == asked_with
    assert [value.propose for value in model.asked] == [settings["evolution"] != "off"] * 7
    if admitted is not None:
        assert [one.admitted for one in index.schema_graph.evolution] == [admitted]


# -- changes ----------------------------------------------------------------------------------------------------------


def test_a_delete_asks_again_only_where_another_schema_reaches_a_passage(tmp_path):
    """Without p1 the third support comes from p4, in the second batch still; p5 moves into it."""
    index = build(tmp_path / "a", Model(evolving), corpus(7), batch=2)
    changed = index.delete(["p1"], model := Model(evolving), progress=False)
    less = replace(corpus(7), passages=corpus(7).passages[1:])
    assert changed.schema_graph.hash == build(tmp_path / "b", Model(evolving), less, batch=2).schema_graph.hash
    assert [value.title for value in model.asked] == ["Town 5"]


def test_what_is_left_out_of_replies_is_counted(tmp_path):
    """How a malformed reply is read is the Step's (`tests/steps`); `benchmarks/attacks.py` makes thousands of them."""
    said = {
        "Town 1": reply(["Orsby", "lies_on"], ["Orsby", "lies_on", "Aldra", "and more"], ["Quell", "lies_on", "Aldra"]),
        "Town 2": reply(["Orsby", "lies_on", "Aldra"]).replace("}", ",}", 1),
        "Town 3": "I cannot do that.",
    }
    counted = build(tmp_path, Model(lambda value: said[value.title]), corpus(3)).schema_graph.metadata
    assert [counted[what] for what in ("dropped", "shortened", "repaired", "failures")] == [1, 1, 1, 1]


# -- given profiles ---------------------------------------------------------------------------------------------------

GIVEN = Profiles(
    (
        EntityProfile("Orsby", "town", "size: 4; motto: we wait; and see; founded: 1821", ("p1",)),
        EntityProfile("Orsby", "port", "", ("p2",)),
        EntityProfile("Aldra", "river", "A river; it is long.", ("p1",)),
        EntityProfile("Fog", "", "", ("p3",)),
    ),
    (
        RelationProfile("Orsby", "Aldra", "", (), None, ("p1",), "lies on"),
        RelationProfile("Orsby", "Quell", "They trade.", ("trade", "ferry"), 2.0, ("p2",)),
        RelationProfile("Orsby", "Aldra", "again", (), None, ("p2",), "lies on"),
        RelationProfile("Quell", "Aldra", "", (), None, ("p3",)),
    ),
)


def test_given_profiles_are_taken_as_they_are(tmp_path):
    index = build(tmp_path / "a", None, replace(corpus(3, None), profiles=GIVEN), strict=True)
    graph = index.schema_graph
    assert graph.given and graph.names == ["Aldra", "Fog", "Orsby", "Quell"]
    assert graph.types == ["river", "unknown", "port", "unknown"], "of equally many the first by name"
    assert graph.labels == ["lies on", "trade, ferry", "related to"]
    assert [(graph.names[one.entity], one.text) for one in graph.attributes] == [
        ("Aldra", "description: A river; it is long."), ("Orsby", "founded: 1821"),
        ("Orsby", "motto: we wait; and see"), ("Orsby", "size: 4"),
    ]  # fmt: skip
    assert graph.stated.toarray().tolist() == [[1, 1, 1], [0, 0, 1], [1, 1, 0], [0, 1, 1]]
    assert [one.name for one in graph.schema.entity_types] == ["port", "river"]
    assert [one.name for one in graph.schema.attributes] == ["description", "founded", "motto", "size"]


# -- settings ---------------------------------------------------------------------------------------------------------


def test_without_an_engine_the_rules_extract(tmp_path):
    index = build(tmp_path / "a", None, replace(tiny_dataset(), extractions=None))
    graph = index.schema_graph
    assert graph.metadata["made_by"] == ["rules (schema_extraction v1)"] and graph.metadata["failures"] == 0
    assert ("Nora Whitlock", "Orsby") in {
        (graph.names[s], graph.names[t]) for s, t in zip(graph.sources, graph.targets)
    } | {(graph.names[t], graph.names[s]) for s, t in zip(graph.sources, graph.targets)}
    counts = index.counts()
    assert counts["schema graph entities"] == len(graph.names) and counts["schema graph attributes"] == len(
        graph.attributes
    )
