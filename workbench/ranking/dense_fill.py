"""The ranking of a method that finds a few passages by a walk, with the dense ranking below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.ranking.similarity import top
from workbench.records import Passage, Scored


def with_tail(
    passages: Sequence[Passage], found: Mapping[int, float], cosines: np.ndarray, k: int, tail: bool = True
) -> tuple[Scored[Passage], ...]:
    """At most k passages: those `found` (row → score above 0), equal scores by cosine, then by row; below them, if
    `tail`, all others by cosine, with cosine - 1 for a score, so that 0 parts what was walked to from what was not."""
    best = sorted(found, key=lambda row: (-found[row], -cosines[row], row))[:k]
    head = [Scored(passages[row], float(found[row])) for row in best]
    if not tail or len(head) == k:
        return tuple(head)
    rest = [row for row in top(cosines, k + len(found)) if row not in found][: k - len(head)]
    return (*head, *(Scored(passages[row], min(0.0, float(cosines[row]) - 1)) for row in rest))
