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
    for at, attempt in enumerate(_drawn(chance, hostile_files.every_attempt(chance), files)):
        _note(tally, attempt.name, hostile_files.tried(attempt, folder / f"file{at}"))
    for at, attempt in enumerate(_drawn(chance, hostile_words.every_attempt(), words)):
        _note(tally, attempt.name, hostile_files.tried(attempt, folder / f"words{at}"))
    return tally


def _attack_by_texts(inputs: list, folder: Path, tally: Tally) -> None:
    for first in range(0, len(inputs), _TOGETHER):
        for one, harms in hostile_corpus.walk(inputs[first : first + _TOGETHER], folder / f"corpus{first}").items():
            if one is not None:
                _note(tally, f"{one.text} as {one.place}", harms)
            else:  # of which of them is not known
                tally.lost += len(harms)
                tally.failures += [f"lost: {harm}" for harm in harms]


def _note(tally: Tally, name: str, harms: list[str]) -> None:
    if not harms:
        tally.withstood()
    else:
        crashed = any(harm.startswith("crashed") for harm in harms)
        tally.failed("crashed" if crashed else "lost", f"{name}: {'; '.join(harms)}")


def _drawn(chance: random.Random, things: list, count: int) -> list:
    return chance.sample(things, min(count, len(things)))
