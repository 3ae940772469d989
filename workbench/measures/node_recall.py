"""node_recall: the share of the gold nodes of a graph that were retrieved (DotRAG, Table 2).

    node_recall = |R ∩ G| / |G|

R: the names of the nodes that the method returned, and of those that its passages stand for: per passage the entity it
is about and the neighbours of it that it mentions (`index.typed.held`). G: the entity at which the question starts, and
its answers. The paper does not say whether the start counts, so there are three readings of every measure of nodes:

* `node_recall`: as above; the headline;
* `node_recall:answers`: G without the start;
* `node_recall:nodes`: R without the passages, G without the start: what the method's own nodes are worth.

Names are compared as they are written: `Comedy` and `comedy` are two nodes. Defined where the answers are a set
(`answer_set`) and the graph has nodes to resolve to (the layer `typed`)."""

from __future__ import annotations

from collections.abc import Collection


def node_recall(nodes: Collection[str], gold: Collection[str]) -> float:
    """`gold`: names, not empty.

    >>> node_recall({"Jaws", "1975", "Steven Spielberg"}, {"Jaws", "Duel"}), node_recall(set(), {"Jaws"})
    (0.5, 0.0)
    """
    gold = set(gold)
    return len(gold.intersection(nodes)) / len(gold)
