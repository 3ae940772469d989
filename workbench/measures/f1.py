"""f1: overlap of the words of the answer and of a gold answer, normalised as for `em`, as bags (SQuAD; as in HippoRAG
2's released code).

A word of a text with han or kana is one character of these (`em`), so F1 is that of characters, as in MLQA.

precision = common / words of the answer, recall = common / words of the gold answer, f1 = 2 p r / (p + r)

Where nothing is left of an answer and of a gold answer ("The The"), f1 is 1, as EM is; the released code gives 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.measures.em import exact_match, normalised


def f1(answer: str, gold: Sequence[str]) -> float:
    """The best over the gold answers; 0 without a common word, and for an abstention, which is an empty answer.

    >>> f1("Queen Anne of England", ["Anne"]), f1("沙湖大桥", ["沙湖桥。"])
    (0.4, 0.8571428571428571)
    """
    if exact_match(answer, gold):
        return 1.0
    return max(_overlap(normalised(answer).split(), normalised(right).split()) for right in gold)


def _overlap(answer: list[str], right: list[str]) -> float:
    common = sum((Counter(answer) & Counter(right)).values())
    return 2 * common / (len(answer) + len(right)) if common else 0.0
