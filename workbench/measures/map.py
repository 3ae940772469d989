"""map@k: the precision at the rank of each gold passage, averaged over all gold passages.

    map@k = Σ over gold passages at ranks i ≤ k of (gold passages in the first i) / i, over |gold|

A gold passage below k adds nothing. As `map_cut` of trec_eval; other definitions divide by min(k, |gold|), or by the
number of gold passages found. A value per question is an average precision; its mean over the questions is the mean
average precision (Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, 8.4).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from workbench.measures.hits import hits


def map_(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """`ranking`: passage ids, best first; `gold`: ids, not empty.

    >>> map_(["a", "b", "c"], ["a", "c"], k=3), map_(["a", "b", "c"], ["a", "c"], k=2)
    (0.8333333333333333, 0.5)
    """
    return sum(found / rank for found, rank in enumerate(hits(ranking, gold, k), 1)) / len(set(gold))
