"""Printed numbers that are no score of one method, beside ours: gains in percent, shares of questions that two methods
answer, lengths of contexts. `sides` says which measurements a number is made of, `found` makes it of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.evaluation.significance import Value, mean_of_repeats

if TYPE_CHECKING:
    from workbench.papers.tables import Measured

MEAN = "mean"  # of backbones, or of data sets, each of which counts the same
BASELINES = ("IRCOT", "GCOT", "TOG", "IRGS")  # of "Beyond Static Retrieval"
STATIC = "Original"  # as "Beyond Static Retrieval" calls its backbones alone
RIGHT = 0.5  # F1 from which an answer is right, in its figure 3: the figure does not say
SHARES = {"both": (1, 1), "only IRGS": (1, 0), "only Original": (0, 1), "neither": (0, 0)}
OVER_STATIC, OVER_BEST, SHARE = "gain over static, %", "gain over the best baseline, %", "share, %"
TOKENS, REDUCTION = "tokens of contexts", "reduction, %"


class Side(NamedTuple):
    """A measurement that a number is made of, in the paper's names."""

    backbone: str
    method: str
    data: str


class Figure(NamedTuple):
    """The values of the questions and those that they are the difference from, None without; the methods whose
    conditions count, and of which measure."""

    values: Sequence[Value]
    base: Sequence[Value] | None
    of: tuple[Measured, ...]
    measure: str


def sides(terms: Mapping[str, Any], row: Any) -> Iterator[tuple[Side, str]]:
    """The measurements of a printed number, each with the measure that its run needs."""
    backbones = [one["called"] for one in terms["backbones"]] if row.backbone == MEAN else [row.backbone]
    for backbone, data in product(backbones, _data(terms, row)):
        if row.kind == OVER_STATIC:
            methods = (row.method, STATIC)
        elif row.kind == OVER_BEST:
            methods = (row.method, *BASELINES)
        else:
            methods = ("IRGS", STATIC) if row.kind == SHARE else (row.method,)
        yield from ((Side(backbone, one, data), _measure(row)) for one in methods)


def found(terms: Mapping[str, Any], row: Any, measurements: Sequence[Measured]) -> Iterator[Figure]:
    """The number by the first measurement of each of its sides; none where one is missing."""
    at = {one: next((m for m in measurements if m.place[:3] == one), None) for one, _ in sides(terms, row)}
    if at and None not in at.values():
        yield from _FOUND[row.kind](row, at)


def _data(terms: Mapping[str, Any], row: Any) -> list[str]:
    """The data sets of a number."""
    return terms.get("mean_of", [*terms["data"]]) if row.data == MEAN else [row.data]


def _measure(row: Any) -> str:
    return {SHARE: "f1", TOKENS: "coverage:substring", REDUCTION: "f1"}.get(row.kind, row.measure)


def _gains(row: Any, at: Mapping[Side, Measured]) -> Iterator[Figure]:
    """100 (a/b - 1), the mean over backbones and data sets; b is the static method, or the best of the baselines.

    The interval is that of a difference of means, so each side is scaled until the difference is the gain and varies
    with its questions as a ratio does to the first order (delta method): 100 a_i / b, and 100 (a / b²) (b_i - b) + 100
    for means a and b."""
    ours, base, of = [], [], []
    for side, one in ((side, one) for side, one in at.items() if side.method == row.method):
        others = [other for of_other, other in at.items() if of_other != side and _like(of_other, side)]
        best = max(others, key=lambda other: _mean(other.values(row.measure)))
        mine, theirs = one.values(row.measure), best.values(row.measure)
        common = sorted(mine.keys() & theirs.keys())
        a, b = (_mean({each: side[each] for each in common}) for side in (mine, theirs))
        if not b:  # nothing in common, or nothing that a gain could be of
            return
        ours.append([[100 * v / b for v in mine[each]] for each in common])
        base.append([[100 * (a / b**2 * (v - b) + 1) for v in theirs[each]] for each in common])
        of += [one, best]
    weighted = (_as_one(side) for side in (ours, base))
    yield Figure(*weighted, tuple(of), row.measure)


def _like(one: Side, other: Side) -> bool:
    return (one.backbone, one.data) == (other.backbone, other.data)


def _as_one(several: Sequence[Sequence[Value]]) -> list[Value]:
    """The questions of several data sets, weighted so that their mean is that of the means of the sets."""
    n = sum(map(len, several))
    return [[v * n / (len(several) * len(values)) for v in value] for values in several for value in values]


def _mean(values: Mapping[str, Value]) -> float:
    """Over the questions, of the means of their repeats; 0 without any."""
    return float(np.mean([mean_of_repeats(value) for value in values.values()])) if values else 0.0


def _shares(row: Any, at: Mapping[Side, Measured]) -> Iterator[Figure]:
    """The questions that both methods answer, one alone, or none, in percent."""
    a, b = at.values()
    ours, theirs, kind = a.values("f1"), b.values("f1"), SHARES[row.method]
    values = [
        [100.0 * ((x >= RIGHT, y >= RIGHT) == kind) for x, y in zip(ours[one], theirs[one])]
        for one in sorted(ours.keys() & theirs.keys())
    ]
    if values:
        yield Figure(values, None, (a, b), "f1")


def _tokens(row: Any, at: Mapping[Side, Measured]) -> Iterator[Figure]:
    """The length of the context before compression, or by how much of it compression shortens it, in percent."""
    several = []
    for one in at.values():
        values: dict[str, list[float]] = {}
        for asked in one.every:
            whole, read = asked.get("context_tokens"), asked.get("read_tokens")
            if whole and (row.kind == TOKENS or read is not None):
                value = float(whole) if row.kind == TOKENS else 100 * (1 - read / whole)
                values.setdefault(asked["question_id"], []).append(value)
        several.append(list(values.values()))
    if all(several):
        yield Figure(_as_one(several), None, tuple(at.values()), _measure(row))


_FOUND: Mapping[str, Callable[[Any, Mapping[Side, Measured]], Iterator[Figure]]] = {
    OVER_STATIC: _gains, OVER_BEST: _gains, SHARE: _shares, TOKENS: _tokens, REDUCTION: _tokens,
}  # fmt: skip
KINDS = (*_FOUND,)
