"""Numbers with a range, and extrapolation from a sample.

A sample of the passages, or of the questions, is actually run, and the rest is assumed to be similar: completion tokens
in proportion to the length of the passage, prompt tokens in proportion to the prompt, which is counted for every
passage. Low and high are the 95 % bootstrap interval of that proportion: it covers sampling error, not passages unlike
the sample. An unknown price or latency stays unknown; it never counts as zero."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.special import stdtrit

from workbench.errors import SettingError
from workbench.index.forecast import Range, exactly
from workbench.llm.meter import money
from workbench.llm.step import Usage

T = TypeVar("T")
RESAMPLES = 1_000


NOTHING = exactly(0)


def check_sample(*, sample: int, least: int) -> None:
    if not isinstance(sample, int) or isinstance(sample, bool) or sample < least:
        raise SettingError(f"sample={sample!r}; it should be a whole number from {least} on")


def stratified(items: Sequence[T], n: int, key: Callable[[T], Any], seed: int = 0) -> list[T]:
    """At most `n` items, one at random from each of `n` equal parts in the order of `key`."""
    ordered, chance = sorted(items, key=key), random.Random(seed)
    n = min(n, len(ordered))
    ends = [len(ordered) * part // n for part in range(n + 1)] if n else []
    return [ordered[chance.randrange(begin, end)] for begin, end in pairwise(ends)]


def extrapolated(values: Sequence[float], sizes: Sequence[float], rest: float, seed: int = 0) -> Range:
    """The sum of the sample's `values` and the expected sum over the rest, whose sizes add up to `rest`.

    >>> extrapolated([10, 20], [1, 2], 30)
    Range(value=330.0, low=330.0, high=330.0)
    """
    known = float(sum(values))
    return exactly(known) if rest <= 0 else exactly(known) + proportion(values, sizes, seed).times(rest)


def proportion(values: Sequence[float], sizes: Sequence[float], seed: int) -> Range:
    """Values per size, with the 95 % bootstrap interval; a single value has none.

    A sample of few is less spread than what it was drawn from, so the interval is widened as Student's is: by t over z,
    and by n over n - 1 for the variance; 1.9 times for four values, 1.1 times for sixteen."""
    values, sizes = np.asarray(values, dtype=float), np.asarray(sizes, dtype=float)
    ratio = float(values.sum() / sizes.sum())
    if len(values) < 2:
        return Range(ratio, None, None)
    rows = np.random.default_rng(seed).integers(0, len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(values[rows].sum(axis=1) / sizes[rows].sum(axis=1), [0.025, 0.975])
    n = len(values)
    wider = float(stdtrit(n - 1, 0.975) / stdtrit(np.inf, 0.975)) * (n / (n - 1)) ** 0.5
    return Range(ratio, max(0.0, ratio - wider * (ratio - float(low))), ratio + wider * (float(high) - ratio))


def share_of(n: int, of: int) -> Range:
    """The share of what is so in `n` of `of`, with Wilson's 95 % interval, which says something of none and of all.

    >>> share_of(0, 4).value, round(share_of(0, 4).high, 2), round(share_of(2, 4).low, 2)
    (0.0, 0.49, 0.15)
    """
    z, share = float(stdtrit(np.inf, 0.975)), n / of
    middle, half = share + z * z / (2 * of), z * (share * (1 - share) / of + z * z / (4 * of * of)) ** 0.5
    low, high = ((middle + sign * half) / (1 + z * z / of) for sign in (-1, 1))
    return Range(share, max(0.0, low) if n else 0.0, min(1.0, high) if n < of else 1.0)


def latency_of(usages: Sequence[Usage], seed: int) -> Range | None:
    """Seconds per actual call, without those answered from a recording."""
    live = [(usage.seconds, usage.calls - usage.recorded) for usage in usages if usage.calls > usage.recorded]
    return proportion(*zip(*live), seed) if live else None


class Dollars(NamedTuple):
    """What tokens cost, asked for one by one and in batches."""

    singly: Range | None
    batched: Range | None


def priced(engine: str, prompt: Range | None, completion: Range | None) -> Dollars:
    """None for an unknown price, or of unknown tokens."""

    def price(batch: bool) -> Range | None:
        if money(engine, 0, 0, batch=batch) is None or None in (prompt, completion):
            return None
        pairs = zip(prompt, completion)
        return Range(*(None if None in pair else money(engine, *pair, batch=batch) for pair in pairs))

    return Dollars(price(False), price(True))


def summed(ranges: Sequence[Range | None]) -> Range | None:
    return None if None in ranges else sum(ranges, exactly(0))
