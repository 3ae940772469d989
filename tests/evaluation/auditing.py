"""What the audits of several papers need: a check by its exceptions, and the places of checks.

Every check states its place. A claim of the source is where it makes it (`abstract`, `section 5.9`, `Table 5.6`). What
the source does not claim, but its numbers show, is `recomputed by us` from the tables that are named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.evaluation.verdict import Check, Verdict
from workbench.published import paper
from workbench.published.claims import RECOMPUTED, check_claims


def by_us(tables: str) -> str:
    """The place of a check that the source does not claim: what it was recomputed from.

    >>> by_us("Table 5.3")
    'recomputed by us, Table 5.3'
    """
    return f"{RECOMPUTED}, {tables}"


def none_against(verdict: Verdict, claim: str, against: Iterable[str], n: int, where: str) -> None:
    """A claim about n things, and those that are against it, in words; nothing where n is 0. `where`: its place."""
    against = list(against)
    if n:
        said = "; ".join([f"{n - len(against)} of {n}", *against])
        verdict.check(claim, said, f"all {n}", lambda _: not against, where=where)


def checks_of(name: str, values: Mapping) -> list[Check]:
    """What numbers say of the claims of a paper."""
    return check_claims(paper(name).terms["claims"], values, "").checks
