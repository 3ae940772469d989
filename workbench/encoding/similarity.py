"""Scores of rows against a query vector, and selection of the highest."""

from __future__ import annotations

import numpy as np

FEW = 8  # of the highest scores: sought one by one, in a tenth of the time that parting all of them takes


def minmax(scores: np.ndarray) -> np.ndarray:
    """Scores moved to [0, 1]; all ones where they are all equal, as in HippoRAG 2. float64, same shape."""
    if not len(scores):
        return np.zeros(0)
    scores = scores.astype(np.float64)
    low, high = scores.min(), scores.max()
    return np.ones_like(scores) if high == low else (scores - low) / (high - low)


def top(scores: np.ndarray, k: int) -> np.ndarray:
    """Rows of the k highest scores, best first; equal scores in the order of their rows, so that a ranking is
    repeatable."""
    if k <= FEW and k < len(scores) and (chosen := _few(scores, k)) is not None:
        return chosen
    if k >= len(scores):
        return np.argsort(-scores, kind="stable")
    worst = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = np.flatnonzero(scores > worst)
    ties = np.flatnonzero(scores == worst)[: k - len(above)]
    chosen = np.concatenate([above, ties])
    return chosen[np.lexsort((chosen, -scores[chosen]))]


def _few(scores: np.ndarray, k: int) -> np.ndarray | None:
    """The same of a few; None where that cannot be told by taking out the best again and again."""
    if scores.dtype.kind != "f":
        return None
    rest, chosen = scores.copy(), []
    for _ in range(k):
        chosen.append(int(rest.argmax()))
        if not np.isfinite(rest[chosen[-1]]):
            return None
        rest[chosen[-1]] = -np.inf
    return np.array(chosen, dtype=np.int64)
