"""Soft clusters of vectors, in which one may belong to several (RAPTOR, arXiv 2401.18059).

Follows the authors' code (parthsarthi03/raptor, commit 2e3e83e): dimensions are reduced over all vectors, a Gaussian
mixture with the number of components that the BIC likes best parts them, and each part of more than `dimension` + 1 is
reduced and parted once more. Different from the code: everything is seeded; members are row numbers instead of equal
vectors; who belongs to no component by more than `threshold` belongs to the likeliest; two clusters of
the same members are one; the mixture that was found best is not fitted a second time with another seed.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from threadpoolctl import threadpool_limits

from workbench.display import tqdm
from workbench.errors import IndexFault, require_extra
from workbench.settings import Positive, Probability, validated
from workbench.spread import spread

NEIGHBOURS = 10  # of UMAP within a part
COARSE_FROM = 2000  # vectors; for more, only some numbers of components are tried
_WITHOUT_UMAP = (
    "without UMAP, unlike RAPTOR: workbench index … --layers summaries --set summaries.reduction=pca, "
    "in Python settings={'summaries': {'reduction': 'pca'}}"
)


@validated
class Clustering:
    """`reduction` to `dimension` dimensions, by UMAP or, as a quick stand-in, by principal components; at most
    `components` of a mixture are tried; a vector belongs to those with more than `threshold` of its probability."""

    reduction: Literal["umap", "pca"] = "umap"
    dimension: Positive = 10
    threshold: Probability = 0.1
    components: Positive = 49
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 224

    def enough(self, n: int) -> bool:
        """Whether n vectors are enough to be clustered."""
        return n > self.dimension + 1


def soft_clusters(vectors: np.ndarray, how: Clustering, *, label: str = "", progress: bool = False) -> list[np.ndarray]:
    """Rows of each cluster, ascending; the clusters sorted by their rows. Every row is in one at least.

    `vectors`: float32, shape (n, d), unit rows, as many as are `enough`.
    """
    parts = _parted(vectors, int((len(vectors) - 1) ** 0.5), how)
    pieces = spread(parts, partial(_within, vectors=vectors, how=how))
    found: set[tuple[int, ...]] = set()
    for clusters in tqdm(pieces, f"cluster {label}", len(parts), unit="part", disable=not progress):
        found.update(tuple(rows.tolist()) for rows in clusters)
    return [np.array(cluster) for cluster in sorted(found)]


def _within(part: np.ndarray, vectors: np.ndarray, how: Clustering) -> list[np.ndarray]:
    """Rows of the clusters in one part."""
    return [part[rows] for rows in _parted(vectors[part], NEIGHBOURS, how)] if how.enough(len(part)) else [part]


@threadpool_limits.wrap(limits=1)  # sums of several threads come in any order, and the last bits decide clusters
def _parted(vectors: np.ndarray, neighbours: int, how: Clustering) -> list[np.ndarray]:
    """Rows of each component of a mixture over the reduced vectors."""
    return _memberships(_reduced(np.asarray(vectors), neighbours, how), how)


def sizes(n: int, most: int) -> list[int]:
    """The numbers of components that are tried for n vectors: all, or, for many vectors, each half more than the one
    before.

    >>> sizes(5, 49), sizes(3000, 20)
    ([1, 2, 3, 4], [1, 2, 3, 5, 8, 12, 18, 20])
    """
    most = max(1, min(n - 1, most))
    if n <= COARSE_FROM:
        return list(range(1, most + 1))
    tried = [1]
    while tried[-1] < most:
        tried.append(min(most, int(tried[-1] * 1.5 + 0.5)))
    return tried


def _reduced(vectors: np.ndarray, neighbours: int, how: Clustering) -> np.ndarray:
    """float64, shape (n, at most `how.dimension`)."""
    if how.reduction == "umap":
        require_extra("raptor", IndexFault, _WITHOUT_UMAP)
        from umap import UMAP  # takes seconds to import

        neighbours = min(max(2, neighbours), len(vectors) - 1)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="umap")  # that a seed means one thread, which is asked for
            reduce = UMAP(neighbours, how.dimension, metric="cosine", random_state=how.seed, n_jobs=1)
            return reduce.fit_transform(vectors).astype(np.float64)
    from sklearn.decomposition import PCA

    with np.errstate(invalid="ignore"):  # of equal vectors, whose variance has no shares
        dimension = min(how.dimension, vectors.shape[1])
        return PCA(dimension, svd_solver="full").fit_transform(vectors.astype(np.float64))


def _memberships(points: np.ndarray, how: Clustering) -> list[np.ndarray]:
    """Rows of each component of the mixture with the least BIC."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    best, least = None, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of more components than there are different points
        for size in sizes(len(points), how.components):
            mixture = GaussianMixture(size, random_state=how.seed).fit(points)
            if (bic := mixture.bic(points)) < least:
                best, least = mixture, bic
    shares = best.predict_proba(points)
    belongs = shares > how.threshold
    belongs[np.arange(len(points)), shares.argmax(axis=1)] = True
    return [np.flatnonzero(column) for column in belongs.T if column.any()]
