"""Rule bodies of BDTR: what to search for next, the chain so far, and the passages that support it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from workbench.language.pipeline import content_words
from workbench.rules.reasoning import Link, links

TELLS = 0.6  # share of the words of a step that a passage must hold to support it


class Dual(NamedTuple):
    fast: str
    slow: str


class Reasoning(NamedTuple):
    chain: str
    steps: list[str]
    bridges: list[str]


def dual(question: str, passages: Sequence[tuple[str, str]], before: Sequence[tuple[str, str]]) -> Dual:
    """fast: the first hop that was not asked for yet, by itself. slow: the question with what its inner hops found."""
    found = links(question, passages)
    tried = {_normal(query) for pair in before for query in pair} | {_normal(question)}
    return Dual(_first(_plainly(found), tried, question), _first(_bridged(question, found, passages), tried, question))


def reasoning(question: str, passages: Sequence[tuple[str, str]]) -> Reasoning:
    """The sentences in which the hops were read, as far as there is ground for them, and what links them."""
    found = [link for link in links(question, passages) if link.grounded]
    steps = list(dict.fromkeys(sentence for link in found for sentence in link.found[0].said))
    bridges = list(dict.fromkeys(link.value for link in found if not link.last))
    told = [f"{link.query}: {link.value}" for link in found]
    return Reasoning("; ".join(told) or "no hop of the question is answered by the documents", steps, bridges)


def supporting(steps: Sequence[str], passages: Sequence[tuple[str, str]]) -> list[int]:
    """The passages that hold most words of a step, by number from 1 on; one is enough for a step."""
    held = [content_words(f"{title} {text}") for title, text in passages]
    chosen = set()
    for step in steps:
        told = content_words(step)
        shares = [len(told & words) / len(told) if told else 0.0 for words in held]
        if shares and max(shares) >= TELLS:
            chosen.add(shares.index(max(shares)) + 1)
    return sorted(chosen)


def _plainly(found: Sequence[Link]) -> Iterator[str]:
    for link in found:
        yield link.query


def _bridged(question: str, found: Sequence[Link], passages: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The question with what was found for its inner hops, the best of each first; then with titles."""
    values = [[one.text for one in link.found] for link in found if not link.last]
    for rank in range(3):
        bridges = [names[rank] for names in values if rank < len(names)]
        if bridges:
            yield " ".join([question, *bridges])
    for title, _ in passages:
        yield f"{question} {title}"


def _first(queries: Iterable[str], tried: set[str], otherwise: str) -> str:
    return next((query for query in queries if query.strip() and _normal(query) not in tried), otherwise)


def _normal(query: str) -> str:
    return " ".join(query.casefold().split())
