"""Significance tests and intervals for the difference of two methods over the same questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy

from workbench import display

RESAMPLES = 9_999
# Below so many questions there is no interval: a percentile interval of a rate of .8 that says 95 % holds it in 91 % of
# samples of 20, in 89 of 10, 69 of 5 and 31 of 2, where most samples do not vary at all.
FEWEST = 20
UNCORRECTED = "An interval is that of one difference, not corrected for several; p_holm is p corrected over the table."
_BATCH = 1_000  # resamples that are drawn at once, which bounds memory
_DRAWN = 2_000_000  # numbers of a two-stage resampling that are drawn at once

Value = float | Sequence[float]  # of a question, or of each of its repeats


class Differences(pd.DataFrame):
    """Paired differences of means, a row each; a terminal prints all of them, with intervals and p-values. What is made
    of it is a plain frame."""

    def __repr__(self) -> str:
        return display.text(self)


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


def corrected(rows: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The rows with `p_holm`, their p corrected over all of them."""
    return tuple({**row, "p_holm": p} for row, p in zip(rows, holm([row["p"] for row in rows])))


def mean_of(values: Iterable[float | None]) -> float | None:
    """The mean of the defined values."""
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


def mean_of_repeats(value: Value) -> float:
    """What a question counts: its value, or the mean of its repeats."""
    return float(np.mean(value)) if isinstance(value, Sequence) else float(value)


def deviation(values: Iterable[Value]) -> float | None:
    """Standard deviation between repeats: of the means that each repeat has over the questions, with R - 1 degrees of
    freedom. Only questions that have every repeat count; None with fewer than two repeats.

    >>> round(deviation([[0, 1], [1, 1]]), 4), deviation([[1], [0]])
    (0.3536, None)
    """
    values = [value if isinstance(value, Sequence) else (value,) for value in values]
    most = max(map(len, values), default=0)
    whole = [value for value in values if len(value) == most]
    return float(np.std(np.mean(whole, axis=0), ddof=1)) if most > 1 else None


def bootstrap_interval(
    values: Sequence[Value],
    base: Sequence[Value] | None = None,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    fewest: int = FEWEST,
) -> tuple[float, float]:
    """Percentile interval of the mean over the questions, or of the mean difference from `base`, which has the same
    questions in the same order. A value is a number or the numbers of a question's repeats, which count by their mean.

    Questions are resampled (Efron, 1979); where repeats differ, so are the repeats of each question drawn (the
    two-stage bootstrap of nested data: Davison and Hinkley, Bootstrap Methods and Their Application, 1997, section
    3.8). That accounts for both: other questions, and other answers to the same ones; it is rather too wide than too
    narrow, because the means of the repeats already vary by R⁻¹ of their variance. Repeatable for the same `seed`. NaN
    below `fewest` questions."""
    if len(values) < fewest:
        return float("nan"), float("nan")
    sides = [values] if base is None else [values, base]
    if any(isinstance(value, Sequence) and len(set(value)) > 1 for side in sides for value in side):
        means = _two_stage(sides, resamples, seed)
        low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)
    ours, *others = (np.array([mean_of_repeats(value) for value in side]) for side in sides)
    result = scipy.stats.bootstrap(
        (ours - others[0] if others else ours,), np.mean, method="percentile", confidence_level=level, vectorized=True,
        n_resamples=resamples, batch=_BATCH, rng=seed,
    )  # fmt: skip
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def _two_stage(sides: Sequence[Sequence[Value]], resamples: int, seed: int) -> np.ndarray:
    """The resampled means, of the first side less those of the second; shape (resamples,)."""
    n, rng = len(sides[0]), np.random.default_rng(seed)
    padded = [_padded(side) for side in sides]
    batch = max(1, _DRAWN // (n * max(table.shape[1] for table, _ in padded)))
    means = []
    for start in range(0, resamples, batch):
        questions = rng.integers(n, size=(min(batch, resamples - start), n))
        first, *others = (_drawn(rng, table, counts, questions) for table, counts in padded)
        means.append(first - others[0] if others else first)
    return np.concatenate(means)


def _padded(side: Sequence[Value]) -> tuple[np.ndarray, np.ndarray]:
    """(values, shape (questions, most repeats), 0 where a question has fewer; the number of each question's)."""
    rows = [value if isinstance(value, Sequence) else (value,) for value in side]
    counts = np.array([len(row) for row in rows])
    table = np.zeros((len(rows), counts.max()))
    for at, row in enumerate(rows):
        table[at, : len(row)] = row
    return table, counts


def _drawn(rng: np.random.Generator, table: np.ndarray, counts: np.ndarray, questions: np.ndarray) -> np.ndarray:
    """The mean of each resample; a question drawn twice has two draws of its repeats."""
    many = counts[questions]
    total = np.zeros(questions.shape)
    for drawn in range(table.shape[1]):
        repeats = (rng.random(questions.shape) * many).astype(int)
        total += np.where(drawn < many, table[questions, repeats], 0)
    return (total / many).mean(axis=1)


def compared(ours: Mapping[str, Value], base: Mapping[str, Value]) -> dict[str, Any]:
    """Scores (question → value, or the values of its repeats) against a baseline's over the questions of both: n,
    value, baseline, difference, low, high (95 % paired bootstrap; None below `FEWEST` questions), p (paired
    randomisation test of the means of the repeats), and mcnemar (its exact p) if all are 0 or 1. The interval is that
    of one difference: it is not corrected for several. Empty if they share no question."""
    common = sorted(ours.keys() & base.keys())
    if not common:
        return {}
    a, b = (np.array([mean_of_repeats(scores[question]) for question in common]) for scores in (ours, base))
    low, high = bootstrap_interval([ours[question] for question in common], [base[question] for question in common])
    binary = {*a.tolist(), *b.tolist()} <= {0.0, 1.0}
    return {
        "n": len(common), "value": a.mean(), "baseline": b.mean(), "difference": (a - b).mean(), "low": defined(low),
        "high": defined(high), "p": paired_test(a, b), "mcnemar": mcnemar(a, b) if binary else None,
    }  # fmt: skip


def defined(number: float) -> float | None:
    """None for NaN, so that records without an interval are equal."""
    return None if number != number else number
