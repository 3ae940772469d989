"""Significance tests and intervals for the difference of two methods over the same questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy

RESAMPLES = 9_999
_BATCH = 1_000  # resamples that are drawn at once, which bounds memory


def paired_test(a: Sequence[float], b: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """Two-sided p of the paired randomisation test on the mean difference (Fisher; Smucker et al., CIKM 2007).

    Under the null hypothesis, each question's difference has either sign with equal probability. With n ≤ 13 differing
    questions, all 2ⁿ sign patterns are enumerated, and p is exact. Otherwise `resamples` random patterns are drawn: p
    then has a Monte Carlo error of √(p (1 - p) / resamples), at most 0.005, is repeatable for the same `seed`, and
    never 0."""
    differences = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    differences = differences[differences != 0]  # equal pairs change no pattern's sum
    if len(differences) < 2:  # either sign is as far from 0
        return 1.0
    test = scipy.stats.permutation_test(
        (differences,), _distance, permutation_type="samples", alternative="greater", vectorized=True,
        n_resamples=resamples, batch=_BATCH, rng=seed,
    )  # fmt: skip
    return float(test.pvalue)


def _distance(differences: np.ndarray, axis: int) -> np.ndarray:
    """The distance of a sum from 0; sums that differ only by rounding count as equal."""
    return np.abs(differences.sum(axis=axis)).round(12)


def mcnemar(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided exact p of McNemar's test (1947) for answers that are right (1) or wrong (0): under the null
    hypothesis, questions that only one of the two answers correctly are equally often a's and b's.

    >>> mcnemar([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]), mcnemar([1, 0], [1, 0])
    (0.0625, 1.0)
    """
    only_a, only_b = (sum(x > y for x, y in zip(*pair, strict=True)) for pair in ((a, b), (b, a)))
    return float(scipy.stats.binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for testing several hypotheses at once (Holm, 1979), in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = largest
    return adjusted


def bootstrap_interval(
    differences: Sequence[float], *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float]:
    """Percentile interval of the mean, from resampled questions (Efron, 1979); NaN without values. Repeatable for the
    same `seed`."""
    values = np.asarray(differences, dtype=float)
    if len(values) < 2:  # nothing to resample
        return (float(values.mean()),) * 2 if len(values) else (float("nan"),) * 2
    found = scipy.stats.bootstrap(
        (values,), np.mean, method="percentile", confidence_level=level, vectorized=True, n_resamples=resamples,
        batch=_BATCH, rng=seed,
    )  # fmt: skip
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def compared(ours: Mapping[str, float], base: Mapping[str, float]) -> dict[str, Any]:
    """Scores (question → value) against a baseline's over the questions of both: n, value, baseline, difference, low,
    high (95 % paired bootstrap), p (paired randomisation test), and mcnemar (its exact p) if all are 0 or 1. Empty if
    they share no question."""
    common = sorted(ours.keys() & base.keys())
    if not common:
        return {}
    a, b = (np.array([scores[one] for one in common], dtype=float) for scores in (ours, base))
    low, high = bootstrap_interval(a - b)
    binary = {*a.tolist(), *b.tolist()} <= {0.0, 1.0}
    return {
        "n": len(common), "value": a.mean(), "baseline": b.mean(), "difference": (a - b).mean(), "low": low,
        "high": high, "p": paired_test(a, b), "mcnemar": mcnemar(a, b) if binary else None,
    }  # fmt: skip
