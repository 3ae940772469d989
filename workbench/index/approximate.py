"""Nearest vectors where there are too many to compare all pairs: FAISS's inverted lists.

K-means groups the vectors, and each is compared with those of the groups nearest to it. How many groups are probed is
settled by measuring: ever more, until enough is found of what exact products find for a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    lists = Lists(vectors, _INSTEAD)
    lists.probe_enough(lists.recall(sampled(queries), nearest, threshold), ENOUGH)
    parts = [np.zeros((3, 0))]
    for sources, targets, cosines in lists.pairs(queries, nearest, "synonyms", "phrase", progress):
        near = cosines >= threshold
        parts.append(np.stack([sources[near], targets[near], cosines[near]]).astype(np.float64))
    return _both_ways(np.concatenate(parts, axis=1), len(vectors)), lists.metadata


class Lists:
    """Inverted lists over the rows of `vectors`, float32 (n, d), of which products are compared. `halved` keeps them in
    half precision, which is nearly twice as fast to search. Where FAISS is missing, the error names what to do
    `instead`."""

    def __init__(self, vectors: np.ndarray, instead: str, *, halved: bool = False):
        faiss = _faiss(instead)
        threads.settle_torch()
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
    def metadata(self) -> dict[str, Any]:
        """Library, lists, how many of them are probed, and the recall."""
        by, index = f"faiss-cpu {version('faiss-cpu')}", self._index
        return {"by": by, "lists": index.nlist, "probed": index.nprobe, "recall": round(self._recall, 4)}

    def probe_enough(self, recall: Callable[[], float], enough: float, gain: float = 0.0) -> None:
        """Raise the number of probed lists, 4, 8, …, until the recall is `enough` or another doubling gains less than
        `gain`."""
        self._index.nprobe, before = min(4, self._index.nlist), -1.0
        self._recall = recall()
        while self._recall < enough and self._recall - before >= gain and self._index.nprobe < self._index.nlist:
            self._index.nprobe, before = min(2 * self._index.nprobe, self._index.nlist), self._recall
            self._recall = recall()

    def recall(self, rows: np.ndarray, count: int, threshold: float = -np.inf) -> Callable[[], float]:
        """The share of the products of at least `threshold` that is found, for some rows with their `count` others."""
        truth = _exact(self._vectors, rows, threshold, count)

        def measured() -> float:
            (_, _, products), *_ = self.nearest(rows, count)
            return share_found(products, truth)

        return measured

    def nearest(
        self, queries: np.ndarray, count: int, label: str = "", unit: str = "it", progress: bool = False
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Of the rows `queries`, some at a time: they, the rows of at most `count` others nearest to each, best first,
        int64 (m, count + 1), and the products, float32. A place without another has -1 and minus infinity."""
        from workbench.display import tqdm

        with tqdm(total=len(queries), desc=label, unit=unit, disable=not progress) as bar:
            for start in range(0, len(queries), _AT_ONCE):
                rows = queries[start : start + _AT_ONCE]
                products, neighbours = self._index.search(
                    self._vectors[rows], count + 1
                )  # the row itself may be among them
                nobody = (neighbours < 0) | (neighbours == rows[:, None])
                neighbours[nobody], products[nobody] = -1, -np.inf
                yield rows, neighbours, products
                bar.update(len(rows))

    def pairs(self, *given: Any) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """What `nearest` finds as pairs, by row and best first: rows, others and products, (m,) each."""
        for rows, neighbours, products in self.nearest(*given):
            there = neighbours >= 0
            yield np.broadcast_to(rows[:, None], neighbours.shape)[there], neighbours[there], products[there]


def _exact(vectors: np.ndarray, rows: np.ndarray, threshold: float, nearest: int) -> list[np.ndarray]:
    """Of each row, its products of at least `threshold` with other rows, at most the `nearest` best, best first."""
    exact = []
    for start in range(0, len(rows), 100):  # products of 100 rows with a million take 400 MB
        some = rows[start : start + 100]
        products = vectors[some] @ vectors.T
        products[np.arange(len(some)), some] = np.nan  # which is near to nothing
        for row in products:
            exact.append(highest(row[row >= threshold], nearest))
    return exact


def highest(values: np.ndarray, count: int) -> np.ndarray:
    """The `count` highest of the values, or all if there are fewer, descending.

    >>> highest(np.array([2, 5, 3, 5]), 3)
    array([5, 5, 3])
    """
    best = np.partition(values, -count)[-count:] if len(values) > count else values
    return np.sort(best)[::-1]


def share_found(approximate: Iterable[np.ndarray], truth: Sequence[np.ndarray]) -> float:
    """The share of true values, descending for each row, for which a value as high was found: among equals, any will
    do."""
    hit = sum(min(int((some >= true[-1] - _CLOSE * abs(true[-1])).sum()), len(true))
              for some, true in zip(approximate, truth) if len(true))  # fmt: skip
    wanted = sum(map(len, truth))
    return hit / wanted if wanted else 1.0


def sampled(rows: np.ndarray) -> np.ndarray:
    """Some of the rows, by which a recall is measured."""
    return np.sort(np.random.default_rng(0).choice(rows, min(SAMPLE, len(rows)), replace=False))


def _both_ways(pairs: np.ndarray, n: int) -> np.ndarray:
    """Each pair in both directions, once, because one end may find what the other missed."""
    both = np.concatenate([pairs, pairs[[1, 0, 2]]], axis=1)
    place = both[0].astype(np.int64) * n + both[1].astype(np.int64)
    return both[:, np.unique(place, return_index=True)[1]]


def _faiss(instead: str) -> Any:
    errors.require_extra("scale", IndexFault, instead)
    import faiss

    return faiss
