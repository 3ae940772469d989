"""The thread policy of the process: torch gets the cores, every other pool gets one thread.

By default, torch, OpenBLAS and llama.cpp each start a thread per core and then wait for each other by spinning. Here
the large matrix products (encoding, nearest neighbours) go through torch; the small ones, one question at a time, are
faster on one thread anyway. `WORKBENCH_THREADS` sets another number for torch.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import islice
from typing import TypeVar

T, R = TypeVar("T"), TypeVar("R")

_LEFT: ContextVar[tuple[threading.Event, ...]] = ContextVar("left", default=())  # one of each pool around a call


def cores() -> int:
    """The number of cores that this process may use, or the value of `WORKBENCH_THREADS`."""
    wanted = os.environ.get("WORKBENCH_THREADS", "")
    if wanted:
        if not wanted.isdigit() or int(wanted) < 1:
            raise ValueError(f"WORKBENCH_THREADS is {wanted!r}; it should be a whole number of at least 1")
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


def in_order(
    ask: Callable[[T], R], jobs: Iterable[T], workers: int, close: Callable[[], None] = lambda: None
) -> Iterator[R]:
    """What `ask` gives for each job, in their order, with at most `workers` under way and few queued, so that a stop
    loses little. Each call sees the context of the caller.

    After an error, running jobs finish, because their answers are paid for and may be recorded. An interrupt ends at
    once; `close` cancels pending requests, and jobs that go on for a while find themselves `left`."""
    if workers == 1:
        yield from map(ask, jobs)
        return
    pool, rest, ended, context = ThreadPoolExecutor(workers), iter(jobs), threading.Event(), copy_context()
    context.run(_LEFT.set, (*_LEFT.get(), ended))
    ask = context.run(in_context, ask)
    waiting = deque[Future]()
    try:
        waiting.extend(pool.submit(ask, job) for job in islice(rest, 2 * workers))
        while waiting:
            yield waiting[0].result()
            waiting.popleft()
            waiting.extend(pool.submit(ask, job) for job in islice(rest, 1))
    except (KeyboardInterrupt, GeneratorExit):  # the latter if the caller was interrupted
        ended.set()
        pool.shutdown(wait=False, cancel_futures=True)
        _break_off(waiting, close)
        raise
    except Exception:
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()


def left() -> bool:
    """Whether an interrupt has ended the call that this job belongs to, so that nobody waits for its result and no more
    requests should be sent."""
    return any(event.is_set() for event in _LEFT.get())


def _break_off(futures: Iterable[Future], close: Callable[[], None], within: float = 1.0) -> None:
    """Close what `futures` ask until none of them is under way. What cannot be closed (a parse, a batch of the
    encoder) is left to end by itself after `within` seconds."""
    end = time.monotonic() + within
    while (running := [future for future in futures if future.running()]) and time.monotonic() < end:
        close()
        wait(running, timeout=0.05)


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
