"""Rule bodies of walking over a graph: which relation to follow, which entity to go on from, whether that is enough.

A question is read as levels, the hop that stands next to its names first: a path of n facts looks for the words of
level n. Relations are compared with them by `relations.likeness`; what no word tells is left to the similarity of the
fact to the question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from workbench.language.pipeline import content_words, nlp
from workbench.language.relations import KIN, likeness, stem
from workbench.rules.questions import Analysis, Hop, analyse
from workbench.text import storable

Fact = tuple[str, str, str]

OTHER = 0.5  # worth of a word of another level: questions are not always told from the inside out
SIMILAR = 0.3  # worth of the similarity beside that of the words
STRANGE = 0.5  # worth of an entity that is a number where none is asked for, and of any other where one is
_TURNED = {"parent", "child"}  # a fact about a child tells the parent


@lru_cache(256)
def understood(question: str) -> Analysis:
    """The analysis of a question; a walk asks for it at every step."""
    return analyse(storable(question))


def names(question: str) -> tuple[str, ...]:
    """What a walk starts from: the names of a question, or all of it where it has none."""
    return understood(question).names or (question,)


def levels(question: str) -> tuple[frozenset[str], ...]:
    """The words of each hop that has any, from the inside out; hops of one height beside each other are one level.

    >>> [sorted(level) for level in levels("Where was the director of Dune Fever born?")]
    [['director'], ['bear']]
    """
    found: dict[int, set[str]] = {}

    def climb(hop: Hop) -> int:
        height = max(map(climb, hop.inner), default=-1) + 1
        found.setdefault(height, set()).update(hop.words)
        return height

    climb(understood(question).asked)
    return tuple(frozenset(found[height]) for height in sorted(found) if found[height])


def share(asked: frozenset[str], relation: str) -> float:
    """The share of the words asked for that a relation tells, from 0 to 1."""
    said = {_verb(word) for word in re.findall(r"\w+", relation.casefold())}
    return sum(max((_alike(word, other) for other in said), default=0.0) for word in asked) / len(asked)


def fit(question: str, walked: int, relation: str) -> float:
    """How well a relation answers what a path of `walked` facts looks for next, from 0 to 1."""
    all_levels = levels(question)
    shares = [share(level, relation) for level in all_levels]
    return max((worth * (1 if at == min(walked, len(shares) - 1) else OTHER) for at, worth in enumerate(shares)),
               default=0.0)  # fmt: skip


def choose_relations(
    question: str, walked: int, relations: Sequence[str], similarities: Sequence[float], width: int
) -> list[tuple[int, float]]:
    """(position, score) of the `width` best relations; the scores sum to 1."""
    worth = [
        fit(question, walked, relation) + SIMILAR * max(0.0, similarity)
        for relation, similarity in zip(relations, similarities, strict=True)
    ]
    best = sorted(range(len(worth)), key=lambda at: (-worth[at], at))[:width]
    total = sum(worth[at] for at in best)
    return [(at, worth[at] / total) for at in best if worth[at] > 0]


def choose_entities(question: str, walked: int, entities: Sequence[str]) -> list[float]:
    """A score for each entity; they sum to 1. Worth more: what the question names, and a number where one is asked."""
    asked = understood(question)
    counted = asked.wants in ("date", "number") and walked >= len(levels(question))
    said = content_words(question)
    worth = [
        (2 if content_words(entity) & said else 1) * (1 if bool(re.search(r"\d", entity)) == counted else STRANGE)
        for entity in entities
    ]
    return [one / sum(worth) for one in worth]


def enough(question: str, facts: Sequence[Fact]) -> bool:
    """Whether the facts hold every name of the question, by half of its words, and among their relations a word of
    every level."""
    asked = levels(question)
    ends = {word for subject, _, obj in facts for word in content_words(f"{subject} {obj}")}
    told = all(any(share(level, relation) for _, relation, _ in facts) for level in asked)
    named = map(content_words, understood(question).names)
    return bool(asked) and told and all(2 * len(name & ends) >= len(name) for name in named)


def _verb(word: str) -> str:
    """The verb of an irregular form: "wrote" is write. Parsing every relation of a hub would take seconds."""
    return _irregular().get(word, (word,))[0]


@cache
def _irregular() -> Mapping[str, Sequence[str]]:
    return nlp().get_pipe("lemmatizer").lookups.get_table("lemma_exc")["verb"]


def _alike(asked: str, said: str) -> float:
    if asked in KIN and said in KIN:
        one, other = KIN[asked][0], KIN[said][0]
        return 0.8 if one == other or {one, other} == _TURNED else 0.0
    return likeness(stem(asked), stem(said))


# Acting


FOLLOWED = 2  # facts that are followed from one phrase
NAMED = 5  # names that are looked up


def act(question: str, turns: Sequence) -> tuple[str, list[tuple[str, str, str]]]:
    """A thought and (action, argument, type of edge) for Graph-CoT, given its turns so far (`graph_action.Turn`).

    Find the names; list their facts; of each list follow the facts whose relation tells the words of the level, or
    else the first one, and read where they are stated; finish at the last level."""
    if not turns:
        return "Find what the question names.", [("find", name, "") for name in names(question)[:NAMED]]
    last = turns[-1]
    if len(turns) == 1:
        found = dict.fromkeys(seen.nodes[0] for seen in last.observations if seen.nodes)
        return "List the facts of what was found.", [("neighbours", node, "relation") for node in found] or _END
    walked = len(turns) - 2
    chosen = [
        (fact, fact.object if action.argument == fact.subject else fact.subject)
        for action, seen in zip(last.actions, last.observations)
        for fact in _followed(question, walked, seen.facts)
    ]
    if not chosen:
        return "Nothing leads on.", _END
    read = dict.fromkeys(fact.passages[0] for fact, _ in chosen if fact.passages)
    done = walked + 1 >= len(levels(question))
    ends = dict.fromkeys(end for _, end in chosen)
    next_ = [("finish", chosen[0][1], "")] if done else [("neighbours", end, "relation") for end in ends]
    said = "; ".join(" — ".join(fact.members) for fact, _ in chosen)
    return f"Follow {said}.", [("read", passage, "") for passage in read] + next_


_END = [("finish", "", "")]


def _followed(question: str, walked: int, facts: Sequence) -> list:
    worth = [fit(question, walked, fact.relation) for fact in facts]
    best = sorted((at for at, one in enumerate(worth) if one > 0), key=lambda at: (-worth[at], at))
    return [facts[at] for at in best[:FOLLOWED]] or list(facts[:1])
