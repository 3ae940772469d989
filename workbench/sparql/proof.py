"""What an executed query says about an answer: verified, contradicted or unsupported.

A fact may have been extracted loosely, and a relation matched by similarity alone. So an answer is verified only where
every hop of its binding is also read off a passage that states the fact: a sentence that names both ends (the title
names one for it), with the words of the pattern's predicate near the value. And no other value may be bound nearly as
well."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.llm.engine import Engine, RulesEngine
from workbench.measures.words import is_yes_no, places, words
from workbench.records import Answer, Binding, Evidence, Match, Passage, Proof, Triple
from workbench.sparql.facts import facts_of, states
from workbench.sparql.matching import execute, worth
from workbench.sparql.parsing import comparison, parse, query_of
from workbench.sparql.query import Query, compared
from workbench.sparql.similarity import NameSimilarity, alike, amount, when
from workbench.steps import write_patterns
from workbench.trace import Trace

if TYPE_CHECKING:
    from workbench.index import Index

SURE = 0.5  # worst score of a binding by which an answer is verified
ALONE = 0.8  # the same, of a single hop
MEAN = 0.7  # mean score of its hops
LOOSE = 0.4  # worth of any relation, where a given answer is looked for
RIVAL = 0.85  # share of a binding's score from which another value speaks against it


def similarity_of(index: Index) -> NameSimilarity:
    """By the vectors of its phrases, and those that it encodes."""
    facts = index.facts if "facts" in index.manifest["layers"] else None

    def phrase_vector(text: str):
        row = None if facts is None else facts.phrase_row.get(text.casefold())
        return None if row is None else facts.phrase_vectors[row]

    return NameSimilarity(index.encode, vector_of=phrase_vector)


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
        parsed = parse(query)
    else:
        passages = [passage for passage, _ in evidence.passages]
        context = "\n\n".join(passage.content for passage in passages)
        parsed = query_for(answer.question, context, [p.title for p in passages], engine or RulesEngine(), trace)
    return executed(parsed, evidence, index, trace, answer=answer.text)


def query_for(question: str, context: str, titles: Sequence[str], engine: Engine, trace: Trace) -> Query:
    """The query that an engine writes for a question; a failure of the engine is its flaw."""
    (result,) = engine.run(write_patterns.STEP, [write_patterns.Input(question, context, tuple(titles))], trace=trace)
    return Query(flaw=f"no query was written: {result.failure}") if result.failure else query_of(result.value)


def executed(
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
        stating = _stating(index, evidence, facts)
        proof = execute(query, facts, similarity_of(index), stating, 0.0 if answer is None else LOOSE)
        given = answer if answer is not None else next((value for value, _ in proof.answers), "")
        proof = check(given, proof, stating) if given else proof
        span.set(**as_outputs(proof))
    return proof


def as_outputs(proof: Proof) -> dict:
    """A proof as the outputs of its event."""
    return {
        "query": proof.query,
        "patterns": [list(pattern.members) for pattern in proof.patterns],
        "wanted": proof.wanted,
        "bindings": [
            {"values": dict(row.values), "matches": list(map(_match_outputs, row.matches)), "score": row.score}
            for row in proof.bindings[:5]
        ],
        "broken": proof.broken,
        "answers": [[value, score] for value, score in proof.answers[:5]],
        "mark": proof.mark,
        **({"flaw": proof.flaw} if proof.flaw else {}),
    }


def _match_outputs(match: Match) -> dict:
    return {
        "pattern": list(match.pattern.members), "fact": list(match.fact.members), "score": match.score,
        "exact": match.exact, "turned": match.turned, "passages": list(match.fact.passages),
    }  # fmt: skip


def _stating(index: Index, evidence: Evidence, facts: Sequence[Triple]) -> dict[str, Passage]:
    """The passages that state some of the facts, by id."""
    layer = index.passages
    stated = {id: layer.passages[layer.row[id]] for fact in facts for id in fact.passages if id in layer.row}
    return stated | {passage.id: passage for passage, _ in evidence.passages}


# The mark


def check(answer: str, proof: Proof, passages: Mapping[str, Passage]) -> Proof:
    """The proof with its `answer` and `mark`; `passages` by id are where the facts are read again."""
    return replace(proof, answer=answer, mark=_mark(answer, proof, passages))


def supporting(proof: Proof) -> int:
    """The position of the best binding whose value is the answer; 0, that of the best of all, where none has it."""
    values = (dict(binding.values).get(proof.wanted, "") for binding in proof.bindings)
    return next((at for at, value in enumerate(values) if proof.answer and agrees(proof.answer, value)), 0)


def _mark(answer: str, proof: Proof, passages: Mapping[str, Passage]) -> str:
    if not answer.strip() or not proof.bindings:
        return "unsupported"
    valued = _valued(proof)
    if not valued:
        return "unsupported"
    (value, best), *others = valued
    rivals = [other for other, binding in others if _as_good(binding, best) and not agrees(other, value)]
    if agrees(answer, value):
        sound = sure(best, passages) or chained(best, passages)
        return "verified" if sound and not rivals else "unsupported"
    open_ = not sure(best, passages) or any(agrees(answer, other) for other in rivals)
    return "unsupported" if open_ else "contradicted"


def _valued(proof: Proof) -> list[tuple[str, Binding]]:
    """What each binding says, best first."""
    compare = comparison(proof.compare) if proof.compare else None
    if compare is None:
        return [(dict(binding.values)[proof.wanted], binding) for binding in proof.bindings]
    if len(compare.of) == 1:
        return [(value, proof.bindings[0]) for value, _ in compared(compare, proof.bindings)]
    return [(value, binding) for binding in proof.bindings for value, _ in compared(compare, [binding])]


def _as_good(binding: Binding, best: Binding) -> bool:
    return binding.score >= RIVAL * best.score and worth(binding) >= RIVAL * worth(best)


def sure(binding: Binding, passages: Mapping[str, Passage]) -> bool:
    """Every hop well matched, and read off a passage. A query of a single hop leaves nothing that bears it out, so it
    must be matched better."""
    least = SURE if len(binding.matches) > 1 else ALONE
    return binding.score >= least and _mean(binding) >= MEAN and all(grounded(m, passages) for m in binding.matches)


def chained(binding: Binding, passages: Mapping[str, Passage]) -> bool:
    """A chain from the names of the query to its end, of which at most half the hops are joined by facts in any other
    words, while the rest is sure."""
    matched = [match for match in binding.matches if match.score > LOOSE]
    return (
        len(binding.matches) <= 2 * len(matched)
        and len(binding.matches) > 1
        and _mean(binding) >= MEAN
        and all(grounded(match, passages) for match in matched)
    )


def _mean(binding: Binding) -> float:
    return sum(match.score for match in binding.matches) / len(binding.matches)


def agrees(answer: str, value: str) -> bool:
    """Whether an answer and a value say the same: the value's words in the answer or the other way round, dates and
    numbers in whatever notation."""
    if is_yes_no(answer) or is_yes_no(value):
        return words(answer)[:1] == words(value)[:1]
    if alike(answer, value) >= 0.85:
        return True
    if when(answer) or when(value) or amount(answer) or amount(value):
        return False
    answer_words, other = words(answer), words(value)
    return bool(places(answer_words, other) or places(other, answer_words))


def grounded(match: Match, passages: Mapping[str, Passage]) -> bool:
    """Whether a passage states the fact in the words of the pattern."""
    return any(id in passages and states(match, passages[id]) for id in match.fact.passages)
