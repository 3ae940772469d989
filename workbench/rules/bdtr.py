"""Rule bodies of BDTR: what to search for next, the chain so far, and the passages that support it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.language.pipeline import content_words
from workbench.rules.reasoning import Link, links
from workbench.steps import concluding_thoughts as concluding
from workbench.steps import dual_thoughts as thoughts
from workbench.steps import fast_thought as single
from workbench.steps import reasoning_chain as reasoning
from workbench.steps import verify as verification

SUPPORTS = 0.6  # share of the words of a step that a passage must hold to support it


def dual_thoughts(value: thoughts.Input) -> thoughts.Output:
    """fast: the first hop that was not asked for yet, by itself. slow: the question with what its inner hops found."""
    question, chain = value.question, links(value.question, value.passages)
    tried = {normal(query) for pair in value.before for query in pair} | {normal(question)}
    fast = first_untried((link.query for link in chain), tried, question)
    slow = first_untried(bridged(question, chain, value.passages), tried, question)
    return thoughts.Output(fast=fast, slow=slow)


def fast_thought(value: thoughts.Input) -> single.Output:
    return single.Output(query=dual_thoughts(value).fast)


def slow_thought(value: thoughts.Input) -> single.Output:
    return single.Output(query=dual_thoughts(value).slow)


def reasoning_chain(value: reasoning.Input) -> reasoning.Output:
    """The sentences in which the hops were read, as far as they are grounded, and what links them."""
    grounded = [link for link in links(value.question, value.passages) if link.grounded]
    steps = list(dict.fromkeys(sentence for link in grounded for sentence in link.candidates[0].sentences))
    bridges = list(dict.fromkeys(link.value for link in grounded if not link.last))
    chain = "; ".join(f"{link.query}: {link.value}" for link in grounded)
    return reasoning.Output(
        chain=chain or "no hop of the question is answered by the documents", steps=steps, bridges=bridges
    )


def concluding_thoughts(value: thoughts.Input) -> concluding.Output:
    """Both at once, from the same documents."""
    chain = reasoning_chain(reasoning.Input(value.question, value.passages))
    return concluding.Output(**dual_thoughts(value).model_dump(), **chain.model_dump())


def verify(value: verification.Input) -> verification.Output:
    """The passages that hold most words of a step; one is enough for a step."""
    words_of = [content_words(f"{title} {text}") for title, text in value.passages]
    supporting = set()
    for wanted in map(content_words, value.steps):
        shares = [len(wanted & words) / len(wanted) if wanted else 0.0 for words in words_of]
        if shares and max(shares) >= SUPPORTS:
            supporting.add(shares.index(max(shares)) + 1)
    return verification.Output(documents=sorted(supporting))


def bridged(question: str, chain: Sequence[Link], passages: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The question with what was found for its inner hops, the best of each first; then with titles."""
    values = [[one.text for one in link.candidates] for link in chain if not link.last]
    for rank in range(3):
        bridges = [names[rank] for names in values if rank < len(names)]
        if bridges:
            yield " ".join([question, *bridges])
    for title, _ in passages:
        yield f"{question} {title}"


def first_untried(queries: Iterable[str], tried: set[str], otherwise: str) -> str:
    """The first query whose normal form was not tried yet."""
    return next((query for query in queries if query.strip() and normal(query) not in tried), otherwise)


def normal(query: str) -> str:
    """The form in which queries are compared."""
    return " ".join(query.casefold().split())
