"""A question as triple patterns, with what is compared: the query that a model or a rule writes.

A comparison, which SPARQL proper would write with IF and FILTER, stands in a comment, so that the text stays SPARQL."""

from __future__ import annotations

from typing import NamedTuple

from workbench.records import Pattern
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
