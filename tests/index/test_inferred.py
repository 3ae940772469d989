"""A schema from triples alone: which ends are of one type, what the types are called, of what kind they are."""

from __future__ import annotations

from workbench.data.graph import Relation
from workbench.index.textualise import MOST, inferred
from workbench.records import Triple

OWLS = [Triple(*row) for row in (
    ("Comet Abel", "found_by", "Ada Lorring"), ("Comet Doru", "found_by", "Ada Lorring"),
    ("Comet Gull", "found_by", "Boris Kettel"), ("Comet Abel", "seen_in", "1912"), ("Comet Doru", "seen_in", "1934"),
    ("Comet Gull", "seen_in", "1912"), ("Ada Lorring", "mentor", "Boris Kettel"),
    ("Boris Kettel", "mentor", "Mina Castell"),
)]  # fmt: skip


def test_ends_that_share_their_entities_are_of_one_type():
    schema = inferred(OWLS)
    assert schema.relations == (
        Relation("found_by", "", ("comet",), ("mentor",)),
        Relation("mentor", "", ("mentor",), ("mentor",)),
        Relation("seen_in", "", ("comet",), ("→ seen_in",)),
    )
    assert {one.name for one in schema.entity_types} == {"comet", "mentor", "→ seen_in"}


def test_a_definition_says_of_what_kind_the_names_are():
    said = {one.name: one.definition for one in inferred(OWLS).entity_types}
    assert said["→ seen_in"] == "A date, such as 1912, 1934."
    assert said["comet"].startswith("Something, such as Comet Abel")
    assert inferred([Triple("Owl", "lies_in", "Orsby")]).entity_types[-1].definition == "A place, such as Orsby."


def test_the_order_of_the_triples_does_not_matter():
    assert inferred(OWLS) == inferred(OWLS[::-1])


def test_wordings_of_texts_have_no_types():
    schema = inferred(Triple(f"a{at}", f"label {at}", f"b{at}") for at in range(MOST + 1))
    assert not schema.entity_types and schema.relations[0] == Relation("label 0", "", (), ())


def test_a_graph_of_nothing_has_an_empty_schema():
    assert not inferred([]).relations
