"""RAPTOR: passages ranked by their own vectors and by those of the summaries above them.

Follows "RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval" (arXiv 2401.18059) and the authors' code
(parthsarthi03/raptor, commit 2e3e83e), which pass the nodes of the tree, including summaries, to the reader. The
ranking of passages is our definition: a retrieved summary lends its cosine, times `gamma` per level, to every passage
below it, and the score of a passage is the maximum of its own cosine and those lent to it:

    s(l) = max(cos(q, l), max over found n above l of gamma^level(n) cos(q, n)), no less than 0

The retrieved summaries become reports of the evidence, as many as fit. `gamma=0` and `mode=leaves` rank as `dense`."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from workbench import tokens
from workbench.encoding.similarity import top
from workbench.methods.base import Method
from workbench.records import Evidence, Report, ranked
from workbench.settings import Number, Positive, Tokens, validated
from workbench.trace import Trace

TRACED = 10  # passages that the trace explains


class TreeSearch(NamedTuple):
    """summaries  int: rows of the summaries that lend their cosine, best first
    reached    bool (n_p,): passages that are ranked by their score
    """

    summaries: np.ndarray
    reached: np.ndarray


class RAPTOR(Method):
    """Summaries of clusters of passages, clustered and summarised in turn, searched together with the passages."""

    name = "raptor"
    paper = "RAPTOR (arXiv 2401.18059); its ranking of passages is our own"
    layers = ("passages", "summaries")
    scale = "cosine"

    @validated
    class Settings:
        """`mode`: `collapsed` retrieves the summaries among the `nodes` nodes of the whole tree closest to the
        question; `traversal` descends from the roots, keeps the closest `width` nodes of each level, and reaches the
        passages below the last; `leaves` retrieves none. `dense_fill`: whether passages that the traversal did not
        reach follow, by their own cosines. `report_tokens` limits the reports."""

        mode: Literal["collapsed", "traversal", "leaves"] = "collapsed"
        gamma: Annotated[Number, Field(ge=0, le=1, title="share of a score that is left per level")] = 0.9
        nodes: Positive = 50
        width: Positive = 5
        dense_fill: bool = True
        report_tokens: Tokens = 3500

    def prepare(self) -> None:
        self._passages = self.index.passages.passages
        tree = self.index.summaries
        self._vectors = np.asarray(self.index.passages.vectors), np.asarray(tree.vectors)
        self._ids = [passage.id for passage in self._passages] + [node.id for node in tree.nodes]
        self._levels = np.array([node.level for node in tree.nodes], dtype=np.int64)
        self._children = [np.array(node.children) for node in tree.nodes]
        self._roots = np.ones(len(self._ids), dtype=bool)  # on whatever level, as a summary may have failed
        for children in self._children:
            self._roots[children] = False
        self._below = np.split(tree.leaves.indices, tree.leaves.indptr[1:-1])  # rows of passages, per summary
        self._reports = [
            Report(node.id, "", node.text, tuple(self._ids[row] for row in below), node.level)
            for node, below in zip(tree.nodes, self._below)
        ]
        self._lengths = np.array([tokens.count(node.text) for node in tree.nodes])

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        with trace.span("EMBEDDING", "encode question", text=question):
            vector = self.index.encode_query(question, "passages")
        cosines = np.concatenate([vectors @ vector for vectors in self._vectors])
        own, lent = np.split(cosines, [len(self._passages)])
        search_result = self.find(cosines, trace)
        scores, order = self.score(own, lent, search_result, k, trace)
        fitting = search_result.summaries[
            np.cumsum(self._lengths[search_result.summaries]) <= self.settings.report_tokens
        ]
        alone = self.settings.mode != "leaves" and not self._reports
        return Evidence(
            question,
            self.label,
            self.scale,
            ranked([self._passages[row] for row in order], scores[order]),
            reports=ranked([self._reports[summary] for summary in fitting], lent[fitting]),
            fallback="dense ranking, because the tree has no summary" if alone else None,
        )

    def find(self, cosines: np.ndarray, trace: Trace) -> TreeSearch:
        """The retrieved summaries and the reached passages; `cosines` are those of passages, then of summaries."""
        n = len(self._passages)
        everything = np.ones(n, dtype=bool)
        if self.settings.mode == "leaves":
            return TreeSearch(np.zeros(0, dtype=np.int64), everything)
        with trace.span("RETRIEVER", "search tree", mode=self.settings.mode) as span:
            if self.settings.mode == "collapsed":
                nodes_found, reached = top(cosines, self.settings.nodes), everything
            else:
                nodes_found, reached = self._walk(cosines)
            summaries = nodes_found[nodes_found >= n] - n
            span.set(summaries=len(summaries), reached=int(reached.sum()))
            span.score((self._ids[node], cosines[node]) for node in nodes_found)
        return TreeSearch(summaries[cosines[n + summaries] > 0], reached)

    def _walk(self, cosines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Summaries kept on the way down, best first, and which passages it ends at."""
        n = len(self._passages)
        reached, levels = self._roots.copy(), [np.zeros(0, dtype=np.int64)]
        for level in range(self._levels.max(initial=0), 0, -1):
            here = n + np.flatnonzero((self._levels == level) & reached[n:])
            levels.append(here[top(cosines[here], self.settings.width)])
            for summary in levels[-1] - n:
                reached[self._children[summary]] = True
        nodes = np.concatenate(levels)
        return nodes[np.lexsort((nodes, -cosines[nodes]))], reached[:n]

    def score(
        self, own: np.ndarray, lent: np.ndarray, search_result: TreeSearch, k: int, trace: Trace
    ) -> tuple[np.ndarray, np.ndarray]:
        """s(l) per passage, float64 (n_p,), and the rows of the best k. Passages with the same lent score are ordered
        by their own cosines. Unreached passages are scored by their own cosines, capped at the lowest score above
        them."""
        with trace.span("RETRIEVER", "score passages", gamma=self.settings.gamma) as span:
            scores = np.clip(own.astype(np.float64), 0, 1)
            lender = np.full(len(own), -1)
            for summary in search_result.summaries:
                offer = min(1.0, self.settings.gamma ** self._levels[summary] * float(lent[summary]))
                takers = self._below[summary]
                takers = takers[search_result.reached[takers] & (scores[takers] < offer)]
                scores[takers], lender[takers] = offer, summary
            best = _ordered(np.flatnonzero(search_result.reached), scores, own)
            rest = _ordered(np.flatnonzero(~search_result.reached), scores, own)
            scores[rest] = np.minimum(scores[rest], scores[best[-1:]].min(initial=1))
            order = (np.concatenate([best, rest]) if self.settings.dense_fill else best)[:k]
            if trace:
                through = {row: self._ids[len(own) + lender[row]] for row in order[:TRACED] if lender[row] >= 0}
                span.set(through={self._ids[row]: summary for row, summary in through.items()})
                span.set(tail=int((~search_result.reached[order]).sum()))
                span.score((self._ids[row], scores[row]) for row in order[:TRACED])
        return scores, order


def _ordered(rows: np.ndarray, scores: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """The rows by descending score, then by descending cosine."""
    return rows[np.lexsort((rows, -cosines[rows], -scores[rows]))]
