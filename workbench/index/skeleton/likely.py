"""The graph of more pieces than can all be compared (`knn.py`): FAISS finds most of the nearest.

For words, the bag of each piece is projected on `DIRECTIONS` random directions, where products are nearly the numbers
of shared words; of the `CANDIDATES` nearest there, the words that are shared are counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from workbench.index.approximate import ENOUGH, Lists, highest, sampled, share_found
from workbench.index.skeleton import knn
from workbench.index.synonyms import rank_in_group

DIRECTIONS, CANDIDATES = 256, 100
ENOUGH_WORDS, GAIN = 0.9, 0.01  # recall by words that is enough, and that twice the time has to bring
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
    lists, every = Lists(projected, _INSTEAD, halved=True), np.arange(held.shape[0])
    sample = sampled(every)
    truth = [highest(counts[counts > 0], k) for counts in _all_shared(held, sample)]

    def recall() -> float:
        best = np.concatenate([_sharing(held, *ends, k) for *ends, _ in lists.pairs(sample, CANDIDATES)])
        return share_found((best[best[:, 0] == piece, 2] for piece in sample), truth)

    lists.probe_enough(recall, ENOUGH_WORDS, GAIN)
    pairs = lists.pairs(every, CANDIDATES, "pieces by words", "piece", progress)
    return np.concatenate([_sharing(held, *ends, k)[:, :2] for *ends, _ in pairs]), lists.said


def by_cosine(vectors: np.ndarray, k: int, progress: bool = False) -> tuple[np.ndarray, dict[str, Any]]:
    """(piece, partner) by cosine, int (m, 2)."""
    lists, every = Lists(vectors, _INSTEAD), np.arange(len(vectors))
    lists.probe_enough(lists.recall(sampled(every), k), ENOUGH)
    parts = []
    for sources, targets, cosines in lists.pairs(every, 2 * k, "pieces by vectors", "piece", progress):
        cosines = np.round(cosines.astype(np.float64), knn.DIGITS)
        parts.append(_first(sources, targets, cosines, k)[:, :2])
    return np.concatenate(parts).astype(np.int64), lists.said


def _first(sources: np.ndarray, targets: np.ndarray, scores: np.ndarray, k: int) -> np.ndarray:
    """(source, target, score) of the `k` highest scores of each source; of equals the earlier target."""
    order = np.lexsort((targets, -scores, sources))
    first = order[rank_in_group(sources[order]) < k]
    return np.c_[sources[first], targets[first], scores[first]]


def _sharing(held: sp.csr_array, sources: np.ndarray, targets: np.ndarray, k: int) -> np.ndarray:
    """(piece, partner, words shared) of the `k` candidates that share most words with a piece, if any."""
    both = np.asarray(held[sources].multiply(held[targets]).sum(axis=1)).ravel()
    sharing = both > 0
    return _first(sources[sharing], targets[sharing], both[sharing], k)


def _all_shared(held: sp.csr_array, pieces: np.ndarray) -> Iterator[np.ndarray]:
    """Of each of some pieces, how many words it shares with every other."""
    across = held.T.tocsr()
    for piece in pieces.tolist():
        counts = (held[[piece]] @ across).toarray()[0]
        counts[piece] = 0
        yield counts
