"""The claims of a paper, as data in `<paper>.toml`, checked against numbers: the paper's own or measured ones.

    [[claims]]
    says = "SPARQL gains less on LightRAG than on KET-RAG"  # in our words
    where = "section 5.9"                                   # its place; what the paper does not claim, but its tables
                                                            # show, is "recomputed by us, Table …"
    more = {backbone = "KET-RAG", method = "SPARQL, 8B"}    # numbers, by their fields: backbone, method, data, measure
    less = {backbone = "LightRAG"}                          # what each is compared with: the same but for these fields
    over = {method = "Base, 8B"}                            # of both sides, the gain over the number with these fields

A field may be a list, of which every value counts; a field that is not named may have any value. `pairs` are several
`more` and `less` of one claim. Instead of `less`, `above` and `below` are limits, and `within_noise` says that a gain
is smaller than the noise of so many questions. `equal` allows equal numbers, `share` compares that share of the first
number, and `noise` adds to a limit the noise of so many questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import sqrt
from typing import Any

from workbench.evaluation.verdict import Check, Verdict

FIELDS = ("backbone", "method", "data", "measure")
RECOMPUTED = "recomputed by us"
EXACT = 1e-9

Place = tuple[str, str, str, str]  # the fields of a number
Values = Mapping[Place, float]
Compared = tuple[Place, float, Place | None, float]  # the larger number by the claim, and the smaller one or the limit


def check_claims(claims: list[Mapping[str, Any]], values: Values, title: str) -> Verdict:
    """A check for each claim that has a comparison whose numbers are known: how many hold, and those that do not."""
    verdict = Verdict(title)
    for claim in claims:
        compared = [
            comparison for pair in claim.get("pairs", [claim]) for comparison in _compared(claim | pair, values)
        ]
        against = [_against(*comparison) for comparison in compared if not _holds(claim, comparison[1], comparison[3])]
        if compared:
            summary = "; ".join([f"{len(compared) - len(against)} of {len(compared)}", *against])
            verdict.checks.append(Check(claim["says"], summary, f"all {len(compared)}", not against, claim["where"]))
    return verdict


def is_by_us(where: str) -> bool:
    """Whether a place is that of a check which the paper does not claim.

    >>> is_by_us("recomputed by us, Table 5.3"), is_by_us("Table 5.3")
    (True, False)
    """
    return where.startswith(RECOMPUTED)


def half_interval(ours: float, base: float, n: int) -> float:
    """Half of a 95 % interval of the difference of two rates of independent samples of n; pairs were not published.

    >>> round(half_interval(0.5, 0.5, 1_000), 3)
    0.044
    """
    return 1.96 * sqrt((ours * (1 - ours) + base * (1 - base)) / n)


def _compared(claim: Mapping[str, Any], values: Values) -> Iterator[Compared]:
    """The comparisons of a claim whose numbers are all known."""
    for place in values:
        if not all(_matches(claim["more"].get(name), field) for name, field in zip(FIELDS, place)):
            continue
        (mine,) = _with(place, claim.get("over", {}))
        if (gain := _gain(values, place, mine, claim)) is None:
            continue
        if "less" in claim:
            for other in _with(place, claim["less"]):
                (base,) = _with(other, claim.get("over", {}))
                if other != place and (less := _gain(values, other, base, claim)) is not None:
                    yield place, gain, other, less
        elif "within_noise" in claim:
            yield place, half_interval(values[place], values[mine], claim["within_noise"]), None, abs(gain)
        else:
            noise = 1.96 * sqrt(0.25 / claim["noise"]) if "noise" in claim else 0.0
            limit = claim["above"] + noise if "above" in claim else -claim["below"]
            yield place, gain if "above" in claim else -gain, None, limit


def _gain(values: Values, place: Place, base: Place, claim: Mapping[str, Any]) -> float | None:
    """A number, or its gain where the claim is about gains; None where it is not known, or is that which others gain
    over."""
    if place not in values or ("over" in claim and (base not in values or base == place)):
        return None
    return values[place] - values[base] if "over" in claim else values[place]


def _holds(claim: Mapping[str, Any], more: float, less: float) -> bool:
    more *= claim.get("share", 1)
    return more > less + EXACT or (claim.get("equal", False) and more >= less - EXACT)


def _against(place: Place, more: float, other: Place | None, less: float) -> str:
    """A comparison that does not hold, in words: what differs on each side, and what both share."""
    if other is None:
        return f"{', '.join(filter(None, place))} {abs(more):.4g}"
    shared = ", ".join(a for a, b in zip(place, other) if a == b and a)
    own, theirs = (
        ", ".join(f for f, g in zip(first, two) if f != g) for first, two in ((place, other), (other, place))
    )
    return f"{theirs} {less:.4g} against {own} {more:.4g} ({shared})"


def _matches(wanted: str | list[str] | None, field: str) -> bool:
    return wanted is None or field == wanted or (isinstance(wanted, list) and field in wanted)


def _with(place: Place, fields: Mapping[str, str | list[str]]) -> list[Place]:
    """The places that are the same but for these fields."""
    each = [fields.get(name, field) for name, field in zip(FIELDS, place)]
    return list(product(*(item if isinstance(item, list) else [item] for item in each)))
