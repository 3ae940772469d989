"""Stateless randomness: draws, links between numbered entities, and names, each computed from a seed and a key.

Every draw is computed from a key, so any entity of a world can be computed at any time. `Draws` is SplitMix64 (Steele,
Lea, Flood, "Fast splittable pseudorandom number generators", 2014), started at a key. `Shuffle` is a bijection of
0 … n − 1 that can be undone: a Feistel network over two digits, repeated while a number lies outside (Black and
Rogaway, "Ciphers with arbitrary finite domains", 2002). Neither is meant to keep a secret.

Which entities a relation joins is known forwards and backwards, without a list of them. A `Strand` joins an arithmetic
row of heads to one of tails: each head has one tail, and the heads of a tail can be enumerated. A relation is one or
several strands.

Names are words of a world's own sound system, a different one for every number. A word is onset, vowel, medial
consonants, vowel, … and, if it is closed, a final. Each of these comes from a small inventory that the seed draws.
Vowels and consonants share no letter, so a word can be taken apart in one way only, and two numbers never have the same
word.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import isqrt
from typing import TypeVar

from workbench.data.worlds.schema import SOUNDS

T = TypeVar("T")
_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_ROUNDS = 4


def mix(number: int) -> int:
    """64 bits in which every bit of the number counts."""
    number = (number + _STEP) & _MASK
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & _MASK
    return number ^ (number >> 31)


def key(*parts: object) -> int:
    """A key of 64 bits from names and numbers."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest(), "big")


class Draws:
    """Draws that depend on a key and a number alone."""

    __slots__ = ("_state",)

    def __init__(self, key: int, number: int = 0):
        self._state = mix(key ^ mix(number))

    def bits(self) -> int:
        self._state = (self._state + _STEP) & _MASK
        return mix(self._state)

    def below(self, n: int) -> int:
        """A number from 0 to n − 1."""
        return (self.bits() * n) >> 64

    def between(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def chance(self, share: float) -> bool:
        """True with this probability."""
        return self.bits() < share * 2**64

    def pick(self, sequence: Sequence[T]) -> T:
        return sequence[(self.bits() * len(sequence)) >> 64]

    def sample(self, sequence: Sequence[T], n: int) -> list[T]:
        """`n` different members, in the order in which they are drawn."""
        left = list(sequence)
        return [left.pop(self.below(len(left))) for _ in range(min(n, len(left)))]


class Shuffle:
    """A bijection of the numbers below `n`; `undo` is its inverse."""

    __slots__ = ("_keys", "_left", "_right", "n")

    def __init__(self, key: int, n: int):
        self.n = n
        self._left = isqrt(max(n - 1, 0)) + 1
        self._right = -(-n // self._left) if n else 1
        self._keys = [mix(key + number) for number in range(_ROUNDS)]

    def __call__(self, number: int) -> int:
        left, right, (a, b, c, d) = self._left, self._right, self._keys
        while True:
            high, low = divmod(number, right)
            high = (high + mix(a ^ low)) % left
            low = (low + mix(b ^ high)) % right
            high = (high + mix(c ^ low)) % left
            low = (low + mix(d ^ high)) % right
            number = high * right + low
            if number < self.n:
                return number

    def undo(self, number: int) -> int:
        left, right, (a, b, c, d) = self._left, self._right, self._keys
        while True:
            high, low = divmod(number, right)
            low = (low - mix(d ^ high)) % right
            high = (high - mix(c ^ low)) % left
            low = (low - mix(b ^ high)) % right
            high = (high - mix(a ^ low)) % left
            number = high * right + low
            if number < self.n:
                return number


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


class Words:
    """The words of a world by number, open (ending in a vowel) or closed: first all that have two syllables, then those
    of three."""

    def __init__(self, seed: int):
        draws = Draws(key(seed, "sounds"))
        vowels = [*SOUNDS["plain_vowels"], draws.pick(SOUNDS["marked_vowels"])]
        medials = draws.sample(SOUNDS["medials"], 18)
        first = (draws.sample(SOUNDS["onsets"], 14), vowels, medials, vowels)
        longer = (*first, medials, vowels)
        last = draws.sample(SOUNDS["finals"], 8)
        self._parts = {
            (is_open, syllables): parts if is_open else (*parts, last)
            for is_open in (True, False)
            for syllables, parts in ((2, first), (3, longer))
        }
        self._mixed = {
            kind: Shuffle(key(seed, "words", *kind), _capacity(parts)) for kind, parts in self._parts.items()
        }
        self.word = lru_cache(maxsize=1 << 12)(self._word)

    def room(self, is_open: bool) -> int:
        """How many words there are."""
        return self._mixed[is_open, 2].n + self._mixed[is_open, 3].n

    def _word(self, number: int, is_open: bool = False) -> str:
        short = self._mixed[is_open, 2].n
        kind = (is_open, 2 if number < short else 3)
        rest = self._mixed[kind](number if number < short else number - short)
        letters = []
        for part in self._parts[kind]:
            rest, at = divmod(rest, len(part))
            letters.append(part[at])
        return "".join(letters).capitalize()


def _capacity(parts: tuple[list[str], ...]) -> int:
    total = 1
    for part in parts:
        total *= len(part)
    return total
