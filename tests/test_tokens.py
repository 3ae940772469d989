"""Counting and cutting in cl100k tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import tokens
from workbench.text import storable

any_character = st.characters(exclude_categories=())  # lone surrogates included
awkward = st.text(st.sampled_from(" \n\t'aA19é中🏳\ufe0f\u200d🌈\ufffd\ud800<|>") | any_character)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("hello world", 2),
        ("tiktoken is great!", 6),  # the worked example of OpenAI's own cookbook
        ("antidisestablishmentarianism", 6),  # likewise
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
    ],
)
def test_counts_are_those_of_the_published_examples(text, count):
    assert tokens.count(text) == count


@given(awkward)
def test_counts_are_those_of_the_package(text):
    """Which is not imported to count (`tests/test_import_cost.py`)."""
    from bpe_openai import get_encoding

    assert tokens.count(text) == len(get_encoding("cl100k_base").encode_ordinary(storable(text)))


def test_the_text_of_a_special_token_is_text():
    assert tokens.count("<|endoftext|>") > 1
    assert tokens.cut("<|endoftext|> and more", 3).startswith("<|")


@given(awkward, st.integers(-3, 20))
def test_a_cut_text_keeps_its_budget_and_is_a_beginning(text, budget):
    cut = tokens.cut(text, budget)
    assert tokens.count(cut) <= max(0, budget)
    assert storable(text).startswith(storable(cut))


@given(st.text(st.sampled_from("ab cd\n"), min_size=1))
def test_a_cut_loses_no_more_than_it_must(text):
    total = tokens.count(text)
    assert tokens.count(tokens.cut(text, total - 1)) == total - 1


def test_a_text_that_is_longer_than_the_tokenizer_takes_has_the_tokens_of_its_parts():
    sentence = "Orsby lies on the River Aldra. "
    times = 2_500_000 // len(sentence)
    assert tokens.count(sentence * times) == 10 * times + 1  # the last space
    assert len(tokens.cut(sentence * times, 400_000)) == pytest.approx(40_000 * len(sentence), rel=0.01)
    for text in ("x" * 1_200_000, "👩\u200d" * 200_000):  # no place between words; more than a token a character
        assert tokens.count(tokens.cut(text, 1_000)) <= 1_000 < tokens.count(text)
        assert tokens.starts(text)[-1] == len(text)


def test_parts_have_the_tokens_of_the_whole(monkeypatch):
    text = "It's 1,234.5 km — from Örsby to the «Lake Mira», isn't it?\n\n  Yes. " * 30
    whole = tokens.starts(text)
    for name, value in (("_WHOLE", 0), ("_PART", 100), ("_LOOKED", 60)):
        monkeypatch.setattr(tokens, name, value)
    assert tokens.starts(text) == whole
