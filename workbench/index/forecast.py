"""What building a layer would request of an engine, before it is built: what `Layer.forecast` returns.

Some numbers are known only once vectors are clustered, or the graph of all facts stands. They are expected in
proportion to what is known, and the proportion is a range; so is the length of a reply, which the Steps cut at their
limits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from workbench import tokens
from workbench.llm.step import Step


class Range(NamedTuple):
    """A number, and where it may lie; `low` and `high` are None where one sample cannot tell."""

    value: float
    low: float | None
    high: float | None

    def __add__(self, other: Range) -> Range:
        """Ends are added, so that a sum's range is wide rather than narrow."""
        return Range(*(None if a is None or b is None else a + b for a, b in zip(self, other)))

    def times(self, factor: float | Range) -> Range:
        factor = factor if isinstance(factor, Range) else exactly(factor)
        return Range(*(None if a is None or b is None else a * b for a, b in zip(self, factor)))

    @property
    def words(self) -> str:
        """`low to high (value)`, or the value alone.

        >>> Range(0.18, 0.09, 0.36).words, exactly(1200).words
        ('0.09 to 0.36 (0.18)', '1,200')
        """
        value, low, high = (f"{number:,.2f}".rstrip("0").rstrip(".") for number in self)
        return value if low == high else f"{low} to {high} ({value})"


def exactly(value: float) -> Range:
    return Range(value, value, value)


def repeated(retries: int) -> Range:
    """How often a request is made whose reply is asked for again, at most `retries` times, where it does not fit."""
    return Range(1, 1, 1 + retries)


class Requests(NamedTuple):
    """Requests of one Step: how many, and the cl100k tokens of all prompts and of all replies."""

    step: Step
    calls: Range
    prompt: Range
    completion: Range


class Forecast(NamedTuple):
    """What a build requests, and in words what the numbers rest on."""

    requests: tuple[Requests, ...]
    basis: str


def prompt_tokens(step: Step, value: Any) -> int:
    """cl100k tokens of the prompt for one input."""
    return sum(tokens.count(message["content"]) for message in step.messages(value))


# What replies of extraction take, per token of the text that they read; low and high are half and twice of it.
RECORDS = Range(1.5, 0.75, 3)  # of the first round: assumed
GLEANED = Range(0.3, 0.05, 1)  # of a further round, as a share of the first: assumed
