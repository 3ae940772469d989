"""The ranking of a method that finds a few passages by a walk, with the dense ranking below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.encoding.similarity import top
from workbench.records import Passage, Scored


def with_dense_fill(
    passages: Sequence[Passage], scores: Mapping[int, float], cosines: np.ndarray, k: int, fill: bool = True
) -> tuple[Scored[Passage], ...]:
    """At most k passages: those of `scores` (row → score above 0), equal scores by cosine, then by row; below them, if
    `fill`, all others by cosine, with cosine - 1 for a score, so that 0 parts what a walk reached from the rest."""
    best = sorted(scores, key=lambda row: (-scores[row], -cosines[row], row))[:k]
    head = [Scored(passages[row], float(scores[row])) for row in best]
    if not fill or len(head) == k:
        return tuple(head)
    rest = [row for row in top(cosines, k + len(scores)) if row not in scores][: k - len(head)]
    return (*head, *(Scored(passages[row], min(0.0, float(cosines[row]) - 1)) for row in rest))
