"""Entity linking: from the names in a question to the phrases of a graph."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from workbench.encoding.similarity import top
from workbench.index import Index
from workbench.text import PHRASE_RULES, bounded


class Link(NamedTuple):
    """A name and the phrase (row) that it is linked to; `cosine` is 1 if the phrase is the name itself."""

    name: str
    phrase: int
    cosine: float


def near(index: Index, name: str, k: int = 1) -> list[Link]:
    """At most k phrases that a name may mean, best first: the normalised name itself, then the phrases with the closest
    vectors."""
    facts = index.facts
    if not facts.phrases:
        return []
    phrase = PHRASE_RULES[facts.metadata["settings"]["normalise"]](name)
    same = facts.phrase_row.get(phrase) if phrase else None
    if same is not None and k == 1:
        return [Link(name, same, 1.0)]
    cosines = facts.phrase_vectors @ index.encode_query(phrase or name, "phrases")
    close = [Link(name, int(row), float(cosines[row])) for row in top(cosines, k) if row != same]
    return ([Link(name, same, 1.0)] if same is not None else []) + close[: k - (same is not None)]


def late(index: Index, name: str, among: int = 10) -> list[Link]:
    """The phrase whose words match those of a name best, `among` the closest ones; none of an index without phrases.

    Late interaction as in ColBERT, with vectors of words by the index's encoder: the mean over the words of the name of
    the highest cosine with a word of the phrase. Equal ones are ordered as in `near`."""
    close = near(index, name, among)
    words = PHRASE_RULES[index.facts.metadata["settings"]["normalise"]](name).split()
    if not close or not words:
        return close[:1]
    asked = index.encode(words)
    scores = [float((asked @ index.encode(index.facts.phrases[one.phrase].split()).T).max(1).mean()) for one in close]
    best = max(range(len(close)), key=lambda at: (scores[at], -at))
    return [close[best]._replace(cosine=scores[best])]


def standing(index: Index, question: str) -> list[str]:
    """The phrases that stand in a question in han or kana, which has no capitals that tell its names: in its order, and
    none within a longer one."""
    normal = PHRASE_RULES[index.facts.metadata["settings"]["normalise"]](question)
    held = sorted((phrase for phrase in index.facts.phrases if phrase and phrase in normal), key=lambda one: -len(one))
    spots: dict[int, str] = {}
    for phrase in held:
        for found in re.finditer(bounded(phrase), normal):
            spots.setdefault(found.start(), phrase)
            normal = normal[: found.start()] + "\n" * len(phrase) + normal[found.end() :]
    return list(dict.fromkeys(spots[at] for at in sorted(spots)))


def linked(index: Index, names: Iterable[str], least: float) -> list[Link]:
    """The best phrase of each name if its cosine is at least `least`; each phrase once."""
    found = (link for name in names for link in near(index, name))
    return list({link.phrase: link for link in found if link.cosine >= least}.values())
