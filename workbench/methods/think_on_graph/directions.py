"""The relations of a phrase, which a walk over the graph may follow."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from workbench.index import Index


class Direction(NamedTuple):
    """A relation of a phrase, `forward` if the phrase is the subject; `facts` are rows, one per other end."""

    relation: str
    forward: bool
    facts: tuple[int, ...]


def directions(index: Index, phrase: int) -> list[Direction]:
    """The relations of a phrase, by name, each direction by itself. A fact about the phrase and itself leads nowhere
    and is left out."""
    facts = index.facts
    found: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for row in facts.about(phrase):
        if facts.subjects[row] != facts.objects[row]:
            found[facts.facts[row][1], bool(facts.subjects[row] == phrase)].append(row)
    return [Direction(relation, forward, tuple(rows)) for (relation, forward), rows in sorted(found.items())]


def other_end(index: Index, fact: int, phrase: int) -> int:
    """The phrase at the other end of a fact."""
    subject, obj = index.facts.subjects[fact], index.facts.objects[fact]
    return int(obj if subject == phrase else subject)
