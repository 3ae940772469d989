"""Rule bodies of the prompts that reason before they answer: the hops of a question, each with what was found for it.

Both answer with `answering.short_answer`. They differ in when they abstain: a query has no solution where a variable
on the way has no reliable binding, while steps may still be combined where one of them found nothing. In the mode
`open` neither does while there is any value to give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.rules.answering import short_answer
from workbench.rules.patterns import write
from workbench.rules.reasoning import Link, links
from workbench.steps.answer import Input
from workbench.steps.final_answer import CUE, UNKNOWN, Output


def stepwise_answer(value: Input) -> Output:
    """A line for each hop with what was found for it, then the answer. Where paths are complete, their ends alone."""
    if value.ends:
        return _reply([], ", ".join(value.ends))
    answer = short_answer(value.question, value.passages, value.mode).answer
    return _reply(_lines(links(value.question, value.passages), bool(answer)), answer)


def sparql_answer(value: Input) -> Output:
    """The query, if patterns can express it, what the hops of the question are bound to, and the answer. A hop without
    a binding ends the chain: the rules abstain. Where paths are complete, their ends alone."""
    if value.ends:
        return _reply([], ", ".join(value.ends))
    chain, query = links(value.question, value.passages), write(value.question, [title for title, _ in value.passages])
    bound = all(link.grounded for link in chain if not link.last)
    tried = bound or value.mode == "open"
    answer = short_answer(value.question, value.passages, value.mode).answer if tried else ""
    return _reply([query] * bool(query) + list(_lines(chain, bool(answer))), answer)


def _reply(lines: Iterable[str], answer: str) -> Output:
    """In the form that the prompts ask of a model."""
    return Output(reply="\n".join([*lines, f"{CUE} {answer or UNKNOWN}"]))


def _lines(chain: Sequence[Link], answered: bool) -> Iterator[str]:
    for number, link in enumerate(chain, 1):
        known = link.grounded or (link.last and answered and link.candidates)
        value = f"{link.value} (“{link.candidates[0].sentences[-1]}”)" if known else "not in the context"
        yield f"{number}. {link.query}: {value}"
