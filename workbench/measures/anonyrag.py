"""AnonyRAG's tasks (Youtu-GraphRAG, arXiv 2508.19855): multiple choice and anonymity reversion.

Choice: the letter is read off the answer: alone, in brackets, before its option, after "answer" or "option". An answer
without one that repeats the text of exactly one option chooses that. Two letters choose none.

Reversion: which originals of placeholders an answer names. The source reports judged accuracy; this mapping is
deterministic and ours.

    predicted, gold: pairs (placeholder, name), read off answer and gold answer in the same way
    reversion_precision   right pairs / predicted pairs; 0 without any
    reversion_recall      right pairs / gold pairs
    reversion_f1          harmonic mean of both, per question
    reversion_exact       1 where every gold pair is right and nothing else is predicted

A name is right if it equals a gold form of its placeholder, normalised as for `em`. Gold forms are separated by " | ".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.measures.answers import normalised
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
    letters = set(_SAID.findall(answer)) or set(_MARKED.findall(answer.strip()))
    if letters:
        return letters.pop() if len(letters) == 1 else None
    held = [letter for letter, text in _OPTION.findall(question) if places(words(text), words(answer))]
    return held[0] if len(held) == 1 else None


def gold_letter(gold: Sequence[str]) -> str | None:
    """The letter of a gold answer that is an option; None for other questions.

    >>> gold_letter(["C"]), gold_letter(["C. Orsby"]), gold_letter(["Cassel"])
    ('C', 'C', None)
    """
    match = _GOLD.fullmatch(gold[0].strip()) if gold else None
    return match[1] if match else None


def choice(answer: str, gold: Sequence[str], question: str = "") -> float | None:
    right = gold_letter(gold)
    return None if right is None else float(letter_of(answer, question) == right)


_PLACEHOLDER = re.compile(r"[\[(]?\b([A-Za-z][A-Za-z_]*)\s?#\s?(\d+)\b[\])]?")
_SIGN = re.compile(r"[\s*_`\"'“”]*(?:[-–—]+>?|=+>?|→|⇒|:|\||,|\bis\b|\bwas\b)?[\s*_`\"'“”]*", re.IGNORECASE)
_END = re.compile(r"[\n;{}\t]|\s\|\s*$")
_EDGES = " \t\r,.:*_`\"'“”|-–—()[]{}&•"

Pairs = frozenset[tuple[str, str]]


def pairs(text: str) -> Pairs:
    """(placeholder, name as written) of lists, tables, JSON or prose; placeholders without a name are skipped.

    >>> sorted(pairs("[PERSON#5] — Shi Jin; LOCATION#26: Mount Wutai"))
    [('LOCATION#26', 'Mount Wutai'), ('PERSON#5', 'Shi Jin')]
    >>> sorted(pairs('{"person #5": "Shi Jin", "LOCATION#26": "Mount Wutai"}'))
    [('LOCATION#26', 'Mount Wutai'), ('PERSON#5', 'Shi Jin')]
    """
    matches = list(_PLACEHOLDER.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    named = (
        (f"{match[1].upper()}#{int(match[2])}", _name(text[match.end() : end])) for match, end in zip(matches, ends)
    )
    return frozenset((placeholder, name) for placeholder, name in named if name)


def _name(after: str) -> str:
    """The name in what follows a placeholder, up to the end of its line or of its item."""
    rest = after[_SIGN.match(after).end() :]
    rest = re.sub(r"(?i)[,\s]+and\s*$", "", _END.split(rest, maxsplit=1)[0].rstrip(_EDGES))
    return rest.strip(_EDGES) if any(map(str.isalnum, rest)) else ""


def gold_forms(gold: Sequence[str]) -> dict[str, set[str]]:
    """Placeholder → its right names, normalised.

    >>> gold_forms(["[PERSON#5] — Shi Jin | Jin"]) == {"PERSON#5": {"shi jin", "jin"}}
    True
    """
    by_placeholder: dict[str, set[str]] = {}
    for text in gold:
        for placeholder, name in pairs(text):
            by_placeholder.setdefault(placeholder, set()).update(_forms(name))
    return by_placeholder


def _forms(name: str) -> frozenset[str]:
    return frozenset(normalised(form) for form in name.split(" | "))


def reversion(answer: str, gold: Sequence[str]) -> tuple[float, float] | None:
    """(precision, recall); None if the gold answer names no placeholder.

    >>> reversion("PERSON#5 = Shi Jin, PERSON#7 = Li Zhong", ["[PERSON#5] — Shi Jin; [PERSON#6] — Lu Da"])
    (0.5, 0.5)
    """
    right = gold_forms(gold)
    if not right:
        return None
    claimed = {(placeholder, _forms(name)) for placeholder, name in pairs(answer)}
    hits = [placeholder for placeholder, forms in claimed if forms <= right.get(placeholder, set())]
    return (len(hits) / len(claimed) if claimed else 0.0, len(set(hits)) / len(right))


def harmonic(precision: float, recall: float) -> float:
    """
    >>> harmonic(0.5, 1.0), harmonic(0.0, 0.0)
    (0.6666666666666666, 0.0)
    """
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
