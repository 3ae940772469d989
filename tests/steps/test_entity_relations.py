"""LightRAG's extraction contract: what is read of replies, well-formed, broken and hostile; further rounds; merging."""

from __future__ import annotations

import pytest
from test_extraction_records import Replies

from workbench.language import entity_types as kinds
from workbench.llm import engine
from workbench.rules import rule_for
from workbench.steps import entity_relations as step
from workbench.steps.entity_relations import END, Edge, EntityRecord, Node, Output, RelationRecord, merged

ORSBY, ALDRA = "entity<|#|>Orsby<|#|>Location<|#|>A town.", "entity<|#|>Aldra<|#|>Location<|#|>A river."


def entities(text: str) -> list[tuple[str, str, str]]:
    return [(e.name, e.type, e.description) for e in step.read(text).entities]


def relations(text: str) -> list[tuple]:
    return [(r.source, r.target, r.keywords, r.description) for r in step.read(text).relations]


# -- reading ----------------------------------------------------------------------------------------------------------


def test_a_reply_as_it_should_be():
    said = step.read(
        f"{ORSBY}\nentity<|#|>Nora Whitlock<|#|>Person<|#|>Its founder.\n"
        "relation<|#|>Nora Whitlock<|#|>Orsby<|#|>founding, town<|#|>She founded it.\n<|COMPLETE|>"
    )
    assert said == Output(
        entities=[EntityRecord(name="Orsby", type="location", description="A town."),
                  EntityRecord(name="Nora Whitlock", type="person", description="Its founder.")],
        relations=[RelationRecord(source="Nora Whitlock", target="Orsby", keywords=["founding", "town"],
                                  description="She founded it.")],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("ENTITY<|#|>Orsby<|#|>Location<|#|>A town.", ("Orsby", "location", "A town.")),
        ("- entity<|#|> Orsby <|#|> Location <|#|> A town. ", ("Orsby", "location", "A town.")),
        ('("entity"<|#|>"Orsby"<|#|>"Location"<|#|>A town (small))', ("Orsby", "location", "A town (small)")),
        ("3. **entity**<|#|>**Orsby**<|#|>Location<|#|>A town.", ("Orsby", "location", "A town.")),
        ("entity|#|Orsby<#>Location<|#|A town.", ("Orsby", "location", "A town.")),  # damaged signs
        ("entity<|>Orsby<||#||>Location<|##|>|A town.", ("Orsby", "location", "A town.")),
        ("entity<|#|>Orsby<|#|>Natural Object, Location<|#|>A town.", ("Orsby", "naturalobject", "A town.")),
        ("entity<|#|>Or\tsby\x00<|#|>Location<|#|>A\x07town.", ("Or sby", "location", "A town.")),
        ("entity<|#|><b>東京</b><|#|>Location<|#|>&amp; <i>", ("東京", "location", "&amp; <i>")),
        ("entity<|#|>Ｏｒｓｂｙ　２<|#|>Location<|#|>A town.", ("Orsby 2", "location", "A town.")),
        ("entity<|#|>“Orsby” ’n’ D’Arcy<|#|>Location<|#|>A town.", ("Orsby n D'Arcy", "location", "A town.")),
        ("entity<|#|>C# | F#<|#|>Concept<|#|>Two languages.", ("C# | F#", "concept", "Two languages.")),
    ],
)
def test_what_is_read_of_an_entity(line, read):
    assert entities(f"{line}\n{END}") == [read] and step.read(line).skipped == 0


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("relationship<|#|>a<|#|>b<|#|>x,y，x、, z <|#|>How.", ("a", "b", ["x", "y", "z"], "How.")),
        ("relation<|#|>a<|#|>b<|#|><|#|>How.", ("a", "b", [], "How.")),
        ("entity<|#|>a<|#|>b<|#|>x<|#|>How.", ("a", "b", ["x"], "How.")),  # five fields are those of a relation
        ("relation<|#|>relation<|#|>entity<|#|>entity<|#|>How.", ("relation", "entity", ["entity"], "How.")),
    ],
)
def test_what_is_read_of_a_relation(line, read):
    assert relations(f"{line}\n{END}") == [read]


def test_signs_between_records_begin_another_record():
    line = f"{ORSBY}<|#|>{ALDRA}<|#|>relation<|#|>Orsby<|#|>Aldra<|#|>place<|#|>It lies there."
    assert [name for name, *_ in entities(line)] == ["Orsby", "Aldra"]
    assert relations(line) == [("Orsby", "Aldra", ["place"], "It lies there.")]


