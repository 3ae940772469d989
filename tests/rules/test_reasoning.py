"""The hops of a question, resolved in the passages as far as these go."""

import pytest

from workbench.rules.reasoning import links

STATION = ("Kestrel FM", "Kestrel FM is a community radio station founded by Nora Whitlock in 1984.")
FOUNDER = ("Nora Whitlock", "Nora Whitlock is a broadcaster who was born in Alderby.")
TOWN = ("Alderby", "Alderby is a town. Its mayor is Karl Weiss.")
MAYOR = "Who is the mayor of the town where the founder of Kestrel FM was born?"


@pytest.mark.parametrize(
    ("passages", "grounded", "queries"),
    [
        ([], [], ["Kestrel FM founder", "town born", "mayor"]),
        ([STATION], ["Nora Whitlock"], ["Kestrel FM founder", "Nora Whitlock town born", "mayor"]),
        (
            [FOUNDER, STATION],
            ["Nora Whitlock", "Alderby"],
            ["Kestrel FM founder", "Nora Whitlock town born", "Alderby mayor"],
        ),
        (
            [TOWN, FOUNDER, STATION],
            ["Nora Whitlock", "Alderby", "Karl Weiss"],
            ["Kestrel FM founder", "Nora Whitlock town born", "Alderby mayor"],
        ),
    ],
)
def test_each_passage_carries_the_chain_one_hop_further(passages, grounded, queries):
    chain = links(MAYOR, passages)
    assert [link.value for link in chain if link.grounded] == grounded
    assert [link.query for link in chain] == queries
    assert [link.last for link in chain] == [False, False, True]


@pytest.mark.parametrize(
    ("question", "last"),
    [
        ("Where was the director of Dune Fever born?", "born"),
        ("Who wrote the book that Ada Lind sold?", "wrote"),
        ("When did the company Kestrel Air is part of close?", "close"),
    ],
)
def test_verbs_stand_as_in_the_question(question, last):
    """Searched for as "bear", a birth would not be found."""
    assert links(question, [])[-1].relation == last


def test_a_comparison_has_a_link_for_each_side():
    chain = links("Who was born first, Nora Whitlock or Karl Weiss?", [])
    assert [link.names for link in chain] == [("Nora Whitlock",), ("Karl Weiss",)]
    assert all(link.last for link in chain)
    assert links("", [STATION]) == links("Is it?", [STATION]) == []
    founder, _, _ = links(MAYOR, [STATION, ("", "\x00\u202e"), ("", "")])
    assert founder.candidates[0].sentences == (STATION[1],)
    assert (founder.relation, founder.names) == ("founder", ("Kestrel FM",))
