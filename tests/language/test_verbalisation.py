"""The template writer: how a definition words a relation, and what articles and descriptions say, in full."""

from __future__ import annotations

import pytest

from workbench.language.verbalisation import NAMED, Wording, article, description, sentence, wordings

BRIDGES = (
    ("built_by", ("bridge",), ("person",), "The bridge was built by the person. He or she designed it."),
    ("spans", ("bridge",), ("river",), "The bridge leads over the river."),
    ("in_style", ("bridge",), ("style",), "The bridge is in the style."),
)
LANTHORN = [
    ("Lanthorn", "built_by", "Ilse"),
    ("Lanthorn", "in_style", "gothic"),
    ("Lanthorn", "spans", "Aldra"),
    ("Lanthorn", "spans", "Quell"),
]


@pytest.mark.parametrize(
    ("relation", "worded"),
    [
        (BRIDGES[0], Wording("was built by", "", "", "The bridge", "the person")),
        # The relation's name says that the tail is a value of its type.
        (BRIDGES[2], Wording("is in", "the style", "", "The bridge", "the style")),
        (("has_tags", ("film",), ("tag",), "The film has the tag."),
         Wording("has", "the tag", "", "The film", "the tag")),
        (("rated", ("film",), ("tag",), "The film is deemed the tag by its viewers."),
         Wording("is deemed", "", "by its viewers", "The film", "the tag")),
        (("child of", ("person",), ("person",), "The person is a child of the person."),
         Wording("is a child of", "", "", "The person", "the person")),
        # Definitions that are no sentence about the two ends.
        (("child of", ("person",), ("person",), "The first person is a child of the second."), Wording("child of")),
        (("lies_on", (), (), "The town lies on the river."), Wording("lies on")),
        (("lies_on", ("town",), ("river",), ""), Wording("lies on")),
        (("lies_on", ("town",), ("river",), "It lies on the river."), Wording("lies on")),
        (("r", ("a.b",), ("c*",), "The a.b has the c*."), Wording("r")),
        (("r", ("a.b",), ("c+d",), "The a.b has the c+d one."), Wording("has", "", "one", "The a.b", "the c+d")),
        (("", ("town",), ("river",), "The town lies on the river."),
         Wording("lies on", "", "", "The town", "the river")),
    ],
)  # fmt: skip
def test_a_relation_is_worded_by_its_definition_or_else_by_its_name(relation, worded):
    assert wordings((relation,)) == {relation[0]: worded}


def test_an_article_tells_each_triple_once():
    triples = [*LANTHORN, ("Bridge Walk", "passes", "Lanthorn"), ("Old Pier", "passes", "Lanthorn")]
    assert article("Lanthorn", triples, BRIDGES) == (
        "<Lanthorn> was built by [Ilse]; is in the style [gothic]; leads over [Aldra], [Quell]. "
        "[Bridge Walk], [Old Pier] passes <Lanthorn>."
    )


def test_several_subjects_have_a_verb_for_several():
    told = article("Ilse", [("Lanthorn", "built_by", "Ilse"), ("Weir", "built_by", "Ilse")], BRIDGES)
    assert told == "[Lanthorn], [Weir] were built by <Ilse>."
    assert article("Ilse", [("Weir", "built_by", "Ilse")], BRIDGES) == "[Weir] was built by <Ilse>."


def test_a_description_calls_the_entity_by_its_type_and_follows_the_schema():
    assert description("Lanthorn", LANTHORN, BRIDGES) == (
        "The bridge was built by Ilse; leads over Aldra, Quell; is in the style gothic."
    )
    assert description("gothic", [("Lanthorn", "in_style", "gothic")], BRIDGES) == "Lanthorn is in the style."
    assert description("a", [("a", "on", "b"), ("c", "on", "a")], ()) == "It on b. c on it."


def test_of_many_names_a_description_takes_some_of_each_relation():
    triples = [(f"b{n:02}", relation, "x") for relation in ("built_by", "in_style") for n in range(2_000)]
    assert description("x", triples, BRIDGES) == (
        "b00, b01, b02, b03, b04 and 1,995 more were built by the person. "
        "b00, b01, b02, b03 and 1,996 more are in the style."
    )
    one_each = [("x", f"r{n:02}", f"y{n:02}") for n in range(30)]
    assert sum(f"y{n:02}" in description("x", one_each, ()) for n in range(30)) == NAMED


def test_a_triple_that_leads_back_is_told_once():
    loop = [("Aldra", "spans", "Aldra")]
    assert article("Aldra", loop, BRIDGES) == "<Aldra> leads over [Aldra]."
    assert description("Aldra", loop, BRIDGES) == "The bridge leads over Aldra."
    assert sentence(loop[0], BRIDGES) == "[Aldra] leads over [Aldra]."
    assert article("x", [], BRIDGES) == description("x", [], BRIDGES) == ""
