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


def test_a_place_within_a_place_is_tied_to_it():
    assert ("Windhoek", "is", "Namibia") in triples("She was born in Windhoek, Namibia.")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Mora Tennant", "Tennant was born in Oslo."),  # the surname
        ("Mora Tennant (architect)", "Mora Tennant was born in Oslo."),  # without the bracket
        ("Mora Tennant", "Mora Ingrid Tennant was born in Oslo."),  # the full name of the opening
        ("Mora Tennant", "Mora Ingrid Tennant built bridges. Mora Ingrid Tennant was born in Oslo."),
    ],
)
def test_one_thing_has_one_name(title, text):
    assert (title, "born in", "Oslo") in triples(text, title)


def test_the_novel_is_the_title_once_it_is_said_to_be_a_novel():
    assert ("Red Harbour", "printed in", "Oslo") in triples(
        "Red Harbour is a novel. The novel was printed in Oslo.", "Red Harbour"
    )


def test_what_is_said_of_something_else_is_tied_to_the_title():
    found = triples("Karl Weiss was born in Bergen.", "Halden Theatre")
    assert ("Karl Weiss", "born in", "Bergen") in found
    assert ("Halden Theatre", "born in", "Bergen") in found


def test_what_something_else_is_the_title_has():
    found = triples("In Bergen Karl Weiss met Ilse Brandt, sister of Paul Krug.", "Halden Theatre")
    assert not any(subject == "Halden Theatre" and relation == "is" for subject, relation, _ in found)


def test_a_passage_without_a_title_is_about_its_first_name():
    assert ("Mora Tennant", "born in", "Oslo") in triples("Mora Tennant was an architect. She was born in Oslo.", "")


@pytest.mark.parametrize(
    ("part", "text", "gained"),
    [
        ("names", "Mora Ingrid Tennant was born in Oslo.", ("Mora Tennant", "born in", "Oslo")),
        ("referents", "She was born in Oslo.", ("Mora Tennant", "born in", "Oslo")),
        ("topic", "Karl Weiss was born in Oslo.", ("Mora Tennant", "born in", "Oslo")),
        ("classes", "She is an architect.", ("Mora Tennant", "is", "architect")),
        ("objects", "She built bridges.", ("Mora Tennant", "built", "bridges")),
        ("amounts", "She built 23 bridges.", ("Mora Tennant", "built", "23 bridges")),
    ],
)
def test_each_part_can_be_left_out(part, text, gained):
    whole, without = (
        extraction.read([("Mora Tennant", text)], parts)[0].triples
        for parts in (extraction.Parts(topic=part == "topic"), extraction.Parts(**{"topic": False, part: False}))
    )
    assert list(gained) in whole
    assert list(gained) not in without


def test_types_are_what_a_thing_is_said_to_be_else_the_kind_of_its_name():
    (reading,) = extraction.read([("Mora Tennant", "Mora Tennant is a Norwegian architect. She was born in Oslo.")])
    assert reading.types["Mora Tennant"] == "architect"
    assert reading.types["Oslo"] == "place"


def test_every_named_entity_is_in_some_triple():
    found = " ".join(" ".join(triple) for triple in triples("In 1999, during a stay in Prague, all changed."))
    assert "1999" in found
    assert "Prague" in found


@pytest.mark.parametrize(
    "text", ["", "   ", "?!", "東京は日本の首都である。", "x" * 5000, "\x00\u202e🦊", "a. b. c. d."]
)
def test_any_text_gives_well_formed_triples(text):
    for title in ("", "Title"):
        for triple in triples(text, title):
            assert len(triple) == 3
            assert all(isinstance(member, str) and member for member in triple)


def test_entities_begin_with_the_title_and_do_not_repeat():
    (output,) = extraction.named_entities([named_entities.Input("Oslo", "Oslo is in Norway. Norway has Oslo.")])
    names = output.named_entities
    assert names[0] == "Oslo"
    assert len(names) == len(set(names))


def test_a_section_is_about_what_its_document_is_about():
    text = "It burned in 1901 and was rebuilt by Mora Lind."
    assert triples(text, "The Old Mill › History") == triples(text, "The Old Mill")