@pytest.mark.parametrize(
    "bad",
    [
        "Here are the records:",
        "entity<|#|>Aldra<|#|>Location",  # a field is missing
        "entity<|#|>Aldra<|#|>Location<|#|>A <|#|>long <|#|>river",  # the sign stands in a description
        "relation<|#|>a<|#|>b<|#|>How.",
        "entity<|#|><|#|>Location<|#|>A river.",
        "entity<|#|>“…”<|#|>Location<|#|>A river.",
        "entity<|#|>Aldra<|#|>Location<|#|> ",
        "entity<|#|>Aldra<|#|><|#|>A river.",
        "entity<|#|>Aldra<|#|>river/<script><|#|>A river.",
        "relation<|#|>Orsby<|#|>'Orsby'<|#|>self<|#|>A thing and itself.",
        "relation<|#|>Orsby<|#|>\x00<|#|>self<|#|>Nothing.",
        "claim<|#|>a<|#|>b<|#|>c",
        '{"entities": []}',
        "\ufffd\ufffd PNG IHDR a\x00\x01\x02",
    ],
)
def test_what_is_no_record_is_skipped_and_counted(bad):
    said = step.read(f"{bad}\n{ORSBY}\n{END}")
    assert [entity.name for entity in said.entities] == ["Orsby"]
    assert said.skipped == 1 and said.relations == []


def test_rules_of_dashes_and_fences_are_no_lines():
    assert step.read(f"---\n```\n{ORSBY}\n```\n{END}").skipped == 0


