"""Fusion: the results of routes and queries as one list of triples and one ranking of passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import scipy.sparse as sp

from workbench.encoding.similarity import minmax, top


def fused(rankings: Iterable[Mapping[int, float]], same: np.ndarray, k: int) -> dict[int, float]:
    """The k best triples, best first: each with its highest score, and of equal (head, relation, tail) the best row."""
    scores = highest(rankings)
    chosen: dict[int, float] = {}
    seen: set[int] = set()
    for row in sorted(scores, key=lambda row: (-scores[row], row)):
        if len(chosen) == k:
            break
        if (key := int(same[row])) not in seen:
            seen.add(key)
            chosen[row] = scores[row]
    return chosen


def of_passages(cosines: np.ndarray, triples: Mapping[int, float], stated: sp.csr_array, k: int) -> dict[int, float]:
    """The k best passages (row → score), best first: s = max(cosine, the scores of the kept triples that it states)."""
    scores = cosines.astype(np.float64)
    for row, score in triples.items():
        cited = stated.indices[stated.indptr[row] : stated.indptr[row + 1]]
        scores[cited] = np.maximum(scores[cited], score)
    return {row: float(scores[row]) for row in top(scores, k).tolist()}


def joined(rankings: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """What several queries found, each with its highest score, best first (row → score)."""
    scores = highest(rankings)
    return {row: scores[row] for row in sorted(scores, key=lambda row: (-scores[row], row))}


def scaled(ranking: Mapping[int, float]) -> dict[int, float]:
    """Scores of one query, from 0 for its last to 1 for its best: those of a long and of a short query differ in level
    more than the passages of either do."""
    return dict(zip(ranking, minmax(np.array(list(ranking.values()))).tolist()))


def highest(rankings: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Each row with its highest score."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for row, score in ranking.items():
            scores[row] = max(score, scores.get(row, score))
    return scores
