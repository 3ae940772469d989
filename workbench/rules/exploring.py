"""Rule bodies of `choose_relations`, `choose_entities`, `enough` and `graph_action`: walking over a graph.

A question is read as levels, the hop that stands next to its names first: a path of n facts looks for the words of
level n. Relations are compared with them by `relations.relatedness`; where no word matches, the similarity of the fact
to the question decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from workbench.language.pipeline import content_words, irregular_forms
from workbench.language.questions import Hop, analysis_of, start_names
from workbench.language.relations import KIN, relatedness, stem
from workbench.records import Triple
from workbench.steps import exploring

OTHER = 0.5  # worth of a word of another level: questions do not always go from the inside out
SIMILAR = 0.3  # worth of the similarity beside that of the words
STRANGE = 0.5  # worth of an entity that is a number where none is asked for, and of any other where one is
_TURNED = {"parent", "child"}  # a fact about a child tells the parent


def levels(question: str) -> tuple[frozenset[str], ...]:
    """The words of each hop that has any, from the inside out; hops of one height beside each other are one level.

    >>> [sorted(level) for level in levels("Where was the director of Dune Fever born?")]
    [['director'], ['bear']]
    """
    words_by_height: dict[int, set[str]] = {}

    def climb(hop: Hop) -> int:
        height = max(map(climb, hop.inner), default=-1) + 1
        words_by_height.setdefault(height, set()).update(hop.words)
        return height

    climb(analysis_of(question).asked)
    return tuple(frozenset(words_by_height[height]) for height in sorted(words_by_height) if words_by_height[height])


def share(wanted: frozenset[str], relation: str) -> float:
    """The share of the words asked for that a relation tells, from 0 to 1."""
    verbs = irregular_forms()["verb"]  # "wrote" is write; parsing every relation of a hub would take seconds
    other_words = {verbs.get(word, (word,))[0] for word in re.findall(r"\w+", relation.casefold())}
    return sum(max((_alike(word, other) for other in other_words), default=0.0) for word in wanted) / len(wanted)


def fit(question: str, walked: int, relation: str) -> float:
    """How well a relation answers what a path of `walked` facts looks for next, from 0 to 1."""
    all_levels = levels(question)
    shares = [share(level, relation) for level in all_levels]
    return max((worth * (1 if at == min(walked, len(shares) - 1) else OTHER) for at, worth in enumerate(shares)),
               default=0.0)  # fmt: skip


def choose_relations(value: exploring.RelationsInput) -> exploring.RelationsOutput:
    """The `width` best relations; their scores sum to 1."""
    scores = [
        fit(value.question, len(value.path), relation) + SIMILAR * max(0.0, similarity)
        for (relation, _), similarity in zip(value.relations, value.similarities, strict=True)
    ]
    best = sorted(range(len(scores)), key=lambda at: (-scores[at], at))[: value.width]
    total = sum(scores[at] for at in best)
    choices = [exploring.Choice(number=at + 1, score=scores[at] / total) for at in best if scores[at] > 0]
    return exploring.RelationsOutput(choices=choices)


def choose_entities(value: exploring.EntitiesInput) -> exploring.EntitiesOutput:
    """Scores that sum to 1. Higher: what the question names, and a number where one is asked."""
    analysis, depth = analysis_of(value.question), len(value.path) + 1
    counted = analysis.wants in ("date", "number") and depth >= len(levels(value.question))
    named = content_words(value.question)
    scores = [
        (2 if content_words(entity) & named else 1) * (1 if bool(re.search(r"\d", entity)) == counted else STRANGE)
        for entity in value.entities
    ]
    return exploring.EntitiesOutput(scores=[score / sum(scores) for score in scores])


def enough(value: exploring.FactsInput) -> exploring.Enough:
    """Whether the facts hold every name of the question, by half of its words, and among their relations a word of
    every level."""
    levels_asked = levels(value.question)
    ends = {word for subject, _, obj in value.facts for word in content_words(f"{subject} {obj}")}
    levels_met = all(any(share(level, relation) for _, relation, _ in value.facts) for level in levels_asked)
    named = map(content_words, analysis_of(value.question).names)
    return exploring.Enough(
        enough=bool(levels_asked) and levels_met and all(2 * len(name & ends) >= len(name) for name in named)
    )


def _alike(word: str, other: str) -> float:
    if word in KIN and other in KIN:
        kin = {KIN[word][0], KIN[other][0]}
        return 0.8 if len(kin) == 1 or kin == _TURNED else 0.0
    return relatedness(stem(word), stem(other))


# Acting


FOLLOWED = 2  # facts that are followed from one phrase
NAMED = 5  # names that are looked up


def graph_action(value: exploring.Input) -> exploring.Output:
    """Find the names; list their facts; of each list follow the facts whose relation holds the words of the level, or
    else the first one, and read where they are stated; finish at the last level."""
    if not value.turns:
        names = start_names(value.question)[:NAMED]
        return exploring.Output(thought="Find what the question names.", actions=_actions("find", names))
    if len(value.turns) == 1:
        nodes = dict.fromkeys(seen.nodes[0] for seen in value.turns[0].observations if seen.nodes)
        actions = _actions("neighbours", nodes) or _actions("finish", [""])
        return exploring.Output(thought="List the facts of what was found.", actions=actions)
    return _follow(value.question, len(value.turns) - 2, value.turns[-1])


def _follow(question: str, depth: int, last: exploring.Turn) -> exploring.Output:
    chosen = [
        (fact, fact.object if action.argument == fact.subject else fact.subject)
        for action, seen in zip(last.actions, last.observations)
        for fact in _fitting(question, depth, seen.facts)
    ]
    if not chosen:
        return exploring.Output(thought="Nothing leads on.", actions=_actions("finish", [""]))
    read = _actions("read", dict.fromkeys(fact.passages[0] for fact, _ in chosen if fact.passages))
    ends = list(dict.fromkeys(end for _, end in chosen))
    done = depth + 1 >= len(levels(question))
    facts = "; ".join(" — ".join(fact.members) for fact, _ in chosen)
    following = _actions("finish", ends[:1]) if done else _actions("neighbours", ends)
    return exploring.Output(thought=f"Follow {facts}.", actions=[*read, *following])


def _actions(action: str, arguments: Iterable[str]) -> list[exploring.Action]:
    edge = "relation" if action == "neighbours" else ""
    return [exploring.Action(action=action, argument=argument, type=edge) for argument in arguments]


def _fitting(question: str, depth: int, facts: Sequence[Triple]) -> list[Triple]:
    scores = [fit(question, depth, fact.relation) for fact in facts]
    best = sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: (-scores[at], at))
    return [facts[at] for at in best[:FOLLOWED]] or list(facts[:1])
