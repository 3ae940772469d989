"""Counts of cl100k_base tokens, the unit of every budget. The tokenizer's tables come with a package."""

from __future__ import annotations

from functools import cache

from workbench.text import storable


@cache
def _tokenizer():
    from bpe_openai import get_encoding

    return get_encoding("cl100k_base")


def count(text: str) -> int:
    """The number of cl100k tokens of a text."""
    return len(_tokenizer().encode_ordinary(storable(text)))


def cut(text: str, budget: int) -> str:
    """The longest prefix of a text with at most `budget` tokens."""
    tokens = _tokenizer().encode_ordinary(storable(text))
    return text if len(tokens) <= budget else _tokenizer().decode(tokens[: max(0, budget)]).rstrip("\ufffd")


def starts(text: str) -> list[int]:
    """The character offset of each token of a text, then the length of the text: `text[starts[a]:starts[b]]` are the
    tokens from a to b. A border inside a character moves before it, so adjacent slices concatenate to the text."""
    encoding = _tokenizer()
    text, offsets = encoding.decode_with_offsets(encoding.encode_ordinary(storable(text)))
    return [*offsets, len(text)]
