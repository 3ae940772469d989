"""Rule bodies of the Steps between two retrievals: what IRCoT, GCoT, ITER-RETGEN and ToG say of a question's chain.

All read the same links (`rules.reasoning`). A thought states the last fact and asks for the next, a missing piece only
asks, a generation only states, a direction names where to look."""

from __future__ import annotations

from workbench.rules.answering import short_answer
from workbench.rules.reasoning import Passages, links
from workbench.steps import directions as exploration
from workbench.steps import generation as generated
from workbench.steps.next_thought import CONCLUSION, Input, Output

MOST_WORDS = 99  # of a generation's reasoning


def next_thought(value: Input) -> Output:
    """The sentence in which the newest link was read, unless a thought before has it; then the next question, or the
    answer."""
    grounded = [link for link in links(value.question, value.passages) if link.grounded]
    newest = grounded[-1].found[0].said[-1] if grounded else ""
    newest = "" if any(newest in thought for thought in value.thoughts) else newest
    return Output(thought=f"{newest} {_next(value.question, value.passages)}".strip())


def missing_evidence(value: Input) -> Output:
    """The first link that is not grounded, as a question; or the answer."""
    return Output(thought=_next(value.question, value.passages))


def generation(value: generated.Input) -> generated.Output:
    """The sentences in which the links were read, and the answer, each empty where nothing was found."""
    chain = links(value.question, value.passages)
    read = [sentence for link in chain if link.grounded for sentence in link.found[0].said]
    words = " ".join(dict.fromkeys(read)).split()
    answer = short_answer(value.question, value.passages).answer
    return generated.Output(reasoning=" ".join(words[:MOST_WORDS]), answer=answer)


def directions(value: exploration.Input) -> exploration.Output:
    """A target for each link that is not grounded; sufficient if there is none. What comes first in the chain has the
    highest score, because the rest depends on it; a link of which no name is known yet is no direction, unless all are
    so."""
    chain = links(value.question, value.passages)
    missing = [link for link in chain if not link.grounded]
    chosen = ([link for link in missing if link.names] or missing)[: value.width]
    total = sum(range(1, len(chosen) + 1))
    targets = [
        exploration.Target(entity=" ".join(link.names), relation=link.asked, score=weight / total)
        for link, weight in zip(chosen, range(len(chosen), 0, -1))
    ]
    return exploration.Output(sufficient=bool(chain) and not missing, targets=targets)


def _next(question: str, passages: Passages) -> str:
    """The first link that is not grounded, as a question. If all are, the answer; or, where it cannot be read
    (of a yes-or-no question), the last link."""
    chain = links(question, passages)
    if not chain:
        return ""
    missing = [link for link in chain if not link.grounded]
    answer = "" if missing else short_answer(question, passages).answer
    return f"{CONCLUSION} {answer}" if answer else f"{[*missing, chain[-1]][0].query}?"
