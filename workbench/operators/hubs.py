"""How much of a walk ends in hubs: the hub bias of CatRAG."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.encoding.similarity import top

TOP = 10  # entity nodes that the paper looks at
SUPER = 0.01  # super hubs: this share of the nodes, by weighted degree


class HubBias(NamedTuple):
    """`strength` is S_ppr = Σ p̂(v) strength(v) over the ten nodes of highest mass, p̂ their mass scaled to sum to one.
    `share_top` is the share of p̂ on super hubs, `share_all` the share of the mass of all phrases; the paper does not
    say which of the two it means. `expected` is `share_all` if the mass of every phrase were proportional to its
    strength, as in a walk without a question."""

    strength: float
    share_top: float
    share_all: float
    expected: float


def super_hubs(strength: np.ndarray, share: float = SUPER) -> np.ndarray:
    """Rows of the strongest nodes, best first; at least one unless the graph is empty."""
    return top(strength, max(1, round(share * len(strength)))) if len(strength) else np.zeros(0, dtype=int)


def hub_bias(mass: np.ndarray, strength: np.ndarray) -> HubBias:
    """The hub bias of a walk: its probability on the phrases, float (n_e,), and their weighted degree, float (n_e,)."""
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
