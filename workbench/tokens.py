"""Counts of cl100k_base tokens, the unit of every budget. The tokenizer's tables come with a package."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache

from workbench.text import storable

_WHOLE, _PART = 1_000_000, 50_000  # characters: the tokenizer takes fewer, and no text of more than 200,000 tokens
_BETWEEN_WORDS = re.compile("[A-Za-z](?= [A-Za-z])")  # no token goes across such a place
_LOOKED = 10_000  # characters before the end of a part, in which such a place is looked for


@cache
def _tokenizer():
    from bpe_openai import get_encoding

    return get_encoding("cl100k_base")


def _encoded(text: str) -> list[int]:
    """The tokens of a text; where it is too long for the tokenizer, those of its parts. They are the same unless 10,000
    characters have no two words."""
    if len(text) < _WHOLE:
        with suppress(ValueError):  # of more tokens than it takes
            return _tokenizer().encode_ordinary(text)
    tokens: list[int] = []
    start = 0
    while start < len(text):
        end = start + _PART
        if end < len(text):
            places = list(_BETWEEN_WORDS.finditer(text, end - _LOOKED, end))
            end = places[-1].end() if places else end
        tokens += _tokenizer().encode_ordinary(text[start:end])
        start = end
    return tokens


def count(text: str) -> int:
    """The number of cl100k tokens of a text."""
    return len(_encoded(storable(text)))


def cut(text: str, budget: int) -> str:
    """The longest prefix of a text with at most `budget` tokens."""
    tokens = _encoded(storable(text))
    return text if len(tokens) <= budget else _tokenizer().decode(tokens[: max(0, budget)]).rstrip("\ufffd")


def starts(text: str) -> list[int]:
    """The character offset of each token of a text, then the length of the text: `text[starts[a]:starts[b]]` are the
    tokens from a to b. A border inside a character moves before it, so adjacent slices concatenate to the text."""
    encoding = _tokenizer()
    text, offsets = encoding.decode_with_offsets(_encoded(storable(text)))
    return [*offsets, len(text)]
