"""How long something takes by itself."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Spent:
    seconds: float = 0.0


@contextmanager
def spent() -> Iterator[Spent]:
    """The process time of the block, there when it ends. No garbage is collected in it: how long that takes depends on
    all that the process holds, and it falls on whatever happens to run."""
    found, collects = Spent(), gc.isenabled()
    gc.disable()
    started = time.process_time()
    try:
        yield found
    finally:
        found.seconds = time.process_time() - started
        if collects:
            gc.enable()
