"""The units of a context as words and sentences: how rare a word is among them, which units mention the question's
names, and where the names of the tables occur.

A word is a run of letters and digits, case folded, or one han or kana character (`text.words`). Words of the
question are compared by their family (`directed`, `director`)."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import takewhile
from typing import NamedTuple

from workbench.language import relations
from workbench.records import Unit
from workbench.text import sentences, split_title, words

K1, B = 1.2, 0.75  # of BM25 (Robertson et al., 1994), as usual
JOINERS = relations.words("of the and de da di la le van von der den du al bin for to")
_LONGEST_NAME = 8  # words
_TOKEN = re.compile(r"[^\s]+")
_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")


def subject(text: str) -> str:
    """What a text is about, by how it opens: its title, which is a short line of its own, without brackets at its end;
    else the name that it begins with; empty if it begins with none.

    >>> subject("Orsby (town)\\nA town."), subject("The Aldby Mill of Orsby is old."), subject("It is old.")
    ('Orsby', 'Aldby Mill of Orsby', '')
    """
    title, rest = split_title(text.strip(), 80, ends=".!?。！？")
    return _BRACKETS.sub("", title).strip() if title else _opening(rest.partition("\n")[0])


def _opening(line: str) -> str:
    words: list[str] = []
    for token in _TOKEN.findall(line[:200]):
        bare = token.strip("\"'“”‘’([,.;:)]")
        if not bare or not (bare[0].isupper() or bare[0].isdigit() or (words and bare in JOINERS)):
            break
        words.append(bare)
        if bare != token.lstrip("\"'“‘([") or len(words) == _LONGEST_NAME:
            break
    while words and words[0].casefold() in empty_words():
        words.pop(0)
    while words and words[-1] in JOINERS:
        words.pop()
    return " ".join(words)


@cache
def empty_words() -> frozenset[str]:
    """English words that say nothing about what a text is on."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)


_family = lru_cache(1 << 16)(relations.stem)


def families(text_words: Iterable[str]) -> list[str]:
    return [_family(word) for word in text_words]


class Text(NamedTuple):
    """A text read once: its words, how often each word family occurs, its sentences, its subject."""

    text: str
    words: list[str]
    families: Counter[str]
    sentences: list[str]
    subject: str


@lru_cache(2048)
def _read(text: str) -> Text:
    """Texts are cached, because the units of an index return with every other question."""
    its_words = words(text)
    return Text(text, its_words, Counter(families(its_words)), sentences(text), subject(text))


class Texts:
    """The units of a context, read."""

    def __init__(self, units: Sequence[Unit]):
        self.texts = [_read(unit.content) for unit in units]
        self._units_of = Counter(family for text in self.texts for family in text.families)

    def rarity(self, family: str) -> float:
        """Inverse document frequency of a family of words among the units (that of BM25, never below 0). One that none
        holds is as rare as one that a single unit does."""
        n, holding = max(len(self.texts), 1), max(self._units_of[family], 1)
        return math.log(1 + (n - holding + 0.5) / (holding + 0.5))

    def weights_of(self, question: str) -> dict[str, float]:
        """The families of the words of a question that say something, with their rarity."""
        content = dict.fromkeys(word for word in words(question) if word not in empty_words())
        return {family: self.rarity(family) for family in families(content)}

    def matches(self, weights: dict[str, float]) -> list[float]:
        """The BM25 score of each unit for these words."""
        mean = sum(len(text.words) for text in self.texts) / max(len(self.texts), 1) or 1
        scores = []
        for text in self.texts:
            norm = K1 * (1 - B + B * len(text.words) / mean)
            counts = ((rarity, text.families[family]) for family, rarity in weights.items())
            scores.append(sum(rarity * count * (K1 + 1) / (count + norm) for rarity, count in counts if count))
        return scores

    def mentions(self, names: Iterable[str]) -> list[list[str]]:
        """Which of the names each unit mentions, at word boundaries, each once, in the order of the text."""
        starts: dict[str, list[tuple[list[str], str]]] = defaultdict(list)
        for name in names:
            if parts := words(name):
                starts[parts[0]].append((parts, name))
        return [list(dict.fromkeys(_mentions(text.words, starts))) for text in self.texts]


def weight(text: str, weights: dict[str, float]) -> float:
    """The sum of the rarities of the words asked for that a text holds, rounded once: the order of a set, by which the
    last bits of a running sum differ, is another one in each process."""
    return math.fsum(weights[family] for family in set(families(words(text))) & weights.keys())


def _mentions(text_words: Sequence[str], starts: dict[str, list[tuple[list[str], str]]]) -> Iterable[str]:
    for at, word in enumerate(text_words):
        if word in starts:
            for name_words, name in starts[word]:
                if text_words[at : at + len(name_words)] == name_words:
                    yield name


def ranks(scores: Sequence[float]) -> list[int]:
    """The place of each score from 0 on, equal ones in their order; what scores nothing shares the last place."""
    order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    places = [len(scores)] * len(scores)
    for place, at in enumerate(takewhile(lambda at: scores[at] > 0, order)):
        places[at] = place
    return places
