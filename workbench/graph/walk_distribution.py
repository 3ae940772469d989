"""Where a walk's probability went for one question, and why a passage stands where it stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.errors import SettingError
from workbench.graph.hubs import HubBias, hub_bias
from workbench.graph.neighbourhood import Subgraph, among
from workbench.graph.pagerank import PageRankResult
from workbench.index import Index
from workbench.ranking.similarity import top
from workbench.records import Record


@dataclass(frozen=True, eq=False, repr=False)
class WalkDistribution(Record):
    """A walk before its passages are ranked.

    seeds      [(phrase row, reset weight)], best first; empty where no fact was kept
    facts      [(fact row, score)] that the seeds come from
    dense      float64 (n_p,): cosines of the passages, min-max scaled
    pagerank   the probability on phrases, then passages; None where there was no walk, and `fallback` says why
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
        """Probability per phrase, float64 (n_e,); zeros where there was no walk."""
        n = self.index.graph.phrases
        return self.pagerank.p[:n] if self.pagerank else np.zeros(n)

    @property
    def on_passages(self) -> np.ndarray:
        """Probability per passage, float64 (n_p,); zeros where there was no walk."""
        return self.pagerank.p[self.index.graph.phrases :] if self.pagerank else np.zeros(self.index.graph.passages)

    @property
    def hubs(self) -> HubBias:
        """How much of it is on hubs. Weights are the static ones of the default merge."""
        return hub_bias(self.on_phrases, self.index.graph.strength)


def walk_subgraph(walk: WalkDistribution, limit: int = 40) -> Subgraph:
    """The seeds and the nodes with the most probability, with all edges among them; `value` is the probability, `hop` 0
    for a seed and 1 for the others. Phrases and passages share the limit equally, since passages have far less each."""
    if not (isinstance(limit, int) and limit >= 1):
        raise SettingError(f"limit={limit!r}; it should be a whole number of nodes from 1 on")
    if walk.pagerank is None:
        return among(walk.index, {}, name=walk.question)
    seeds = [row for row, _ in walk.seeds]
    passages = (walk.index.graph.phrases + top(walk.on_passages, limit)[: limit // 2]).tolist()
    phrases = list(dict.fromkeys(seeds + top(walk.on_phrases, limit).tolist()))[: limit - len(passages)]
    hops = {row: int(row not in seeds) for row in phrases + passages}
    return among(walk.index, hops, name=walk.question, values=walk.pagerank.p)
