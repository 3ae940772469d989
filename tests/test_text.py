"""Identity of phrases and what may be written to a file."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.text import (
    ascii_phrase,
    at_boundaries,
    bounded,
    normalized,
    printable,
    printable_json,
    storable,
    text_hash,
    unicode_phrase,
)

# The direction of text, or lines.
TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"
any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates included


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("S.O.B.", "s o b"),
        ("Râul", "r ul"),
        ("C++", "c"),
        ("東京", ""),
        ("Двина", ""),
        ("  A  b ", "a  b"),  # inner runs of spaces stay, as in the released code
        ("K2", "k2"),  # the Kelvin sign is k in lower case
        ("line\nbreak", "line break"),
        ("", ""),
    ],
)
def test_the_ascii_rule_is_the_released_codes(text, phrase):
    assert ascii_phrase(text) == phrase


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("S.O.B.", "s o b"),
        ("Râul", "râul"),
        ("Ra\u0302ul", "râul"),  # one way to write a letter
        ("東京", "東京"),
        ("Двина-река", "двина река"),
        ("नदी", "नदी"),  # vowel signs are marks, and part of the word
        ("نهر", "نهر"),
        ("STRASSE Straße", "strasse strasse"),
        ("Ⅻ ②", "xii 2"),
        ("C++", "c"),
        ("…", ""),
        ("☎\ufe0f", ""),  # what is left of this emoji is invisible
    ],
)
def test_the_unicode_rule_keeps_every_script(text, phrase):
    assert unicode_phrase(text) == phrase


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_takes_a_shorter_way_to_the_same_phrase(text):
    """A word of another script beside it takes the long way."""
    assert unicode_phrase(f"{text} 東京") == f"{unicode_phrase(text)} 東京".strip()


@given(any_text)
@example("ß\u0301")  # folds to ss, whose second s takes the accent
@example("ΐ\u0345\u0301")
@example("a\u200d\ufe0f\u0301")
def test_a_phrase_is_its_own_phrase(text):
    assert unicode_phrase(unicode_phrase(text)) == unicode_phrase(text)
    assert ascii_phrase(ascii_phrase(text)) == ascii_phrase(text)


@given(any_text)
def test_letters_and_digits_of_every_script_survive(text):
    assert bool(unicode_phrase(text)) == any(map(str.isalnum, text))


@given(any_text)
def test_storable_text_can_be_written_and_only_halves_are_touched(text):
    stored = storable(text)
    stored.encode("utf-8")
    assert len(stored) == len(text)
    assert all(a == b or (b == "\ufffd" and "\ud800" <= a <= "\udfff") for a, b in zip(text, stored))


def test_a_hash_names_any_text():
    assert text_hash("abc") == "ba7816bf8f01cfea"  # the beginning of SHA-256, from its standard
    assert len({text_hash(text) for text in ("", " ", "\ud800", "\udfff", "\ufffd")}) == 5


@given(any_text)
def test_what_is_printable_steers_no_terminal_and_json_still_says_it(text):
    shown = [c for c in printable(text) if c not in "\t\n"]
    assert not any(unicodedata.category(c) in ("Cc", "Cs") or c in TURNING for c in shown)
    written = printable_json(json.dumps([text], ensure_ascii=False))
    assert json.loads(written) == [text] and printable(written) == written


def test_a_row_of_marks_is_cut_before_it_is_ordered():
    assert normalized("NFD", "Zürich e\u0301\u0323") == unicodedata.normalize("NFD", "Zürich e\u0301\u0323")
    assert len(normalized("NFC", "x" + "\u0316\u0301" * 100_000 + "y")) == 32


@given(st.text("aB1_ -é沙湖", max_size=12), st.text("aB1_ -é沙湖", min_size=1, max_size=3))
@example("art, artful, 沙湖", "沙湖")
def test_a_name_stands_at_boundaries_as_its_expression_says(text, name):
    bounds = re.compile(bounded(name))
    found = [one for at in range(len(text)) if (one := re.compile(re.escape(name)).match(text, at))]
    assert [at_boundaries(one) for one in found] == [bool(bounds.match(text, one.start())) for one in found]
