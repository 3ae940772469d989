"""The extract that stands for a summary: worked out by hand, and for texts that are hardly texts."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import tokens
from workbench.rules.summarising import _sentences, central

TEXTS = ("Gulls circle the harbour. The harbour freezes.", "A jury met. The harbour freezes early.")


def test_the_sentences_that_share_most_words_come_first():
    """Words: gulls circle harbour | harbour freezes | jury met | harbour freezes early. The second has one of its two
    words in three sentences and the other in two; the third shares none."""
    assert central(TEXTS, 4) == "The harbour freezes."
    assert central(TEXTS, 9) == "The harbour freezes. The harbour freezes early."
    assert central(TEXTS, 100) == " ".join(TEXTS)


def test_a_sentence_that_comes_twice_counts_once():
    assert central(("A jury met.",) * 9, 100) == "A jury met."


def test_where_none_fits_the_nearest_is_cut():
    assert central(("The harbour freezes early in the year. A jury met there.",), 2) == "The harbour"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Mr. Orr met Lisa C. Dee. She left.", ["Mr. Orr met Lisa C. Dee.", "She left."]),
        ("St. Ives is old. It is small.", ["St. Ives is old.", "It is small."]),
        ("東京は大きい。名前は。", ["東京は大きい。", "名前は。"]),
        ("What? Nothing! It has 3.5 metres", ["What?", "Nothing!", "It has 3.5 metres"]),
        ("one line\n\nanother ", ["one line", "another"]),
        (" \n", []),
    ],
)
def test_where_sentences_end(text, sentences):
    assert _sentences(text) == sentences


@given(st.lists(st.text(max_size=80), max_size=5), st.integers(1, 40))
def test_no_text_breaks_it_and_the_limit_holds(texts, limit):
    extract = central(texts, limit)
    assert tokens.count(extract) <= limit or not extract
    assert bool(extract) <= any(text.strip() for text in texts)


@pytest.mark.parametrize("texts", [(), ("",), ("", " \n"), ("?!… ---",), ("x" * 20_000,), ("\x00\x07\u202e \ud800",)])
def test_hardly_a_text(texts):
    assert tokens.count(central(texts, 20)) <= 20


def test_it_is_the_same_in_every_process():
    """The order of a set of words is not."""
    code = f"from workbench.rules.summarising import central; print(central({TEXTS * 3!r}, 12))"
    said = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1 and said != {b"\n"}
