"""Rule bodies of the prompts that reason before they answer: the hops of a question with what was found for each.

Both answer with `answering.answer`. They differ in when they do not: a query has no solution where a variable on the
way has no binding that can be relied on, while steps told one after the other may still be combined where one of them
found nothing."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.rules.answering import answer
from workbench.rules.patterns import write
from workbench.rules.reasoning import Link, links

Passages = Sequence[tuple[str, str]]


def steps(question: str, passages: Passages) -> tuple[list[str], str]:
    """(a line for each hop, the answer or an empty text)."""
    found = answer(question, passages).answer
    return _told(links(question, passages), found), found


def bindings(question: str, passages: Passages) -> tuple[list[str], str]:
    """(the query, where patterns can say it, and a line for each hop; the answer or an empty text)."""
    chain, query = links(question, passages), write(question, [title for title, _ in passages])
    bound = all(link.grounded for link in chain if not link.last)
    found = answer(question, passages).answer if bound else ""
    return [query] * bool(query) + _told(chain, found), found


def _told(chain: Sequence[Link], answer: str) -> list[str]:
    return [f"{at}. {link.query}: {_found(link, bool(answer))}" for at, link in enumerate(chain, 1)]


def _found(link: Link, answered: bool) -> str:
    if link.grounded or (link.last and answered and link.found):
        return f"{link.value} (“{link.found[0].said[-1]}”)"
    return "not in the context"
