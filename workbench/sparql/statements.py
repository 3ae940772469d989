"""Facts reread in the passages that state them: in which words a passage states them.

A fact may have been extracted loosely ("X has 1889"), so what joins its ends is looked up where it stands: in a
sentence that names both, the title standing for one of them, with the words of a pattern's predicate near the value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from workbench.language.quantities import life
from workbench.language.relations import relatedness, stem
from workbench.language.spans import mentioned, plain, same
from workbench.measures.words import places
from workbench.records import Match, Passage, Pattern, Triple
from workbench.sparql.similarity import alike, expects, stems

NEAR = 8  # words between a predicate's word and the value


def states(match: Match, passage: Passage) -> bool:
    """Whether a sentence of the passage states the fact in the words of the pattern, or in half of them."""
    return stated(match.pattern, match.fact, match.turned, passage) >= 0.5


def stated(pattern: Pattern, fact: Triple, turned: bool, passage: Passage) -> float:
    """The share of the pattern's words that stand near the value in a sentence with both ends of the fact."""
    thing, value = (fact.object, fact.subject) if turned else (fact.subject, fact.object)
    if pattern.subject.startswith("?") and not pattern.object.startswith("?"):
        thing, value = value, thing  # the subject is asked for
    if _life(pattern.predicate, thing, value, passage):
        return 1.0
    ways = [stems(way) for way in pattern.predicate.split("|") if not way.startswith("?")]
    shares = (_share(s, passage.title, thing, value, way) for s in _sentences(passage.text) for way in ways if way)
    return max(shares, default=0.0)


def lives(passage: Passage) -> Iterator[Triple]:
    """Birth and death of whom a passage is about, where they stand in brackets behind the name."""
    found = life(passage.text)
    for date, relation in ((found.born, "date of birth"), (found.died, "date of death")):
        if date is not None and passage.title:
            yield Triple(passage.title, relation, date.text, (passage.id,))


def _life(predicate: str, thing: str, value: str, passage: Passage) -> bool:
    """Dates of birth and death, as they stand in brackets behind a name."""
    asked = stems(predicate.split("|")[0])
    if expects(predicate.split("|")[0]) != "date" or not asked or same(passage.title, thing) < 0.7:
        return False
    found = life(passage.text)
    for date, word in ((found.born, "birth"), (found.died, "death")):
        if date is not None and alike(date.text, value) >= 0.9 and relatedness(stem(word), asked[0]):
            return True
    return False


_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])|\n+")


@lru_cache(4_096)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(_END.split(text[:20_000]))


def _share(sentence: str, title: str, thing: str, value: str, wanted: tuple[str, ...]) -> float:
    sentence_families = _families(sentence)
    text = f" {' '.join(plain(sentence))} "
    topic = same(title, thing) >= 0.7, same(title, value) >= 0.7
    if not (topic[0] or mentioned(text, thing)) or not (topic[1] or mentioned(text, value)):
        return 0.0
    at = _where(value, sentence) or _where(thing, sentence)
    near = [any(relatedness(one, word) and _within(spot, at) for spot, word in sentence_families) for one in wanted]
    return sum(near) / len(near)


@lru_cache(8_192)
def _families(sentence: str) -> tuple[tuple[int, str], ...]:
    """(number of the word, its family)"""
    return tuple((at, family) for at, word in enumerate(re.findall(r"\w+", sentence[:5_000])) for family in stems(word))


def _where(name: str, sentence: str) -> list[int]:
    """Numbers of the words at which a name stands."""
    tokens = re.findall(r"\w+", sentence[:5_000].casefold())
    wanted = re.findall(r"\w+", name.casefold())
    spots = places(wanted, tokens) or (places(wanted[-1:], tokens) if wanted else [])
    return [at + step for at in spots for step in range(len(wanted))]


def _within(spot: int, spots: list[int]) -> bool:
    return any(abs(spot - at) <= NEAR for at in spots)
