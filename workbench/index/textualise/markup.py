"""Marks in an article: `<topic>`, `[name]`. What counts as mentioned is what stands between brackets, exactly: a name
that is part of a longer one is not found by accident."""

from __future__ import annotations

import re
from collections.abc import Collection

from workbench.errors import DataError

_MARKED = re.compile(r"\[([^\[\]<>]*)\]|<([^\[\]<>]*)>")
_BRACKETS, _STAND_INS = "[]<>", "⟦⟧⟨⟩"
_SAFE = str.maketrans(_BRACKETS, _STAND_INS)
_PLAIN = str.maketrans(_STAND_INS, _BRACKETS, _BRACKETS)


def safe(name: str) -> str:
    """A name as it is written in marked text: `shielded`, if it can be told apart there."""
    if not name.strip():
        raise DataError(
            f"{name!r} cannot be the name of an entity or a relation; give it another, or take its triples out"
        )
    if stands := set(name) & set(_STAND_INS):
        raise DataError(
            f"the name {name!r} holds {min(stands)}, which stands for a bracket in marked text; write another one"
        )
    return shielded(name)


def shielded(text: str) -> str:
    """Text whose own brackets are no marks: they become ⟦ ⟧ ⟨ ⟩, and `plain` turns them back."""
    return text.translate(_SAFE)


def plain(text: str) -> str:
    """Marked text without its marks."""
    return text.translate(_PLAIN)


def mentions(text: str) -> set[str]:
    """All that is marked, as a topic or as another name."""
    return {square or angle for square, angle in _MARKED.findall(text)}


def topics(text: str) -> set[str]:
    """What is marked as the topic."""
    return {angle for _, angle in _MARKED.findall(text) if angle}


def without_strangers(text: str, known: Collection[str]) -> tuple[str, int]:
    """The text with the marks taken off whatever is not `known`, and how many these were."""
    strangers = 0

    def unmarked(found: re.Match) -> str:
        nonlocal strangers
        name = found[1] if found[1] is not None else found[2]
        if name in known:
            return found[0]
        strangers += 1
        return name

    return _MARKED.sub(unmarked, text), strangers
