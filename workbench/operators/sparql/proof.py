"""What an executed query says of an answer: verified, contradicted or unsupported.

A fact may have been extracted loosely, and a relation matched by likeness alone. So an answer is verified only where
every hop of its binding is also read off a passage that states the fact: a sentence that names both ends (the title
names one for it), with the words of the pattern's predicate near the value. And no other value may be bound nearly as
well."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from workbench.llm.engine import Engine, RulesEngine
from workbench.measures.words import is_yes_no, places, words
from workbench.operators.sparql.facts import facts_of
from workbench.operators.sparql.likeness import Likeness, alike, amount, expects, stems, when
from workbench.operators.sparql.matching import execute
from workbench.operators.sparql.parsing import parse, taken
from workbench.records import Answer, Binding, Evidence, Match, Passage, Proof, Triple
from workbench.rules.patterns import Query
from workbench.rules.quantities import life
from workbench.rules.relations import likeness as kindred
from workbench.rules.relations import stem
from workbench.rules.spans import mentioned, plain, same
from workbench.steps import write_patterns
from workbench.trace import Trace

if TYPE_CHECKING:
    from workbench.index import Index

SURE = 0.5  # score of a binding from which an answer may be verified
RIVAL = 0.85  # share of a binding's score from which another value speaks against it
NEAR = 8  # words between a predicate's word and the value

_likeness: WeakKeyDictionary[Index, Likeness] = WeakKeyDictionary()


def likeness_of(index: Index) -> Likeness:
    """One for each index, with its encoder and the vectors of its phrases."""
    if index not in _likeness:
        facts = index.facts if "facts" in index.manifest["layers"] else None

        def known(text: str):
            row = None if facts is None else facts.phrase_row.get(text.casefold())
            return None if row is None else facts.phrase_vectors[row]

        _likeness[index] = Likeness(lambda texts: index.encoder.encode(texts), known=known)
    return _likeness[index]


def verify(
    answer: Answer,
    evidence: Evidence,
    index: Index,
    engine: Engine | None = None,
    *,
    query: str | None = None,
    trace: Trace | None = None,
) -> Proof:
    """The proof of an answer on the facts of the evidence, with its mark. `query` is SPARQL; without it the engine (by
    default the rules) writes one for the answer's question."""
    trace = trace if trace is not None else Trace("off")
    if query is not None:
        asked = parse(query)
    else:
        passages = [passage for passage, _ in evidence.passages]
        context = "\n\n".join(passage.content for passage in passages)
        asked = written(answer.question, context, [p.title for p in passages], engine or RulesEngine(), trace)
    return carried_out(asked, evidence, index, trace, answer=answer.text)


def written(question: str, context: str, titles: Sequence[str], engine: Engine, trace: Trace) -> Query:
    """The query that an engine writes for a question; a failure of the engine is its flaw."""
    (result,) = engine.run(write_patterns.STEP, [write_patterns.Input(question, context, tuple(titles))], trace=trace)
    return Query(flaw=f"no query was written: {result.failure}") if result.failure else taken(result.value)


def carried_out(
    query: Query,
    evidence: Evidence,
    index: Index,
    trace: Trace,
    *,
    answer: str | None = None,
    passages: Collection[str] | None = None,
) -> Proof:
    """The proof of a query on the facts of the evidence, and its mark on an answer: by default on its own."""
    with trace.span("CHAIN", "execute") as span:
        facts = facts_of(evidence, index, passages)
        proof = execute(query, facts, likeness_of(index))
        given = answer if answer is not None else next((value for value, _ in proof.answers), "")
        proof = check(given, proof, _stating(index, evidence, facts)) if given else proof
        span.set(**told(proof))
    return proof


def told(proof: Proof) -> dict:
    """A proof as the outputs of its event."""
    return {
        "query": proof.query,
        "patterns": [list(pattern.members) for pattern in proof.patterns],
        "wanted": proof.wanted,
        "bindings": [
            {"values": dict(binding.values), "matches": list(map(_told, binding.matches)), "score": binding.score}
            for binding in proof.bindings[:5]
        ],
        "broken": proof.broken,
        "answers": [[value, score] for value, score in proof.answers[:5]],
        "mark": proof.mark,
        **({"flaw": proof.flaw} if proof.flaw else {}),
    }


def _told(match: Match) -> dict:
    return {
        "pattern": list(match.pattern.members), "fact": list(match.fact.members), "score": match.score,
        "exact": match.exact, "turned": match.turned, "passages": list(match.fact.passages),
    }  # fmt: skip


