"""The graph that messages pass over: the phrases of an index, its facts and its synonyms."""

from __future__ import annotations

from typing import Literal

import numpy as np

from workbench.index import Index
from workbench.index.relations import SYNONYM
from workbench.methods.gfm_rag.network import Edges

Pairs = Literal["last", "all"]


def edges_of(index: Index, pairs: Pairs = "last") -> Edges:
    """Facts and synonyms as edges between phrase rows, with inverses.

    `last` keeps one relation for an ordered pair of phrases, as the released code does: a synonym replaces facts, and
    of facts the last one stays (theirs in the order of the corpus, ours in that of the facts layer, which is sorted).
    `all` keeps every one."""
    heads, relations, tails = triples_of(index)
    if pairs == "last":
        keys = heads * len(index.facts.phrases) + tails
        _, last = np.unique(keys[::-1], return_index=True)
        kept = np.sort(len(keys) - 1 - last)
        heads, relations, tails = heads[kept], relations[kept], tails[kept]
    return Edges.of(heads, relations, tails, len(index.facts.phrases), len(index.relations.names))


def triples_of(index: Index) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Phrase rows of heads, relation rows, phrase rows of tails: the facts, then the synonyms. int64."""
    facts, synonyms, row = index.facts, index.synonyms, index.relations.row
    kinds = np.array([row[relation] for _, relation, _ in facts.facts], dtype=np.int64)
    same = np.full(len(synonyms.sources), row[SYNONYM], dtype=np.int64)
    heads = np.r_[facts.subjects, synonyms.sources.astype(np.int64)]
    return heads, np.r_[kinds, same], np.r_[facts.objects, synonyms.targets.astype(np.int64)]