@pytest.mark.parametrize("letter", ["x", "é", "東", "𐌰"])
def test_a_name_has_a_length(letter):
    (entity,) = step.read(f"entity<|#|>{letter * 100_000}<|#|>Concept<|#|>Long.").entities
    assert set(entity.name) == {letter}
    assert len(entity.name) == min(256, 512 // len(letter.encode()))


# -- further rounds ---------------------------------------------------------------------------------------------------


def test_of_what_both_rounds_have_the_longer_description_stays():
    first = f"{ORSBY}\nrelation<|#|>Orsby<|#|>Aldra<|#|>place<|#|>It lies on it.\n{END}"
    more = (
        "entity<|#|>Orsby<|#|>Location<|#|>A town on the Aldra.\nrelation<|#|>Orsby<|#|>Aldra<|#|>x<|#|>Short.\n"
        f"relation<|#|>Aldra<|#|>Orsby<|#|>y<|#|>The other way.\nclaim\n{END}"
    )
    (said,) = step.extract(Replies(step, [first], [more]), [step.Input("a", "text")])
    assert [(e.name, e.description) for e in said.value.entities] == [("Orsby", "A town on the Aldra.")]
    assert [(r.source, r.description) for r in said.value.relations] == [
        ("Orsby", "It lies on it."), ("Aldra", "The other way.")
    ]  # fmt: skip
    assert said.value.skipped == 1


# -- merging ----------------------------------------------------------------------------------------------------------


def said(*lines: str) -> Output:
    return step.read("\n".join(lines) + END)


def test_records_of_all_passages_become_a_graph():
    found = [
        ("p1", said(ORSBY, "entity<|#|>Nora<|#|>Person<|#|>Its founder.",
                    "relation<|#|>Nora<|#|>Orsby<|#|>town, founding<|#|>Founded it.")),
        ("p2", said("entity<|#|>Orsby<|#|>natural object<|#|>A port.", "entity<|#|>ORSBY<|#|>Event<|#|>A fair.",
                    "relation<|#|>Orsby<|#|>Nora<|#|>birth<|#|>Was born there.",
                    "relation<|#|>Nora<|#|>Orsby<|#|>founding<|#|>Founded it.",
                    "relation<|#|>Orsby<|#|>Quell<|#|>road<|#|>A road joins them.")),
        ("p3", said("entity<|#|>Orsby<|#|>Natural Object<|#|>A town.",
                    "relation<|#|>Quell<|#|>Hall<|#|>place<|#|>It stands there.")),
    ]  # fmt: skip
    nodes, edges = merged(found, ("NaturalObject", "Person"))
    assert nodes == [
        Node("Orsby", "NaturalObject", ("A town.", "A port."), ("p1", "p2", "p3")),  # two of three say so
        Node("Nora", "Person", ("Its founder.",), ("p1",)),
        Node("ORSBY", "event", ("A fair.",), ("p2",)),  # another name; a type that was not asked for
        Node("Quell", "unknown", ("A road joins them.", "It stands there."), ("p2", "p3")),
        Node("Hall", "unknown", ("It stands there.",), ("p3",)),
    ]
    assert edges == [
        Edge("Nora", "Orsby", ("Founded it.", "Was born there."), ("birth", "founding", "town"), 3, ("p1", "p2"), ""),
        Edge("Orsby", "Quell", ("A road joins them.",), ("road",), 1, ("p2",), ""),
        Edge("Quell", "Hall", ("It stands there.",), ("place",), 1, ("p3",), ""),
    ]
    assert merged([]) == ([], [])


def test_the_first_of_two_types_with_equal_votes_wins_and_unknown_has_none():
    def votes(*types: str) -> str:
        found = [(type, Output(entities=[EntityRecord(name="a", type=type, description="d")], relations=[]))
                 for type in types]  # fmt: skip
        return merged(found)[0][0].type

    assert votes("work", "person") == "work" and votes("person", "work") == "person"
    assert votes("work", "person", "person") == "person"
    assert votes("unknown", "unknown", "work") == "work" and votes("unknown") == "unknown"


def test_relations_with_labels_stay_apart_and_keep_their_direction():
    def fact(source, target, label):
        return RelationRecord(source=source, target=target, keywords=[], description=label, label=label)

    facts = [fact("a", "b", "founded"), fact("a", "b", "left"), fact("b", "a", "left"), fact("a", "b", "left")]
    _, edges = merged([("p1", Output(entities=[], relations=facts))])
    assert [(e.source, e.target, e.label, e.weight) for e in edges] == [
        ("a", "b", "founded", 1), ("a", "b", "left", 2), ("b", "a", "left", 1)
    ]  # fmt: skip


# -- the rules --------------------------------------------------------------------------------------------------------

TEXT = "Orsby is a town on the River Aldra. It was founded by Nora Whitlock in 1889. A mayor governs it."


def test_the_rules_tell_each_fact_between_two_names():
    (result,) = step.extract(engine("rules"), [step.Input("Orsby", TEXT, ())])
    told = {entity.name: entity for entity in result.value.entities}
    assert told["Orsby"].type == "place" and told["1889"].type == "date" and told["River Aldra"].type == "place"
    assert "mayor" not in told, "what is no name is no node"
    founded = next(r for r in result.value.relations if (r.source, r.target) == ("Orsby", "Nora Whitlock"))
    assert founded.label == "founded by" and founded.keywords == ["founded"]
    assert founded.description == "It was founded by Nora Whitlock in 1889." == told["Nora Whitlock"].description
    assert told["Orsby"].description.startswith("Orsby is a town on the River Aldra.")
    assert {end for r in result.value.relations for end in (r.source, r.target)} <= told.keys()


def test_the_rules_use_the_types_that_they_are_given():
    types = (("settlement", "A city, town or village."), ("river", "A natural watercourse."))
    (output,) = rule_for(step.STEP)([step.Input("Orsby", TEXT, types)])
    found = {entity.name: entity.type for entity in output.entities}
    assert (found["Orsby"], found["River Aldra"], found["1889"]) == ("settlement", "river", "date")


@pytest.mark.parametrize(
    ("name", "noun", "type"),
    [
        ("Mira", "novelist", "Person"),
        ("Mira", "person", "Person"),
        ("Mira", "organisation", "Organization"),
        ("Mira", "", "unknown"),
        ("Mira", "joke", "unknown"),
        ("Steadfast (ship)", "person", "Artifact"),
        ("Lake Mira", "organisation", "Location"),
        ("Veronica Lake", "person", "Person"),
        ("University of Mira", "", "Organization"),
        ("1889", "", "Data"),
        ("3 May 1994", "", "Data"),
        ("23 arches", "", "Data"),
        ("", "", "unknown"),
    ],
)
def test_what_type_a_name_has_by_lightrag_s_types(name, noun, type):
    assert kinds.type_of(name, noun, step.TYPES) == type


def test_every_kind_of_the_rules_has_a_place_among_lightrag_s_types():
    for kind in kinds.KINDS:
        assert kinds.type_of("Mira", kind, step.TYPES) in dict(step.TYPES)
