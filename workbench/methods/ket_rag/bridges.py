"""Pieces that the skeleton connects to the chunks in the context: chunk → entity → piece.

A piece names an entity if it contains the words of the name in order, in any case, so the skeleton, extracted from the
core of the corpus, reaches all of it. Every chunk in the context passes 1 / its rank to each entity that it names,
every entity close to the question has 1 / its own rank, and each entity divides its score among the pieces that name
it:

    s(p) = Σ_{e in p} a(e) / |pieces of e|        a(e) = 1 / rank(e) + Σ_{chunks c that name e} 1 / rank(c)

A name in many pieces thus connects them only weakly. This covers the second hop of a question, which is similar to the
answer and not to the question's words.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from workbench.text import words as _words


class Bridges:
    """`named`: float64 csr (entities, pieces), 1 where the piece names the entity."""

    def __init__(self, names: Sequence[str], texts: Sequence[str]):
        self.named = _named(names, texts)
        pieces = np.diff(self.named.indptr)
        self._per_piece = np.divide(1.0, pieces, out=np.zeros(len(names)), where=pieces > 0)
        self._of_piece = self.named.T.tocsr()

    def scores(self, entities: Sequence[int], chunks: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """s of every piece and a of every entity, from the matched entities and the pieces in the context, best
        first."""
        given = np.zeros(self.named.shape[1])
        given[list(chunks)] = 1 / np.arange(1, len(chunks) + 1)
        amounts = self.named @ given
        amounts[list(entities)] += 1 / np.arange(1, len(entities) + 1)
        return self._of_piece @ (amounts * self._per_piece), amounts

    def best(self, piece: int, amounts: np.ndarray) -> int | None:
        """The entity that contributes most to the score of a piece."""
        names = self._of_piece.indices[self._of_piece.indptr[piece] : self._of_piece.indptr[piece + 1]]
        return int(names[np.argmax((amounts * self._per_piece)[names])]) if len(names) else None

    def first(self, entity: int, chunks: Sequence[int]) -> int | None:
        """The place, from 1 on, of the first chunk that names an entity."""
        naming = set(self.named.indices[self.named.indptr[entity] : self.named.indptr[entity + 1]].tolist())
        return next((place for place, piece in enumerate(chunks, 1) if piece in naming), None)


def _named(names: Sequence[str], texts: Sequence[str]) -> sp.csr_array:
    rows = defaultdict(list)  # words of a name -> entities: QUELL-ON-SEA and QUELL ON SEA are two of them
    lengths = defaultdict(set)  # first word -> how many words names have that begin with it
    for row, name in enumerate(names):
        if words := tuple(_words(name)):
            rows[words].append(row)
            lengths[words[0]].add(len(words))
    named, ends = array("q"), [0]  # the entities of the pieces, one after the other, and where those of each end
    for text in texts:
        words, found = _words(text), set()
        for at, word in enumerate(words):
            for length in lengths.get(word, ()):
                found.update(rows.get(tuple(words[at : at + length]), ()))
        named.extend(sorted(found))
        ends.append(len(named))
    shape = (len(texts), len(names))
    return sp.csr_array((np.ones(len(named)), np.array(named, dtype=np.int64), ends), shape=shape).T.tocsr()
