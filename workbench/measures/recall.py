"""recall@k: the share of the gold passages among the first k.

    recall@k = |top k ∩ gold| / |gold|

As in HippoRAG 2 (arXiv 2502.14802): sets of passages, mean over questions. There, a question without gold counts as 0;
here it does not count."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def recall(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """`ranking`: passage ids, best first; `gold`: ids, not empty.

    >>> recall(["a", "b", "c"], ["b", "d"], k=2)
    0.5
    """
    gold = set(gold)
    return len(gold & set(ranking[:k])) / len(gold)
