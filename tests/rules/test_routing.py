"""Which words of a question are names: the graph knows films called "Fall" and "Go", and tags such as "writers"."""

from __future__ import annotations

import pytest
from invented_schemas import FILMS

from workbench.rules import routing
from workbench.steps import select_regions


def regions(question, named):
    return routing.regions(select_regions.Input(question, "", *FILMS, tuple(named)))


def spans(question, *named):
    return [anchor.span for anchor in regions(question, named).anchors]


@pytest.mark.parametrize(
    ("question", "named", "expected"),
    [
        ("who directed Dune Fever", [("Dune Fever", "film")], ["Dune Fever"]),
        ("what genres do films by Ada Lind fall under", [("Ada Lind", "person"), ("fall", "film")], ["Ada Lind"]),
        ("which films share the director of Go", [("director", "genre"), ("Go", "film")], ["Go"]),
        ("who wrote Anything for Her", [("Anything for Her", "film")], ["Anything for Her"]),
        ("What is it about", [("What", "film"), ("it", "film")], []),
        ("Lost has which actors", [("Lost", "film")], ["Lost"]),
        ("who wrote $", [("wrote", "film"), ("$", "film")], ["$"]),
        ("films from 1994", [("films", "genre"), ("1994", "year")], ["1994"]),
        ("which films did ada lind direct", [("films", "genre"), ("ada lind", "person")], ["ada lind"]),
        ("which films are about bees", [("about", "film"), ("bees", "genre")], ["bees"]),
        ("which films have the genre film", [("film", "genre")], ["film"]),  # nothing else is there
        ("did Ada Lind and Bo Carr meet", [("Bo Carr", "person"), ("Ada Lind", "person")], ["Ada Lind", "Bo Carr"]),
        ("Carr in Bo Carr", [("Carr", "person"), ("Bo Carr", "film")], ["Bo Carr"]),
        ("", [], []),
    ],
)
def test_names_are_what_is_no_ordinary_word_of_the_question(question, named, expected):
    assert spans(question, *named) == expected


def test_a_question_without_names_goes_by_its_topics():
    found = regions("what are long comedies about war", [])
    assert (found.anchors, found.routing) == ([], 0)
    assert found.topics[0] == "long comedies war"


def test_a_description_says_the_type_and_what_is_asked():
    found = regions("who directed Dune Fever", [("Dune Fever", "film")])
    assert found.anchors[0].description == (
        "Dune Fever is a film (A film, made to be shown on a screen), asked about with regard to directed."
    )
    assert found.routing == 1
    (anchor,) = regions("who made Fever", [("Fever", "genre"), ("Fever", "film")]).anchors
    assert anchor.type == "film", "of two types the more frequent one"
    named = [(name, "person") for name in ("Al Ba", "Cy Du", "Ed Fa", "Gi Ho")]
    assert len(spans("Al Ba, Cy Du, Ed Fa, Gi Ho", *named)) == 3, "no more than are wanted"
