"""Close pairs among more phrases than can all be compared: FAISS's inverted lists.

K-means groups the vectors, and each is compared with those of the groups nearest to it. How many groups are probed is
settled by measuring: ever more, until of the pairs that exact products find for a sample, `ENOUGH` are found."""

from __future__ import annotations

from importlib.metadata import version
from math import isqrt
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from workbench import extras, threads
from workbench.errors import IndexFault

SAMPLE, ENOUGH = 1_000, 0.99
_ITERATIONS = 10  # of k-means; more move the groups little
_AT_ONCE = 10_000  # queries between two steps of the bar


def close_pairs(
    vectors: np.ndarray, queries: np.ndarray, threshold: float, nearest: int, *, progress: bool = False
) -> tuple[np.ndarray, dict[str, Any]]:
    """Most of the pairs (source, target, cosine) of at least `threshold` in which source or target is one of the rows
    `queries`, each in both directions: of a query, those with its `nearest` vectors.

    float64, shape (3, n), and how they were found: library, lists, how many of them were probed, and the `recall`, the
    share found of what exact products find for a sample of the queries."""
    faiss = _faiss()
    threads.settle()
    faiss.omp_set_num_threads(threads.cores())
    lists = 4 * isqrt(len(vectors))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(vectors.shape[1]), vectors.shape[1], lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.niter = _ITERATIONS
    with tqdm(total=len(queries), desc="synonyms", unit="phrase", disable=not progress) as bar:
        index.train(vectors)
        index.add(vectors)
        recall = _probe_enough(index, vectors, queries, threshold, nearest)
        parts = []
        for start in range(0, len(queries), _AT_ONCE):
            rows = queries[start : start + _AT_ONCE]
            cosines, found = index.search(vectors[rows], nearest + 1)  # a vector's nearest is itself
            near = (cosines >= threshold) & (found >= 0) & (found != rows[:, None])
            sources = np.broadcast_to(rows[:, None], found.shape)[near]
            parts.append(np.stack([sources, found[near], cosines[near]]).astype(np.float64))
            bar.update(len(rows))
    said = {"by": f"faiss-cpu {version('faiss-cpu')}", "lists": lists, "probed": index.nprobe, "recall": recall}
    return _both_ways(np.concatenate(parts, axis=1), len(vectors)), said


def _probe_enough(index: Any, vectors: np.ndarray, queries: np.ndarray, threshold: float, nearest: int) -> float:
    """Set how many lists are probed, and return the recall with that many."""
    sample = np.sort(np.random.default_rng(0).choice(queries, min(SAMPLE, len(queries)), replace=False))
    truth = _exact(vectors, sample, threshold, nearest)
    index.nprobe = 4
    while True:
        found = index.search(vectors[sample], nearest + 1)[1]
        hit = sum(len(np.intersect1d(one, true)) for one, true in zip(found, truth))
        recall = hit / sum(map(len, truth)) if any(map(len, truth)) else 1.0
        if recall >= ENOUGH or index.nprobe == index.nlist:
            return round(recall, 4)
        index.nprobe = min(2 * index.nprobe, index.nlist)


def _exact(vectors: np.ndarray, rows: np.ndarray, threshold: float, nearest: int) -> list[np.ndarray]:
    """Of each row, the other rows of at least `threshold`, at most the `nearest` best."""
    found = []
    for start in range(0, len(rows), 100):  # products of 100 rows with a million take 400 MB
        some = rows[start : start + 100]
        products = vectors[some] @ vectors.T
        products[np.arange(len(some)), some] = -np.inf
        for row in products:
            near = np.flatnonzero(row >= threshold)
            found.append(near[np.argsort(-row[near], kind="stable")[:nearest]])
    return found


def _both_ways(pairs: np.ndarray, n: int) -> np.ndarray:
    """Each pair in both directions, once: what one end has missed, the other may have found."""
    both = np.concatenate([pairs, pairs[[1, 0, 2]]], axis=1)
    place = both[0].astype(np.int64) * n + both[1].astype(np.int64)
    return both[:, np.unique(place, return_index=True)[1]]


def _faiss() -> Any:
    have_all = "have all pairs compared, which takes hours from a million on: settings={'synonyms': {'exact_up_to': …}}"
    extras.require("scale", IndexFault, have_all)
    import faiss

    return faiss
