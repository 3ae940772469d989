"""Exact match and F1 of an answer, also of one that is a set, and joint success (`joint`).

Normalisation of SQuAD, as in HippoRAG 2's released code: lower case, ASCII punctuation deleted, the words a, an, the
deleted, white space collapsed. A text with han or kana has no words between spaces. It is segmented as by MLQA (Lewis
et al., ACL 2020; the mixed segmentation of CMRC 2018, Cui et al., EMNLP 2019): each of these characters alone, all else
between spaces, punctuation of any script deleted, no articles. So F1 is there that of characters, as in MLQA.

An answer is a set if the question says so (`answer_set`): what it lists is compared with the set of right answers. It
lists what stands between semicolons or line breaks, or where there are none, between commas and "and"; a gold answer
that has these within is one member. The "and" of some other languages separates where a gold answer stands beside it.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence

from workbench.measures.ranking import all_gold
from workbench.text import apart, bounded, normalized, unspaced

_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """
    >>> normalised("The  Beatles' (1968)"), normalised("《沙湖》，1889年。")
    ('beatles 1968', '沙 湖 1889 年')
    """
    if unspaced(text):
        lowered = normalized("NFKC", text).lower()
        return " ".join(apart("".join(" " if _is_mark(letter) else letter for letter in lowered)).split())
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(_PUNCTUATION)).split())


def _is_mark(letter: str) -> bool:
    return letter in string.punctuation or unicodedata.category(letter)[0] == "P"


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """em: 1 if the normalised answer equals a gold answer or alias, else 0; an abstention is an empty answer and
    matches none. Answers of which nothing is left ("The The", "A") are equal, as in the released code.

    >>> exact_match("the Eiffel Tower", ["Eiffel tower", "La tour Eiffel"]), exact_match("The The", ["the the"])
    (1.0, 1.0)
    """
    plain = normalised(answer)
    return float(bool(answer.strip()) and any(plain == normalised(right) for right in gold))


def f1(answer: str, gold: Sequence[str]) -> float:
    """Overlap of the words of the answer and of a gold answer, as bags: 2 common / (words of both). The best over the
    gold answers; 0 without a common word, and for an abstention, which is an empty answer. Where nothing is left of an
    answer and of a gold answer ("The The"), it is 1, as EM is; the released code gives 0.

    >>> f1("Queen Anne of England", ["Anne"]), f1("沙湖大桥", ["沙湖桥。"])
    (0.4, 0.8571428571428571)
    """
    if exact_match(answer, gold):
        return 1.0
    return max(_overlap(normalised(answer).split(), normalised(right).split()) for right in gold)


def _overlap(answer: list[str], right: list[str]) -> float:
    common = sum((Counter(answer) & Counter(right)).values())
    return 2 * common / (len(answer) + len(right)) if common else 0.0


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
        for name in sorted(
            (name for name in set(gold) if _SEPARATORS[1].search(name)), key=lambda name: (-len(name), name)
        ):
            pattern = re.compile(bounded(name), re.IGNORECASE)
            if pattern.search(answer):
                parts.append(name)
                answer = pattern.sub(";", answer)
        answer = answer.replace(";", ",")
    parts += _SEPARATORS[0 if strong else 1].split(answer)
    bare, right = [_BULLET.sub("", part) for part in parts], _members(gold)
    return {plain for part in bare for piece in _divided(part, right) if (plain := normalised(piece))}


def _divided(part: str, right: set[str]) -> list[str]:
    """A part at the "and" of other languages, if that leaves a right member by itself."""
    parts = _ELSEWHERE.split(part)
    return parts if normalised(part) not in right and any(normalised(piece) in right for piece in parts) else [part]


def set_em(answer: str, gold: Sequence[str]) -> float:
    """em of a set: 1 if both sets are equal.

    >>> set_em("Jaws; Duel", ["Duel", "Jaws"]), set_em("Jaws", ["Duel", "Jaws"])
    (1.0, 0.0)
    """
    return float(listed(answer, gold) == _members(gold))


def set_f1(answer: str, gold: Sequence[str]) -> float:
    """f1 of a set: 2 |listed ∩ gold| / (|listed| + |gold|).

    >>> set_f1("Jaws and 1941", ["Duel", "Jaws"]), set_f1("", ["Jaws"])
    (0.5, 0.0)
    """
    members, right = listed(answer, gold), _members(gold)
    return 2 * len(members & right) / (len(members) + len(right)) if members & right else 0.0


def _members(gold: Sequence[str]) -> set[str]:
    return {normalised(name) for name in gold}


def joint(ranking: Sequence[str], support: Collection[str], answer: str, gold: Sequence[str], k: int) -> float:
    """joint@k: 1 if every gold passage is among the first k and the answer contains a gold answer, else 0. `ranking`:
    passage ids, best first; `support`: ids of the gold passages; `gold`: answers and aliases.

    CatRAG calls it joint success rate (JSR) at k = 5, and its released code tests containment so. `accuracy` is the
    same test made strict; where they differ ("not Paris", abstentions, accents), `joint` does as the released code.
    A question without gold passages or without a gold answer is undefined; there it counts as 0.

    >>> joint(["a", "b"], ["b"], "in Paris", ["Paris"], k=2), joint(["a", "b"], ["b"], "in Paris", ["Paris"], k=1)
    (1.0, 0.0)
    >>> joint(["a"], ["a"], "NOT_SUPPORTED", ["SUPPORTED"], k=5)
    0.0
    """
    return float(bool(all_gold(ranking, support, k)) and contains(answer, gold))


def contains(answer: str, gold: Sequence[str]) -> bool:
    """Whether a gold answer occurs in the answer at word boundaries.

    >>> contains("It is The Eiffel  Tower!", ["eiffel tower"]), contains("1919", ["19"]), contains("x", ["the"])
    (True, False, False)
    """
    text = normalised(answer)
    wanted = filter(None, map(normalised, gold))
    return any(re.search(rf"(?<!\w){re.escape(right)}(?!\w)", text) for right in wanted)
