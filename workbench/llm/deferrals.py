"""Work in pieces, some of which wait for the replies of a batch (`workbench.llm.batch.export`)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TypeVar

from workbench.errors import Deferred

T, R = TypeVar("T"), TypeVar("R")


class Deferrals:
    """Pieces of work of which some may be deferred, while the others go on.

        deferrals = Deferrals()
        for one in pieces:
            with deferrals:
                work(one)
        deferrals.end()     # raises `Deferred` if any was

    `requests` is how many wait.
    """

    def __init__(self):
        self.requests, self._lock = 0, threading.Lock()

    def __enter__(self) -> Deferrals:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> bool:
        if not isinstance(error, Deferred):
            return False
        with self._lock:
            self.requests += error.requests
        return True

    def tried(self, work: Callable[[T], R]) -> Callable[[T], R | None]:
        """The work, which gives None where it is deferred."""

        def attempt(item: T) -> R | None:
            with self:
                return work(item)
            return None

        return attempt

    def end(self) -> None:
        if self.requests:
            raise Deferred(self.requests)


def each(work: Callable[..., R], *columns: Iterable) -> list[R]:
    """The results of `map`. If some pieces are deferred, the others are finished before `Deferred` is raised."""
    deferrals, results = Deferrals(), []
    for arguments in zip(*columns):
        with deferrals:
            results.append(work(*arguments))
    deferrals.end()
    return results