def _stating(index: Index, evidence: Evidence, facts: Sequence[Triple]) -> dict[str, Passage]:
    """The passages that state some of the facts, by id."""
    layer = index.passages
    held = {id: layer.passages[layer.row[id]] for fact in facts for id in fact.passages if id in layer.row}
    return held | {passage.id: passage for passage, _ in evidence.passages}


# The mark


def check(answer: str, proof: Proof, passages: Mapping[str, Passage]) -> Proof:
    """The proof with its `answer` and `mark`; `passages` by id are where the facts are read again."""
    return replace(proof, answer=answer, mark=_mark(answer, proof, passages))


def _mark(answer: str, proof: Proof, passages: Mapping[str, Passage]) -> str:
    if not answer.strip() or not proof.bindings or not proof.answers:
        return "unsupported"
    value, score = proof.answers[0]
    best = [binding for binding in proof.bindings if binding.score >= score * RIVAL]
    sound = score >= SURE and any(grounded(binding, passages) for binding in best[:3])
    if not sound:
        return "unsupported"
    rivals = [other for other, worth in proof.answers[1:] if worth >= RIVAL * score and not agrees(other, value)]
    if agrees(answer, value):
        return "unsupported" if rivals else "verified"
    return "unsupported" if any(agrees(answer, other) for other in rivals) else "contradicted"


def agrees(answer: str, value: str) -> bool:
    """Whether an answer and a value say the same: the value's words in the answer or the other way round, dates and
    numbers in whatever notation."""
    if is_yes_no(answer) or is_yes_no(value):
        return words(answer)[:1] == words(value)[:1]
    if alike(answer, value) >= 0.85:
        return True
    if when(answer) or when(value) or amount(answer) or amount(value):
        return False
    one, other = words(answer), words(value)
    return bool(places(one, other) or places(other, one))


def grounded(binding: Binding, passages: Mapping[str, Passage]) -> bool:
    """Whether each hop is read off a passage that states its fact."""
    return all(
        any(id in passages and says(match, passages[id]) for id in match.fact.passages) for match in binding.matches
    )


def says(match: Match, passage: Passage) -> bool:
    """Whether a sentence of the passage tells the fact in the words of the pattern."""
    ends = (match.fact.subject, match.fact.object)
    thing, value = reversed(ends) if match.turned else ends
    if match.pattern.subject.startswith("?") and not match.pattern.object.startswith("?"):
        thing, value = value, thing  # the subject is asked for
    if _life(match.pattern.predicate, thing, value, passage):
        return True
    wanted = [stems(way) for way in match.pattern.predicate.split("|")]
    return any(
        _tells(sentence, passage.title, thing, value, way)
        for sentence in _sentences(passage.text)
        for way in wanted
        if way
    )


def _life(predicate: str, thing: str, value: str, passage: Passage) -> bool:
    """Dates of birth and death, as they stand in brackets behind a name."""
    asked = stems(predicate.split("|")[0])
    if expects(predicate.split("|")[0]) != "date" or not asked or same(passage.title, thing) < 0.7:
        return False
    told = life(passage.text)
    for date, word in ((told.born, "birth"), (told.died, "death")):
        if date is not None and alike(date.text, value) >= 0.9 and kindred(stem(word), asked[0]):
            return True
    return False


_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])|\n+")


@lru_cache(4_096)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(_END.split(text[:20_000]))


def _tells(sentence: str, title: str, thing: str, value: str, wanted: tuple[str, ...]) -> bool:
    said = _said(sentence)
    text = f" {' '.join(plain(sentence))} "
    topic = same(title, thing) >= 0.7, same(title, value) >= 0.7
    if not (topic[0] or mentioned(text, thing)) or not (topic[1] or mentioned(text, value)):
        return False
    at = _where(value, sentence) or _where(thing, sentence)
    held = [any(kindred(one, word) and _within(spot, at) for spot, word in said) for one in wanted]
    return sum(held) >= (len(held) + 1) // 2


@lru_cache(8_192)
def _said(sentence: str) -> tuple[tuple[int, str], ...]:
    """(number of the word, its family)"""
    return tuple(
        (at, family)
        for at, word in enumerate(re.findall(r"\w+", sentence[:5_000]))
        for family in stems(word)
    )


def _where(name: str, sentence: str) -> list[int]:
    """Numbers of the words at which a name stands."""
    told = re.findall(r"\w+", sentence[:5_000].casefold())
    wanted = re.findall(r"\w+", name.casefold())
    spots = places(wanted, told) or (places(wanted[-1:], told) if wanted else [])
    return [at + step for at in spots for step in range(len(wanted))]


def _within(spot: int, spots: list[int]) -> bool:
    return any(abs(spot - at) <= NEAR for at in spots)
