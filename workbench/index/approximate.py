"""Near vectors among more than can all be compared: FAISS's inverted lists.

K-means groups the vectors, and each is compared with those of the groups nearest to it. How many groups are probed is
settled by measuring: ever more, until enough is found of what exact products find for a sample."""

from __future__ import annotations

from collections.abc import Iterator
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
_CLOSE = 1e-5  # by which a product may differ from FAISS's, relative to it
_INSTEAD = "have all pairs compared, which takes hours from a million on: settings={'synonyms': {'exact_up_to': …}}"


def close_pairs(
    vectors: np.ndarray, queries: np.ndarray, threshold: float, nearest: int, *, progress: bool = False
) -> tuple[np.ndarray, dict[str, Any]]:
    """Most of the pairs (source, target, cosine) of at least `threshold` in which source or target is one of the rows
    `queries`, each in both directions: of a query, those with its `nearest` vectors.

    float64, shape (3, n), and how they were found: library, lists, how many of them were probed, and the `recall`, the
    share found of what exact products find for a sample of the queries."""
    lists = Lists(vectors, _INSTEAD)
    lists.probe_enough(queries, nearest, ENOUGH, threshold)
    parts = [np.zeros((3, 0))]
    for rows, found, cosines in lists.nearest(queries, nearest, "synonyms", "phrase", progress):
        near = (found >= 0) & (cosines >= threshold)
        sources = np.broadcast_to(rows[:, None], found.shape)[near]
        parts.append(np.stack([sources, found[near], cosines[near]]).astype(np.float64))
    return _both_ways(np.concatenate(parts, axis=1), len(vectors)), lists.said


class Lists:
    """Inverted lists over the rows of `vectors`, float32 (n, d), of which products are compared. `halved` keeps them in
    half precision, which is nearly twice as fast to search. Where FAISS is missing, the error names what to do
    `instead`."""

    def __init__(self, vectors: np.ndarray, instead: str, *, halved: bool = False):
        faiss = _faiss(instead)
        threads.settle()
        faiss.omp_set_num_threads(threads.cores())
        dimension, metric = vectors.shape[1], faiss.METRIC_INNER_PRODUCT
        self._vectors, self._recall = vectors, 0.0
        lists = min(4 * isqrt(len(vectors)), len(vectors))
        given = faiss.IndexFlatIP(dimension), dimension, lists
        if halved:
            self._index = faiss.IndexIVFScalarQuantizer(*given, faiss.ScalarQuantizer.QT_fp16, metric)
        else:
            self._index = faiss.IndexIVFFlat(*given, metric)
        self._index.cp.niter = _ITERATIONS
        self._index.train(vectors)
        self._index.add(vectors)

    @property
    def said(self) -> dict[str, Any]:
        """Library, lists, how many of them are probed, and the recall."""
        by, index = f"faiss-cpu {version('faiss-cpu')}", self._index
        return {"by": by, "lists": index.nlist, "probed": index.nprobe, "recall": self._recall}

    def probe_enough(self, queries: np.ndarray, nearest: int, enough: float, threshold: float = -np.inf) -> None:
        """Have so many lists probed that of the products of at least `threshold` of a query with its `nearest` others,
        a share of `enough` is found."""
        sample = np.sort(np.random.default_rng(0).choice(queries, min(SAMPLE, len(queries)), replace=False))
        truth = _exact(self._vectors, sample, threshold, nearest)
        wanted = sum(map(len, truth))
        self._index.nprobe = 4
        while True:
            (_, _, products), *_ = self.nearest(sample, nearest)
            hit = sum(as_near(some, true) for some, true in zip(products, truth))
            self._recall = round(hit / wanted, 4) if wanted else 1.0
            if self._recall >= enough or self._index.nprobe == self._index.nlist:
                return
            self._index.nprobe = min(2 * self._index.nprobe, self._index.nlist)

    def nearest(
        self, queries: np.ndarray, count: int, label: str = "", unit: str = "it", progress: bool = False
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Of the rows `queries`, some at a time: they, the rows of at most `count` others nearest to each, best first,
        int64 (m, count + 1), and the products, float32. A place without another has -1 and minus infinity."""
        with tqdm(total=len(queries), desc=label, unit=unit, disable=not progress) as bar:
            for start in range(0, len(queries), _AT_ONCE):
                rows = queries[start : start + _AT_ONCE]
                products, found = self._index.search(self._vectors[rows], count + 1)  # one may be the row itself
                nobody = (found < 0) | (found == rows[:, None])
                found[nobody], products[nobody] = -1, -np.inf
                yield rows, found, products
                bar.update(len(rows))


def _exact(vectors: np.ndarray, rows: np.ndarray, threshold: float, nearest: int) -> list[np.ndarray]:
    """Of each row, its products of at least `threshold` with other rows, at most the `nearest` best, best first."""
    found = []
    for start in range(0, len(rows), 100):  # products of 100 rows with a million take 400 MB
        some = rows[start : start + 100]
        products = vectors[some] @ vectors.T
        products[np.arange(len(some)), some] = np.nan  # which is near to nothing
        for row in products:
            near = row[row >= threshold]
            near = np.partition(near, -nearest)[-nearest:] if len(near) > nearest else near
            found.append(np.sort(near)[::-1])
    return found


def as_near(found: np.ndarray, true: np.ndarray) -> int:
    """How many of the products found are as good as the true ones: of equals, any will do."""
    return min(int((found >= true[-1] - _CLOSE * abs(true[-1])).sum()), len(true)) if len(true) else 0


def _both_ways(pairs: np.ndarray, n: int) -> np.ndarray:
    """Each pair in both directions, once: what one end has missed, the other may have found."""
    both = np.concatenate([pairs, pairs[[1, 0, 2]]], axis=1)
    place = both[0].astype(np.int64) * n + both[1].astype(np.int64)
    return both[:, np.unique(place, return_index=True)[1]]


def _faiss(instead: str) -> Any:
    extras.require("scale", IndexFault, instead)
    import faiss

    return faiss
