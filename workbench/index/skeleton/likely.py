"""The graph of more pieces than can all be compared (`knn.py`): FAISS finds most of the nearest.

For words, the bag of each piece is projected on `DIRECTIONS` random directions, where products are nearly the numbers
of shared words; of the `CANDIDATES` nearest there, the words that are shared are counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from workbench.index.approximate import ENOUGH, SAMPLE, Lists, as_near
from workbench.index.skeleton import knn

DIRECTIONS, CANDIDATES = 256, 100
PROBED_FOR = 0.9  # of the candidates: for the best of them, a tenth fewer make little difference, and half the time
_DENSITY = 0.1  # of the directions: a word has a part in a tenth of them
_INSTEAD = "have the pieces drawn by lot: settings={'skeleton': {'selection': 'uniform'}}"


def graph(texts: Sequence[str], vectors: np.ndarray, k: int = 1, progress: bool = False) -> tuple[sp.csr_array, dict]:
    """Most of `knn.graph`, and how it was found, by words and by vectors: library, lists, how many were probed, and the
    `recall`, the share of the nearest of a sample for which one as near was found."""
    held = knn.bags(texts)
    sharing, by_words = by_words_shared(held, k, progress)
    near, by_vectors = by_cosine(np.asarray(vectors), k, progress)
    return knn.joined([sharing, near], len(texts)), {"words": by_words, "vectors": by_vectors}


def by_words_shared(held: sp.csr_array, k: int, progress: bool = False) -> tuple[np.ndarray, dict[str, Any]]:
    """(piece, partner) by the number of words that both hold, int (m, 2). `held`: 1 where a piece holds a word,
    (n, words)."""
    from sklearn.random_projection import SparseRandomProjection

    directions = SparseRandomProjection(DIRECTIONS, density=_DENSITY, dense_output=True, random_state=0)
    projected = directions.fit_transform(held.astype(np.float32)).astype(np.float32, copy=False)
    lists = Lists(projected, _INSTEAD, halved=True)
    every = np.arange(held.shape[0])
    lists.probe_enough(every, CANDIDATES, PROBED_FOR)
    pairs, shared = [], []
    for rows, found, _ in lists.nearest(every, CANDIDATES, "pieces by words", "piece", progress):
        sources = np.broadcast_to(rows[:, None], found.shape)[found >= 0]
        targets = found[found >= 0]
        both = np.asarray(held[sources].multiply(held[targets]).sum(axis=1)).ravel()
        sharing = both > 0
        best = _first(sources[sharing], targets[sharing], both[sharing], k)
        pairs.append(best[:, :2])
        shared.append(best[:, 2])
    found, shared = np.concatenate(pairs), np.concatenate(shared)
    return found, lists.said | {"recall": _recall(held, found[:, 0], shared, k)}


def by_cosine(vectors: np.ndarray, k: int, progress: bool = False) -> tuple[np.ndarray, dict[str, Any]]:
    """(piece, partner) by cosine, int (m, 2)."""
    lists, every = Lists(vectors, _INSTEAD), np.arange(len(vectors))
    lists.probe_enough(every, k, ENOUGH)
    pairs = []
    for rows, found, cosines in lists.nearest(every, 2 * k, "pieces by vectors", "piece", progress):
        sources = np.broadcast_to(rows[:, None], found.shape)[found >= 0]
        cosines = np.round(cosines[found >= 0].astype(np.float64), knn.DIGITS)
        pairs.append(_first(sources, found[found >= 0], cosines, k)[:, :2])
    return np.concatenate(pairs).astype(np.int64), lists.said


def _first(sources: np.ndarray, targets: np.ndarray, scores: np.ndarray, k: int) -> np.ndarray:
    """(source, target, score) of the `k` highest scores of each source; of equals the earlier target."""
    order = np.lexsort((targets, -scores, sources))
    sources = sources[order]
    rank = np.arange(len(order)) - np.searchsorted(sources, sources)
    first = order[rank < k]
    return np.c_[sources[rank < k], targets[first], scores[first]]


def _recall(held: sp.csr_array, pieces: np.ndarray, shared: np.ndarray, k: int) -> float:
    """Share of the true partners of a sample of pieces for which one that shares as many words was found. `pieces`,
    `shared`: of each pair found, ascending by piece, and the words that it shares."""
    sample = np.sort(np.random.default_rng(0).choice(held.shape[0], min(SAMPLE, held.shape[0]), replace=False))
    across, hit, wanted = held.T.tocsr(), 0, 0
    for piece in sample.tolist():
        counts = (held[[piece]] @ across).toarray()[0]
        counts[piece] = 0
        best = np.partition(counts, -k)[-k:] if k < len(counts) else counts
        true = np.sort(best[best > 0])[::-1]
        begin, end = np.searchsorted(pieces, [piece, piece + 1])
        hit, wanted = hit + as_near(shared[begin:end], true), wanted + len(true)
    return round(hit / wanted, 4) if wanted else 1.0
