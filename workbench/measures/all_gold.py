"""all_gold@k: 1 where every gold passage is among the first k, else 0.

CatRAG calls it full chain retrieval (FCR) at k = 5. With more than k gold passages it cannot be 1."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def all_gold(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """`ranking`: passage ids, best first; `gold`: ids, not empty.

    >>> all_gold(["a", "b", "c"], ["b", "c"], k=2), all_gold(["a", "b", "c"], ["b", "c"], k=3)
    (0.0, 1.0)
    """
    return float(set(gold) <= set(ranking[:k]))
