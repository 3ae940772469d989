"""How a page of a map opens and pans: what a test bounds and a benchmark measures."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from playwright.sync_api import Page

_TICK = """() => { window.times = []; const tick = (now) => { times.push(now); requestAnimationFrame(tick) };
  requestAnimationFrame(tick) }"""


class Panned(NamedTuple):
    """Seconds until the first picture, pictures a second while the mouse drags the map, and the milliseconds that 19 of
    20 pictures take at most."""

    opened: float
    frames: float
    slow: float


def panned(page: Page, path: Path, moves: int = 90) -> Panned:
    """Open the page of a map (a file), and drag it to and fro."""
    begun = time.perf_counter()
    page.goto(path.resolve().as_uri())
    page.wait_for_function("view.stands()")
    opened = time.perf_counter() - begun
    page.evaluate(_TICK)
    page.mouse.move(300, 250)
    page.mouse.down()
    for step in range(moves):
        along = step if step < moves / 2 else moves - step
        page.mouse.move(300 + 9 * along, 250 + 3 * along)
    page.mouse.up()
    between = np.diff(page.evaluate("times"))
    return Panned(opened, 1000 / float(between.mean()), float(np.quantile(between, 0.95)))
