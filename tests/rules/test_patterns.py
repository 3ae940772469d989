"""Questions as triple patterns. All names are invented for these tests."""

import pytest

from workbench.rules.patterns import query, write
from workbench.sparql import Comparison, parse
from workbench.sparql.query import MOST


def members(question, known=()):
    return [pattern.members for pattern in query(question, known).patterns]


@pytest.mark.parametrize(
    ("question", "patterns"),
    [
        ("Who designed the Tessel Bridge?", [("Tessel Bridge", "designed by", "?answer")]),
        (
            "Where was the director of Dune Fever born?",
            [("Dune Fever", "director", "?x1"), ("?x1", "born in", "?answer")],
        ),
        (
            "When did the mother of the composer of Dune Fever die?",
            [("Dune Fever", "composer", "?x2"), ("?x2", "mother", "?x1"), ("?x1", "date of death", "?answer")],
        ),
        (
            "Who was the maternal grandfather of Ada Lindqvist?",
            [("Ada Lindqvist", "mother", "?x1"), ("?x1", "father", "?answer")],
        ),
        ("How tall is the Tessel Tower?", [("Tessel Tower", "height", "?answer")]),
        ("How many bells has the Tessel Tower?", [("Tessel Tower", "number of bell", "?answer")]),
        ("In which year was Kestrel FM founded?", [("Kestrel FM", "date founded", "?answer")]),
    ],
)
def test_a_hop_is_a_pattern_and_what_is_inside_comes_first(question, patterns):
    written = query(question)
    assert members(question) == patterns and parse(str(written)) == written, "what is written is read back"
    assert query(question).wanted == "?answer"


def test_a_name_that_is_written_small_is_known_from_a_title():
    assert query("Who first described silverhask?").flaw
    assert members("Who first described silverhask?", ["Silverhask"]) == [
        ("silverhask", "first described by", "?answer")
    ]


@pytest.mark.parametrize(
    ("question", "compare"),
    [
        (
            "Who was born first, Ada Lindqvist or Bo Marr?",
            Comparison("earlier", ("?x1", "?x2"), ("Ada Lindqvist", "Bo Marr")),
        ),
        ("Is Kestrel FM older than Radio Plover?", Comparison("earlier", ("?x1", "?x2"), ("yes", "no"))),
        ("Did Ada Lindqvist outlive Bo Marr?", Comparison("later", ("?x1", "?x2"), ("yes", "no"))),
        ("By how many years is Kestrel FM older than Radio Plover?", Comparison("difference", ("?x1", "?x2"))),
        ("Were Ada Lindqvist and Bo Marr born in the same town?", Comparison("same", ("?x1", "?x2"), ("yes", "no"))),
    ],
)  # fmt: skip
def test_a_comparison_has_a_pattern_for_either_side(question, compare):
    found = query(question)
    assert found.compare == compare and parse(str(found)) == found
    (one, said, first), (other, same, second) = (pattern.members for pattern in found.patterns)
    assert said == same and (first, second) == compare.of and one != other


def test_sides_that_are_described_are_found_first():
    found = query("Who died first, the founder of the Tessel Clinic or the painter of The Grey Oar?")
    assert [pattern.members for pattern in found.patterns] == [
        ("Tessel Clinic", "founder", "?x1"),
        ("?x1", "date of death", "?x2"),
        ("Grey Oar", "painter", "?x3"),
        ("?x3", "date of death", "?x4"),
    ]
    assert found.compare == Comparison("earlier", ("?x2", "?x4"), ("?x1", "?x3"))


@pytest.mark.parametrize(
    ("question", "flaw"),
    [
        ("", "nothing is asked"),
        ("Who is it that sings?", "names nothing"),
        ("Was Ada Lindqvist a singer?", "yes or no"),
        ("Who lived longer, Ada Lindqvist or Bo Marr?", "'life' is not written"),
        (
            "Who married the son of the founder of the firm that built the ship of the finder of Tessel Bay?",
            f"at most {MOST}",
        ),
    ],
)
def test_what_patterns_cannot_say_is_a_flaw(question, flaw):
    assert flaw in query(question).flaw and write(question) == ""
