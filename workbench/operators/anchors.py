"""Entities of the typed graph whose exact names occur in a text."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

from workbench.index.typed import TypedLayer
from workbench.text import normalized, word_pattern


@cache
def _token() -> re.Pattern[str]:
    return re.compile(rf"{word_pattern()}|[^\w\s]")


class _Lookup(NamedTuple):
    """`rows`: the folded tokens of a name → its entity rows; `lengths`: a first token → the lengths, in tokens, of the
    names that begin with it, longest first."""

    rows: dict[tuple[str, ...], list[int]]
    lengths: dict[str, list[int]]


_lookups: WeakKeyDictionary[TypedLayer, _Lookup] = WeakKeyDictionary()


def named(typed: TypedLayer, question: str) -> list[tuple[str, int]]:
    """(span, entity row) of the names that occur in a question, in its order, each span as written in the question.

    Names begin and end with a word or a sign, and a han or kana character is a word; of overlapping ones, the longest
    counts. A span denotes the entities of exactly that name, or if there are none, those whose names differ in case or
    width. Punctuation is no name; English function words ("it", "who") are names only as spelled in the graph and with
    an initial capital."""
    lookup = _lookup(typed)
    tokens = [(token.start(), token.end(), _fold(token[0])) for token in _token().finditer(question)]
    folded = [fold for _, _, fold in tokens]
    met = []
    for at, first in enumerate(folded):
        for length in lookup.lengths.get(first, ()):
            rows = lookup.rows.get(tuple(folded[at : at + length])) if at + length <= len(tokens) else None
            if rows is not None:
                span = question[tokens[at][0] : tokens[at + length - 1][1]]
                rows = _as_written(typed, span, rows)
                if _is_name(typed, span, rows[0]):
                    met.append((at, length, span, rows))
    covered = [False] * len(tokens)
    chosen = []
    for at, length, span, rows in sorted(met, key=lambda one: (-one[1], one[0])):
        if not any(covered[at : at + length]):
            covered[at : at + length] = [True] * length
            chosen.append((at, span, rows))
    return [(span, row) for _, span, rows in sorted(chosen) for row in rows]


def exact(typed: TypedLayer, name: str) -> list[int]:
    """Ascending rows of the entities of that name, else of those whose names differ in case or width, else of the name
    without surrounding brackets."""
    for text in (name, name.strip(" []<>")):
        rows = _lookup(typed).rows.get(tuple(_folded_tokens(text)))
        if rows is not None:
            return _as_written(typed, text, rows)
    return []


def _as_written(typed: TypedLayer, span: str, rows: list[int]) -> list[int]:
    """The rows whose name is exactly the span, or all if there are none."""
    written = " ".join(span.split())
    return [row for row in rows if " ".join(typed.names[row].split()) == written] or rows


def _is_name(typed: TypedLayer, span: str, row: int) -> bool:
    if all(unicodedata.category(c)[0] in "PZ" for c in span):
        return False
    if any(word not in _function_words() for word in _folded_tokens(span)):
        return True
    return span == typed.names[row] and span != span.lower()


def _lookup(typed: TypedLayer) -> _Lookup:
    if typed not in _lookups:
        rows, lengths = defaultdict(list), defaultdict(set)
        for row, name in enumerate(typed.names):
            tokens = tuple(_folded_tokens(name))
            if tokens:
                rows[tokens].append(row)
                lengths[tokens[0]].add(len(tokens))
        longest_first = {first: sorted(found, reverse=True) for first, found in lengths.items()}
        _lookups[typed] = _Lookup(dict(rows), longest_first)
    return _lookups[typed]


def _folded_tokens(text: str) -> Iterator[str]:
    if text.isascii():  # folded at once, which gives the same
        return iter(_token().findall(text.lower()))
    return (_fold(token) for token in _token().findall(text))


def _fold(text: str) -> str:
    return normalized("NFKC", text).casefold()


@cache
def _function_words() -> frozenset[str]:
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)
