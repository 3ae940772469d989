"""The facts on which a query is executed: those of the retrieved graph, with the passages that state them and the words
in which a passage does.

A fact may have been extracted loosely ("X has 1889"), so what joins its ends is looked up where it stands: in a
sentence that names both, the title standing for one of them, with the words of a pattern's predicate near the value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from workbench.index import Index
from workbench.language.quantities import life
from workbench.language.relations import relatedness, stem
from workbench.language.spans import mentioned, plain, same
from workbench.measures.words import places
from workbench.records import Evidence, Match, Passage, Pattern, Triple
from workbench.sparql.similarity import alike, expects, stems
from workbench.text import unicode_phrase

MOST = 20_000  # facts; a context holds some thousands at most


def facts_of(evidence: Evidence, index: Index | None = None, passages: Collection[str] | None = None) -> list[Triple]:
    """Facts stated by the evidence's passages (of these only the ones named by `passages`, if it is given), those of
    the evidence itself and the relations of its context, each once and with the passages that state it, in this order.

    What the passages state is what was extracted from them, as it was spelled, and the dates of a life that stand in
    brackets behind a name, which extraction seldom says what they are; of an index with typed relations alone,
    these. A fact of the evidence that only other passages state does not count.
    """
    allowed = {passage.id for passage, _ in evidence.passages}
    context = evidence.context
    if context is not None:
        allowed |= {id for unit in (*context.chunks, *context.sources) for id in unit.passages}
    allowed = allowed if passages is None else set(passages)
    by_key: dict[tuple[str, ...], Triple] = {}
    for fact in _all(evidence, index, allowed):
        key = tuple(map(unicode_phrase, fact.members))
        if not key[0] or not key[2]:
            continue
        before = by_key.get(key)
        stated = tuple(dict.fromkeys((*(before.passages if before else ()), *fact.passages)))
        by_key[key] = Triple(*(before or fact).members, stated)
        if len(by_key) == MOST:
            break
    return list(by_key.values())


def _all(evidence: Evidence, index: Index | None, allowed: Collection[str]) -> Iterator[Triple]:
    if index is not None:
        layers = index.manifest["layers"]
        if "extractions" in layers:
            yield from _extracted(index, allowed)
        elif "typed" in layers:
            yield from _typed(index, allowed)
    given = [fact for fact, _ in evidence.facts]
    if evidence.context is not None and not given:  # otherwise the facts of the context
        given = [Triple(r.source, r.description, r.target, r.passages) for r in evidence.context.relations]
    for fact in given:
        stated = tuple(id for id in fact.passages if id in allowed)
        if stated or not fact.passages:
            yield Triple(*fact.members, stated)


def _extracted(index: Index, allowed: Collection[str]) -> Iterator[Triple]:
    for row in sorted(index.passages.row[id] for id in allowed if id in index.passages.row):
        record = index.extractions.records[row]
        yield from (Triple(*members, (record.passage_id,)) for members in record.triples)
        yield from lives(index.passages.passages[row])


def _typed(index: Index, allowed: Collection[str]) -> Iterator[Triple]:
    typed, passages = index.typed, index.passages
    stated = typed.relation_stated.T.tocsr()
    for row in sorted(passages.row[id] for id in allowed if id in passages.row):
        for at in stated.indices[stated.indptr[row] : stated.indptr[row + 1]].tolist():
            source, target = typed.names[typed.sources[at]], typed.names[typed.targets[at]]
            label = typed.labels[at] or typed.relation_descriptions[at]
            yield Triple(source, label, target, (passages.passages[row].id,))


NEAR = 8  # words between a predicate's word and the value


def states(match: Match, passage: Passage) -> bool:
    """Whether a sentence of the passage states the fact in the words of the pattern, or in half of them."""
    return stated(match.pattern, match.fact, match.turned, passage) >= 0.5


def stated(pattern: Pattern, fact: Triple, turned: bool, passage: Passage) -> float:
    """The share of the pattern's words that stand near the value in a sentence with both ends of the fact."""
    thing, value = (fact.object, fact.subject) if turned else (fact.subject, fact.object)
    if pattern.subject.startswith("?") and not pattern.object.startswith("?"):
        thing, value = value, thing  # the subject is asked for
    if _life(pattern.predicate, thing, value, passage):
        return 1.0
    ways = [stems(way) for way in pattern.predicate.split("|") if not way.startswith("?")]
    shares = (_share(s, passage.title, thing, value, way) for s in _sentences(passage.text) for way in ways if way)
    return max(shares, default=0.0)


def lives(passage: Passage) -> Iterator[Triple]:
    """Birth and death of whom a passage is about, where they stand in brackets behind the name."""
    life_dates = life(passage.text)
    for date, relation in ((life_dates.born, "date of birth"), (life_dates.died, "date of death")):
        if date is not None and passage.title:
            yield Triple(passage.title, relation, date.text, (passage.id,))


def _life(predicate: str, thing: str, value: str, passage: Passage) -> bool:
    """Dates of birth and death, as they stand in brackets behind a name."""
    stems_asked = stems(predicate.split("|")[0])
    if expects(predicate.split("|")[0]) != "date" or not stems_asked or same(passage.title, thing) < 0.7:
        return False
    life_dates = life(passage.text)
    for date, word in ((life_dates.born, "birth"), (life_dates.died, "death")):
        if date is not None and alike(date.text, value) >= 0.9 and relatedness(stem(word), stems_asked[0]):
            return True
    return False


_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])|\n+")


@lru_cache(4_096)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(_END.split(text[:20_000]))


def _share(sentence: str, title: str, thing: str, value: str, wanted: tuple[str, ...]) -> float:
    sentence_families = _families(sentence)
    text = f" {' '.join(plain(sentence))} "
    topic = same(title, thing) >= 0.7, same(title, value) >= 0.7
    if not (topic[0] or mentioned(text, thing)) or not (topic[1] or mentioned(text, value)):
        return 0.0
    at = _where(value, sentence) or _where(thing, sentence)
    near = [
        any(relatedness(family, word) and _within(spot, at) for spot, word in sentence_families) for family in wanted
    ]
    return sum(near) / len(near)


@lru_cache(8_192)
def _families(sentence: str) -> tuple[tuple[int, str], ...]:
    """(number of the word, its family)"""
    return tuple((at, family) for at, word in enumerate(re.findall(r"\w+", sentence[:5_000])) for family in stems(word))


def _where(name: str, sentence: str) -> list[int]:
    """Numbers of the words at which a name stands."""
    tokens = re.findall(r"\w+", sentence[:5_000].casefold())
    wanted = re.findall(r"\w+", name.casefold())
    spots = places(wanted, tokens) or (places(wanted[-1:], tokens) if wanted else [])
    return [at + step for at in spots for step in range(len(wanted))]


def _within(spot: int, spots: list[int]) -> bool:
    return any(abs(spot - at) <= NEAR for at in spots)
