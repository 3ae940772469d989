"""node_recall: the share of the gold nodes of a graph that were retrieved (DotRAG's evaluation on MetaQA).

    node_recall = |R ∩ G| / |G|

R: the names of the nodes that the method returned, and of those that its passages represent: per passage, the entity
that it is about and the neighbours of it that it mentions (`index.typed.represented`). G: the start entity of the
question, and its answers. The paper does not state whether the start counts, so every measure of nodes has three
readings:

* `node_recall`: as above; the main figure;
* `node_recall:answers`: G without the start;
* `node_recall:nodes`: R without the passages, G without the start: the method's own nodes.

Names are compared exactly: `Comedy` and `comedy` are two nodes. Defined if the answers are a set (`answer_set`) and the
graph has nodes to resolve to (the layer `typed`).
"""

from __future__ import annotations

from collections.abc import Collection


def node_recall(nodes: Collection[str], gold: Collection[str]) -> float:
    """`gold`: names, not empty.

    >>> node_recall({"Jaws", "1975", "Steven Spielberg"}, {"Jaws", "Duel"}), node_recall(set(), {"Jaws"})
    (0.5, 0.0)
    """
    gold = set(gold)
    return len(gold.intersection(nodes)) / len(gold)
