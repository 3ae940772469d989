"""Texts as lists of words, for the measures that search one text in another at word boundaries.

A word is a run of letters, marks and digits (and `_`: NOT_SUPPORTED does not contain SUPPORTED). Compatible characters
are unified, accents dropped and case folded first. A number keeps its sign and its decimal point and loses its
thousands separators; English articles are dropped, unless there is nothing else. Each han or kana character is a word;
other scripts without spaces, such as Thai, are compared by whole runs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from workbench.text import apart, normalized

_ACCENTS = re.compile("[\u0300-\u036f]")  # of Latin, Greek, Cyrillic; in other scripts, marks are parts of letters
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SIGN_OR_POINT = re.compile(r"(?<=\d)\.(?=\d)|(?<![^\s(])-(?=\d)")
_ARTICLES = {"a", "an", "the"}
_YES_NO = (("yes", "no"), ("ja", "nein"), ("是", "否"))
OPPOSITE = {first: other for pair in _YES_NO for first, other in (pair, pair[::-1])}


class _Separators(dict):
    """Character → itself or a space, for `str.translate`; computed once per character."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        is_word = character == "_" or unicodedata.category(character)[0] in "LMN"
        self[code] = character if is_word else " "
        return self[code]


_SEPARATORS = _Separators()


def words(text: str) -> list[str]:
    """
    >>> words("The 7,531 people of N’Orvalle (−3.5 °C) sang “Ça ira”.")
    ['7531', 'people', 'of', 'n', 'orvalle', '-3.5', 'c', 'sang', 'ca', 'ira']
    >>> words("the"), words("…"), words("建于1889年")
    (['the'], [], ['建', '于', '1889', '年'])
    """
    plain = normalized("NFC", _ACCENTS.sub("", normalized("NFKD", text))).casefold()
    plain = _THOUSANDS.sub("", plain.replace("\u2212", "-"))
    parts, at = [], 0
    for match in _SIGN_OR_POINT.finditer(plain):
        parts += [plain[at : match.start()].translate(_SEPARATORS), match[0]]
        at = match.end()
    tokens = apart("".join(parts) + plain[at:].translate(_SEPARATORS)).split()
    tokens = [word for word in tokens if any(map(str.isalnum, word))]  # an emoji leaves an invisible mark
    return [word for word in tokens if word not in _ARTICLES] or tokens


def places(part: Sequence[str], whole: Sequence[str]) -> list[int]:
    """The positions of the words of `part`, in sequence, in `whole`; none if `part` is empty.

    >>> places(["new", "york"], ["york", "new", "york"]), places([], ["new"])
    ([1], [])
    """
    n = len(part)
    return [at for at in range(len(whole) - n + 1) if n and whole[at] == part[0] and whole[at : at + n] == part]


def is_yes_no(text: str) -> bool:
    """Whether a gold answer is only yes or no, in English, German or Chinese.

    >>> is_yes_no("Yes."), is_yes_no("Norway"), is_yes_no("Nein"), is_yes_no("是。")
    (True, False, True, True)
    """
    tokens = words(text)
    return len(tokens) == 1 and tokens[0] in OPPOSITE
