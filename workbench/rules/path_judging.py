"""Rule bodies of DotRAG's search: is a path complete, what to look for from its end, what to look for otherwise.

Where the rules of a search are walks, as `schema_walks` writes them, a path is held against them hop by hop. Where they
are prose, or the graph has no labels, what its passage says is held against the question's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.rules.language import content_words
from workbench.rules.schema_walks import Walk, asked, parsed
from workbench.rules.schema_words import spelled

SURE, LESS = 0.9, 0.1  # confidence in a path of the first walk; what each further walk takes from it
TELLS = 0.6  # share of the question's words that a passage must tell to be complete
HINTS = 0.2  # the same for a partial one


class Judged(NamedTuple):
    label: str
    confidence: float
    justification: str
    next_question: str


def judge(
    question: str, on_the_way: Sequence[str], at_the_end: Sequence[str], history: Sequence[str], paths
) -> list[Judged]:
    """One judgement per path (`steps.judge_paths.PathShown`)."""
    found = [walk for walk in map(parsed, at_the_end) if walk]
    if not found:
        return [_by_words(question, path, history) for path in paths]
    return [_by_walks(found, path, history) for path in paths]


def _by_walks(walks: Sequence[Walk], path, history: Sequence[str]) -> Judged:
    told = [[(spelled(label), forward) for label, forward in hop] for hop in path.relations]
    for whole in (True, False):
        for rank, walk in enumerate(walks):
            same = len(told) == len(walk.hops) if whole else len(told) < len(walk.hops)
            if same and all(hop in labels for hop, labels in zip(walk.hops, told)):
                confidence = _confidence(rank, path.similarity)
                if whole:
                    return Judged("complete", confidence, f"follows {walk}", "")
                next_ = asked(path.nodes[-1], walk.hops[len(told)], walk.types[len(told) + 1])
                return Judged("partial", confidence, f"begins {walk}", next_ if next_ not in history else "")
    return Judged("irrelevant", SURE, "follows no walk of the rules", "")


def _confidence(rank: int, similarity: float) -> float:
    return max(0.0, SURE - LESS * rank + LESS * min(1.0, max(0.0, similarity)))


def _by_words(question: str, path, history: Sequence[str]) -> Judged:
    said = content_words(question)
    names = content_words(path.nodes[0]) if path.nodes else set()
    open_ = said - names
    held = open_ & content_words(path.passage)
    share = len(held) / len(open_) if open_ else 0.0
    worth = min(1.0, max(0.0, (share + max(0.0, path.similarity)) / 2))
    told = f"tells {', '.join(sorted(held)) or 'nothing'} of the question"
    if share >= TELLS:
        return Judged("complete", worth, told, "")
    if share >= HINTS:
        missing = [word for word in question.split() if content_words(word) & (open_ - held)]
        next_ = " ".join([path.nodes[-1] if path.nodes else "", *missing]).strip()
        return Judged("partial", worth, told, next_ if next_ not in history else "")
    return Judged("irrelevant", 1 - worth, told, "")


def another(question: str, constraints: str, history: Sequence[str], kept: Sequence[str]) -> str:
    """A query that was not searched yet; empty where none is left."""
    tried = {" ".join(query.casefold().split()) for query in history}
    parts = [part.strip() for part in constraints.split(";")]
    for query in (*parts, constraints, question, *(f"{question} {passage[:100]}" for passage in kept)):
        if query.strip() and " ".join(query.casefold().split()) not in tried:
            return query
    return ""
