"""The extraction contract of GraphRAG: what is read of replies, well-formed, broken and hostile; the second round."""

from __future__ import annotations

import pytest

from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.llm import engine
from workbench.rules import rule_for
from workbench.steps import graph_records as step
from workbench.steps.graph_records import END, EntityRecord, Output, RelationRecord


def entities(text: str) -> list[tuple[str, str, str]]:
    return [(e.name, e.type, e.description) for e in step.read(text).entities]


def relations(text: str) -> list[tuple]:
    return [(r.source, r.target, r.description, r.strength) for r in step.read(text).relationships]


def test_a_reply_as_it_should_be():
    said = step.read(
        '("entity"<|>Orsby<|>geo<|>A town)\n##\n("entity"<|>Nora Whitlock<|>person<|>Its founder)\n##\n'
        '("relationship"<|>Nora Whitlock<|>Orsby<|>She founded it<|>8.5)\n<|COMPLETE|>'
    )
    assert said == Output(
        entities=[EntityRecord(name="Orsby", type="geo", description="A town"),
                  EntityRecord(name="Nora Whitlock", type="person", description="Its founder")],
        relationships=[RelationRecord(source="Nora Whitlock", target="Orsby", description="She founded it",
                                      strength=8.5)],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("record", "read"),
    [
        ('("ENTITY"<|>Orsby<|>geo<|>A town)', ("Orsby", "geo", "A town")),
        ("(entity<|>Orsby<|>geo<|>A town)", ("Orsby", "geo", "A town")),
        ('"entity"<|>Orsby<|>geo<|>A town', ("Orsby", "geo", "A town")),
        ('("entity" <|> "Orsby" <|> **geo** <|> A town (small))', ("Orsby", "geo", "A town (small)")),
        ('"entity"<|>Orsby<|>geo<|>A town (small)', ("Orsby", "geo", "A town (small)")),
        ('("entity"<|>Orsby<|>geo)', ("Orsby", "geo", "")),  # fields are missing
        ('("entity"<|>Orsby)', ("Orsby", "", "")),
        ('("entity"<|>Or\nsby\x00<|>geo<|>A\ttown)', ("Or sby", "geo", "A town")),
        ('("entity"<|><b>東京</b><|>geo<|>&amp;)', ("<b>東京</b>", "geo", "&amp;")),
        ('("entity"<|>Orsby<|>geo<|>A town<|>more<|>and more)', ("Orsby", "geo", "A town")),
    ],
)
def test_what_is_read_of_an_entity(record, read):
    assert entities(record + END) == [read]


@pytest.mark.parametrize(
    ("strength", "read"),
    [("7", 7.0), (" 2.5 ", 2.5), ("strong", 1.0), ("", 1.0), ("-3", 1.0), ("nan", 1.0), ("inf", 1.0), ("0", 1.0),
     ("9/10", 1.0), ("1e999", 1.0)],
)  # fmt: skip
def test_a_strength_that_is_no_positive_number_is_1(strength, read):
    assert relations(f'("relationship"<|>a<|>b<|>how<|>{strength})') == [("a", "b", "how", read)]


def test_a_relationship_without_description_or_strength():
    assert relations('("relationship"<|>a<|>b)##("RELATIONSHIP"<|>c<|>d<|>how)') == [
        ("a", "b", "", 1.0), ("c", "d", "how", 1.0)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "bad",
    ["Here are the records:", '("entity"<|><|>geo<|>x)', '("relationship"<|>a<|><|>how<|>3)', '("claim"<|>a<|>b<|>c)',
     '("relationship"<|>a)', "()", "(", '{"entities": []}'],
)  # fmt: skip
def test_what_is_no_record_is_skipped_and_counted(bad):
    said = step.read(f'{bad}##("entity"<|>Orsby<|>geo<|>A town){END}')
    assert [entity.name for entity in said.entities] == ["Orsby"]
    assert said.skipped == 1 and said.relationships == []


