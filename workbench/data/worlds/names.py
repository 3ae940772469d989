"""Names of a world: words of its own sound system, a different one for every number.

A word is onset, vowel, medial consonants, vowel, … and, if it is closed, a final. Each of these comes from a small
inventory that the seed draws. Vowels and consonants share no letter, so a word can be taken apart in one way only, and
two numbers never have the same word.
"""

from __future__ import annotations

from functools import lru_cache

from workbench.data.worlds.draws import Draws, Shuffle, key

_ONSETS = (
    "b", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "br", "dr", "fl", "gr", "kl",
    "kr", "pl", "sk", "sl", "st", "th", "tr", "vr", "sh", "fr", "kn",
)  # fmt: skip
_PLAIN = ("a", "e", "i", "o", "u")
_MARKED = ("ae", "ei", "au", "ia", "oe", "é", "ö", "ü", "á", "å", "ø")
_MEDIALS = (
    "b", "d", "g", "k", "l", "m", "n", "r", "s", "t", "v", "z", "ld", "lm", "ln", "lt", "mb", "nd", "ng", "nk", "nt",
    "rb", "rd", "rk", "rl", "rm", "rn", "rt", "rv", "sk", "st", "ss", "tt", "ll", "mm", "nn", "th", "sh", "lv",
)  # fmt: skip
_FINALS = ("n", "l", "r", "s", "t", "k", "m", "d", "th", "nd", "rn", "st", "sk", "sh", "lt", "rk")


class Words:
    """The words of a world by number, open (ending in a vowel) or closed: first all that have two syllables, then those
    of three."""

    def __init__(self, seed: int):
        draws = Draws(key(seed, "sounds"))
        vowels = [*_PLAIN, draws.pick(_MARKED)]
        medials = draws.sample(_MEDIALS, 18)
        first = (draws.sample(_ONSETS, 14), vowels, medials, vowels)
        longer = (*first, medials, vowels)
        last = draws.sample(_FINALS, 8)
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
