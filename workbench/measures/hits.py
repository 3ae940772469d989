"""Where the gold passages stand in a ranking, which `ndcg`, `mrr` and `map` are computed from."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def hits(ranking: Sequence[str], gold: Collection[str], k: int) -> list[int]:
    """The ranks of the gold passages among the first k, from 1, in ascending order. A repeated id takes a rank each
    time, but is found once: otherwise a ranking could gain more than a perfect one.

    >>> hits(["a", "b", "b", "c"], ["b", "c"], k=4)
    [2, 4]
    """
    wanted, ranks = set(gold), []
    for rank, passage in enumerate(ranking[:k], 1):
        if passage in wanted:
            wanted.remove(passage)
            ranks.append(rank)
    return ranks