LINES = ['("entity"<|>Orsby<|>geo<|>A town (old))', '("entity"<|>Aldra<|>geo<|>A river)',
         '("relationship"<|>Orsby<|>Aldra<|>It lies on it<|>7)']  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(LINES),
        "\n\n".join(LINES),
        "".join(LINES),
        "```\n" + "\n".join(LINES) + "\n```",
        "Here are the records:\n" + "\n##\n".join(LINES) + "\nI hope this helps.",
        "\n".join(f"{number}. {line}" for number, line in enumerate(LINES, 1)),
        "\n".join(f"- {line[1:-1]}" for line in LINES),
    ],
)
def test_records_are_read_without_the_signs_between_them(text):
    """Of records in lines only the first was read, with the others in its description, and none was counted."""
    for end in ("", "\n" + END):
        said = step.read(text + end)
        assert [(entity.name, entity.description) for entity in said.entities] == [
            ("Orsby", "A town (old)"), ("Aldra", "A river"),
        ]  # fmt: skip
        assert [(one.source, one.target, one.strength) for one in said.relationships] == [("Orsby", "Aldra", 7.0)]
        assert said.skipped == 0


def test_a_record_of_another_kind_between_them_is_counted():
    said = step.read("\n".join([LINES[0], '("claim"<|>Orsby<|>is old)', LINES[1]]))
    assert [entity.description for entity in said.entities] == ["A town (old)", "A river"] and said.skipped == 1


ORSBY = '("entity"<|>Orsby<|>geo<|>A town)'

# -- profiles --------------------------------------------------------------------------------------------------------


def test_records_of_all_passages_become_profiles():
    found = {
        "p1": step.read(f'{ORSBY}##("entity"<|>Nora<|>person<|>)##("relationship"<|>Nora<|>Orsby<|>Founded it.<|>2)'),
        "p2": step.read('("entity"<|>ORSBY<|>Geo<|>A port)##("entity"<|>Orsby<|>event<|>A fair)##'
                        '("relationship"<|>nora<|>orsby<|>Founded it.<|>3.5)##'
                        '("relationship"<|>Orsby<|>Nora<|>Back<|>1)##'
                        '("relationship"<|>Orsby<|>Quell<|>Unknown end<|>9)'),
    }  # fmt: skip
    assert step.merged(found) == Profiles(
        (
            EntityProfile("Orsby", "geo", "A town A port", ("p1", "p2")),
            EntityProfile("Nora", "person", "", ("p1",)),
            EntityProfile("Orsby", "event", "A fair", ("p2",)),
        ),
        (
            RelationProfile("Nora", "Orsby", "Founded it.", (), 5.5, ("p1", "p2")),
            RelationProfile("Orsby", "Nora", "Back", (), 1.0, ("p2",)),
        ),
    )
    assert step.merged({}) == Profiles()


def test_the_rules_describe_and_weigh_what_they_find():
    text = "Orsby is a town on the River Aldra. Orsby was founded by Nora Whitlock in 1889."
    (result,) = step.extract(engine("rules"), [step.Input("Orsby", text)])
    said = result.value
    assert "Orsby" in [entity.name for entity in said.entities]
    assert all(entity.description for entity in said.entities)
    ends = {frozenset((relation.source, relation.target)) for relation in said.relationships}
    assert frozenset(("Orsby", "Nora Whitlock")) in ends and len(ends) == len(said.relationships)
    assert all(1 <= relation.strength <= 10 for relation in said.relationships)


def test_the_rules_read_the_parts_of_a_text_one_by_one():
    parts = (("Orsby", "Orsby lies on the River"), ("", "Aldra Mills was founded by Nora Whitlock."))
    whole = step.Input("", "".join(text for _, text in parts), parts=parts)
    alone = [output for title, text in parts for output in rule_for(step.STEP)([step.Input(title, text)])]
    (output,) = rule_for(step.STEP)([whole])
    assert output.entities == [entity for said in alone for entity in said.entities]
    assert output.relationships == [relation for said in alone for relation in said.relationships]
    assert len(output.relationships) > 1
    assert step.STEP.prompt(whole) == step.STEP.prompt(step.Input("", whole.text))  # a model is shown the text
