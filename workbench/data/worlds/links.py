"""Which entities a relation joins, forwards and backwards, without a list of them.

A strand joins an arithmetic row of heads to one of tails: each head has one tail, and the heads of a tail can be
enumerated. A relation is one or several strands.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from math import isqrt

from workbench.data.worlds.draws import Shuffle


class Row:
    """The numbers `first`, `first + step`, …, `count` of them."""

    __slots__ = ("count", "first", "step")

    def __init__(self, first: int, step: int, count: int):
        self.first, self.step, self.count = first, step, count

    def place(self, number: int) -> int | None:
        """Where in the row a number stands."""
        place, rest = divmod(number - self.first, self.step)
        return place if rest == 0 and 0 <= place < self.count else None

    def __getitem__(self, place: int) -> int:
        return self.first + self.step * place


class Strand:
    """Heads that each have one tail. Shuffled heads fall into parts: of the share `hubs`, half go to the first √n of n
    tails, a quarter to the first √√n, and so on; all others are spread evenly. Without a key, the first head has the
    first tail, the second the second."""

    def __init__(self, heads: Row, tails: Row, key: int | None = None, hubs: float = 0.0):
        self.heads, self.tails = heads, tails
        self._mixed = None if key is None else Shuffle(key, heads.count)
        self._starts: list[int] = []
        self._parts: list[tuple[int, int, int]] = []  # start, heads, tails
        if self._mixed is not None and heads.count and tails.count:
            self._divide(int(heads.count * hubs))

    def _divide(self, to_hubs: int) -> None:
        start, reached = 0, isqrt(self.tails.count)
        while to_hubs >= 2 and reached >= 2:
            self._parts.append((start, to_hubs // 2, reached))
            start, to_hubs, reached = start + to_hubs // 2, to_hubs - to_hubs // 2, isqrt(reached)
        self._parts.append((start, self.heads.count - start, self.tails.count))
        self._starts = [part[0] for part in self._parts]

    def tail(self, head: int) -> int | None:
        place = self.heads.place(head)
        if place is None:
            return None
        if self._mixed is None:
            return self.tails[place] if place < self.tails.count else None
        if not self._parts:
            return None
        place = self._mixed(place)
        start, heads, tails = self._parts[bisect_right(self._starts, place) - 1]
        return self.tails[(place - start) * tails // heads]

    def heads_of(self, tail: int) -> Iterator[int]:
        place = self.tails.place(tail)
        if place is None:
            return
        if self._mixed is None:
            if place < self.heads.count:
                yield self.heads[place]
            return
        for start, heads, tails in reversed(self._parts):
            if place < tails:
                for at in range(-(-place * heads // tails), -(-(place + 1) * heads // tails)):
                    yield self.heads[self._mixed.undo(start + at)]
