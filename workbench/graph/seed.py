"""Where a walk starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def phrase_seeds(
    facts: Sequence[int],
    scores: Sequence[float],
    subjects: np.ndarray,
    objects: np.ndarray,
    passages_of: np.ndarray | None,
    limit: int,
) -> list[tuple[int, float]]:
    """(phrase row, weight) of the phrases of the kept facts, best first (HippoRAG 2, spec A6 step 4).

        w_e = (1 / n_e) Σ s_f / |P_e|    over the n_e places that phrase e has in the kept facts

    `passages_of` holds |P_e| per phrase; None leaves the division out, as the paper does (trap T2). Equal weights,
    which are common, are ordered by row, that is by the phrase; in the released code their order differs from run to
    run (trap T15)."""
    total: dict[int, float] = {}
    places: dict[int, int] = {}
    for fact, score in zip(facts, scores):
        for phrase in (int(subjects[fact]), int(objects[fact])):
            share = score if passages_of is None else score / passages_of[phrase]
            total[phrase] = total.get(phrase, 0.0) + share
            places[phrase] = places.get(phrase, 0) + 1
    weights = [(phrase, float(total[phrase] / places[phrase])) for phrase in total]
    return sorted(weights, key=lambda pair: (-pair[1], pair[0]))[:limit]
