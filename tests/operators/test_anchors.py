"""Names in a question, letter by letter."""

import pytest
from typed_graphs import TypedGraph

from workbench.operators.linking import exact, named

TYPES = {
    "Tom Hale": "person", "Tom": "person", "The Owl": "film", "Owl": "tag", "Comedy": "genre", "comedy": "tag",
    "It": "film", "9": "film", "$": "film", "?": "film", "Ocean's Eleven": "film", "WALL·E": "film", "Who": "film",
    "東京": "town", "Straße": "film", "The": "tag", "It Is": "film", "[REC]": "film", "movies": "tag",
    "Ｗｉｄｅ": "film",
}  # fmt: skip


@pytest.fixture(scope="module")
def typed():
    return TypedGraph(TYPES, [])


def names(typed, question):
    return [(span, typed.names[row]) for span, row in named(typed, question)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what did Tom Hale write", [("Tom Hale", "Tom Hale")]),  # the longest, not Tom
        ("what did tom  hale write", [("tom  hale", "Tom Hale")]),  # as the question writes it
        ("what did [Tom Hale] write?", [("Tom Hale", "Tom Hale")]),
        ("Tom and Tom Hale", [("Tom", "Tom"), ("Tom Hale", "Tom Hale")]),
        ("who made the owl", [("the owl", "The Owl")]),  # longer than the tag, though not in these letters
        ("Comedy", [("Comedy", "Comedy")]),
        ("comedy", [("comedy", "comedy")]),
        ("COMEDY", [("COMEDY", "Comedy"), ("COMEDY", "comedy")]),  # neither, so both
        ("who directed It", [("It", "It")]),
        ("who directed it and the one who wrote it", []),
        ("is it 9", [("9", "9")]),
        ("the film $?", [("$", "$")]),  # a sign is a name, a question mark ends a question
        ("who is in Ocean's eleven", [("Ocean's eleven", "Ocean's Eleven")]),
        ("wall·e", [("wall·e", "WALL·E")]),
        ("what movies are there", [("movies", "movies")]),
        ("in 東京 now", [("東京", "東京")]),
        ("STRASSE", [("STRASSE", "Straße")]),
        ("wide", [("wide", "Ｗｉｄｅ")]),
        ("Tomorrow", []),  # no part of a word
        ("", []),
        ("\x00\ud800 Tom\u202e", [("Tom", "Tom")]),
        ("<b>Tom</b>", [("Tom", "Tom")]),
    ],
)
def test_names_in_a_question(typed, question, expected):
    assert names(typed, question) == expected
    for name, found in {
        "tom": ["Tom"],
        "COMEDY": ["Comedy", "comedy"],
        "[Tom Hale]": ["Tom Hale"],
        "?": ["?"],
        " ": [],
    }.items():
        assert [typed.names[row] for row in exact(typed, name)] == found


def test_a_graph_without_entities_names_nothing():
    assert named(TypedGraph({}, []), "who") == [] and exact(TypedGraph({}, []), "who") == []


def test_a_graph_is_not_kept_alive_by_its_names():
    import gc
    import weakref

    graph = TypedGraph({"Tom": "person"}, [])
    named(graph, "Tom")
    gone = weakref.ref(graph)
    del graph
    gc.collect()
    assert gone() is None
