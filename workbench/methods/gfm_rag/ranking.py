"""From entities to documents (GFM-RAG, section 3.2.2; the rankers of the released code).

Every ranker gives each entity a weight, and a document the sum of the weights of its entities. The one by default
takes the logits only to choose the best entities: each then counts 1 / its number of documents."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from workbench.encoding.similarity import minmax, top

Ranker = Literal["idf_topk", "idf_sigmoid", "simple", "idf", "topk"]


class Ranked(NamedTuple):
    """`rows`: documents with an entity that counts, best first; `scores`: min-max over all documents, of these rows;
    `ties`: how many of the rows share their score with another; `weights`: what each entity gives, (n_e,)."""

    rows: np.ndarray
    scores: np.ndarray
    ties: int
    weights: np.ndarray


def entity_weights(logits: np.ndarray, documents: np.ndarray, ranker: Ranker, best: int) -> np.ndarray:
    """What each entity gives to a document, float64 (n_e,).

        simple        p               idf           p / f              of all entities
        topk          1               idf_topk      1 / f              of the `best` entities, 0 of others
                                      idf_sigmoid   σ(p) / f           likewise (not in the released code)

    with the logit p and f, the number of `documents` of an entity; one in no document gives nothing."""
    share = np.divide(1.0, documents, out=np.zeros(len(logits)), where=documents > 0)
    logits = logits.astype(np.float64)
    if ranker == "simple":
        return logits
    if ranker == "idf":
        return logits * share
    weights = np.zeros(len(logits))
    chosen = top(logits, best)
    weights[chosen] = {"topk": 1.0, "idf_topk": share[chosen], "idf_sigmoid": expit(logits[chosen]) * share[chosen]}[
        ranker
    ]
    return weights


def rank(logits: np.ndarray, context: sp.csr_array, documents: np.ndarray, ranker: Ranker, best: int) -> Ranked:
    """Documents by the weights of their entities. `context`: (n_p, n_e), 1 where a document has an entity.

    Many scores are equal, because few entities count: then the sum of σ(p) / f over all entities of the document
    decides, then its place in the corpus."""
    weights = entity_weights(logits, documents, ranker, best)
    raw = context @ weights
    rows = np.flatnonzero(context @ (weights != 0).astype(float))
    finer = context @ entity_weights(logits, documents, "idf_sigmoid", len(logits))
    rows = rows[np.lexsort((rows, -finer[rows], -raw[rows]))]
    scores = minmax(raw)[rows]
    _, counts = np.unique(scores, return_counts=True)
    return Ranked(rows, scores, int(counts[counts > 1].sum()), weights)
