"""mrr@k: how early the first gold passage comes: 1 / its rank, 0 if none is among the first k.

A value per question is a reciprocal rank; its mean over the questions is the mean reciprocal rank (Voorhees, The TREC-8
Question Answering Track Report, 1999).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from workbench.measures.hits import hits


def mrr(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """`ranking`: passage ids, best first; `gold`: ids, not empty.

    >>> mrr(["a", "b", "c"], ["b", "c"], k=3), mrr(["a", "b", "c"], ["b"], k=1)
    (0.5, 0.0)
    """
    ranks = hits(ranking, gold, k)
    return 1 / ranks[0] if ranks else 0.0
