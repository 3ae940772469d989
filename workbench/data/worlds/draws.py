"""Chance without a state: every draw is computed from a key, so any entity of a world can be computed at any time.

`Draws` is SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014), started at a key.
`Shuffle` is a bijection of 0 … n − 1 that can be undone: a Feistel network over two digits, repeated while a number
lies outside (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). Neither is meant to keep a secret.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from math import isqrt
from typing import TypeVar

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
