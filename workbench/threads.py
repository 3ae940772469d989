"""The thread policy of the process: torch gets the cores, every other pool gets one thread.

By default, torch, OpenBLAS and llama.cpp each start a thread per core and then wait for each other by spinning. Here
the large matrix products (encoding, nearest neighbours) go through torch; the small ones, one question at a time, are
faster on one thread anyway. `WORKBENCH_THREADS` sets another number for torch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache


def cores() -> int:
    """The number of cores that this process may use, or the value of `WORKBENCH_THREADS`."""
    wanted = os.environ.get("WORKBENCH_THREADS", "")
    if wanted:
        if not wanted.isdigit() or int(wanted) < 1:
            raise ValueError(f"WORKBENCH_THREADS is {wanted!r}; it should be a whole number from 1 on")
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def settle() -> None:
    """Apply the policy to numpy, once. Called before the first question; it does not load torch, which not every method
    needs."""
    _limit_blas()


@cache
def settle_torch() -> None:
    """Apply the policy to torch as well, once. Called where torch is first needed."""
    lend(cores())
    _limit_blas()


def _limit_blas() -> None:
    """Give every BLAS that is loaded by now one thread."""
    import numpy  # noqa: F401  (its BLAS must be loaded before it can be limited)
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")


def in_context(function: Callable) -> Callable:
    """The function for a pool's threads: each call sees what its caller has set in this context, such as the meter that
    collects and the number of the repeat, which threads do not inherit."""
    context = copy_context()
    return lambda *given: context.copy().run(function, *given)


def lend(threads: int) -> None:
    """Set the number of torch threads for computations of the current Python thread."""
    import torch

    torch.set_num_threads(threads)


@contextmanager
def lent(threads: int) -> Iterator[None]:
    """Use another number of torch threads inside the block. Pass `cores()` if the bits of the result depend on it: a
    Python thread that first uses torch while another one has fewer would keep that number."""
    lend(threads)
    try:
        yield
    finally:
        lend(cores())
