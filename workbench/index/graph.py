"""The graph of an index: phrase and passage nodes, and the three kinds of edges kept apart.

HippoRAG 2's released code keeps parallel edges whose weights add up; here the same sums are computed once
(`docs/traps.md`, HippoRAG 2: T5). Kept apart, the parts can be weighted differently by methods, and shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from workbench.errors import SettingError
from workbench.index.facts import FactsLayer
from workbench.index.synonyms import SynonymsLayer
from workbench.records import Record

if TYPE_CHECKING:
    import networkx
    from pyvis.network import Network

    from workbench.index.index import Index

MERGES = ("overwrite", "overwrite_stated", "sum")


@dataclass(frozen=True, repr=False, eq=False)
class Graph(Record):
    """Phrase nodes are 0 … n_e-1, passage nodes n_e … n_e+n_p-1.

    stated     (n_e, n_e): how many passages state a fact from the row's phrase to the column's, summed over such facts;
               no self-loops
    context    (n_p, n_e): 1 where a triple of the passage holds the phrase
    synonym    (n_e, n_e) directed: the cosine, where the row's phrase found the column's
    """

    stated: sp.csr_array
    context: sp.csr_array
    synonym: sp.csr_array
    index: Index | None = field(default=None, compare=False)  # where the names are

    @classmethod
    def of(cls, facts: FactsLayer, synonyms: SynonymsLayer, passages: int) -> Graph:
        n = len(facts.phrases)
        passage, fact = facts.stated
        subject, obj = facts.subjects[fact], facts.objects[fact]
        apart = subject != obj
        joined = sp.coo_array((np.ones(apart.sum()), (subject[apart], obj[apart])), shape=(n, n)).tocsr()
        context = sp.coo_array(
            (np.ones(2 * len(passage)), (np.r_[passage, passage], np.r_[subject, obj])), shape=(passages, n)
        ).tocsr()
        context.data[:] = 1.0
        synonym = sp.coo_array(
            (synonyms.similarities.astype(float), (synonyms.sources, synonyms.targets)), shape=(n, n)
        ).tocsr()
        return cls(joined, context, synonym)

    def stating_again(self, facts: FactsLayer, rows: Sequence[int]) -> Graph:
        """This graph with the facts of these rows stated once more each; itself without any."""
        subject, obj = facts.subjects[list(rows)], facts.objects[list(rows)]
        apart = subject != obj
        if not apart.any():
            return self
        again = sp.coo_array((np.ones(apart.sum()), (subject[apart], obj[apart])), shape=self.stated.shape).tocsr()
        return replace(self, stated=self.stated + again, index=None)

    def to_networkx(self) -> networkx.MultiDiGraph:
        """The graph for networkx: nodes are rows of the matrices; see `workbench.index.networks`. It takes some
        400 MB for 100,000 nodes with 550,000 edges."""
        from workbench.index import networks

        if self.index is None:
            raise SettingError("this graph has no names of nodes; use the `graph` of an index")
        return networks.index_to_networkx(self.index)

    def to_pyvis(self, **options: Any) -> Network:
        """The same as a pyvis network with fixed positions: `.save_graph("page.html")` writes a page that needs no
        connection. `options` are those of `pyvis.network.Network`. For up to some thousand nodes; of a larger graph,
        take a `neighbourhood`."""
        from workbench.index import networks

        return networks.to_pyvis(self.to_networkx(), **options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and all(
            a.shape == b.shape and (a != b).nnz == 0 for a, b in zip(self._parts, other._parts)
        )

    __hash__ = None

    @property
    def _parts(self) -> tuple[sp.csr_array, ...]:
        return (self.stated, self.context, self.synonym)

    @cached_property
    def relation(self) -> sp.csr_array:
        """c(a, b), the facts between two phrases in either direction, counted as in `stated`; (n_e, n_e), symmetric."""
        return (self.stated + self.stated.T).tocsr()

    @property
    def phrases(self) -> int:
        return self.stated.shape[0]

    @property
    def passages(self) -> int:
        return self.context.shape[0]

    @property
    def nodes(self) -> int:
        return self.phrases + self.passages

    def entries(self, merge: str = "overwrite", synonym_weight: float = 1.0) -> tuple[sp.csr_array, sp.csr_array]:
        """The directed entries of relations and of synonyms that the released code of HippoRAG 2, or of CatRAG
        (`overwrite_stated`), puts between phrases; an entry counts in both directions. (n_e, n_e) each.

        HippoRAG 2 enters c(a, b) for both orders of a pair, CatRAG 2 c for the order in which a fact states it. Where
        an ordered pair is a synonym entry as well, `overwrite` and `overwrite_stated` let the cosine replace the count,
        as the code does when both come from one build; `sum` keeps both.
        """
        if merge not in MERGES:
            raise SettingError(f"merge={merge!r} is unknown; choose one of {', '.join(MERGES)}")
        relation = 2 * self.stated if merge == "overwrite_stated" else self.relation
        if merge != "sum":
            synonyms = self.synonym.astype(bool).astype(float)
            relation = relation - relation.multiply(synonyms)
            relation.eliminate_zeros()
        return relation, self.synonym if synonym_weight == 1 else self.synonym * synonym_weight

    def weights(self, merge: str = "overwrite", synonym_weight: float = 1.0) -> sp.csr_array:
        """Effective undirected weights, (nodes, nodes): relation 2c, synonym the sum of both directions times
        `synonym_weight`, context 1; `merge` as in `entries`."""
        relation, synonym = self.entries(merge, synonym_weight)
        directed = relation + synonym
        among_phrases = directed + directed.T
        blocks = sp.block_array([[among_phrases, self.context.T], [self.context, None]], format="csr")
        blocks.eliminate_zeros()
        blocks.sort_indices()
        return blocks

    @cached_property
    def undirected(self) -> dict[str, sp.csr_array]:
        """Each kind of edge by itself over all nodes, symmetric: `relation` c(a, b), `synonym` the higher cosine of
        the two directions, `context` 1."""
        n, m = self.phrases, self.passages
        nothing, square = sp.csr_array((m, n)), sp.csr_array((m, m))
        parts = {
            "relation": sp.block_array([[self.relation, nothing.T], [nothing, square]], format="csr"),
            "synonym": sp.block_array(
                [[self.synonym.maximum(self.synonym.T), nothing.T], [nothing, square]], format="csr"
            ),
            "context": sp.block_array([[sp.csr_array((n, n)), self.context.T], [self.context, square]], format="csr"),
        }
        for part in parts.values():
            part.sort_indices()
        return parts

    @cached_property
    def degrees(self) -> np.ndarray:
        """Neighbours of each node over all kinds of edges, int (nodes,)."""
        return np.diff(sum(part.astype(bool).astype(int) for part in self.undirected.values()).tocsr().indptr)

    @cached_property
    def strength(self) -> np.ndarray:
        """Weighted degree of each phrase in the walk, with the weights of the default merge, float (n_e,)."""
        return np.asarray(self.weights().sum(axis=1)).ravel()[: self.phrases]

    @cached_property
    def passages_of(self) -> np.ndarray:
        """|P_e| per phrase: how many passages state a triple with it."""
        return np.asarray(self.context.sum(axis=0)).ravel()

    def counts(self) -> dict[str, int]:
        """The numbers that identify a graph; `pairs` are distinct undirected pairs of nodes with an edge."""
        return {
            "nodes": self.nodes,
            "phrases": self.phrases,
            "passages": self.passages,
            "relation_pairs_directed": self.relation.nnz,
            "context_pairs": self.context.nnz,
            "synonym_entries_directed": self.synonym.nnz,
            "synonym_on_relation": self.synonym.astype(bool).multiply(self.relation.astype(bool)).nnz,
            "pairs": self.weights().nnz // 2,
        }

    def __repr__(self) -> str:
        return "Graph(" + ", ".join(f"{name}={value:,}" for name, value in self.counts().items()) + ")"
