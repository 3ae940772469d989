"""node_f1: the harmonic mean of `node_precision` and `node_recall` of one question (DotRAG, Table 2).

    node_f1 = 2 |R ∩ G| / (|R| + |G|)

A table holds its mean over questions, which is not what the means of precision and recall would give."""

from __future__ import annotations

from collections.abc import Collection


def node_f1(nodes: Collection[str], gold: Collection[str]) -> float:
    """`gold`: names, not empty.

    >>> node_f1({"Jaws", "1975", "Duel"}, {"Jaws"}), node_f1(set(), {"Jaws"})
    (0.5, 0.0)
    """
    nodes, gold = set(nodes), set(gold)
    return 2 * len(nodes & gold) / (len(nodes) + len(gold))
