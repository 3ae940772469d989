"""What the extraction rules read in plain sentences, none of which comes from a corpus."""

import pytest

from workbench.rules import extraction


def triples(text, title="Mora Tennant"):
    return [tuple(triple) for triple in extraction.triples([(title, text)])[0]]


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("Mora Tennant founded the Halden Theatre.", ("Mora Tennant", "found", "Halden Theatre")),
        ("She was born in Oslo.", ("Mora Tennant", "born in", "Oslo")),  # a pronoun stands for the title
        ("The theatre was designed by Karl Weiss.", ("theatre", "designed by", "Karl Weiss")),
        ("Mora Tennant is a Norwegian architect.", ("Mora Tennant", "is", "Norwegian architect")),
        ("Mora Tennant lived in Bergen and Oslo.", ("Mora Tennant", "live in", "Oslo")),
        ("Mora Tennant married Karl Weiss and moved to Vienna.", ("Mora Tennant", "move to", "Vienna")),
    ],
)
def test_reads(text, triple):
    assert triple in triples(text)


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
    (names,) = extraction.named_entities([("Oslo", "Oslo is in Norway. Norway has Oslo.")])
    assert names[0] == "Oslo"
    assert len(names) == len(set(names))
