"""Rule bodies of `judge_paths` and `fallback_query`: whether a path is complete, and what to search for from its end.

Where the rules of a search are walks, as `schema_walks` writes them, a path is held against them hop by hop. Types
count for less than labels, because entities of one name share one type. Where the rules are prose, or the graph has no
labels, what the passage says is held against the question's words.

Walks over a schema are lines, which readers and rules read: movie -[directed by]-> person <-[directed by]- movie"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from workbench.language.pipeline import content_words
from workbench.language.relations import kind_of, relatedness, stem
from workbench.rules.sentences import read
from workbench.steps.judge_paths import Fallback, Input, Output, PathShown, Search, Verdict
from workbench.text import unicode_phrase

SURE = 0.9  # confidence in a path that follows the first walk
LATER = 0.1  # what each further walk takes from it
MISFIT = 0.2  # what another type on the way takes from it
CLOSE = 0.1  # what a similarity of 1 adds
TELLS = 0.6  # share of the question's words that the passage of a complete path tells
HINTS = 0.2  # the same for a partial one


def judge_paths(value: Input) -> Output:
    """One verdict per path, by the rules of the end."""
    walks = [walk for walk in map(parse_walk, value.rules.terminal_rules) if walk]
    ranks = {hops: rank for rank, hops in enumerate(dict.fromkeys(walk.hops for walk in walks))}
    tried = set(map(unicode_phrase, value.history))
    verdicts = (
        _by_walks(walks, ranks, path, tried) if walks else _by_words(value.question, path, tried)
        for path in value.paths
    )
    return Output(verdicts=list(verdicts))


def _verdict(path: PathShown, label: str, confidence: float, why: str, next_question: str = "") -> Verdict:
    return Verdict(id=path.id, label=label, confidence=confidence, justification=why, next_question=next_question)


# By walks


def _by_walks(walks: Sequence[Walk], ranks: Mapping[tuple[Hop, ...], int], path: PathShown, tried: set[str]) -> Verdict:
    """Complete if the path is one of the walks, partial if it begins one. `ranks`: the place of each reading, whatever
    types it passes."""
    hops = [[(spelled(label), forward) for label, forward in labels] for labels in path.relations]
    begun = [
        (len(walk.hops) != len(hops), ranks[walk.hops], walk)
        for walk in walks
        if len(hops) <= len(walk.hops) and all(hop in labels for hop, labels in zip(walk.hops, hops))
    ]
    if not begun or not hops:
        return _verdict(path, "irrelevant", SURE, "follows none of the walks")
    partial, rank, walk = min(begun, key=lambda item: item[:2])
    confidence = _confidence(rank, _fitting(walk, path), path.similarity)
    if not partial:
        return _verdict(path, "complete", confidence, f"follows {walk}")
    queries = (hop_in_words(path.nodes[-1], walk.hops[len(hops)], walk.types[len(hops) + 1]) for _, _, walk in begun)
    return _verdict(path, "partial", confidence, f"begins {walk}", _untried(queries, tried))


def _fitting(walk: Walk, path: PathShown) -> bool:
    return all(type_ in (spelled(type_shown), ANY) for type_, type_shown in zip(walk.types[1:], path.types[1:]))


def _confidence(rank: int, fitting: bool, similarity: float) -> float:
    return max(0.0, SURE - LATER * rank - (0 if fitting else MISFIT) + CLOSE * min(1.0, max(0.0, similarity)))


# By words


def _by_words(question: str, path: PathShown, tried: set[str]) -> Verdict:
    """By the share of the question's other words than the anchor's that the passage tells, and by the type of its end:
    complete is what tells most of them and ends at the kind of thing that is asked for."""
    anchor = path.nodes[0] if path.nodes else ""
    words_asked = sorted(content_words(question) - content_words(anchor))
    stated = set(map(stem, content_words(path.passage)))
    missing = [word for word in words_asked if not any(relatedness(stem(word), other) for other in stated)]
    share = 1 - len(missing) / len(words_asked) if words_asked else 0.0
    worth = (share + min(1.0, max(0.0, path.similarity))) / 2
    tells = f"tells {len(words_asked) - len(missing)} of {len(words_asked)} words of the question"
    if share >= TELLS and _kind_fits(read(question, anchor).wants, path.types[-1:]):
        return _verdict(path, "complete", worth, tells)
    if share >= HINTS:
        end = path.nodes[-1] if path.nodes else ""
        queries = [" ".join([end, *missing]), f"{end} {question}"]
        return _verdict(path, "partial", worth, tells, _untried(queries, tried))
    return _verdict(path, "irrelevant", 1 - worth, tells)


def _kind_fits(wants: str, types: Sequence[str]) -> bool:
    kinds = [kind_of(word) for type_ in types for word in spelled(type_).split()]
    return not wants or wants in kinds or all(kind == "other" for kind in kinds)


# Another query


def fallback_query(value: Search) -> Fallback:
    """What was not searched yet: a thing looked for as a whole, the question, both together; else nothing."""
    wanted = [part.strip() for part in value.constraints.split(";") if not part.strip().startswith("not ")]
    queries = (*wanted, value.question, *(f"{value.question} {part}" for part in wanted))
    return Fallback(query=_untried(queries, set(map(unicode_phrase, value.history))))


def _untried(queries, tried: set[str]) -> str:
    return next((query.strip() for query in queries if (plain := unicode_phrase(query)) and plain not in tried), "")


# -- walk lines -------------------------------------------------------------------------------------------------------

Hop = tuple[str, bool]  # the label of a relation, and whether it is followed from its head to its tail

ANY = "thing"  # where the graph tells no types

_STEP = re.compile(r"(?P<back><)?-\[(?P<label>[^\[\]]*)\]-(?P<on>>)?")


@cache
def spelled(name: str) -> str:
    """The name of a relation or type in plain words.

    >>> spelled("WORK_OF_ART"), spelled("directedBy")
    ('work of art', 'directed by')
    """
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|[\W_]+", " ", name).casefold().split())


@dataclass(frozen=True)
class Walk:
    """`types` has one member more than `hops`."""

    types: tuple[str, ...]
    hops: tuple[Hop, ...]

    def __str__(self) -> str:
        line = spelled(self.types[0]) or ANY
        for (label, forward), type_ in zip(self.hops, self.types[1:]):
            line += f" -[{spelled(label)}]-> " if forward else f" <-[{spelled(label)}]- "
            line += spelled(type_) or ANY
        return line

    def upto(self, hops: int) -> Walk:
        """Its beginning."""
        return Walk(self.types[: hops + 1], self.hops[:hops])

    def from_(self, name: str) -> str:
        """What stands at its end, in words, from the name of its beginning.

        >>> Walk(("film", "person", "film"), (("made_by", True), ("made_by", False))).from_("Dune Fever")
        'film made by person (made by) of Dune Fever'
        """
        for hop, type_ in zip(self.hops, self.types[1:]):
            name = hop_in_words(name, hop, type_)
        return name


def hop_in_words(name: str, hop: Hop, type_: str) -> str:
    """What a hop from a name leads to, in words.

    >>> hop_in_words("Ada Lind", ("directed_by", False), "film")
    'film directed by Ada Lind'
    >>> hop_in_words("Dune Fever", ("has_genre", True), "genre")
    'genre (has genre) of Dune Fever'
    """
    label, kind = spelled(hop[0]), spelled(type_) or ANY
    return f"{kind} ({label}) of {name}" if hop[1] else f"{kind} {label} {name}"


def parse_walk(line: str) -> Walk | None:
    """The walk that a line tells, in plain words; None where it tells none.

    >>> parse_walk("person <-[directed by]- movie").hops
    (('directed by', False),)
    """
    steps = list(_STEP.finditer(line))
    types = tuple(part.strip() for part in _between(line, steps))
    if not steps or any(bool(step["back"]) == bool(step["on"]) for step in steps):
        return None
    return Walk(types, tuple((step["label"].strip(), bool(step["on"])) for step in steps))


def _between(line: str, steps) -> Iterator[str]:
    start = 0
    for step in steps:
        yield line[start : step.start()]
        start = step.end()
    yield line[start:]
