"""The sentence of a longer text in which an answer stands, with the answer apart from what is around it."""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.text import bounded, clean, sentences

_HEAD = re.compile(r"[a-z ]{1,20}: ")  # what introduces a text, such as `read in: `
_JOIN = " → "  # between the sentences that rules read


class Excerpt(NamedTuple):
    """Printable texts `before` and `after` the `answer`; without the answer, `before` has the text's beginning."""

    before: str
    answer: str = ""
    after: str = ""

    def __str__(self) -> str:
        return f"{self.before}«{self.answer}»{self.after}" if self.answer else self.before


def excerpt(text: str, answer: str, longest: int) -> Excerpt:
    """The text where it is short enough, else the last sentence that holds the answer, or as much around it.

    >>> str(excerpt("read in: It is old. → It opened in 1938, they say.", "1938", 40))
    'read in: … It opened in «1938», they say.'
    """
    sought = answer.strip() if len(answer) <= longest else ""
    found = list(re.finditer(bounded(sought), text, re.IGNORECASE)) if sought else []
    if not found:
        return Excerpt(clean(text, longest))
    at = found[-1]
    begin, end = (0, len(text)) if len(text) <= longest else _sentence(text, at.start())
    begin = max(begin, at.start() - longest // 2)
    end = max(at.end(), min(end, begin + longest))
    head = _HEAD.match(text)
    before = (f"{head[0] if head else ''}… " if begin else "") + text[begin : at.start()]
    after = text[at.end() : end] + (" …" if end < len(text) else "")
    return Excerpt(clean(before), clean(at[0]), clean(after))


def _sentence(text: str, position: int) -> tuple[int, int]:
    """Where the sentence at a position begins and ends."""
    end = text.rfind(_JOIN, 0, position) + len(_JOIN) if _JOIN in text[:position] else 0
    begin, joined = end, text.find(_JOIN, position)
    for one in sentences(text[begin : joined if joined >= 0 else len(text)]):
        begin = text.index(one, end)
        end = begin + len(one)
        if position < end:
            break
    return begin, end
