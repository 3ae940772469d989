"""One thread policy for the process: torch gets the cores, every other pool gets one thread.

Left alone, torch, OpenBLAS and llama.cpp each start a thread per core and then wait for each other by spinning. Here
the large matrix products (encoding, nearest neighbours) go through torch; the small ones, one question at a time, are
faster on one thread anyway. Set `WORKBENCH_THREADS` to give torch another number."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


def cores() -> int:
    """Cores this process may use, or what `WORKBENCH_THREADS` says."""
    wanted = os.environ.get("WORKBENCH_THREADS", "")
    if wanted:
        if not wanted.isdigit() or int(wanted) < 1:
            raise ValueError(f"WORKBENCH_THREADS is {wanted!r}; it should be a whole number from 1 on")
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def settle() -> None:
    """Apply the policy, once. Called where torch is first needed and before the first question."""
    import numpy  # noqa: F401  (its BLAS must be loaded before it can be limited)
    from threadpoolctl import threadpool_limits

    lend(cores())
    threadpool_limits(limits=1, user_api="blas")


def lend(threads: int) -> None:
    """Give torch so many threads for what this thread of Python computes from now on."""
    import torch

    torch.set_num_threads(threads)


@contextmanager
def lent(threads: int) -> Iterator[None]:
    """Other threads for torch than the cores, within. Ask for `cores()` where the bits hang on it: a thread of Python
    that first uses torch while another one holds fewer would keep those."""
    lend(threads)
    try:
        yield
    finally:
        lend(cores())
