"""Detection of texts that are plainly in another language, so that what reads English alone can say so.

A script tells, or the words that every sentence of a language needs and no other's. Names and single words tell
nothing. What is in doubt counts as English, so nothing is said of it.

No instruction of a Step asks for English, but all are written in it, examples included, and a small model answers in
what it reads last. So one line (:data:`LINE`) stands behind the instructions of every Step whose input is plainly in
another language; for English, and in a wording from a file, which may be in any language, nothing is added.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.llm.step import Message

LOOKED_AT = 4_000  # characters of a text
FEWEST = 2  # different words that tell

_MOSTLY = 0.4  # the share of letters of a script from which on a text is in it
_OFTEN = 0.12  # the share of words that tell in a text
_WORD = re.compile(r"[^\W\d_]+")


def other_language(text: str) -> str | None:
    """The language, or the script, of a text that is plainly not in English.

    >>> other_language("Welcher Fluss fließt durch die Stadt, in der sie geboren wurde?"), other_language("桥在沙湖。")
    ('German', 'Chinese')
    >>> other_language("Где находится мост?"), other_language("Who met Vasco da Gama?"), other_language("Oslo")
    ('Cyrillic script', None, None)
    """
    words_found = _WORD.findall(text[:LOOKED_AT])
    return _by_script(words_found) or _by_words([word.casefold() for word in words_found])


def plainly_foreign(texts: Iterable[str]) -> str | None:
    """The same of several texts together, each of which may be too short to tell."""
    joined, length = [], 0
    for text in texts:
        joined.append(text[:LOOKED_AT])
        length += len(joined[-1])
        if length >= LOOKED_AT:
            break
    return other_language("\n".join(joined))


def _by_script(words: list[str]) -> str | None:
    if all(map(str.isascii, words)):
        return None
    scripts = Counter(_script(letter) for word in words for letter in word)
    name, count = max(((n, c) for n, c in scripts.items() if n != "Latin"), key=lambda pair: pair[1], default=("", 0))
    if count < _MOSTLY * scripts.total():
        return None
    if name in ("Cjk", "Hiragana", "Katakana"):
        return "Japanese" if scripts["Hiragana"] + scripts["Katakana"] else "Chinese"
    return "Korean" if name == "Hangul" else f"{name} script"


@cache
def _script(letter: str) -> str:
    return unicodedata.name(letter, "Latin").partition(" ")[0].capitalize()


@cache
def _languages() -> dict[str, list[str]]:
    """Word → the languages that use it. The lists take milliseconds to read."""
    from workbench.language.relations import LISTS

    languages_of: dict[str, list[str]] = {}
    for language, words in LISTS["foreign"].items():
        for word in words.split():
            languages_of.setdefault(word, []).append(language)
    return languages_of


def _by_words(words: list[str]) -> str | None:
    counts = Counter(language for word in words for language in _languages().get(word, ()))
    english = counts.pop("English", 0)
    if not counts:
        return None
    language, count = counts.most_common(1)[0]
    different = {word for word in words if language in _languages().get(word, ())}
    plain = len(different) >= FEWEST and count > 2 * english and count >= _OFTEN * len(words)
    return language if plain else None


LINE = (
    "The texts below are not in English: write in their language, predicates and descriptions included, and give names "
    "as they stand there. Keys, labels and set phrases of the reply stay as these instructions give them."
)


def spoken(value: Any) -> str | None:
    """The language of the input of a Step, where it is plainly not English."""
    own = list(_texts(value, nested=False))
    return plainly_foreign(own if any(map(str.strip, own)) else _texts(value, nested=True))


def in_its_language(messages: Sequence[Message], value: Any) -> list[Message]:
    """Messages about an input, with :data:`LINE` behind the instructions where it is in another language."""
    first, *rest = messages
    if first["role"] != "system" or spoken(value) is None:
        return list(messages)
    return [{**first, "content": f"{first['content']}\n\n{LINE}"}, *rest]


def _texts(value: Any, nested: bool) -> Iterator[str]:
    """The texts of a record; `nested`: those in its tuples and records as well."""
    parts = [getattr(value, field.name) for field in fields(value)] if is_dataclass(value) else [value]
    for part in parts:
        if isinstance(part, str):
            yield part
        elif nested and is_dataclass(part):
            yield from _texts(part, nested)
        elif nested and isinstance(part, tuple | list):
            for item in part:
                yield from _texts(item, nested)
