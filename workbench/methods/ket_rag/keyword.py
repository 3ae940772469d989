"""The keyword channel: pieces that contain the keywords closest to the question."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.encoding.similarity import top
from workbench.index.keywords import KeywordsLayer
from workbench.index.pieces import PiecesLayer


class Pool(NamedTuple):
    """`brought`: row of a piece → row of the keyword that selected it, in order of selection; the number of keywords
    examined, the tokens of the pieces, and why the selection ended."""

    brought: dict[int, int]
    keywords: int
    tokens: int
    ended: str

    def by_cosine(self, cosines: np.ndarray) -> list[int]:
        """The pieces, closest to the question first, whichever keyword selected them."""
        pieces = np.fromiter(self.brought, dtype=np.int64)
        return pieces[np.argsort(-cosines[pieces], kind="stable")].tolist()


def pool(
    keywords: KeywordsLayer,
    pieces: PiecesLayer,
    query: np.ndarray,
    cosines: np.ndarray,
    *,
    candidates: int,
    cap: int,
    duplicates_end_it: bool,
) -> Pool:
    """Up to `cap` tokens of pieces: those of the closest keyword, the closest to the question first, then those of the
    next, of `candidates` keywords. A keyword's vector is shorter than 1: closeness is a product and no cosine, which
    would rank otherwise.

    `cosines`: of all pieces to the question. `duplicates_end_it`: a piece that is in the pool already ends it where a
    new one of its size would.
    """
    brought: dict[int, int] = {}
    used = 0
    closest = top(np.asarray(keywords.vectors) @ query, candidates).tolist()
    for looked_at, keyword in enumerate(closest, 1):
        holding = keywords.incidence.indices[
            keywords.incidence.indptr[keyword] : keywords.incidence.indptr[keyword + 1]
        ]
        for piece in holding[np.lexsort((holding, -cosines[holding]))].tolist():
            if piece in brought and not duplicates_end_it:
                continue
            size = int(pieces.tokens[piece])
            if used + size > cap:
                return Pool(brought, looked_at, used, "full")
            if piece not in brought:
                brought[piece] = keyword
                used += size
    return Pool(brought, len(closest), used, "no keyword is left")
