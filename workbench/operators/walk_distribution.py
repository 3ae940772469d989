"""The random walk of a question: the probability distribution that explains the rank of a passage, its share in hubs
(the hub bias of CatRAG), and the dense ranking below the few passages that a walk reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.encoding.similarity import top
from workbench.errors import SettingError
from workbench.index import Index
from workbench.operators.neighbourhood import Subgraph, among
from workbench.operators.pagerank import PageRankResult
from workbench.records import Passage, Record, Scored

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


@dataclass(frozen=True, eq=False, repr=False)
class WalkDistribution(Record):
    """A walk before its passages are ranked.

    seeds      [(phrase row, reset weight)], best first; empty if no fact was kept
    facts      [(fact row, score)] that the seeds come from
    dense      float64 (n_p,): cosines of the passages, min-max scaled
    pagerank   the probability on phrases, then passages; None without a walk, and `fallback` states why
    """

    index: Index
    question: str
    method: str
    seeds: list[tuple[int, float]]
    facts: list[tuple[int, float]]
    dense: np.ndarray
    pagerank: PageRankResult | None
    fallback: str = ""

    @property
    def on_phrases(self) -> np.ndarray:
        """Probability per phrase, float64 (n_e,); zeros without a walk."""
        n = self.index.graph.phrases
        return self.pagerank.p[:n] if self.pagerank else np.zeros(n)

    @property
    def on_passages(self) -> np.ndarray:
        """Probability per passage, float64 (n_p,); zeros without a walk."""
        return self.pagerank.p[self.index.graph.phrases :] if self.pagerank else np.zeros(self.index.graph.passages)

    @property
    def hubs(self) -> HubBias:
        """The share of the probability on hubs. Weights are the static ones of the default merge."""
        return hub_bias(self.on_phrases, self.index.graph.strength)


def walk_subgraph(walk: WalkDistribution, limit: int = 40) -> Subgraph:
    """The seeds and the most probable nodes, with all edges among them; `value` is the probability, `hop` is 0 for a
    seed and 1 for the others. Phrases and passages share the limit equally, because a passage has far less
    probability."""
    if not (isinstance(limit, int) and limit >= 1):
        raise SettingError(f"limit={limit!r}; it should be a number of nodes of at least 1")
    if walk.pagerank is None:
        return among(walk.index, {}, name=walk.question)
    seeds = [row for row, _ in walk.seeds]
    passages = (walk.index.graph.phrases + top(walk.on_passages, limit)[: limit // 2]).tolist()
    phrases = list(dict.fromkeys(seeds + top(walk.on_phrases, limit).tolist()))[: limit - len(passages)]
    hops = {row: int(row not in seeds) for row in phrases + passages}
    return among(walk.index, hops, name=walk.question, values=walk.pagerank.p)


def with_dense_fill(
    passages: Sequence[Passage], scores: Mapping[int, float], cosines: np.ndarray, k: int, fill: bool = True
) -> tuple[Scored[Passage], ...]:
    """At most k passages: those of `scores` (row → score above 0), equal scores by cosine, then by row; below them, if
    `fill`, all others by cosine, with cosine - 1 for a score, so that 0 parts what a walk reached from the rest."""
    best = sorted(scores, key=lambda row: (-scores[row], -cosines[row], row))[:k]
    head = [Scored(passages[row], float(scores[row])) for row in best]
    if not fill or len(head) == k:
        return tuple(head)
    rest = [row for row in top(cosines, k + len(scores)) if row not in scores][: k - len(head)]
    return (*head, *(Scored(passages[row], min(0.0, float(cosines[row]) - 1)) for row in rest))
