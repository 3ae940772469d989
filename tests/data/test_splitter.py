"""Splitting loses nothing, keeps to its size, and ends where a reader would."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.data.splitter import length, split
from workbench.errors import SettingError

PROSE = st.text(st.sampled_from("abAB. \n\t!?“”,日本語。\u200b\u2028😀é-"), max_size=400)
UNIT_AND_SIZE = st.one_of(
    st.tuples(st.just("words"), st.integers(1, 40)), st.tuples(st.just("tokens"), st.integers(8, 60))
)


def bare(text: str) -> str:
    return re.sub(r"\s", "", text)


@given(st.one_of(PROSE, st.text(max_size=300)), UNIT_AND_SIZE)
def test_without_overlap_the_passages_joined_are_the_text(text, unit_and_size):
    unit, size = unit_and_size
    text = text.encode("utf-8", "replace").decode()
    passages = split(text, size, 0, unit)
    assert bare("".join(passages)) == bare(text)
    assert all(passage == passage.strip() and passage for passage in passages)


@given(PROSE, UNIT_AND_SIZE, st.integers(0, 59))
def test_no_passage_is_longer_than_its_size_and_each_adds_something(text, unit_and_size, overlap):
    unit, size = unit_and_size
    passages = split(text, size, overlap % size, unit)
    assert all(0 < length(passage, unit) <= size for passage in passages)
    assert len(passages) <= len(bare(text))
    at = 0
    for passage in passages:  # each begins where the one before it does, or later, and all are cut from the text
        at = text.index(passage, at)


def test_a_paragraph_end_wins_over_a_sentence_end_and_that_over_a_space():
    text = "One two three. Four five six.\n\nSeven eight nine. Ten eleven twelve thirteen."
    assert split(text, 8) == ["One two three. Four five six.", "Seven eight nine. Ten eleven twelve thirteen."]
    assert split(text, 5) == ["One two three.", "Four five six.", "Seven eight nine.", "Ten eleven twelve thirteen."]
    assert split("one two three four five", 2) == ["one two", "three four", "five"]


def test_titles_and_initials_end_no_sentence():
    assert split("We met Dr. Orme and J. Pell. They left at noon.", 8) == [
        "We met Dr. Orme and J. Pell.",
        "They left at noon.",
    ]


def test_the_overlap_begins_at_a_sentence_where_one_begins():
    text = "One two three four. Five six. Seven eight nine ten."
    assert split(text, 6, 3) == ["One two three four. Five six.", "Five six. Seven eight nine ten."]
    assert split("a b c d e f g", 4, 2) == ["a b c d", "c d e f", "e f g"]


def test_scripts_without_spaces_are_split_too():
    assert split("日本語の文章です。これは文です。", 9) == ["日本語の文章です。", "これは文です。"]
    assert [len(piece) for piece in split("x" * 100, 1)] == [40, 40, 20]


def test_tokens_are_counted_as_the_budget_counts_them():
    from workbench import tokens

    text = "The ferry crosses the strait at dawn. " * 30
    pieces = split(text, 50, 10, "tokens")
    assert all(20 < tokens.count(piece) <= 50 for piece in pieces[:-1])
    assert all(piece.startswith("The ferry") and piece.endswith("dawn.") for piece in pieces)


@pytest.mark.parametrize("text", ["", " \n\t\u2003"])
def test_nothing_gives_nothing(text):
    assert split(text) == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"size": 0}, "size=0 should be .* at least 1"),
        ({"size": 2.5}, "size=2.5"),
        ({"size": True}, "size=True"),
        ({"size": 7, "unit": "tokens"}, "at least 8"),
        ({"size": 10, "overlap": 10}, "overlap=10 .* from 0 to size - 1"),
        ({"overlap": -1}, "overlap=-1"),
        ({"unit": "letters"}, "unit='letters' is not known; use one of words, tokens"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, said):
    with pytest.raises(SettingError, match=said):
        split("text", **settings)


def test_a_long_text_takes_no_long_time():
    assert len(split("word " * 200_000, 100, 20)) == pytest.approx(2500, abs=1)
    assert len(split("\n" * 200_000 + "end", 200, 0, "tokens")) == 1
