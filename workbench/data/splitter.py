"""Split a text into passages: at the end of a paragraph if possible, otherwise of a sentence, otherwise of a word."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache
from itertools import accumulate

from workbench import tokens
from workbench.errors import SettingError
from workbench.text import UNSPACED

# The passages of the multi-hop benchmarks have 90 to 110 words (MuSiQue 92, 2WikiMultiHopQA 87, HotpotQA 110), and
# the default encoder reads 256 tokens, about 190 words: 120 words stay within both.
SIZE, OVERLAP, UNIT = 120, 0, "words"
UNITS = ("words", "tokens")

_LONGEST = 40  # characters of a word; a longer run (a link, a script without spaces) counts as several
_TOKENS_A_CHARACTER = 4  # at most: its UTF-8 bytes
_CLOSING = "、，。！？；：…”’）」』】》"  # belongs to the character before it
_BLANK_LINE = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?:[.!?…][\"'”’)\]]*|[。！？][”’）」』】》]*)\Z")
_ABBREVIATION = re.compile(r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|cf|ca|approx|e\.g|i\.e))\.\Z")
_NOTHING, _WORD, _SENTENCE, _PARAGRAPH = range(4)


def check(size: int, overlap: int, unit: str) -> None:
    """Raises :class:`SettingError` for an invalid size, overlap or unit."""
    if unit not in UNITS:
        raise SettingError(f"unit={unit!r} is not known; use one of {', '.join(UNITS)}")
    smallest = 1 if unit == "words" else 2 * _TOKENS_A_CHARACTER
    if type(size) is not int or size < smallest:
        raise SettingError(f"size={size!r} should be a whole number of {unit}, at least {smallest}")
    if type(overlap) is not int or not 0 <= overlap < size:
        raise SettingError(f"overlap={overlap!r} should be a whole number of {unit}, from 0 to size - 1 ({size - 1})")


def split(text: str, size: int = SIZE, overlap: int = OVERLAP, unit: str = UNIT) -> list[str]:
    """Passages of at most `size` words or cl100k tokens; each begins with up to `overlap` of the previous one.

    A passage ends at the last paragraph end that leaves it reasonably full, otherwise at such a sentence end, otherwise
    between two words; only a run of more than 40 characters is ever cut inside. Only white space between passages is
    dropped: with `overlap` 0, their characters are those of the text, in order. A kana or han character counts as one
    word. A text of white space alone has no passages.
    """
    check(size, overlap, unit)
    longest = _LONGEST if unit == "words" else min(_LONGEST, size // _TOKENS_A_CHARACTER)
    words = _words(text, longest)
    if unit == "words":
        lengths = [1] * len(words)
    else:
        begins = [words[0][0], *(end for _, end in words)] if words else []
        count = cache(tokens.count)  # most words recur
        lengths = [count(text[begin:end]) for begin, (_, end) in zip(begins, words)]
    before = [0, *accumulate(lengths)]  # before[i]: length of words[:i]
    ends = [_NOTHING, *(_boundary(text, words[i - 1], words[i][0]) for i in range(1, len(words))), _PARAGRAPH]

    passages, start = [], 0
    while start < len(words):
        last = max(bisect_right(before, before[start] + size) - 1, start + 1)
        # Alone, words may have fewer tokens than together with the white space between them.
        while unit == "tokens" and last > start + 1 and tokens.count(text[words[start][0] : words[last - 1][1]]) > size:
            last -= 1
        end = last if last == len(words) else _best_end(ends, before, start, last, (size + overlap) / 2)
        passages.append(text[words[start][0] : words[end - 1][1]])
        if end == len(words):
            break
        start = _next_start(ends, before, start, end, overlap)
    return passages


def length(text: str, unit: str = UNIT) -> int:
    """The length of a text as `split` counts it."""
    if unit == "tokens":
        return tokens.count(text)
    return len(_words(text, _LONGEST))


def _words(text: str, longest: int) -> list[tuple[int, int]]:
    """(begin, end) of each word; a mark belongs to the preceding han or kana character."""
    return [match.span() for match in re.finditer(rf"[{UNSPACED}][{_CLOSING}]*|[^\s{UNSPACED}]{{1,{longest}}}", text)]


def _boundary(text: str, word: tuple[int, int], following: int) -> int:
    """The kind of boundary between a word and the one that begins at `following`."""
    gap = text[word[1] : following]
    if _BLANK_LINE.search(gap):
        return _PARAGRAPH
    end = _SENTENCE_END.search(text[word[0] : word[1]])
    if end and (gap or end.group()[0] in "。！？") and not _ABBREVIATION.search(text[word[0] : word[1]]):
        return _SENTENCE
    return _WORD if gap else _NOTHING


def _best_end(ends: list[int], before: list[int], start: int, last: int, fullness: float) -> int:
    """The last boundary of the highest kind among those that leave the passage at least `fullness` long."""
    first = max(bisect_left(before, before[start] + fullness), start + 1)
    return max(range(first, last + 1), key=lambda end: (ends[end], end), default=last)


def _next_start(ends: list[int], before: list[int], start: int, end: int, overlap: int) -> int:
    """The start of the next passage: a sentence within the overlap, if one begins there."""
    earliest = max(bisect_left(before, before[end] - overlap), start + 1)
    within = range(earliest, end)
    return next((i for i in within if ends[i] >= _SENTENCE), next((i for i in within if ends[i]), end))
