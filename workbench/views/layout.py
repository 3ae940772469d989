"""The layout of a graph, computed here and not by the page, so that the same graph gives the same picture."""

from __future__ import annotations

import numpy as np

from workbench.graph.neighbourhood import Subgraph
from workbench.index.leiden import seeded

ROUNDS = 300  # of Fruchterman and Reingold's algorithm, for small graphs
ROUNDS_LARGE, LARGE = 25, 1500


def layout(subgraph: Subgraph, seed: int = 0) -> np.ndarray:
    """Positions in [-1, 1], float (n, 2). It starts from rings by hop, with the start in the middle, and is
    repeatable."""
    import igraph  # half a second, because it imports matplotlib's windows

    n = len(subgraph.nodes)
    if n < 2:
        return np.zeros((n, 2))
    hops = np.array([node.hop for node in subgraph.nodes], dtype=float)
    angle = 2.399963 * np.arange(n)  # the golden angle keeps list neighbours apart
    start = np.c_[np.cos(angle), np.sin(angle)] * (hops + 0.05 + np.arange(n) / n)[:, None]
    graph = igraph.Graph(n, [(edge.source, edge.target) for edge in subgraph.edges])
    with seeded(seed):
        found = graph.layout_fruchterman_reingold(
            niter=ROUNDS if n < LARGE else ROUNDS_LARGE, seed=(start * np.sqrt(n)).tolist(), grid=n >= LARGE
        )
    positions = np.asarray(found.coords)
    positions -= np.median(positions, axis=0)
    # Isolated nodes drift far off and would make everything else small.
    reach = np.quantile(np.abs(positions), 0.98) or 1.0
    return np.clip(positions / reach, -1.1, 1.1) / 1.1
