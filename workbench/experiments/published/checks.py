"""What the claims of several papers need: a check by its exceptions, and the noise of a rate."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

from workbench.experiments.verdict import Verdict


def none_against(verdict: Verdict, claim: str, against: Iterable[str], n: int) -> None:
    """A claim about n things, and those that are against it, in words; nothing where n is 0."""
    against = list(against)
    if n:
        said = "; ".join([f"{n - len(against)} of {n}", *against])
        verdict.check(claim, said, f"all {n}", lambda _: not against)


def half_interval(ours: float, base: float, n: int) -> float:
    """Half of a 95 % interval of the difference of two rates of independent samples of n; pairs were not published.

    >>> round(half_interval(0.5, 0.5, 1_000), 3)
    0.044
    """
    return 1.96 * sqrt((ours * (1 - ours) + base * (1 - base)) / n)
