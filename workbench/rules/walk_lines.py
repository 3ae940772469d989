"""Walks over a schema, as lines that a reader and a rule can read, and in words.

movie -[directed by]-> person <-[directed by]- movie"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

Hop = tuple[str, bool]  # the label of a relation, and whether it is followed from its head to its tail

ANY = "thing"  # where the graph tells no types

_STEP = re.compile(r"(?P<back><)?-\[(?P<label>[^\[\]]*)\]-(?P<on>>)?")


@cache
def spelled(name: str) -> str:
    """The name of a relation or type in plain words.

    >>> spelled("WORK_OF_ART"), spelled("directedBy")
    ('work of art', 'directed by')
    """
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|[\W_]+", " ", name).casefold().split())


@dataclass(frozen=True)
class Walk:
    """`types` has one member more than `hops`."""

    types: tuple[str, ...]
    hops: tuple[Hop, ...]

    def __str__(self) -> str:
        line = spelled(self.types[0]) or ANY
        for (label, forward), type_ in zip(self.hops, self.types[1:]):
            line += f" -[{spelled(label)}]-> " if forward else f" <-[{spelled(label)}]- "
            line += spelled(type_) or ANY
        return line

    def upto(self, hops: int) -> Walk:
        """Its beginning."""
        return Walk(self.types[: hops + 1], self.hops[:hops])

    def from_(self, name: str) -> str:
        """What stands at its end, in words, from the name of its beginning.

        >>> Walk(("film", "person", "film"), (("made_by", True), ("made_by", False))).from_("Dune Fever")
        'film made by person (made by) of Dune Fever'
        """
        for hop, type_ in zip(self.hops, self.types[1:]):
            name = hop_in_words(name, hop, type_)
        return name


def hop_in_words(name: str, hop: Hop, type_: str) -> str:
    """What a hop from a name leads to, in words.

    >>> hop_in_words("Ada Lind", ("directed_by", False), "film")
    'film directed by Ada Lind'
    >>> hop_in_words("Dune Fever", ("has_genre", True), "genre")
    'genre (has genre) of Dune Fever'
    """
    label, kind = spelled(hop[0]), spelled(type_) or ANY
    return f"{kind} ({label}) of {name}" if hop[1] else f"{kind} {label} {name}"


def parse_walk(line: str) -> Walk | None:
    """The walk that a line tells, in plain words; None where it tells none.

    >>> parse_walk("person <-[directed by]- movie").hops
    (('directed by', False),)
    """
    steps = list(_STEP.finditer(line))
    types = tuple(part.strip() for part in _between(line, steps))
    if not steps or any(bool(step["back"]) == bool(step["on"]) for step in steps):
        return None
    return Walk(types, tuple((step["label"].strip(), bool(step["on"])) for step in steps))


def _between(line: str, steps) -> Iterator[str]:
    start = 0
    for step in steps:
        yield line[start : step.start()]
        start = step.end()
    yield line[start:]
