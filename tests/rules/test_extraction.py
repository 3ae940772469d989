"""What the extraction rules read in plain sentences, none of which comes from a corpus."""

import pytest

from workbench.rules import extraction
from workbench.steps import named_entities


def triples(text, title="Mora Tennant"):
    (output,) = extraction.triples([named_entities.TriplesInput(title, text, ())])
    return [tuple(triple) for triple in output.triples]


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("Mora Tennant founded the Halden Theatre.", ("Mora Tennant", "founded", "Halden Theatre")),
        ("She was born in Oslo.", ("Mora Tennant", "born in", "Oslo")),  # a pronoun stands for the title
        ("Her father was born in Oslo.", ("Mora Tennant", "father born in", "Oslo")),
        ("The theatre was designed by Karl Weiss.", ("Mora Tennant", "theatre designed by", "Karl Weiss")),
        ("Mora Tennant is a Norwegian architect.", ("Mora Tennant", "is", "Norwegian architect")),
        ("Mora Tennant lived in Bergen and Oslo.", ("Mora Tennant", "lived in", "Oslo")),
        ("Mora Tennant married Karl Weiss and moved to Vienna.", ("Mora Tennant", "moved to", "Vienna")),
        ("Mora Tennant is the capital of Norway.", ("Mora Tennant", "is capital of", "Norway")),
        ("She holds a degree from Oslo College.", ("Mora Tennant", "holds degree from", "Oslo College")),
        ("Mora Tennant, a Danish painter, lived in Rome.", ("Mora Tennant", "is", "Danish painter")),
        ("Karl Weiss, who was born in Rome, died in Paris.", ("Karl Weiss", "born in", "Rome")),
        ("She never returned to Vienna.", ("Mora Tennant", "never returned to", "Vienna")),
        ("The Halden Theatre in Bergen seats 900 people.", ("Halden Theatre", "in", "Bergen")),
        ("She built 23 bridges.", ("Mora Tennant", "built", "23 bridges")),  # a number with what it counts
    ],
)
def test_reads(text, triple):
    assert triple in triples(text)


@pytest.mark.parametrize(
    ("title", "text", "triple"),
    [
        ("Mora Tennant", "Tennant was born in Oslo.", ("Mora Tennant", "born in", "Oslo")),  # the surname
        ("Mora Tennant (architect)", "Mora Tennant was born in Oslo.", ("Mora Tennant (architect)", "born in", "Oslo")),
        ("Mora Tennant", "Mora Ingrid Tennant built bridges. Mora Ingrid Tennant was born in Oslo.",
         ("Mora Tennant", "born in", "Oslo")),  # the full name of the opening
        ("", "Mora Tennant was an architect. She was born in Oslo.", ("Mora Tennant", "born in", "Oslo")),
        ("Red Mole", "Red Mole is a novel. The novel was printed in Oslo.", ("Red Mole", "printed in", "Oslo")),
        ("Halden Theatre", "Karl Weiss was born in Bergen.", ("Karl Weiss", "born in", "Bergen")),
        ("Halden Theatre", "Karl Weiss was born in Bergen.", ("Halden Theatre", "born in", "Bergen")),  # tied to it
        ("Mora Tennant", "She was born in Windhoek, Namibia.", ("Windhoek", "is", "Namibia")),
    ],
)  # fmt: skip
def test_one_thing_has_one_name_and_what_is_said_is_tied_to_the_title(title, text, triple):
    assert triple in triples(text, title)


def test_a_section_is_about_its_document_and_only_the_title_is_what_it_is_said_to_be():
    text = "It burned in 1901 and was rebuilt by Mora Lind."
    assert triples(text, "The Old Mill › History") == triples(text, "The Old Mill")
    found = triples("In Bergen Karl Weiss met Ilse Brandt, sister of Paul Krug.", "Halden Theatre")
    assert not any(subject == "Halden Theatre" and relation == "is" for subject, relation, _ in found)


@pytest.mark.parametrize(
    ("text", "gained"),
    [
        ("Mora Ingrid Tennant was born in Oslo.", ("Mora Tennant", "born in", "Oslo")),
        ("She was born in Oslo.", ("Mora Tennant", "born in", "Oslo")),
        ("She is an architect.", ("Mora Tennant", "is", "architect")),
        ("She built bridges.", ("Mora Tennant", "built", "bridges")),
        ("She built 23 bridges.", ("Mora Tennant", "built", "23 bridges")),
    ],
)
def test_what_is_said_of_the_title_is_found_under_its_name(text, gained):
    assert list(gained) in extraction.read([("Mora Tennant", text)], tied=False)[0].triples


def test_facts_about_others_are_tied_to_the_title_where_that_is_asked():
    whole, without = (
        extraction.read([("Mora Tennant", "Karl Weiss was born in Oslo.")], tied=tied)[0].triples
        for tied in (True, False)
    )
    assert ["Mora Tennant", "born in", "Oslo"] in whole
    assert ["Mora Tennant", "born in", "Oslo"] not in without


def test_types_are_what_a_thing_is_said_to_be_else_the_kind_of_its_name():
    (reading,) = extraction.read([("Mora Tennant", "Mora Tennant is a Norwegian architect. She was born in Oslo.")])
    assert reading.types["Mora Tennant"] == "architect"
    assert reading.types["Oslo"] == "place"
