"""E²GraphRAG: names of a question that are close in a graph of co-occurrence lead to the passages that hold both; where
none are, a tree of summaries is searched, and what it finds is ordered by how often the names occur.

Follows "E²GraphRAG: Streamlining Graph-based RAG for High Efficiency and Effectiveness" (arXiv 2505.24226, section 3);
where the paper says less, the authors' code (YiboZhao624/E-2GraphRAG, commit 09af371) is followed:

    graph    names (entities and nouns, by spaCy); an edge weighs the sentences that mention both ends
    local    pairs of the question's names within `hops` steps; the passages that hold both ends of a pair.
             More than `chunks`: one step less, and again; none left: the last ones, cut
    global   no pair, or no passage: the 2 · `chunks` nodes of the tree closest to the question, ordered by how often
             the names occur in or below each; those without one are left out, unless all are without
    dense    no name: the nodes of the tree closest to the question

The tree is the layer `summaries`, the indexes from names to passages and back are one sparse matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from workbench import tokens
from workbench.encoding.similarity import top
from workbench.language.mentions import mentioned
from workbench.methods.base import Method
from workbench.operators.walk_distribution import with_dense_fill
from workbench.records import Entity, Evidence, Report, Scored, ranked
from workbench.settings import Positive, Tokens, validated
from workbench.trace import Trace

TRACED = 10  # passages and nodes that the trace lists


class E2GraphRAG(Method):
    """Passages of two close names of the question, or summaries and passages of the tree by occurrence."""

    name = "e2graphrag"
    paper = "E²GraphRAG (arXiv 2505.24226)"
    layers = ("passages", "mentions", "summaries")
    scale = "names"

    @validated
    class Settings:
        """`hops`: steps between two names of a pair, at most. `chunks`: passages that are enough. `dense_fill`: whether
        all other passages follow, by their own cosines. `report_tokens` limits the summaries in the evidence."""

        profile: str = "released"
        hops: Positive = 3
        chunks: Positive = 25
        dense_fill: bool = True
        report_tokens: Tokens = 3500

    profiles: Mapping = {"released": {"hops": 3, "chunks": 25}}

    def prepare(self) -> None:
        self._passages, self._mentions, tree = self.index.passages.passages, self.index.mentions, self.index.summaries
        self._row = {name: row for row, name in enumerate(self._mentions.names)}
        self._sentences = self._mentions.counts.astype(bool).astype(np.float32)  # s × t
        self._mentioned_in = sp.csr_array(self._sentences.T)
        self._occurs = self._mentions.of_passages(len(self._passages)).tocsc()  # passages × t
        self._vectors = np.asarray(self.index.passages.vectors), np.asarray(tree.vectors)
        self._below = tree.leaves.astype(np.float32)
        self._reports = [
            Report(node.id, "", node.text, tuple(self._passages[row].id for row in below), node.level)
            for node, below in zip(tree.nodes, np.split(tree.leaves.indices, tree.leaves.indptr[1:-1]))
        ]
        self._lengths = np.array([tokens.count(node.text) for node in tree.nodes])

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        with trace.span("EMBEDDING", "encode question", text=question):
            vector = self.index.encode_query(question, "passages")
        cosines = [vectors @ vector for vectors in self._vectors]
        names = self.names(question, trace)
        if not names:
            why = "dense ranking of passages and summaries, because the question names nothing that the index mentions"
            return self._nodes(question, np.concatenate(cosines), cosines, k, "cosine", fallback=why)
        counts = self._occurs[:, names].toarray().astype(np.float64)  # passages × names
        if len(chosen := self.local(names, counts, trace)):
            return self._local(question, names, counts, chosen, cosines[0], k, trace)
        occurrences = self.occurrences(counts.sum(axis=1), cosines, trace)
        if occurrences.any():
            return self._nodes(question, occurrences, cosines, k, self.scale, names)
        why = "dense ranking of passages and summaries, because none of the closest holds a name of the question"
        return self._nodes(question, np.concatenate(cosines), cosines, k, "cosine", names, why)

    def names(self, question: str, trace: Trace) -> list[int]:
        """The names of the question that the graph has, by row."""
        with trace.span("RETRIEVER", "names") as span:
            names = list(dict.fromkeys(mention.name for mention in mentioned(question)))
            span.set(names=names, known=[name for name in names if name in self._row])
        return [self._row[name] for name in names if name in self._row]

    def apart(self, names: Sequence[int]) -> np.ndarray:
        """The steps between any two names, int (n, n); `hops` + 1 for more. Half of the steps are made from either
        end: two names are a + b steps apart where what lies within a of one and within b of the other meets."""
        most = self.settings.hops
        near = [np.zeros((len(self._row), len(names)), np.float32)]  # within 0, 1, … steps
        near[0][names, range(len(names))] = 1
        for _ in range((most + 1) // 2):
            near.append((self._mentioned_in @ (self._sentences @ near[-1]) > 0).astype(np.float32))
            near[-1] = np.maximum(near[-1], near[-2])
        steps_apart = np.full((len(names), len(names)), most + 1)
        for steps in range(most, -1, -1):
            steps_apart[near[steps // 2].T @ near[(steps + 1) // 2] > 0] = steps
        return np.minimum(steps_apart, steps_apart.T)

    def weights(self, names: Sequence[int]) -> np.ndarray:
        """The sentences that mention both of two names: the weights of the edges between them, int (n, n)."""
        held = self._sentences[:, names].toarray()
        return (held.T @ held).astype(np.int64)

    def local(self, names: Sequence[int], counts: np.ndarray, trace: Trace) -> np.ndarray:
        """Rows of the passages that hold both names of a close pair; none where there are none."""
        with trace.span("RETRIEVER", "pairs", hops=self.settings.hops) as span:
            steps, weights = self.apart(names), self.weights(names)
            pairs = [pair for pair in combinations(range(len(names)), 2) if steps[pair] <= self.settings.hops]
            called = [self._mentions.names[row] for row in names]
            described = [[called[a], called[b], int(steps[a, b]), int(weights[a, b])] for a, b in pairs]
            rows = np.zeros(0, dtype=np.int64)
            for hops in range(self.settings.hops, 0, -1):
                close = [pair for pair in pairs if steps[pair] <= hops]
                both = [np.flatnonzero((counts[:, a] > 0) & (counts[:, b] > 0)) for a, b in close]
                tighter = np.unique(np.concatenate([rows[:0], *both]))
                if not len(tighter):
                    break
                rows, within = tighter, hops
                if len(rows) <= self.settings.chunks:
                    break
            span.set(pairs=described, passages=len(rows), **({"kept": within} if len(rows) else {}))
        return rows

    def _local(
        self, question: str, names: list[int], counts: np.ndarray, chosen: np.ndarray, cosines: np.ndarray, k: int,
        trace: Trace,
    ) -> Evidence:  # fmt: skip
        """The chosen passages, cut by the names that they hold and how often these occur; then by these names and by
        their own cosines."""
        with trace.span("RERANKER", "order by names") as span:
            held, occur = (counts[chosen] > 0).sum(axis=1), counts[chosen].sum(axis=1)
            scores = held + (1 + cosines[chosen]) / 2
            best = np.lexsort((chosen, -scores, -occur, -held))[: self.settings.chunks]
            best = best[np.argsort(-scores[best], kind="stable")]
            chosen_scores = {int(chosen[at]): float(scores[at]) for at in best}
            span.score((self._passages[row].id, score) for row, score in list(chosen_scores.items())[:TRACED])
        passages = with_dense_fill(self._passages, chosen_scores, cosines, k, self.settings.dense_fill)
        entities = self._entities(names, counts)
        return Evidence(question, self.label, self.scale, passages, entities, selected=min(k, len(chosen_scores)))

    def occurrences(self, counts: np.ndarray, cosines: Sequence[np.ndarray], trace: Trace) -> np.ndarray:
        """How often the names occur in each of the nodes closest to the question, or below it; 0 for all others. Nodes
        are passages, then summaries; float64."""
        with trace.span("RERANKER", "order by occurrence") as span:
            every = np.concatenate(cosines)
            closest = top(every, 2 * self.settings.chunks)
            occur = np.zeros(len(every))
            occur[closest] = np.concatenate([counts, self._below @ counts])[closest]
            leading = np.lexsort((-every, -occur))[: self.settings.chunks]
            held = np.zeros(len(every))
            held[leading] = occur[leading]
            span.set(closest=len(closest), holding=int((occur > 0).sum()))
            span.score((self._id(row), occur[row]) for row in leading[:TRACED] if occur[row])
        return held

    def _nodes(
        self, question: str, scores: np.ndarray, cosines: Sequence[np.ndarray], k: int, scale: str,
        names: Sequence[int] = (), fallback: str | None = None,
    ) -> Evidence:  # fmt: skip
        """The best nodes of the tree: passages, and summaries as reports, as many as fit."""
        n = len(self._passages)
        best = np.lexsort((-np.concatenate(cosines), -scores))[: self.settings.chunks]
        best = best[scores[best] > 0]
        passage_scores = {int(row): float(scores[row]) for row in best if row < n}
        summaries = best[best >= n] - n
        summaries = summaries[np.cumsum(self._lengths[summaries]) <= self.settings.report_tokens]
        return Evidence(
            question,
            self.label,
            scale,
            with_dense_fill(self._passages, passage_scores, cosines[0], k, self.settings.dense_fill),
            entities=self._entities(names, self._occurs[:, list(names)].toarray()),
            reports=ranked([self._reports[row] for row in summaries], scores[n + summaries]),
            fallback=fallback,
        )

    def _entities(self, names: Sequence[int], counts: np.ndarray) -> tuple[Scored[Entity], ...]:
        """The names of the question, with how many passages hold each."""
        held = (counts > 0).sum(axis=0)
        return tuple(Scored(Entity(self._mentions.names[row]), float(n)) for row, n in zip(names, held))

    def _id(self, node: int) -> str:
        n = len(self._passages)
        return self._passages[node].id if node < n else self._reports[node - n].id
