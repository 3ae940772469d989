"""Work that the tests send to workers, which import it by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from workbench.errors import DataError


def squared(number: int) -> int:
    return number * number


def of_process(number: int) -> tuple[int, int]:
    time.sleep(0.02)  # so that another process gets the next one
    return number, os.getpid()


def hears_interrupts(_: int) -> bool:
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def late(number: int) -> int:
    """The earlier a piece, the later it is done."""
    time.sleep(0.02 * (8 - number))
    return number


def failing(number: int) -> int:
    if number == 5:
        raise DataError("piece 5 is damaged; delete it")
    return number


class Odd(Exception):
    """An exception that cannot be made again from its arguments."""

    def __init__(self, one: int, other: int):
        super().__init__(f"{one} and {other}")


def oddly(number: int) -> int:
    raise Odd(number, number)


def deadly(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def deadly_once(piece: tuple[int, Path]) -> int:
    """The worker that gets piece 2 first is killed in the middle of it."""
    number, mark = piece
    if number == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def still_once(piece: tuple[int, Path]) -> int:
    """The worker that gets piece 2 first stands still in the middle of it."""
    number, mark = piece
    if number == 2 and not mark.exists():
        mark.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGSTOP)
    return number


def is_profiled(dask_worker) -> bool:
    return "profile" in dask_worker.periodic_callbacks


def asleep(number: int) -> int:
    time.sleep(60)
    return number
