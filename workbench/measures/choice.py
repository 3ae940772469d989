"""choice: 1 where the answer chooses the gold option (AnonyRAG's multiple choice; Youtu-GraphRAG, arXiv 2508.19855).

The letter is read off the answer: alone, in brackets, before its option, after "answer" or "option". An answer without
one that repeats the text of exactly one option chooses that. Two letters choose none."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.measures.words import places, words

_GOLD = re.compile(r"\(?([A-H])\)?(?:[.:)].*)?", re.DOTALL)
_OPTION = re.compile(r"(?m)^\s*\(?([A-H])[.):]\s+(.+?)\s*$")
_SAID = re.compile(
    r"(?i:answer|option|choice|antwort|答案|选项)(?:\s+(?:is|ist)|是|为)?\s*[:=：]?\s*[*_(\[\"]*([A-H])\b"
)
_MARKED = re.compile(r"^[\s*_(\[\"]*([A-H])\s*(?:[.):\]*_\"]|$|\n)")


def letter_of(answer: str, question: str = "") -> str | None:
    """The letter that an answer chooses.

    >>> letter_of("C"), letter_of("(b) Orsby".upper()), letter_of("The answer is **D**."), letter_of("A and B")
    ('C', 'B', 'D', None)
    >>> letter_of("Die Antwort ist B."), letter_of("答案是C。")
    ('B', 'C')
    >>> letter_of("It is Orsby.", "Where?\\nA. Halmery\\nB. Orsby")
    'B'
    """
    said = set(_SAID.findall(answer)) or set(_MARKED.findall(answer.strip()))
    if said:
        return said.pop() if len(said) == 1 else None
    held = [letter for letter, text in _OPTION.findall(question) if places(words(text), words(answer))]
    return held[0] if len(held) == 1 else None


def gold_letter(gold: Sequence[str]) -> str | None:
    """The letter of a gold answer that is an option; None for other questions.

    >>> gold_letter(["C"]), gold_letter(["C. Orsby"]), gold_letter(["Cassel"])
    ('C', 'C', None)
    """
    found = _GOLD.fullmatch(gold[0].strip()) if gold else None
    return found[1] if found else None


def choice(answer: str, gold: Sequence[str], question: str = "") -> float | None:
    right = gold_letter(gold)
    return None if right is None else float(letter_of(answer, question) == right)
