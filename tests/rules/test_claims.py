"""The rules of claims, by hand."""

from __future__ import annotations

import pytest

from workbench.rules.judging import verify_claim
from workbench.steps.answer import Input

PASSAGES = (
    ("Low Bridge", "Low Bridge crosses the Tarn at Selby. It was designed by Ines Marr and opened on 6 June 1931."),
    ("Ines Marr", "Ines Marr was an engineer. She never married. She built 31 bridges, and 1,200 metres of wall."),
)


def said(claim: str, passages=PASSAGES):
    return verify_claim(Input(claim, "", tuple(passages)))


@pytest.mark.parametrize(
    "claim",
    [
        "Ines Marr designed Low Bridge.",
        "The designer of the bridge over the Tarn was an engineer.",
        "Low Bridge was opened in 1931.",
        "Low Bridge opened on June 6, 1931.",
        "Ines Marr built thirty-one bridges.",
        "Ines Marr built 1200 metres of wall.",
        "The engineer Ines Marr never married.",
        "One of the bridges of Ines Marr crosses the Tarn at Selby.",
    ],
)
def test_what_the_passages_hold_is_supported(claim):
    assert said(claim).label == said(claim, PASSAGES[::-1]).label == "SUPPORTED", said(claim).thought


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ("Ines Marr designed the opera house of Quell.", "not in them: house, opera, quell"),
        ("Low Bridge was opened in 1932.", "no passage has the date 1932"),
        ("Low Bridge was opened on 7 June 1931.", "no passage has the date 7 June 1931"),
        ("Ines Marr built 32 bridges.", "no passage has the number 32"),
        ("Ines Marr built 31 bridges, and forty bridges.", "no passage has the number forty"),
        ("Ines Marr built 1300 metres of wall.", "no passage has the number 1300"),
        ("Ines Marr was not an engineer.", "affirmed in the passages: engineer"),
        ("Low Bridge wasn't designed by Ines Marr.", "affirmed in the passages: designed"),
        ("The engineer Ines Marr has married.", "negated in the passages: married"),
        ("Ines Marr built no bridges.", "affirmed in the passages: bridges"),
        ("Ines Marr built bridges without a wall.", "affirmed in the passages: wall"),
    ],
)
def test_what_they_lack_or_deny_is_not_and_the_thought_says_it(claim, why):
    output = said(claim)
    assert output.label == "NOT_SUPPORTED" and why in output.thought


def test_nothing_is_supported_without_passages_and_nothing_is_claimed_by_no_words():
    assert said("Ines Marr designed Low Bridge.", ()).label == "NOT_SUPPORTED"
    assert said("").label == said("It is so.").label == "NOT_SUPPORTED"


def test_what_is_negated_of_one_and_affirmed_of_another_is_left_open():
    passages = [*PASSAGES, ("Tom Reed", "Tom Reed married in Selby.")]
    for claim in ("Ines Marr never married.", "Ines Marr married in Selby."):
        assert said(claim, passages).label == "SUPPORTED"
