"""Rule bodies of the Steps that think between two retrievals: what IRCoT, GCoT, IRGS and ToG say of a question's chain.

All read the same links (`rules.reasoning`). A thought tells what was found last and asks for what comes next, a missing
piece only asks, a generation only tells, a direction names where to look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.rules.answering import answer
from workbench.rules.reasoning import Link, links

MOST_WORDS = 99  # of a generation's reasoning
SO = "So the answer is:"

Passages = Sequence[tuple[str, str]]


class Target(NamedTuple):
    """Where to look: the scores of the targets of one question sum to 1."""

    entity: str
    relation: str
    score: float


def thought(question: str, passages: Passages, before: Sequence[str] = ()) -> str:
    """The sentence in which the newest link was read, unless it was said `before`; then what is asked next, or the
    answer."""
    chain = links(question, passages)
    read = [link.found[0].said[-1] for link in chain if link.grounded]
    told = read[-1] if read and not any(read[-1] in said for said in before) else ""
    return f"{told} {_next(chain, question, passages)}".strip()


def missing(question: str, passages: Passages) -> str:
    """The first link that is not grounded, as a question; or the answer."""
    return _next(links(question, passages), question, passages)


def generation(question: str, passages: Passages) -> tuple[str, str]:
    """(the sentences in which the links were read, the answer), each empty where nothing was found."""
    read = [sentence for link in links(question, passages) if link.grounded for sentence in link.found[0].said]
    words = " ".join(dict.fromkeys(read)).split()
    return " ".join(words[:MOST_WORDS]), answer(question, passages).answer


def directions(question: str, passages: Passages, width: int) -> tuple[list[Target], bool]:
    """A target for each link that is not grounded, and whether there is none left. What comes first in the chain weighs
    most, because the rest hangs on it; a link of which no name is known yet is no direction, unless all are so."""
    chain = links(question, passages)
    missing = [link for link in chain if not link.grounded]
    chosen = ([link for link in missing if link.names] or missing)[:width]
    whole = sum(range(1, len(chosen) + 1))
    weights = range(len(chosen), 0, -1)
    found = [Target(" ".join(link.names), link.asked, weight / whole) for link, weight in zip(chosen, weights)]
    return found, bool(chain) and not missing


def _next(chain: Sequence[Link], question: str, passages: Passages) -> str:
    """The first link that is not grounded, as a question. If all are, the answer; or, where it cannot be told
    (of a yes-or-no question), the last link."""
    if not chain:
        return ""
    missing = [link for link in chain if not link.grounded]
    found = "" if missing else answer(question, passages).answer
    return f"{SO} {found}" if found else f"{[*missing, chain[-1]][0].query}?"
