"""A question as triple patterns, with what is compared: the query that a model or a rule writes, and what its
comparison makes of the values of its variables: the earlier, the later, more, less, the same, years between.

A comparison, which SPARQL proper would write with IF and FILTER, stands in a comment, so that the text stays SPARQL.
Dates are compared as far as both are given: in 1889, May 1889 is neither earlier nor later. Numbers are the first of
each value; where both say a unit it must be the same. What cannot be compared makes no answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench.language.quantities import dates, numbers
from workbench.records import Binding, Pattern
from workbench.sparql.similarity import alike, amount, when
from workbench.steps.write_patterns import BY, MOST

ANSWER = "?answer"

__all__ = ["ANSWER", "BY", "MOST", "Comparison", "Query"]


class Comparison(NamedTuple):
    """`by`, one of `BY`, says how the values of the variables `of` are compared: two of them, or one over all bindings.
    `pick`: the answer when the first or the second wins (for `same`: when they are the same or not), constants or
    variables; none for `difference`, whose answer is a number of years."""

    by: str
    of: tuple[str, ...]
    pick: tuple[str, ...] = ()

    def __str__(self) -> str:
        picked = f" pick {' '.join(map(_quoted, self.pick))}" if self.pick else ""
        return f"{self.by} {' '.join(self.of)}{picked}"


class Query(NamedTuple):
    """At most `MOST` patterns, the variable asked for, and the comparison that makes the answer of several values. A
    query with a `flaw` is not executed."""

    patterns: tuple[Pattern, ...] = ()
    wanted: str = ""
    compare: Comparison | None = None
    flaw: str | None = None

    def __str__(self) -> str:
        if not self.patterns:
            return ""
        selected = " ".join(self.compare.of) if self.compare else self.wanted
        lines = (f"  {' '.join(map(_quoted, pattern.members))} ." for pattern in self.patterns)
        comment = [f"# compare: {self.compare}"] if self.compare else []
        return "\n".join([f"SELECT {selected} WHERE {{", *lines, "}", *comment])


def _quoted(term: str) -> str:
    """A term as it stands in a query: a variable bare, all else in quotes."""
    return term if term.startswith("?") else '"' + term.replace('"', "”").replace("\n", " ") + '"'


SAME = 0.8  # similarity from which two values are the same
NEAR = 0.9  # share of the best binding's score from which on a binding is compared with the others


def compared(compare: Comparison, bindings: Sequence[Binding]) -> list[tuple[str, float]]:
    """(answer, score), best first."""
    if len(compare.of) == 1:
        return _over_all(compare, bindings)
    return list(_each(compare, bindings))


def _each(compare: Comparison, bindings: Sequence[Binding]) -> Iterator[tuple[str, float]]:
    for binding in bindings:
        values = dict(binding.values)
        first, other = (values[name] for name in compare.of)
        if compare.by == "difference":
            years = years_between(first, other)
            if years is not None:
                yield str(years), binding.score
        elif (won := winner(compare.by, first, other)) is not None:
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


def winner(by: str, first: str, other: str) -> int | None:
    """0 or 1; None where the values cannot be compared, or are equal. For `same`: 0 if they are, else 1.

    >>> winner("earlier", "3 May 1889", "1890"), winner("more", "57 men", "nine"), winner("later", "1889", "May 1889")
    (0, 0, None)
    """
    if by == "same":
        return 0 if alike(first, other) >= SAME else 1
    pair = None if by in ("more", "less") else _dates(first, other)
    if by in ("more", "less"):
        pair = _numbers(first, other) or _dates(first, other)
    if pair is None or pair[0] == pair[1]:
        return None
    first_is_less = pair[0] < pair[1]
    return 0 if first_is_less == (by in ("earlier", "less")) else 1


def years_between(first: str, other: str) -> int | None:
    pair = _dates(first, other)
    return abs(pair[0][0] - pair[1][0]) if pair else None


def _dates(first: str, other: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The parts of two dates that both give, from the year on."""
    dates_found = [next((date.when for date in dates(text[:200]) if date.when[0]), None) for text in (first, other)]
    if not all(dates_found):
        return None
    precision = next((at for at in range(3) if not (dates_found[0][at] and dates_found[1][at])), 3)
    return dates_found[0][:precision], dates_found[1][:precision]


def _numbers(first: str, other: str) -> tuple[float, float] | None:
    one_each = [next(iter(numbers(text[:200])), None) for text in (first, other)]
    if not all(one_each) or (one_each[0].unit and one_each[1].unit and one_each[0].unit != one_each[1].unit):
        return None
    return one_each[0].value, one_each[1].value
