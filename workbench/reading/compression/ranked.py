"""The walk of the profile `workbench`: the phases of the published one (section 3.4 of the paper), without its traps.

1. **Names** are those of the tables and what each unit is about (its title, or the name that it opens with), because
   the tables of a context hold what is near the question, and the passage of the next hop often opens with a name that
   is in none of them.
2. **Seeds** are names that the question mentions, or most of whose words, by rarity in the context, it shares.
3. **Hops.** From a name one comes to the other end of its relations, and to the names of the units that mention it; the
   `width` strongest of them are reached, up to `max_hops`. A name is as strong as the strongest unit that mentions it,
   and the weaker the more units do.
4. **Units**, chunks and sources alike, are ranked thrice: by their place in their table, which is the method's opinion,
   a source as a chunk `behind` times as far back; by the words of the question (BM25 in the context); by the walk: what
   stands where a name leads. Reciprocal ranks are added up (Cormack et al., 2009), the walk counts `walk`.
5. The **budget** is filled in that order. What was said is not said again: chunks and sources of one passage overlap. A
   share of it, `lines`, is for lines of the tables between names that were reached.
6. It is written by hops, as the published code does; within a hop by rank."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.reading.compression.base import heading, size
from workbench.reading.compression.budget_fill import BudgetFill, Line, Page, line_of, page_within
from workbench.reading.compression.texts import Texts, families, ranks, weight, words
from workbench.records import ContextGraph, ContextRelation, Unit

BACKWARDS = 0.5  # of a step from a unit to one that mentions what it is about: it tells of it, but on the side


@dataclass(frozen=True)
class Walk:
    """`hops`: name → hop, nearest and strongest first. `scores`: of each unit, the higher the better."""

    texts: Texts
    weights: dict[str, float]
    mentions: list[list[str]]
    hops: dict[str, int]
    scores: list[float]


def walk(
    question: str,
    graph: ContextGraph,
    units: Sequence[Unit],
    *,
    max_hops: int,
    share: float,
    width: int,
    walk: float,
    behind: float,
    rank_constant: float,
) -> Walk:
    texts = Texts(units)
    weights = texts.weights_of(question)
    described = [entity.name for entity in graph.entities]
    ends = [end for relation in graph.relations for end in (relation.source, relation.target)]
    names = _spelt([*described, *ends, *(text.subject for text in texts.texts)])
    subjects = [names.get(_key(text.subject), "") for text in texts.texts]
    mentions = texts.mentions(names.values())
    by_place = [*range(len(graph.chunks)), *(at * behind for at in range(len(graph.sources)))]
    by_words = ranks(texts.matches(weights))
    strength = [1 / (rank_constant + place) + 1 / (rank_constant + match) for place, match in zip(by_place, by_words)]
    rarity = _rarity(mentions)
    hops = reach(
        seeds(question, names, texts, share), names, graph.relations, mentions, strength, rarity,
        max_hops, width,
    )  # fmt: skip
    by_walk = ranks(_credit(strength, subjects, mentions, hops, rarity))
    scores = [score + walk / (rank_constant + place) for score, place in zip(strength, by_walk)]
    return Walk(texts, weights, mentions, hops, scores)


def seeds(question: str, names: dict[str, str], texts: Texts, share: float) -> list[str]:
    """Names that stand in the question at word boundaries, or share words of it with at least `share` of their rarity,
    so that a word which half of the units hold makes none."""
    spaced, weights = f" {_key(question)} ", texts.weights_of(question)
    seed_names = []
    for key, name in names.items():
        parts = set(families(key.split()))
        shared = weight(key, weights)
        if shared and (f" {key} " in spaced or shared >= share * math.fsum(map(texts.rarity, parts))):
            seed_names.append(name)
    return seed_names


def reach(
    seeds: Sequence[str],
    names: dict[str, str],
    relations: Iterable[ContextRelation],
    mentions: Sequence[Sequence[str]],
    strength: Sequence[float],
    rarity: dict[str, float],
    max_hops: int,
    width: int,
) -> dict[str, int]:
    """Name → hop, up to `max_hops`; the `width` strongest of those that can be reached at each."""
    beside: dict[str, set[str]] = defaultdict(set)
    for relation in relations:
        source, target = names.get(_key(relation.source), ""), names.get(_key(relation.target), "")
        beside[source].add(target)
        beside[target].add(source)
    strongest: dict[str, float] = defaultdict(float)
    units_of: dict[str, list[int]] = defaultdict(list)
    for unit, mentioned in enumerate(mentions):
        for name in mentioned:
            units_of[name].append(unit)
            strongest[name] = max(strongest[name], strength[unit] * rarity[name])
    hops = dict.fromkeys(sorted(seeds, key=lambda name: (-strongest[name], name)), 0)
    last = list(hops)
    for hop in range(1, max_hops + 1):
        met = {other for name in last for other in beside[name]}
        met |= {other for name in last for unit in units_of[name] for other in mentions[unit]}
        met -= hops.keys() | {""}
        last = sorted(met, key=lambda name: (-strongest[name], name))[:width]
        hops.update(dict.fromkeys(last, hop))
    return hops


def _credit(
    strength: Sequence[float],
    subjects: Sequence[str],
    mentions: Sequence[Sequence[str]],
    hops: dict[str, int],
    rarity: dict[str, float],
) -> list[float]:
    """What the walk brings each unit: the strongest other unit that mentions what it is about, or, for `BACKWARDS` of
    it, that is about what it mentions; over names that were reached."""
    credit = [0.0] * len(strength)
    about: dict[str, list[int]] = defaultdict(list)
    for unit, name in enumerate(subjects):
        if name in hops:
            about[name].append(unit)
    for unit, names in enumerate(mentions):
        for name in names:
            for other in about.get(name, ()):
                if other != unit:
                    credit[other] = max(credit[other], strength[unit] * rarity[name])
                    credit[unit] = max(credit[unit], strength[other] * rarity[name] * BACKWARDS)
    return credit


def _rarity(mentions: Iterable[Iterable[str]]) -> dict[str, float]:
    """Name → 1 if one unit mentions it, and less the more do."""
    counts: dict[str, int] = defaultdict(int)
    for mention in mentions:
        for name in mention:
            counts[name] += 1
    return {name: 1 / math.log2(1 + count) for name, count in counts.items()}


def _key(name: str) -> str:
    return " ".join(words(name))


def _spelt(names: Iterable[str]) -> dict[str, str]:
    """Words of a name → its first spelling: a table writes in capitals what a text does not."""
    spelling: dict[str, str] = {}
    for name in names:
        if key := _key(name):
            spelling.setdefault(key, name)
    return spelling


# -- assembly ---------------------------------------------------------------------------------------------------------


def assemble(
    graph: ContextGraph, units: Sequence[Unit], walk: Walk, *, budget: int, lines: float, shorten: bool
) -> Page:
    order = sorted(range(len(units)), key=lambda unit: (-walk.scores[unit], unit))
    hops = walk.hops
    hop_of = [min((hops[name] for name in mentioned if name in hops), default=None) for mentioned in walk.mentions]
    headings = {hop: heading(hop) for hop in dict.fromkeys([*sorted(set(hops.values())), None])}
    heads = sum(size(head + "\n\n") for head in headings.values())
    fill = BudgetFill(budget - heads, walk.weights, shorten)
    candidates = _lines(graph, walk) if lines else []

    def divide():
        return fill.lines, [
            (
                head,
                hop,
                [line for line in fill.lines if hops[line.name] == hop],
                [unit for unit in fill.units if hop_of[unit] == hop],
            )
            for hop, head in headings.items()
        ]

    return page_within(fill, budget, graph, order, walk.texts.texts, candidates, lines, divide)


def _lines(graph: ContextGraph, walk: Walk) -> list[Line]:
    """Lines about reached names: near ones first, then those that share most with the question."""
    spelt = {_key(name): name for name in walk.hops}
    hops = walk.hops
    rows = []
    for place, entity in enumerate(graph.entities):
        name = spelt.get(_key(entity.name))
        if name and entity.description:
            shared = weight(f"{entity.name} {entity.description}", walk.weights)
            rows.append(line_of(entity, (hops[name], -shared, place, 0), name))
    for place, relation in enumerate(graph.relations):
        source, target = spelt.get(_key(relation.source)), spelt.get(_key(relation.target))
        if source and target:
            shared = weight(f"{relation.source} {relation.description} {relation.target}", walk.weights)
            rows.append(line_of(relation, (min(hops[source], hops[target]), -shared, place, 1), source))
    return sorted(rows, key=lambda line: line.rank)
