"""The probability distribution of a random walk for one question, which explains the rank of a passage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.encoding.similarity import top
from workbench.errors import SettingError
from workbench.index import Index
from workbench.operators.hubs import HubBias, hub_bias
from workbench.operators.neighbourhood import Subgraph, among
from workbench.operators.pagerank import PageRankResult
from workbench.records import Record


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
        raise SettingError(f"limit={limit!r}; it should be a whole number of nodes from 1 on")
    if walk.pagerank is None:
        return among(walk.index, {}, name=walk.question)
    seeds = [row for row, _ in walk.seeds]
    passages = (walk.index.graph.phrases + top(walk.on_passages, limit)[: limit // 2]).tolist()
    phrases = list(dict.fromkeys(seeds + top(walk.on_phrases, limit).tolist()))[: limit - len(passages)]
    hops = {row: int(row not in seeds) for row in phrases + passages}
    return among(walk.index, hops, name=walk.question, values=walk.pagerank.p)
