"""Rule bodies of the prompts that reason before they answer: the hops of a question with what was found for each.

Both answer with `answering.answer`. They differ in when they do not: a query has no solution where one of its patterns
has no binding, while steps that are told one after the other may still be combined where one of them found nothing."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.rules.answering import answer
from workbench.rules.patterns import write
from workbench.rules.reasoning import Link, links

Passages = Sequence[tuple[str, str]]


def steps(question: str, passages: Passages) -> tuple[list[str], str]:
    """(a line for each hop, the answer or an empty text)."""
    return _told(links(question, passages)), answer(question, passages).answer


def bindings(question: str, passages: Passages) -> tuple[list[str], str]:
    """(the query, where patterns can say it, and a line for each hop; the answer or an empty text)."""
    chain, query = links(question, passages), write(question, [title for title, _ in passages])
    bound = bool(chain) and all(link.grounded for link in chain)
    return [query] * bool(query) + _told(chain), answer(question, passages).answer if bound else ""


def _told(chain: Sequence[Link]) -> list[str]:
    return [f"{at}. {link.query}: {_found(link)}" for at, link in enumerate(chain, 1)]


def _found(link: Link) -> str:
    return f"{link.value} (“{link.found[0].said[-1]}”)" if link.grounded else "not in the context"
