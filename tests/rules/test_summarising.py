"""The extract that stands for a summary: worked out by hand, and for texts that are hardly texts."""

from __future__ import annotations

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
    assert central(("A jury met.",) * 9, 100) == "A jury met.", "a sentence that comes twice counts once"
    assert central(("The harbour freezes early in the year. A jury met there.",), 2) == "The harbour", (
        "the nearest is cut"
    )


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
