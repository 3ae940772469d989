"""node_precision: the share of the retrieved nodes that are gold (DotRAG, Table 2); 0 where nothing was retrieved.

    node_precision = |R ∩ G| / |R|

R and G as for `node_recall`, with the same three readings. It falls as R grows, so compare it at like `node_count`:
a small context has a high precision without being better."""

from __future__ import annotations

from collections.abc import Collection


def node_precision(nodes: Collection[str], gold: Collection[str]) -> float:
    """
    >>> node_precision(["Jaws", "1975", "Jaws", "Duel", "1971"], {"Jaws"}), node_precision([], {"Jaws"})
    (0.25, 0.0)
    """
    nodes = set(nodes)
    return len(nodes.intersection(gold)) / len(nodes) if nodes else 0.0
