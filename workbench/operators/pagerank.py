"""Personalised PageRank by sparse power iteration, with the semantics of the released HippoRAG 2 (spec A6 step 6):

    p = (1 - d) r + d (Wᵀ D⁻¹ p + (mass on nodes without out-weight) r)

d is the probability of following an edge (trap T9); the mass of dangling nodes goes back to r (trap T10).

Because the dangling mass returns to r itself, p is a multiple of q = r + d Wᵀ D⁻¹ q. So q is iterated, which needs no bookkeeping of
dangling nodes, and divided by its sum in the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from workbench.errors import SettingError


class Mass(NamedTuple):
    """`p` float64 (n,), summing to one; how many products it took; the L1 norm of the last change of p."""

    p: np.ndarray
    iterations: int
    residual: float


class Walk:
    """A random walk on one graph, prepared for many reset vectors. Immutable, so threads may share it.

    `weights` is (n, n); row i holds the out-edges of node i. Weights must not be negative.
    """

    def __init__(self, weights: sp.sparray):
        weights = sp.csr_array(weights, dtype=np.float64)
        if weights.nnz and weights.data.min() < 0:
            raise SettingError(f"an edge has the weight {weights.data.min()}; a walk needs weights of zero or more")
        strength = np.asarray(weights.sum(axis=1)).ravel()
        inverse = np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
        self.n = weights.shape[0]
        # column i of the matrix: where a walker at node i goes
        self._matrix = sp.csr_array((weights.T).tocsr() * inverse[np.newaxis, :])

    def __call__(
        self, reset: np.ndarray, damping: float = 0.5, *, tolerance: float = 1e-6, max_iterations: int = 1000
    ) -> Mass:
        """Stops when p changes by less than `tolerance` (L1); the distance to the limit is then below tolerance·d/(1-d).

        Negative and NaN entries of `reset` count as zero; at least one must be positive.
        """
        if not 0 <= damping < 1:
            raise SettingError(f"damping={damping!r}; it is the probability of following an edge, from 0 to below 1")
        r = np.where(reset > 0, reset, 0.0)
        total = r.sum()
        if total <= 0:
            raise SettingError("the reset vector has no positive entry: there is nowhere to start the walk")
        r /= total
        step = r  # the part of q added last: d^i (WᵀD⁻¹)^i r, all non-negative, so its sum is its L1 norm
        q = r.copy()
        for iteration in range(1, max_iterations + 1):
            step = self._matrix @ step
            step *= damping
            q += step
            residual = step.sum() / q.sum()
            if residual < tolerance:
                break
        return Mass(q / q.sum(), iteration, float(residual))


def personalized_pagerank(weights: sp.sparray, reset: np.ndarray, damping: float = 0.5, **settings) -> np.ndarray:
    """p for one graph and one reset vector; for many of them, keep a `Walk`."""
    return Walk(weights)(reset, damping, **settings).p
