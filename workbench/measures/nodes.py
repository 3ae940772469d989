"""Measures of retrieved nodes of a graph against the gold ones (DotRAG's evaluation on MetaQA).

R: the names of the nodes that the method returned, and of those that its passages represent: per passage, the entity
that it is about and the neighbours of it that it mentions (`index.typed.represented`). G: the start entity of the
question, and its answers; never empty. The paper does not state whether the start counts, so every measure of nodes has
three readings:

* `node_recall`: as above; the main figure;
* `node_recall:answers`: G without the start;
* `node_recall:nodes`: R without the passages, G without the start: the method's own nodes.

Names are compared exactly: `Comedy` and `comedy` are two nodes. Defined if the answers are a set (`answer_set`) and the
graph has nodes to resolve to (the layer `typed`).
"""

from __future__ import annotations

from collections.abc import Collection


def node_recall(nodes: Collection[str], gold: Collection[str]) -> float:
    """The share of the gold nodes that were retrieved: |R ∩ G| / |G|.

    >>> node_recall({"Jaws", "1975", "Steven Spielberg"}, {"Jaws", "Duel"}), node_recall(set(), {"Jaws"})
    (0.5, 0.0)
    """
    gold = set(gold)
    return len(gold.intersection(nodes)) / len(gold)


def node_precision(nodes: Collection[str], gold: Collection[str]) -> float:
    """The share of gold among the retrieved nodes: |R ∩ G| / |R|; 0 if none was retrieved.

    It falls as R grows, so compare it at similar `node_count`: a small context has a high precision without being
    better.

    >>> node_precision(["Jaws", "1975", "Jaws", "Duel", "1971"], {"Jaws"}), node_precision([], {"Jaws"})
    (0.25, 0.0)
    """
    nodes = set(nodes)
    return len(nodes.intersection(gold)) / len(nodes) if nodes else 0.0


def node_f1(nodes: Collection[str], gold: Collection[str]) -> float:
    """The harmonic mean of both for one question: 2 |R ∩ G| / (|R| + |G|).

    A table holds its mean over questions, which is not the F1 of the mean precision and recall.

    >>> node_f1({"Jaws", "1975", "Duel"}, {"Jaws"}), node_f1(set(), {"Jaws"})
    (0.5, 0.0)
    """
    nodes, gold = set(nodes), set(gold)
    return 2 * len(nodes & gold) / (len(nodes) + len(gold))
