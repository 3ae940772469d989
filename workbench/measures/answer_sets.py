"""em and f1 of an answer that is a set: what it lists against the set of right answers (`answer_set`).

    em = 1 if both sets are equal        f1 = 2 |listed ∩ gold| / (|listed| + |gold|)

Members are equal if they are normalised alike, as for `em`. An answer lists what stands between semicolons or line
breaks, or where there are none, between commas and "and"; a gold answer that has these within is one member. The "and"
of some other languages separates where a gold answer stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.measures.em import normalised
from workbench.text import bounded

_SEPARATORS = (re.compile(r"[;；\n]"), re.compile(r",|\band\b|&|[、，]"))
_ELSEWHERE = re.compile(r"\s(?:und|et|e|y|en|och|og|i)\s|[和与及]")  # "and": read only beside a member
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")


def listed(answer: str, gold: Sequence[str]) -> set[str]:
    """The normalised members of an answer.

    >>> sorted(listed("Duel, Sex, Lies and Jaws", ["Sex, Lies", "Jaws"]))
    ['duel', 'jaws', 'sex lies']
    >>> sorted(listed("Anna und Berta", ["Anna"])), sorted(listed("沙湖、石桥和北城", ["北城"]))
    (['anna', 'berta'], ['北 城', '沙 湖', '石 桥'])
    """
    strong = bool(_SEPARATORS[0].search(answer))
    parts: list[str] = []
    if not strong:
        for name in sorted((one for one in set(gold) if _SEPARATORS[1].search(one)), key=lambda one: (-len(one), one)):
            found = re.compile(bounded(name), re.IGNORECASE)
            if found.search(answer):
                parts.append(name)
                answer = found.sub(";", answer)
        answer = answer.replace(";", ",")
    parts += _SEPARATORS[0 if strong else 1].split(answer)
    bare, right = [_BULLET.sub("", part) for part in parts], _members(gold)
    return {plain for part in bare for one in _divided(part, right) if (plain := normalised(one))}


def _divided(part: str, right: set[str]) -> list[str]:
    """A part at the "and" of other languages, if that leaves a right member by itself."""
    found = _ELSEWHERE.split(part)
    return found if normalised(part) not in right and any(normalised(one) in right for one in found) else [part]


def set_em(answer: str, gold: Sequence[str]) -> float:
    """
    >>> set_em("Jaws; Duel", ["Duel", "Jaws"]), set_em("Jaws", ["Duel", "Jaws"])
    (1.0, 0.0)
    """
    return float(listed(answer, gold) == _members(gold))


def set_f1(answer: str, gold: Sequence[str]) -> float:
    """
    >>> set_f1("Jaws and 1941", ["Duel", "Jaws"]), set_f1("", ["Jaws"])
    (0.5, 0.0)
    """
    said, right = listed(answer, gold), _members(gold)
    return 2 * len(said & right) / (len(said) + len(right)) if said & right else 0.0


def _members(gold: Sequence[str]) -> set[str]:
    return {normalised(one) for one in gold}
