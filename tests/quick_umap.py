"""Principal components in UMAP's place, for tests of what is done with clusters and not of how they are found: to
compile UMAP takes each process longer than all that they do with it. `tests/contract` and `tests/index` have UMAP."""

from __future__ import annotations

from types import ModuleType

import numpy as np


class UMAP:
    def __init__(self, neighbours: int, dimension: int, **_: object):
        self._dimension = dimension

    def fit_transform(self, vectors: np.ndarray) -> np.ndarray:
        from sklearn.decomposition import PCA

        return PCA(min(self._dimension, *vectors.shape), svd_solver="full").fit_transform(vectors)


MODULE = ModuleType("umap")
MODULE.UMAP = UMAP
