"""A question read as a walk over a schema: which relations lead, from the anchor on, to what is asked for.

    who acted in the movies directed by Ada Lind
    person <-[directed by]- movie -[starred actors]-> person

Every walk that the types allow is aligned with the question's words in the order of their distance from the anchor: the
word that stands nearest tells the first hop, the noun that is asked for the last. What a walk explains counts for it, a
hop without a word and every hop at all against it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from workbench.rules.schema_words import Lexicon, Relations, Types, lexicon, spelled
from workbench.rules.sentences import Reading, Word, read

MOST = 3  # readings that are given
NEARLY = 0.1  # worth by which a reading may fall behind the best
HOP = 0.3  # cost of a hop
UNSAID = 1.0  # cost of a hop that no word tells
BACK = 0.4  # the same where it goes back by the relation that led there
SHARED = 0.1  # the same where the question says that something is shared
AGAIN = 0.25  # worth of a second word for the same thing
KIND = 1.0  # worth of ending at the kind of thing that is asked for
BEAM = 200  # walks that are carried on

Hop = tuple[str, bool]  # the label of a relation, and whether it is followed from its head to its tail


@dataclass(frozen=True)
class Walk:
    """`types` has one member more than `hops`."""

    types: tuple[str, ...]
    hops: tuple[Hop, ...]

    def __str__(self) -> str:
        told = [spelled(self.types[0])]
        for (label, forward), type_ in zip(self.hops, self.types[1:]):
            told.append(f"-[{spelled(label)}]->" if forward else f"<-[{spelled(label)}]-")
            told.append(spelled(type_))
        return " ".join(told)


class Rules(NamedTuple):
    """The fields of `steps.dot_rules.Output`."""

    query_constraints: str
    intermediate_rules: list[str]
    terminal_rules: list[str]
    allowed_types: list[str]
    initial_query: str


def rules(
    question: str,
    concept: str,
    anchors: Sequence[tuple[str, str, str]],
    types: Types,
    relations: Relations,
    hops: int,
) -> Rules:
    """What `steps.dot_rules` is to write. The rules are walks, one a line, that `path_judging` reads back."""
    exact = [anchor for anchor in anchors if anchor[0].casefold() == concept.casefold()]
    starts = tuple(dict.fromkeys(type_ for _, type_, _ in exact or anchors))
    found = walks(question, concept, starts, types, relations, hops)
    if not found:
        return Rules("", [], [], [], "")
    name = exact[0][0] if exact else concept
    prefixes = dict.fromkeys(
        str(Walk(walk.types[: n + 1], walk.hops[:n])) for walk in found for n in range(1, len(walk.hops))
    )
    whole = list(dict.fromkeys(map(str, found)))
    return Rules(
        "; ".join(f"{spelled(walk.types[-1])} at the end of {walk}" for walk in found),
        [line for line in prefixes],
        whole,
        list(dict.fromkeys(type_ for walk in found for type_ in walk.types)),
        asked(name, found[0].hops[0], found[0].types[1]),
    )


def asked(name: str, hop: Hop, type_: str) -> str:
    """A hop from a node in words.

    >>> asked("Ada Lind", ("directed_by", False), "movie"), asked("Dune Fever", ("has_genre", True), "genre")
    ('movie directed by Ada Lind', 'Dune Fever has genre')
    """
    label, forward = spelled(hop[0]), hop[1]
    if not forward:
        return f"{spelled(type_)} {label} {name}"
    return f"{name} {label}" if spelled(type_) in label.split() else f"{name} {label} {spelled(type_)}"


# Which walks


def walks(
    question: str, concept: str, starts: tuple[str, ...], types: Types, relations: Relations, hops: int
) -> list[Walk]:
    """The best readings of a question from a concept on; further ones only where they are nearly as good."""
    scored = scores(question, concept, starts, types, relations, hops)
    best = scored[0][0] if scored else 0.0
    return [walk for worth, walk in scored[:MOST] if worth >= best - NEARLY]


def scores(
    question: str, concept: str, starts: tuple[str, ...], types: Types, relations: Relations, hops: int
) -> list[tuple[float, Walk]]:
    words = lexicon(tuple(types), tuple(relations))
    reading = read(question, concept)
    senses = _senses(reading, words)
    found = [(max(_worth(walk, order, senses, reading, words) for order in reading.orders), walk)
             for walk in possible(starts, tuple(relations), hops)]  # fmt: skip
    return sorted(found, key=lambda one: (-one[0], len(one[1].hops), str(one[1])))


@lru_cache(64)
def possible(starts: tuple[str, ...], relations: Relations, hops: int) -> tuple[Walk, ...]:
    """Every walk of at most so many hops that the schema allows."""
    steps: dict[str, list[tuple[Hop, str]]] = {}
    for label, head, tail, _ in relations:
        for one in head:
            for other in tail:
                steps.setdefault(one, []).append(((label, True), other))
                steps.setdefault(other, []).append(((label, False), one))
    found, last = [], [Walk((start,), ()) for start in starts]
    for _ in range(hops):
        last = [Walk((*walk.types, type_), (*walk.hops, hop))
                for walk in last for hop, type_ in steps.get(walk.types[-1], ())]  # fmt: skip
        found += last
    return tuple(found)


class _Sense(NamedTuple):
    relations: dict[str, float]
    types: dict[str, float]


def _senses(reading: Reading, words: Lexicon) -> dict[int, _Sense]:
    told = [word for word in reading.words if word.content]
    return {word.at: _Sense(*sense) for word, sense in zip(told, words.senses([word.lemma for word in told]))
            if sense[0] or sense[1]}  # fmt: skip


def _worth(walk: Walk, order: Sequence[Word], senses, reading: Reading, words: Lexicon) -> float:
    """How well a walk explains the words in their order, by the best alignment that never turns back."""
    elements: list[tuple[str, str]] = [("type", walk.types[0])]
    for (label, _), type_ in zip(walk.hops, walk.types[1:]):
        elements += [("relation", label), ("type", type_)]
    unsaid = [_unsaid(walk, at, reading) for at in range(len(walk.hops))]
    # state: (element, whether a word told it) -> worth
    states: dict[tuple[int, bool], float] = {(0, False): 0.0}
    for word in order:
        sense = senses.get(word.at)
        if sense is None:
            continue
        after = dict(states)  # the word left aside
        for (at, told), worth in states.items():
            passed = 0.0
            for to in range(at, len(elements)):
                if to > at:
                    passed += unsaid[at // 2] if elements[at][0] == "relation" and not told and to == at + 1 else 0.0
                    if to > at + 1 and elements[to - 1][0] == "relation":
                        passed += unsaid[(to - 1) // 2]
                if word.asked and to < len(elements) - 2:
                    continue
                kind, name = elements[to]
                gain = (sense.relations if kind == "relation" else sense.types).get(name, 0.0)
                if gain <= 0:
                    continue
                gain *= AGAIN if to == at and told else 1.0
                state = (to, True)
                after[state] = max(after.get(state, -99.0), worth - passed + gain * word.weight)
        states = after
    best = -99.0
    for (at, told), worth in states.items():
        rest = 0.0 if told or elements[at][0] != "relation" else unsaid[at // 2]
        rest += sum(unsaid[to // 2] for to in range(at + 1, len(elements)) if elements[to][0] == "relation")
        best = max(best, worth - rest)
    return best - HOP * len(walk.hops) + _ending(walk, reading, words) + _sharing(walk, reading)


def _unsaid(walk: Walk, at: int, reading: Reading) -> float:
    label, forward = walk.hops[at]
    if (label, not forward) in (*walk.hops[max(0, at - 1) : at], *walk.hops[at + 1 : at + 2]):
        return SHARED if reading.shared else BACK
    return UNSAID


def _ending(walk: Walk, reading: Reading, words: Lexicon) -> float:
    if not reading.wants or reading.wants not in words.kinds.values():
        return 0.0
    return KIND if words.kinds[walk.types[-1]] == reading.wants else -KIND


def _sharing(walk: Walk, reading: Reading) -> float:
    mirrored = any(walk.hops[at + 1] == (label, not forward) for at, (label, forward) in enumerate(walk.hops[:-1]))
    return -0.7 if reading.shared and not mirrored else 0.0


# Lines


_STEP = re.compile(r"(?P<back><)?-\[(?P<label>[^\]]*)\]-(?P<on>>)?")


def parsed(line: str) -> Walk | None:
    """The walk that a line tells, in plain words; None where it tells none.

    >>> parsed("person <-[directed by]- movie").hops
    (('directed by', False),)
    """
    found = list(_STEP.finditer(line))
    types = tuple(part.strip() for part in _plain_parts(line, found))
    if not found or any(bool(step["back"]) == bool(step["on"]) for step in found) or not all(types):
        return None
    return Walk(types, tuple((step["label"], bool(step["on"])) for step in found))


def _plain_parts(line: str, steps) -> Iterator[str]:
    start = 0
    for step in steps:
        yield line[start : step.start()]
        start = step.end()
    yield line[start:]
