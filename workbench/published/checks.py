"""What the claims of several papers need: a check by its exceptions, the noise of a rate, and the places of checks.

Every check states its place. A claim of the source is where it makes it (`abstract`, `section 5.9`, `Table 5.6`). What
the source does not claim, but its numbers show, is `recomputed by us` from the tables that are named."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

from workbench.evaluation.verdict import Verdict

RECOMPUTED = "recomputed by us"


def by_us(tables: str) -> str:
    """The place of a check that the source does not claim: what it was recomputed from.

    >>> by_us("Table 5.3")
    'recomputed by us, Table 5.3'
    """
    return f"{RECOMPUTED}, {tables}"


def is_by_us(where: str) -> bool:
    """Whether a place is that of a check which the source does not claim.

    >>> is_by_us(by_us("Table 5.3")), is_by_us("Table 5.3")
    (True, False)
    """
    return where.startswith(RECOMPUTED)


def none_against(verdict: Verdict, claim: str, against: Iterable[str], n: int, where: str) -> None:
    """A claim about n things, and those that are against it, in words; nothing where n is 0. `where`: its place."""
    against = list(against)
    if n:
        said = "; ".join([f"{n - len(against)} of {n}", *against])
        verdict.check(claim, said, f"all {n}", lambda _: not against, where=where)


def half_interval(ours: float, base: float, n: int) -> float:
    """Half of a 95 % interval of the difference of two rates of independent samples of n; pairs were not published.

    >>> round(half_interval(0.5, 0.5, 1_000), 3)
    0.044
    """
    return 1.96 * sqrt((ours * (1 - ours) + base * (1 - base)) / n)
