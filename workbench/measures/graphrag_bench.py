"""The measures of GraphRAG-Bench of novels and medicine (arXiv 2506.05690, section 3.3 and Appendix F). The other
benchmark of this name, of textbooks (arXiv 2506.02404), has others.

    rouge_l            longest common subsequence of words of answer and gold answer (Lin, 2004), F1
    answer_accuracy    .75 FC + .25 SS: FC = 2 TP / (2 TP + FP + FN) over claims, SS the cosine of both (Eq. 5, 6)
    faithfulness       share of the answer's claims that the context supports (Eq. 7)
    evidence_coverage  share of the gold answer's claims that the answer supports (Eq. 8)
    evidence_recall    share of the gold answer's claims that the context supports (Eq. 4)
    context_relevance  a judge's rating of the context, 0, 1 or 2, as a share of 2 (Eq. 3)

TP and FP are the claims of the answer that the gold answer supports, and does not; FN those of the gold answer that the
answer does not support. All but `rouge_l` need a judge (`workbench.evaluation.claims`). Each level of question has its
own measures of answers; a question of no level has all."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.text import apart

RETRIEVED = ("evidence_recall", "context_relevance")
JUDGED = ("answer_accuracy", "faithfulness", "evidence_coverage", *RETRIEVED)
MEASURES = ("rouge_l", *JUDGED)
LEVELS = {  # section 4.1, Tables 3 and 4
    "Fact Retrieval": ("rouge_l", "answer_accuracy", *RETRIEVED),
    "Complex Reasoning": ("rouge_l", "answer_accuracy", *RETRIEVED),
    "Contextual Summarize": ("answer_accuracy", "evidence_coverage", *RETRIEVED),
    "Creative Generation": ("answer_accuracy", "faithfulness", "evidence_coverage", *RETRIEVED),
}
ALPHA = 0.75  # Eq. 5


def of_level(type_: str | None) -> tuple[str, ...]:
    """The measures of a question of this type.

    >>> of_level("Contextual Summarize")[:2], of_level("bridge") == MEASURES
    (('answer_accuracy', 'evidence_coverage'), True)
    """
    return LEVELS.get(type_ or "", MEASURES)


def rouge_l(answer: str, gold: Sequence[str]) -> float | None:
    """The best over the gold answers. Words are runs of letters and digits in lower case; none is stemmed.

    >>> rouge_l("police killed the gunman", ["the gunman police killed"])
    0.5
    >>> rouge_l("It was Orsby.", ["Orsby"]), rouge_l("", ["Orsby"]), rouge_l("Orsby", []) is None
    (0.5, 0.0, True)
    """
    return max((_overlap(_words(answer), _words(right)) for right in gold), default=None)


def _overlap(answer: list[str], gold: list[str]) -> float:
    """2 LCS / (words of both): the harmonic mean of LCS / words of the answer and LCS / words of the gold answer."""
    longest = [0] * (len(gold) + 1)
    for word in answer:
        above = 0  # the length one row up and one column to the left
        for at, other in enumerate(gold, 1):
            above, longest[at] = longest[at], above + 1 if word == other else max(longest[at], longest[at - 1])
    return 2 * longest[-1] / (len(answer) + len(gold)) if answer or gold else 0.0


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", apart(text.lower()))


def factual_correctness(tp: int, fp: int, fn: int) -> float:
    """
    >>> factual_correctness(2, 1, 1), factual_correctness(0, 0, 0)
    (0.6666666666666666, 0.0)
    """
    return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


def answer_accuracy(factual: float, similarity: float) -> float:
    """
    >>> answer_accuracy(0.5, 0.9)
    0.6
    """
    return ALPHA * factual + (1 - ALPHA) * similarity
