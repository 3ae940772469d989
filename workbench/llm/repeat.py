"""Which repeat of a question is under way. A repeat asks the same with another seed: that of an engine, and the number
of the repeat added to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_REPEAT: ContextVar[int] = ContextVar("repeat", default=0)


def repeat() -> int:
    """The number of the repeat under way, from 0. An engine of your own adds it to its seed, as `ChatEngine` does."""
    return _REPEAT.get()


@contextmanager
def repeating(number: int) -> Iterator[None]:
    """Everything that is asked within the block belongs to this repeat."""
    token = _REPEAT.set(number)
    try:
        yield
    finally:
        _REPEAT.reset(token)
