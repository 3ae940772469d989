"""The graph of the pieces: each is joined to those that share most words with it, and to those nearest in meaning
(KET-RAG). The source compares all pairs in a loop; here sparse and dense products of blocks do. Of more than
`EXACT_UP_TO` pieces, `likely.py` finds most of the nearest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from workbench import threads
from workbench.index.words import sentences, stop_words
from workbench.text import terms

EXACT_UP_TO = 200_000  # pieces
WORDS = 2000  # of a piece: its most frequent
CELLS = 2**22  # of a product of a block of pieces with all
DIGITS = 6  # of a cosine: what lies beyond differs with the place in a product, and would order equals at random


def graph(texts: Sequence[str], vectors: np.ndarray, k: int = 1) -> sp.csr_array:
    """The undirected graph of n pieces, (n, n): 1 where one is among the `k` nearest of the other, by words or by
    vectors; `vectors` float32 (n, d), unit rows. Of equals the earlier is nearer. Two things differ from the source: a
    piece is kept from its own neighbours as such, not as the first of its row, which a duplicate may be; and pieces
    that share no word are not joined for their words."""
    return joined([*lexical(texts, k), *semantic(vectors, k)], len(texts))


def joined(parts: Sequence[np.ndarray], n: int) -> sp.csr_array:
    """The undirected graph of n pieces with these pairs, each part int (m, 2)."""
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *parts])
    found = sp.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()
    found = (found + found.T).tocsr()
    found.data[:] = 1.0
    return found


def lexical(texts: Sequence[str], k: int = 1) -> Iterator[np.ndarray]:
    """(piece, partner) by the number of words that both hold, block by block, int (m, 2)."""
    held = bags(texts)
    across = held.T.tocsr()
    block = _block(len(texts))
    for start in range(0, len(texts), block):
        yield _best((held[start : start + block] @ across).toarray(), start, k, least=1)


def semantic(vectors: np.ndarray, k: int = 1) -> Iterator[np.ndarray]:
    """(piece, partner) by cosine, block by block, int (m, 2)."""
    import torch

    threads.settle_torch()
    whole, block = torch.from_numpy(np.array(vectors)), _block(len(vectors))
    for start in range(0, len(vectors), block):
        products = (whole[start : start + block] @ whole.T).numpy()
        yield _best(np.round(products, DIGITS), start, k, least=-2)


def _block(n: int) -> int:
    """How many of n pieces are compared with all at once."""
    return max(1, CELLS // max(1, n))


def bags(texts: Sequence[str]) -> sp.csr_array:
    """1 where a piece holds a word, (n, words): in lower case, letters alone, no stop words."""
    rows, columns, known = [], [], {}
    for row, split in enumerate(sentences(texts)):
        words = Counter(word.lower() for part in split for token in part for word in terms(token) if word.isalpha())
        for word in stop_words():
            words.pop(word, None)
        for word, _ in words.most_common(WORDS):
            rows.append(row)
            columns.append(known.setdefault(word, len(known)))
    ones = np.ones(len(rows), np.int32)
    return sp.coo_array((ones, (rows, columns)), shape=(len(texts), len(known))).tocsr()


def _best(scores: np.ndarray, start: int, k: int, least: float) -> np.ndarray:
    """(start + row, column) of the `k` highest scores of each row, of `least` or more; a piece is not its own."""
    rows = np.arange(len(scores))
    pairs = [np.zeros((0, 2), np.int64)]
    scores[rows, start + rows] = least - 1
    for _ in range(min(k, scores.shape[1])):
        columns = scores.argmax(axis=1)  # the first of equals
        good = scores[rows, columns] >= least
        pairs.append(np.c_[start + rows[good], columns[good]])
        scores[rows, columns] = least - 1
    return np.concatenate(pairs)
