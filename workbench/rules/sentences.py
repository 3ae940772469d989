"""A question around one of its names: its words in the order of their distance from it, and what it asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from workbench.rules.language import parse
from workbench.rules.relations import kind_of, words
from workbench.text import storable

_LONGEST = 2_000  # characters of a question that are read
_MASK = "Alpha"  # a parser stumbles over long titles and not over this
_WH = {"who": "person", "whom": "person", "whose": "person", "when": "date", "where": "place"}
_ASKING = words("what which") | _WH.keys()
_PASSED = words("is are was were be been the a an some main primary s 's other")
_SHARED = words("same share shared sharing shares also together co common mutual both another other alongside")
_LIGHT = words("be have do make take get give go put come become use can could will would name list tell find show")


@dataclass(frozen=True)
class Word:
    """A word at its place in the parse; `asked` if it names what is asked for."""

    at: int
    text: str
    lemma: str
    content: bool
    asked: bool
    weight: float


@dataclass(frozen=True)
class Reading:
    """`orders` are the ways to go through the words from the name outwards; `wants` is the kind that is asked for by
    the question word ("" if it leaves that open); `shared` says that things share something."""

    words: tuple[Word, ...]
    orders: tuple[tuple[Word, ...], ...]
    wants: str
    shared: bool


@lru_cache(256)
def read(question: str, name: str) -> Reading:
    """The reading of a question around a name; a name that does not occur stands at the question's end."""
    question = " ".join(storable(question)[:_LONGEST].split())
    masked, start = _masked(question, name)
    (doc,) = parse([masked])
    anchor = next((token for token in doc if token.idx >= start), None) if start >= 0 else None
    asked, wants = _asked(doc, anchor)
    found = tuple(
        Word(token.i, token.text, token.lemma_.lower(), _content(token), token.i == asked, 1.0)
        for token in doc
        if token.is_alpha and token != anchor
    )
    shared = any(token.lower_ in _SHARED or token.lemma_.lower() in _SHARED for token in doc)
    return Reading(found, _orders(doc, anchor, found), wants, shared)


def _masked(question: str, name: str) -> tuple[str, int]:
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question) or re.search(
        rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE
    )
    if not name.strip() or not found:
        return question, -1
    return f"{question[: found.start()]}{_MASK}{question[found.end() :]}", found.start()


def _content(token) -> bool:
    return not token.is_stop and token.lemma_.lower() not in _LIGHT and token.lower_ not in _ASKING


def _asked(doc, anchor) -> tuple[int, str]:
    """The place of the noun that is asked for (-1 if none) and the kind that the question word tells."""
    wh = next((token for token in doc if token.lower_ in ("what", "which", "who", "whom", "when", "where")
               and not _relative(token)), None)  # fmt: skip
    if wh is None:
        return -1, ""
    nouns: list = []
    linked = wh.lower_ in ("what", "which")
    for token in doc[wh.i + 1 :]:
        if nouns:
            if token.pos_ not in ("NOUN", "PROPN") or token == anchor:
                break
            nouns.append(token)
        elif token != anchor and token.pos_ in ("NOUN", "PROPN") and linked:
            nouns.append(token)
        elif token.lower_ in _PASSED or token.pos_ in ("ADJ", "ADV", "DET"):
            linked = linked or token.lemma_ == "be"
        else:
            break
    wants = _WH.get(wh.lower_, "")
    noun = nouns[-1] if nouns else None
    if noun is not None and not wants and kind_of(noun.lemma_) in ("person", "date"):
        wants = kind_of(noun.lemma_)
    return (noun.i if noun is not None else -1), wants


def _relative(token) -> bool:
    return token.i > 0 and token.nbor(-1).pos_ in ("NOUN", "PROPN") and any(
        step.dep_ in ("relcl", "acl") for step in (token.head, token.head.head)
    )  # fmt: skip


def _orders(doc, anchor, found: Sequence[Word]) -> tuple[tuple[Word, ...], ...]:
    """By steps in the parse, and by place: first the side on which nothing is asked, outwards, then the other."""
    if anchor is None:
        return (tuple(reversed(found)),)
    steps = _steps(anchor)
    by_parse = sorted(found, key=lambda word: (word.asked, steps.get(word.at, 99), abs(word.at - anchor.i)))
    wh = next((token.i for token in doc if token.lower_ in _ASKING), len(doc))
    left_first = wh > anchor.i
    by_place = sorted(found, key=lambda word: (word.asked, (word.at > anchor.i) == left_first, abs(word.at - anchor.i)))
    return tuple(dict.fromkeys((tuple(by_parse), tuple(by_place))))


def _steps(anchor) -> dict[int, int]:
    """Steps in the parse from a token to every other of its sentence."""
    found, last = {anchor.i: 0}, [anchor]
    while last:
        reached = []
        for token in last:
            for other in (*token.children, token.head):
                if other.i not in found:
                    found[other.i] = found[token.i] + 1
                    reached.append(other)
        last = reached
    return found
