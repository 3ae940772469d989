import pytest

from workbench.rules.answering import answer

PASSAGES = [
    ("Halden Theatre", "The Halden Theatre in Oslo was designed by Karl Weiss and opened in 1931."),
    ("Karl Weiss", "Karl Weiss (born 1889 in Vienna) was an architect."),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who designed the Halden Theatre?", "Karl Weiss"),
        ("When was the Halden Theatre opened?", "1931"),
        ("Where is the Halden Theatre?", "Oslo"),
    ],
)
def test_takes_the_span_of_the_kind_asked_for(question, expected):
    assert answer(question, PASSAGES).answer == expected


@pytest.mark.parametrize("question", ["Is the theatre in Oslo?", "Who invented the zip fastener?", "", "???"])
def test_abstains_where_it_has_no_ground(question):
    found = answer(question, PASSAGES)
    assert found.abstained
    assert found.answer == ""


def test_no_passages_no_answer():
    assert answer("Who designed the Halden Theatre?", []).abstained
