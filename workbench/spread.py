"""Pieces of work, done here or by the workers of a cluster, through one interface that keeps the order of results.

    with over("local[2]"):  # or tcp://…; without it, or with None, everything is done in this process
        for result in spread(pieces, work):
            …

Layers, encoders and evaluations call `spread` and import no cluster: `workbench.cluster` is found by its name, and
loaded, only where a cluster is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, Protocol, TypeVar

P, R = TypeVar("P"), TypeVar("R")
CLUSTER = "workbench.cluster"  # whose workers do pieces in other processes


class Workers(Protocol):
    """What pieces are spread over (`workbench.cluster.Cluster`). `processes` is the number of them now."""

    @property
    def processes(self) -> int: ...

    def spread(self, pieces: Iterable[P], work: Callable[[P], R], side: int) -> Iterator[R]: ...


_workers: ContextVar[Workers | None] = ContextVar("workers", default=None)


def spread(
    pieces: Iterable[P], work: Callable[[P], R], *, here: Callable[[Callable, Iterable], Iterable] = map, side: int = 1
) -> Iterator[R]:
    """What `work` gives for each of the pieces, in their order.

    In this process, `here` applies the work, by default one piece after the other. A worker does `side` pieces at a
    time. An error of a piece is raised in its place, after the results before it."""
    workers = _workers.get()
    return iter(here(work, pieces)) if workers is None else workers.spread(pieces, work, side)


def processes() -> int:
    """How many processes share the pieces: 1 without a cluster."""
    workers = _workers.get()
    return 1 if workers is None else max(1, workers.processes)


def is_spread() -> bool:
    """Whether pieces go to the workers of a cluster."""
    return _workers.get() is not None


@contextmanager
def over(cluster: Workers | str | None) -> Iterator[None]:
    """Spread the pieces of this block over a cluster: `local[2]`, the address of a scheduler (`tcp://…`), or one that
    is open, which stays so. None changes nothing."""
    if cluster is None:
        yield
    elif isinstance(cluster, str):
        with import_module(CLUSTER).Cluster.open(cluster) as opened, over(opened):
            yield
    else:
        token = _workers.set(cluster)
        try:
            yield
        finally:
            _workers.reset(token)


def by_size(items: list[Any], size: int) -> Iterator[list[Any]]:
    """The items in pieces of a given size, the last one perhaps smaller."""
    return (items[start : start + size] for start in range(0, len(items), size))
