"""Hostile inputs: texts in every place of a corpus, through everything that is registered; spoilt files and archives;
words on the command line; very large and very many passages. Each is refused in words of ours, with the file, or works,
and then it stays a text: no page, terminal or spreadsheet acts upon it, and nothing is written outside its folder.

What is refused or harmless is withstood. `crashed`: another error; `lost`: it is read or shown otherwise than it was
written, or acted upon."""

from __future__ import annotations

import random
from pathlib import Path

import hostile_corpus
import hostile_files
import hostile_words
from tally import Tally

WHOLE = 1200
_SHARES = {"texts": 0.1, "files": 0.7, "words": 0.2}
_TOGETHER = 60  # texts in one corpus


def attack(count: int, seed: int, folder: Path) -> Tally:
    chance, tally = random.Random(seed), Tally("inputs")
    texts, files, words = (max(1, round(count * share)) for share in _SHARES.values())
    _attack_by_texts(_drawn(chance, hostile_corpus.every_input(), texts), folder, tally)
    spoilt = _drawn(chance, hostile_files.every_attempt(chance), files)
    for at, attempt in enumerate([*spoilt, *_drawn(chance, hostile_words.every_attempt(), words)]):
        tally.judged(attempt.name, _worst(hostile_files.tried(attempt, folder / f"attempt{at}")))
    return tally


def _attack_by_texts(inputs: list, folder: Path, tally: Tally) -> None:
    for first in range(0, len(inputs), _TOGETHER):
        for one, harms in hostile_corpus.walk(inputs[first : first + _TOGETHER], folder / f"corpus{first}").items():
            if one is not None:
                tally.judged(f"{one.text} as {one.place}", _worst(harms))
            else:  # of which of them is not known
                tally.lost += len(harms)
                tally.failures += [f"lost: {harm}" for harm in harms]


def _worst(harms: list[str]) -> str:
    """What an attempt did, a crash first; anything else is lost."""
    crashed = [harm for harm in harms if harm.startswith("crashed")]
    return "; ".join(crashed) or ("lost: " + "; ".join(harms) if harms else "")


def _drawn(chance: random.Random, things: list, count: int) -> list:
    return chance.sample(things, min(count, len(things)))
