"""How far the passages at hand carry a question: its hops from the inside out, each with what was found for it.

The rule bodies of the iterative methods differ in what they say of this chain: a thought tells what was found, a query
asks for what was not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from workbench.language.pipeline import parse
from workbench.language.questions import Analysis, Hop, analyse
from workbench.language.relations import spoken, stem
from workbench.language.spans import pages
from workbench.rules.answering import ENOUGH, KEPT, Passages, chain
from workbench.rules.hops import Found

BREADTH = 3  # values of a hop that are followed


@dataclass(frozen=True)
class Link:
    """One hop of the chain: what is `asked` of which `names`, in words, and what was found, best first.

    `names` are those of the question and, after them, what the inner hops found; `last` is the hop whose answer
    is the question's."""

    asked: str
    names: tuple[str, ...]
    found: tuple[Found, ...]
    last: bool = False

    @property
    def value(self) -> str:
        return self.found[0].text if self.found else ""

    @property
    def grounded(self) -> bool:
        """Whether the best value has enough ground to be relied on."""
        return bool(self.found) and self.found[0].ground >= ENOUGH

    @property
    def query(self) -> str:
        """The hop as a query of its own."""
        return " ".join([*self.names, self.asked]).strip()


def links(question: str, passages: Passages) -> list[Link]:
    """The hops of a question, inner ones first, resolved in the passages as far as they go."""
    return list(_links_of(question, tuple((title, text) for title, text in passages)))


@lru_cache(KEPT)
def _links_of(question: str, passages: tuple[tuple[str, str], ...]) -> tuple[Link, ...]:
    asked = analyse(question, [title for title, _ in passages])
    if asked.kind == "none":
        return ()
    read = pages(passages)
    return tuple(link for hop in _tops(asked) for link in _links(hop, question, asked, read, last=True))


def _tops(asked: Analysis) -> list[Hop]:
    """The hops that stand beside each other: of a comparison its sides."""
    if asked.direction and asked.sides:
        about = tuple(word for word in (asked.dimension, *asked.asked.words) if word)
        return [Hop(about, asked.wants, asked.head, side.names if not side.words and not side.inner else (),
                    () if not side.words and not side.inner else (side,)) for side in asked.sides]  # fmt: skip
    return [asked.asked]


def _links(hop: Hop, question: str, asked: Analysis, read, last: bool = False) -> Iterator[Link]:
    before = []
    for inner in hop.inner:
        below = list(_links(inner, question, asked, read))
        yield from below
        before.append(below[-1])
    values = tuple(link.value for link in before if link.value)
    found = chain(hop, read, asked.names, 0 if last else 1)[:BREADTH] if read else ()
    found = tuple(replace(one, where=None) for one in found)  # a page holds its parse
    yield Link(_surface(hop, question), (*hop.names, *values), found, last)


def _surface(hop: Hop, question: str) -> str:
    """The words of a hop as they stand in the question: "bear" as "born"."""
    stems = {stem(word) for word in hop.words}
    (doc,) = parse([question])
    words = [token.text for token in doc if stems & {stem(token.text), stem(token.lemma_), stem(spoken(token))}]
    return " ".join(dict.fromkeys(words)) or " ".join(hop.words)
