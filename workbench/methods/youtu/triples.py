"""The graph as the routes search it: relations (level 2) and attributes (level 1) as one table of triples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp

from workbench import threads
from workbench.index import Index
from workbench.records import Triple

HAS = "has_attribute"


class Triples:
    """Rows are the relations of the layer `schema_graph` (m), then its attributes (a); t = m + a.

    heads, tails    int64 (t), rows of entities; an attribute has the tail -1
    same            int64 (t), equal for triples with the same (head, relation, tail)
    of_entity       csr (n, t): 1 where the entity is an end
    stated          csr (t, passages): 1 where the passage states the triple
    """

    def __init__(self, index: Index):
        graph = index.schema_graph
        self.graph, self.passages = graph, index.passages.passages
        self.relations, self.attributes = len(graph.sources), graph.attributes
        of = np.array([one.entity for one in self.attributes], dtype=np.int64)
        self.heads = np.concatenate([np.asarray(graph.sources, dtype=np.int64), of])
        self.tails = np.concatenate([np.asarray(graph.targets, dtype=np.int64), np.full(len(of), -1)])
        self.same = _same(self.heads, self._spelled())
        self.of_entity = _ends(self.heads, self.tails, len(graph.names))
        self.stated = sp.vstack([graph.relation_stated, graph.attribute_stated], format="csr")
        self._vectors = np.concatenate([graph.relation_vectors, graph.attribute_vectors])

    def __len__(self) -> int:
        return len(self.heads)

    def _spelled(self) -> list[tuple[str, str]]:
        """(relation, tail) of each triple."""
        names, graph = self.graph.names, self.graph
        related = [(label, names[tail]) for label, tail in zip(graph.labels, graph.targets.tolist())]
        return related + [(HAS, one.text) for one in self.attributes]

    def cosines(self, queries: np.ndarray) -> np.ndarray:
        """Cosines with unit vectors (q, d): float32 (t, q). All queries read the vectors once.

        A single query is asked twice: torch multiplies with one column slowly (matrix times vector)."""
        import torch

        threads.settle_torch()
        asked = queries if len(queries) > 1 else np.repeat(queries, 2, axis=0)
        return (torch.from_numpy(self._vectors) @ torch.from_numpy(asked).T).numpy()[:, : len(queries)]

    def means(self) -> np.ndarray:
        """The mean vector of each entity's triples, Eq. 4: float32 (n, d); zeros where it has none."""
        total = self.of_entity @ self._vectors
        return (total / np.maximum(np.diff(self.of_entity.indptr), 1)[:, None]).astype(np.float32)

    def of_entities(self, entities: Iterable[int]) -> np.ndarray:
        """Rows of all triples of some entities, ascending."""
        return rows_of(self.of_entity, entities)

    def record(self, row: int) -> Triple:
        """The triple in words, with the passages that state it."""
        passages = tuple(self.passages[at].id for at in slice_of(self.stated, row).tolist())
        names = self.graph.names
        head = names[self.heads[row]]
        if row >= self.relations:
            return Triple(head, HAS, self.attributes[row - self.relations].text, passages)
        return Triple(head, self.graph.labels[row], names[self.tails[row]], passages)


def slice_of(matrix: sp.csr_array, row: int) -> np.ndarray:
    """The columns of a row, ascending."""
    return matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]


def rows_of(matrix: sp.csr_array, rows: Iterable[int]) -> np.ndarray:
    """The columns of several rows, each once, ascending."""
    chosen = np.fromiter(rows, dtype=np.int64)
    return np.unique(matrix[chosen].indices).astype(np.int64) if len(chosen) else chosen


def _same(heads: np.ndarray, spelled: Sequence[tuple[str, str]]) -> np.ndarray:
    numbers: dict[tuple, int] = {}
    keys = ((head, *words) for head, words in zip(heads.tolist(), spelled))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _ends(heads: np.ndarray, tails: np.ndarray, entities: int) -> sp.csr_array:
    rows, apart = np.arange(len(heads)), np.flatnonzero((tails >= 0) & (tails != heads))
    ends = np.concatenate([heads, tails[apart]]), np.concatenate([rows, rows[apart]])
    found = sp.coo_array((np.ones(len(ends[0]), np.float32), ends), shape=(entities, len(heads))).tocsr()
    found.sort_indices()
    return found
