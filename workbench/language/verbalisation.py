"""Facts of a graph as English sentences: articles and descriptions from templates.

A relation is worded by its definition, if that is a sentence about its ends: from "The bridge was built by the person."
comes "Lanthorn Bridge was built by Ilse Varn". Otherwise the words of its name stand between the two ends.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

Triple = tuple[str, str, str]
Relations = tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...]  # label, head and tail types, definition

NAMED = 9  # names in the description of an entity
_PLURAL = {"was": "were", "is": "are", "has": "have", "does": "do"}


class Wording(NamedTuple):
    """`<head> <verb> <kind> <tail> <rest>`; `it` and `them` stand for a head or a tail that is not named."""

    verb: str
    kind: str = ""
    rest: str = ""
    it: str = "It"
    them: str = "it"

    def phrase(self, tails: str) -> str:
        return " ".join(filter(None, (self.verb, self.kind, tails, self.rest)))

    def of_several(self) -> Wording:
        """The same with a verb for several heads."""
        first, _, rest = self.verb.partition(" ")
        return self._replace(verb=" ".join(filter(None, (_PLURAL.get(first, first), rest))))


def words(label: str) -> str:
    """`starred_actors` → `starred actors`"""
    return " ".join(label.replace("_", " ").split())


@lru_cache(maxsize=64)
def wordings(relations: Relations) -> dict[str, Wording]:
    return {label: _wording(words(label), heads, tails, definition) for label, heads, tails, definition in relations}


def _wording(label: str, heads: tuple[str, ...], tails: tuple[str, ...], definition: str) -> Wording:
    first = re.split(r"\.(?:\s|$)", definition, maxsplit=1)[0]
    head, tail = ("|".join(map(re.escape, types)) or "(?!)" for types in (heads, tails))
    match = re.fullmatch(rf"(The (?:{head})) (.+) (the ({tail}))\b ?(.*)", first)
    if not match:
        return Wording(label)
    it, verb, them, tail, rest = match.groups()
    # `in_language` leads to a value, which is named with its type: "in the language French"; `directed_by` to a name.
    kind = them if label.rstrip("s").endswith(tail.rstrip("s")) else ""
    return Wording(verb, kind, rest, it, them)


def article(topic: str, triples: Sequence[Triple], relations: Relations) -> str:
    """Every triple once, `<topic>` and `[name]` marked; those of one relation and direction in one sentence."""
    worded = wordings(relations)
    sentences, outward, inward = [], *_sides(topic, triples)
    if outward:
        parts = [_of(worded, label).phrase(_listed(names)) for label, names in outward.items()]
        sentences.append(f"<{topic}> {'; '.join(parts)}.")
    for label, names in inward.items():
        wording = _of(worded, label)
        wording = wording if len(names) == 1 else wording.of_several()
        sentences.append(f"{_listed(names)} {wording.phrase(f'<{topic}>')}.")
    return " ".join(sentences)


def description(name: str, triples: Sequence[Triple], relations: Relations) -> str:
    """What the relations of an entity say of it, which is called by its type; of each relation some, in all NAMED."""
    worded = wordings(relations)
    order = {label: at for at, label in enumerate(worded)}
    outward, inward = (
        dict(sorted(side.items(), key=lambda item: (order.get(item[0], len(order)), item[0])))
        for side in _sides(name, triples)
    )
    counts = iter(_shared_out([len(names) for names in (*outward.values(), *inward.values())], NAMED))
    sentences, it = [], ""
    parts = []
    for label, names in outward.items():
        wording = _of(worded, label)
        it = it or wording.it
        if listed := _cut(names, next(counts)):
            parts.append(wording.phrase(listed))
    if parts:
        sentences.append(f"{it} {'; '.join(parts)}.")
    for label, names in inward.items():
        wording = _of(worded, label)
        wording = wording if len(names) == 1 else wording.of_several()
        if listed := _cut(names, next(counts)):
            sentences.append(f"{listed} {wording._replace(kind='').phrase(wording.them)}.")
    return " ".join(sentences)


def sentence(triple: Triple, relations: Relations, topic: str | None = None) -> str:
    """A triple as a sentence, both ends marked; as `<…>` the one that is the topic."""
    subject, label, obj = triple
    head, tail = (f"<{end}>" if end == topic else f"[{end}]" for end in (subject, obj))
    return f"{head} {_of(wordings(relations), label).phrase(tail)}."


def _of(worded: dict[str, Wording], label: str) -> Wording:
    return worded.get(label) or Wording(words(label))


def _sides(topic: str, triples: Sequence[Triple]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Relation → names at its other end, where the topic is its subject, and where it is its object alone."""
    outward, inward = defaultdict(list), defaultdict(list)
    for subject, label, obj in triples:
        if subject == topic:
            outward[label].append(obj)
        else:
            inward[label].append(subject)
    return outward, inward


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"[{name}]" for name in names)


def _cut(names: Sequence[str], count: int) -> str:
    if not count:
        return ""
    more = len(names) - count
    return ", ".join(names[:count]) + (f" and {more:,} more" if more else "")


def _shared_out(sizes: Sequence[int], total: int) -> list[int]:
    """How many of each: one in turn, until `total` are chosen or nothing is left."""
    given = [0] * len(sizes)
    for turn in range(max(sizes, default=0)):
        for at, size in enumerate(sizes):
            if turn < size and sum(given) < total:
                given[at] += 1
        if sum(given) >= total:
            break
    return given
