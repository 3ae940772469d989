"""Near vectors among more than can all be compared: FAISS's inverted lists.

K-means groups the vectors, and each is compared with those of the groups nearest to it. How many groups are probed is
settled by measuring: ever more, until enough is found of what exact products find for a sample."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from math import isqrt
from typing import Any

import numpy as np

from workbench import errors, threads
from workbench.errors import IndexFault

SAMPLE, ENOUGH = 1_000, 0.99
_ITERATIONS = 10  # of k-means; more move the groups little
_AT_ONCE = 10_000  # queries between two steps of the bar
_CLOSE = 1e-5  # by which a product may differ from FAISS's, relative to it
_INSTEAD = "have all pairs compared, which takes hours from a million on: settings={'synonyms': {'exact_up_to': …}}"


def close_pairs(
    vectors: np.ndarray, queries: np.ndarray, threshold: float, nearest: int, *, progress: bool = False
) -> tuple[np.ndarray, dict[str, Any]]:
    """Most of the pairs (source, target, cosine) of at least `threshold` in which source or target is one of the rows
    `queries`, each in both directions: of a query, those with its `nearest` vectors.

    float64, shape (3, n), and how they were found: library, lists, how many of them were probed, and the `recall`, the
    share found of what exact products find for a sample of the queries."""
    from workbench.display import tqdm

    index = _lists(vectors)
    recall = _probe_enough(index, vectors, queries, threshold, nearest)
    parts = [np.zeros((3, 0))]
    with tqdm(total=len(queries), desc="synonyms", unit="phrase", disable=not progress) as bar:
        for start in range(0, len(queries), _AT_ONCE):
            rows = queries[start : start + _AT_ONCE]
            found, cosines = _nearest(index, vectors, rows, nearest)
            near = cosines >= threshold
            sources = np.broadcast_to(rows[:, None], found.shape)
            parts.append(np.stack([sources[near], found[near], cosines[near]]).astype(np.float64))
            bar.update(len(rows))
    said = {"by": f"faiss-cpu {version('faiss-cpu')}", "lists": index.nlist, "probed": index.nprobe}
    return _both_ways(np.concatenate(parts, axis=1), len(vectors)), said | {"recall": round(recall, 4)}


def _lists(vectors: np.ndarray) -> Any:
    """Inverted lists over the rows, float32 (n, d), of which products are compared."""
    errors.require_extra("scale", IndexFault, _INSTEAD)
    import faiss

    threads.settle_torch()
    faiss.omp_set_num_threads(threads.cores())
    dimension, lists = vectors.shape[1], min(4 * isqrt(len(vectors)), len(vectors))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dimension), dimension, lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.niter = _ITERATIONS
    index.train(vectors)
    index.add(vectors)
    return index


def _nearest(index: Any, vectors: np.ndarray, rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of at most `count` others nearest to each, best first, int64 (m, count + 1), and the products, float32.
    A place without another has -1 and minus infinity."""
    products, found = index.search(vectors[rows], count + 1)  # one may be the row itself
    nobody = (found < 0) | (found == rows[:, None])
    found[nobody], products[nobody] = -1, -np.inf
    return found, products


def _probe_enough(index: Any, vectors: np.ndarray, queries: np.ndarray, threshold: float, nearest: int) -> float:
    """Probe 4, 8, … of the lists, until `ENOUGH` is found of what exact products find for a sample; the share."""
    sample = np.sort(np.random.default_rng(0).choice(queries, min(SAMPLE, len(queries)), replace=False))
    truth = list(_exact(vectors, sample, threshold, nearest))
    index.nprobe = min(4, index.nlist)
    while (recall := _share_found(_nearest(index, vectors, sample, nearest)[1], truth)) < ENOUGH:
        if index.nprobe == index.nlist:
            break
        index.nprobe = min(2 * index.nprobe, index.nlist)
    return recall


def _exact(vectors: np.ndarray, rows: np.ndarray, threshold: float, nearest: int) -> Iterator[np.ndarray]:
    """Of each row, its products of at least `threshold` with other rows, at most the `nearest` best, best first."""
    for start in range(0, len(rows), 100):  # products of 100 rows with a million take 400 MB
        some = rows[start : start + 100]
        products = vectors[some] @ vectors.T
        products[np.arange(len(some)), some] = np.nan  # which is near to nothing
        for row in products:
            yield np.sort(row[row >= threshold])[::-1][:nearest]


def _share_found(found: np.ndarray, truth: list[np.ndarray]) -> float:
    """The share of true values, descending for each row, for which one as high was found: of equals, any will do."""
    hit = sum(min(int((some >= true[-1] - _CLOSE * abs(true[-1])).sum()), len(true))
              for some, true in zip(found, truth) if len(true))  # fmt: skip
    wanted = sum(map(len, truth))
    return hit / wanted if wanted else 1.0


def _both_ways(pairs: np.ndarray, n: int) -> np.ndarray:
    """Each pair in both directions, once: what one end has missed, the other may have found."""
    both = np.concatenate([pairs, pairs[[1, 0, 2]]], axis=1)
    place = both[0].astype(np.int64) * n + both[1].astype(np.int64)
    return both[:, np.unique(place, return_index=True)[1]]
