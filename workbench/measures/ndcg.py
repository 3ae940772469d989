"""ndcg@k: the rank quality of the gold passages, with binary gain (Järvelin and Kekäläinen, 2002).

dcg@k  = Σ over gold passages at ranks i ≤ k of 1 / log₂(i + 1)
ndcg@k = dcg@k / the dcg@k of a ranking with all gold passages first
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2

from workbench.measures.hits import hits


def ndcg(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """`ranking`: passage ids, best first; `gold`: ids, not empty. A repeated id gains once, at its first rank.

    >>> round(ndcg(["a", "b", "c"], ["b"], k=3), 4)
    0.6309
    """
    gained = sum(1 / log2(rank + 1) for rank in hits(ranking, gold, k))
    return gained / sum(1 / log2(rank + 1) for rank in range(1, min(k, len(set(gold))) + 1))
