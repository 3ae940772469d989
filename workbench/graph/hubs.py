"""How much of a walk ends in hubs: the hub bias of CatRAG."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.ranking.similarity import top

TOP = 10  # entity nodes that the paper looks at
SUPER = 0.01  # super hubs: this share of the nodes, by weighted degree


class HubBias(NamedTuple):
    """`strength` is S_ppr = Σ p̂(v) strength(v) over the ten nodes of highest mass, p̂ their mass scaled to sum to one.
    `share_top` is the part of p̂ on super hubs, `share_all` that of the mass of all phrases; which of the two the paper
    means is not said. `expected` is what `share_all` would be if every phrase had mass in proportion to its strength,
    as a walk without a question has."""

    strength: float
    share_top: float
    share_all: float
    expected: float


def super_hubs(strength: np.ndarray, share: float = SUPER) -> np.ndarray:
    """Rows of the strongest nodes, best first; at least one, where there is a node."""
    return top(strength, max(1, round(share * len(strength)))) if len(strength) else np.zeros(0, dtype=int)


def hub_bias(mass: np.ndarray, strength: np.ndarray) -> HubBias:
    """Of a walk's probability on the phrases, float (n_e,), and their strength (weighted degree), float (n_e,)."""
    hubs = super_hubs(strength)
    best = top(mass, TOP)
    shares = mass[best] / mass[best].sum() if mass[best].sum() else mass[best]
    return HubBias(
        strength=float(shares @ strength[best]),
        share_top=float(shares[np.isin(best, hubs)].sum()),
        share_all=_share(mass, hubs),
        expected=_share(strength, hubs),
    )


def _share(values: np.ndarray, rows: np.ndarray) -> float:
    total = values.sum()
    return float(values[rows].sum() / total) if total else 0.0
