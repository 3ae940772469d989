"""What a comparison makes of the values of its variables: the earlier, the later, more, less, the same, years between.

Dates are compared as far as both are given: in 1889, May 1889 is neither earlier nor later. Numbers are the first of
each value; where both say a unit it must be the same. What cannot be weighed makes no answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.language.quantities import dates, numbers
from workbench.records import Binding
from workbench.sparql.query import Comparison
from workbench.sparql.similarity import alike, amount, when

SAME = 0.8  # likeness from which two values are the same
NEAR = 0.9  # share of the best binding's score from which on a binding is weighed against the others


def weighed(compare: Comparison, bindings: Sequence[Binding]) -> list[tuple[str, float]]:
    """(answer, score), best first."""
    if len(compare.of) == 1:
        return _over_all(compare, bindings)
    return list(_each(compare, bindings))


def _each(compare: Comparison, bindings: Sequence[Binding]) -> Iterator[tuple[str, float]]:
    for binding in bindings:
        values = dict(binding.values)
        one, other = (values[name] for name in compare.of)
        if compare.by == "difference":
            years = years_between(one, other)
            if years is not None:
                yield str(years), binding.score
        elif (won := winner(compare.by, one, other)) is not None:
            picked = compare.pick[won]
            yield values.get(picked, picked), binding.score


def _over_all(compare: Comparison, bindings: Sequence[Binding]) -> list[tuple[str, float]]:
    """The binding whose value wins over those of all others that are nearly as good."""
    best: Binding | None = None
    for binding in bindings:
        if binding.score < NEAR * bindings[0].score:
            break
        value = dict(binding.values)[compare.of[0]]
        if not (when(value) or amount(value)):
            continue
        if best is None or winner(compare.by, value, dict(best.values)[compare.of[0]]) == 0:
            best = binding
    return [] if best is None else [(dict(best.values).get(compare.pick[0], compare.pick[0]), best.score)]


def winner(by: str, one: str, other: str) -> int | None:
    """0 or 1; None where the values cannot be weighed, or are equal. For `same`: 0 if they are, else 1.

    >>> winner("earlier", "3 May 1889", "1890"), winner("more", "57 men", "nine"), winner("later", "1889", "May 1889")
    (0, 0, None)
    """
    if by == "same":
        return 0 if alike(one, other) >= SAME else 1
    pair = None if by in ("more", "less") else _dates(one, other)
    if by in ("more", "less"):
        pair = _numbers(one, other) or _dates(one, other)
    if pair is None or pair[0] == pair[1]:
        return None
    first_is_less = pair[0] < pair[1]
    return 0 if first_is_less == (by in ("earlier", "less")) else 1


def years_between(one: str, other: str) -> int | None:
    pair = _dates(one, other)
    return abs(pair[0][0] - pair[1][0]) if pair else None


def _dates(one: str, other: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The parts of two dates that both give, from the year on."""
    found = [next((date.when for date in dates(text[:200]) if date.when[0]), None) for text in (one, other)]
    if not all(found):
        return None
    known = next((at for at in range(3) if not (found[0][at] and found[1][at])), 3)
    return found[0][:known], found[1][:known]


def _numbers(one: str, other: str) -> tuple[float, float] | None:
    found = [next(iter(numbers(text[:200])), None) for text in (one, other)]
    if not all(found) or (found[0].unit and found[1].unit and found[0].unit != found[1].unit):
        return None
    return found[0].value, found[1].value
