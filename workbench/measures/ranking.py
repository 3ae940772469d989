"""Measures of a ranking at k: recall, hits, mrr, map, ndcg, all_gold. `ranking` is passage ids, best first,
and `gold` the ids of the gold passages, not empty; the mean over the questions is the figure of a table.

Measures of retrieved nodes of a graph against the gold ones (DotRAG's evaluation on MetaQA).

R: the names of the nodes that the method returned, and of those that its passages represent: per passage, the entity
that it is about and the neighbours of it that it mentions (`index.typed.represented`). G: the start entity of the
question, and its answers; never empty. The paper does not state whether the start counts, so every measure of nodes has
three readings:

* `node_recall`: as above; the main figure;
* `node_recall:answers`: G without the start;
* `node_recall:nodes`: R without the passages, G without the start: the method's own nodes.

Names are compared exactly: `Comedy` and `comedy` are two nodes. Defined if the answers are a set (`answer_set`) and the
graph has nodes to resolve to (the layer `typed`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2


def recall(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """The share of the gold passages among the first k: |top k ∩ gold| / |gold|.

    As in HippoRAG 2's released code: sets of passages, mean over questions. There, a question without gold counts as 0;
    here it is excluded.

    >>> recall(["a", "b", "c"], ["b", "d"], k=2)
    0.5
    """
    gold = set(gold)
    return len(gold & set(ranking[:k])) / len(gold)


def all_gold(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 if every gold passage is among the first k, else 0.

    CatRAG calls it full chain retrieval (FCR) at k = 5. With more than k gold passages it is always 0 (`docs/traps.md`,
    T29).

    >>> all_gold(["a", "b", "c"], ["b", "c"], k=2), all_gold(["a", "b", "c"], ["b", "c"], k=3)
    (0.0, 1.0)
    """
    return float(set(gold) <= set(ranking[:k]))


def hits(ranking: Sequence[str], gold: Collection[str], k: int) -> list[int]:
    """The ranks of the gold passages among the first k, from 1, in ascending order, which `ndcg`, `mrr` and `map_` are
    computed from. A repeated id takes a rank each time, but is found once: otherwise a ranking could gain more than a
    perfect one.

    >>> hits(["a", "b", "b", "c"], ["b", "c"], k=4)
    [2, 4]
    """
    wanted, ranks = set(gold), []
    for rank, passage in enumerate(ranking[:k], 1):
        if passage in wanted:
            wanted.remove(passage)
            ranks.append(rank)
    return ranks


def mrr(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """How early the first gold passage comes: 1 / its rank, 0 if none is among the first k.

    A value per question is a reciprocal rank; its mean over the questions is the mean reciprocal rank (Voorhees, The
    TREC-8 Question Answering Track Report, 1999).

    >>> mrr(["a", "b", "c"], ["b", "c"], k=3), mrr(["a", "b", "c"], ["b"], k=1)
    (0.5, 0.0)
    """
    ranks = hits(ranking, gold, k)
    return 1 / ranks[0] if ranks else 0.0


def map_(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """The precision at the rank of each gold passage, averaged over all gold passages.

        map@k = Σ over gold passages at ranks i ≤ k of (gold passages in the first i) / i, over |gold|

    A gold passage below k adds nothing. As `map_cut` of trec_eval; other definitions divide by min(k, |gold|), or by
    the number of gold passages found. A value per question is an average precision; its mean over the questions is the
    mean average precision (Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, 8.4).

    >>> map_(["a", "b", "c"], ["a", "c"], k=3), map_(["a", "b", "c"], ["a", "c"], k=2)
    (0.8333333333333333, 0.5)
    """
    return sum(position / rank for position, rank in enumerate(hits(ranking, gold, k), 1)) / len(set(gold))


def ndcg(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """The rank quality of the gold passages, with binary gain (Järvelin and Kekäläinen, 2002). A repeated id gains
    once, at its first rank.

        dcg@k  = Σ over gold passages at ranks i ≤ k of 1 / log₂(i + 1)
        ndcg@k = dcg@k / the dcg@k of a ranking with all gold passages first

    >>> round(ndcg(["a", "b", "c"], ["b"], k=3), 4)
    0.6309
    """
    gained = sum(1 / log2(rank + 1) for rank in hits(ranking, gold, k))
    return gained / sum(1 / log2(rank + 1) for rank in range(1, min(k, len(set(gold))) + 1))


# -- nodes ------------------------------------------------------------------------------------------------------------


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
