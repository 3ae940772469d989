"""The out-edges of a few phrases, by kind: a copy that a question may edit, while the graph stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from workbench.index.graph import Graph
from workbench.operators.pagerank import Walk

KINDS = ("relation", "synonym", "context")


class Edit(NamedTuple):
    """One changed edge: rows of a phrase and of a phrase or, of kind `context`, a passage."""

    source: int
    target: int
    kind: str
    before: float
    after: float


class DirectedGraph:
    """The walk over an index, and the weights in it by kind, each from phrases: `relation` and `synonym` (n_e, n_e),
    `context` (n_e, n_p). Both directions of an edge have the same weight until a question edits one."""

    def __init__(self, graph: Graph, merge: str, synonym_weight: float):
        relation, synonym = graph.entries(merge, synonym_weight)
        self.relation, self.synonym = ((part + part.T).tocsr() for part in (relation, synonym))
        self.context = graph.context.T.tocsr()
        self.walk = Walk(graph.weights(merge, synonym_weight))
        self._entries = relation, synonym

    @cached_property
    def parallel(self) -> sp.csr_array:
        """(n_e, n_e): the edges that the released code keeps from one phrase to another, one for each entry, in either
        order."""
        relation, synonym = (part.astype(bool) for part in self._entries)
        entries = (relation + synonym).astype(np.int8)
        return (entries + entries.T).tocsr()

    def out_edges(self, phrases: Iterable[int]) -> OutEdges:
        rows = np.array(list(dict.fromkeys(phrases)), dtype=np.int64)
        return OutEdges(rows, {kind: getattr(self, kind)[rows] for kind in KINDS})

    def walk_over(self, edges: OutEdges) -> Walk:
        """The walk with these edges in place of the graph's own."""
        return self.walk.edited(edges.phrases, _stacked(edges.before), _stacked(edges.weights))


class OutEdges:
    """Row i of each matrix holds the edges of `phrases[i]`; edits change `weights` alone, `before` stays."""

    def __init__(self, phrases: np.ndarray, weights: Mapping[str, sp.csr_array]):
        self.phrases, self.weights = phrases, weights
        self._row = {phrase: row for row, phrase in enumerate(phrases.tolist())}
        self.before = {kind: matrix.copy() for kind, matrix in weights.items()}

    def scale(self, phrase: int, kind: str, factors: Mapping[int, float]) -> None:
        """Multiply the weights from a phrase to the targets given."""
        targets, weights = self._of(phrase, kind)
        for at in np.flatnonzero(np.isin(targets, list(factors))).tolist():
            weights[at] *= factors[int(targets[at])]

    def rescale(self, phrase: int, kind: str) -> None:
        """Bring the sum of a phrase's edges of one kind back to what it was before all edits."""
        part = self._part(phrase, kind)
        data = self.weights[kind].data
        if total := data[part].sum():
            data[part] *= self.before[kind].data[part].sum() / total

    def edits(self) -> Iterator[Edit]:
        """The edges with another weight than before, by phrase and kind."""
        for phrase in self._row:
            for kind in self.weights:
                targets, after = self._of(phrase, kind)
                before = self.before[kind].data[self._part(phrase, kind)]
                for at in np.flatnonzero(before != after).tolist():
                    yield Edit(phrase, int(targets[at]), kind, float(before[at]), float(after[at]))

    def _part(self, phrase: int, kind: str) -> slice:
        row = self._row[phrase]
        return slice(*self.weights[kind].indptr[row : row + 2].tolist())

    def _of(self, phrase: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """The targets and weights of its edges; the weights are a view."""
        part = self._part(phrase, kind)
        return self.weights[kind].indices[part], self.weights[kind].data[part]


def _stacked(weights: Mapping[str, sp.csr_array]) -> sp.csr_array:
    """The weights from some phrases to all nodes, phrases first."""
    return sp.hstack([weights["relation"] + weights["synonym"], weights["context"]], format="csr")


def key_passages(facts: Sequence[tuple[int, int, np.ndarray]]) -> dict[int, list[int]]:
    """Phrase → passages that state a key fact with it. A fact is its two ends and the passages that state it."""
    passages: dict[int, list[int]] = {}
    for subject, obj, stating in facts:
        for phrase in dict.fromkeys((subject, obj)):
            passages.setdefault(phrase, []).extend(stating.tolist())
    return passages
