"""The layout of a graph, computed in Python, so that the same graph always gives the same picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.index.leiden import seeded

if TYPE_CHECKING:
    from workbench.operators.neighbourhood import Subgraph

ROUNDS = 300  # of Fruchterman and Reingold's algorithm, for small graphs
ROUNDS_LARGE, LARGE = 25, 1500


def layout(subgraph: Subgraph, seed: int = 0) -> np.ndarray:
    """Positions of the nodes of a subgraph, as by `positions`."""
    hops = [node.hop for node in subgraph.nodes]
    return positions(hops, [(edge.source, edge.target) for edge in subgraph.edges], seed)


def positions(hops: Sequence[int], edges: Sequence[tuple[int, int]], seed: int = 0) -> np.ndarray:
    """Positions in [-1, 1], float (n, 2), of nodes with these distances from the start, and edges between their
    numbers. It begins with rings by hop, with the start in the middle, and is repeatable."""
    import igraph  # half a second, because it imports matplotlib's windows

    n = len(hops)
    if n < 2:
        return np.zeros((n, 2))
    angle = 2.399963 * np.arange(n)  # the golden angle keeps list neighbours apart
    start = np.c_[np.cos(angle), np.sin(angle)] * (np.asarray(hops, dtype=float) + 0.05 + np.arange(n) / n)[:, None]
    graph = igraph.Graph(n, edges)
    with seeded(seed):
        layout = graph.layout_fruchterman_reingold(
            niter=ROUNDS if n < LARGE else ROUNDS_LARGE, seed=(start * np.sqrt(n)).tolist(), grid=n >= LARGE
        )
    places = np.asarray(layout.coords)
    places -= np.median(places, axis=0)
    # Isolated nodes drift far off and would make everything else small.
    reach = np.quantile(np.abs(places), 0.98) or 1.0
    return np.clip(places / reach, -1.1, 1.1) / 1.1
