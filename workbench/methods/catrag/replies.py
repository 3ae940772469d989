"""Replies of an engine to CatRAG, kept so that the method can run again with other settings without new requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbench.errors import SettingError
from workbench.llm.engine import Engine, EngineBase
from workbench.llm.step import Result, Step
from workbench.methods.catrag.rating import MISSING
from workbench.methods.catrag.steering import RatedNeighbour, Steering
from workbench.steps import fact_filter, named_entities, rate_neighbours
from workbench.steps.rate_neighbours import HIGHEST, Rating
from workbench.text import storable, text_hash
from workbench.trace import LONG, Trace

Pair = tuple[str, str, str]  # question, seed, neighbour, each as a trace of any level names it
UNRATED = "not rated in this run; counts as Weak"
BY_HAND = "by hand"


class KeptReplies(EngineBase):
    """Asks an engine only what it was not asked before. Ratings are kept for each question, seed and neighbour, so that
    more seeds or neighbours ask for the new ones alone; a model rates them without seeing the others again.

    Without an engine it knows only what `take` gave it: another neighbour then counts as Weak, and says so. A failed
    request is not kept. `asking` is told before each request how many there are."""

    def __init__(self, engine: Engine | None = None, asking: Callable[[str, int], Any] = lambda step, count: None):
        super().__init__()
        self._engine, self.asking = engine, asking
        self.name = engine.name if engine else "kept replies"
        self.meter = engine.meter if engine else self.meter
        self.workers = getattr(engine, "workers", 1)
        self.examples = getattr(engine, "examples", ())  # where it is `worked`
        self._results: dict[tuple[str, Any], Result] = {}  # by Step and input
        self._taken: dict[tuple[str, str], Callable[[Any], Any]] = {}  # by Step and question: input → output
        self._ratings: dict[Pair, Rating | None] = {}
        self._by_hand: dict[Pair, int] = {}

    @property
    def builder(self) -> Engine:
        own = getattr(self._engine, "builder", self._engine)
        return self if own is self._engine else own

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        if step.name == rate_neighbours.STEP.name:
            return self._rate(inputs, trace)
        if step.name not in _QUESTION_OF:
            return self._ask(step, inputs, trace)
        new = [value for value in dict.fromkeys(inputs) if not self._is_answered(step, value)]
        results = dict(zip(new, self._ask(step, new, trace)))
        self._results |= {(step.name, value): result for value, result in results.items() if not result.failure}
        return [results.get(value) or self._results[step.name, value] for value in inputs]

    def take(self, steering: Steering) -> None:
        """Take the replies from a trace; those at hand stay."""
        question = _as_traced(steering.question)
        if steering.facts or "kept no fact" in (steering.fallback or ""):
            facts_kept = [text for text, _ in steering.facts]
            self._taken.setdefault((fact_filter.STEP.name, question), lambda value: _filtered(value, facts_kept))
        if steering.entities is not None:
            named = named_entities.Output(named_entities=list(steering.entities))
            self._taken.setdefault((named_entities.OF_QUESTION.name, question), lambda value: named)
        for seed in steering.rated:
            for neighbour in seed.neighbours:
                if neighbour.score is not None and neighbour.reason != UNRATED:
                    self._ratings.setdefault(_pair(question, seed.phrase, neighbour.name), _rating(neighbour))

    def rate(self, question: str, seed: str, neighbour: str, score: int | None) -> None:
        """Put a score in place of the reply's, a whole number from 0 to 10; None brings the reply's back."""
        if score is None:
            self._by_hand.pop(_pair(question, seed, neighbour), None)
            return
        if not (isinstance(score, int) and not isinstance(score, bool) and 0 <= score <= HIGHEST):
            raise SettingError(f"score={score!r}; it should be a whole number from 0 to {HIGHEST}")
        self._by_hand[_pair(question, seed, neighbour)] = score

    def by_hand(self, question: str) -> dict[tuple[str, str], int]:
        """(seed, neighbour) → score, of the ratings of a question that were put in place of the reply's."""
        traced = _as_traced(question)
        return {(seed, name): score for (of, seed, name), score in self._by_hand.items() if of == traced}

    def forget(self, question: str) -> None:
        """Bring back all replies for a question."""
        for seed, neighbour in self.by_hand(question):
            self.rate(question, seed, neighbour, None)

    def _is_answered(self, step: Step, value: Any) -> bool:
        key = step.name, value
        taken = self._taken.get((step.name, _as_traced(_QUESTION_OF[step.name](value))))
        if key not in self._results and taken:
            self._results[key] = Result(taken(value))
        return key in self._results

    def _ask(self, step: Step, inputs: Sequence[Any], trace: Trace | None) -> list[Result]:
        if not inputs:
            return []
        if self._engine is None:
            raise SettingError(f"the trace has no reply of {step.name} for these settings; pass engine= to ask for it")
        self.asking(step.name, len(inputs))
        return self._engine.run(step, inputs, trace=trace)

    def _rate(self, inputs: Sequence[rate_neighbours.Input], trace: Trace | None) -> list[Result]:
        open_questions = {value: self._unrated(value) for value in inputs} if self._engine else {}
        open_parts = {value: part for value, part in open_questions.items() if part.neighbours}
        results = dict(zip(open_parts, self._ask(rate_neighbours.STEP, list(open_parts.values()), trace)))
        for value, result in results.items():
            if result.value:
                ratings = rate_neighbours.matched(open_parts[value], result.value)
                self._ratings |= dict(zip(_pairs(open_parts[value]), ratings))
        return [self._reply(value, results.get(value)) for value in inputs]

    def _unrated(self, value: rate_neighbours.Input) -> rate_neighbours.Input:
        """The input with only the neighbours that have no rating yet."""
        new = [neighbour for pair, neighbour in zip(_pairs(value), value.neighbours) if pair not in self._ratings]
        return replace(value, neighbours=tuple(new))

    def _reply(self, value: rate_neighbours.Input, result: Result | None) -> Result:
        if result and result.failure:
            return result
        numbered = enumerate(zip(_pairs(value), value.neighbours), 1)
        ratings = (self._rating_of(number, neighbour.name, pair) for number, (pair, neighbour) in numbered)
        return Result(rate_neighbours.Output(ratings=[rating for rating in ratings if rating]))

    def _rating_of(self, number: int, name: str, pair: Pair) -> Rating | None:
        """The rating of a neighbour under its number and exact name; None where the reply left it out."""
        earlier = self._ratings.get(pair)
        if pair in self._by_hand:
            before = f"; it was {MISSING if earlier is None else earlier.score}" if pair in self._ratings else ""
            return Rating(number=number, name=name, score=self._by_hand[pair], reason=BY_HAND + before)
        if pair not in self._ratings:
            return Rating(number=number, name=name, score=MISSING, reason=UNRATED)
        return earlier and Rating(number=number, name=name, score=earlier.score, reason=earlier.reason)

    def __repr__(self) -> str:
        return f"KeptReplies({self.name}: {len(self._ratings):,} ratings, {len(self._by_hand):,} by hand)"


_QUESTION_OF: dict[str, Callable[[Any], str]] = {  # the Steps whose replies are kept whole: input → question
    fact_filter.STEP.name: lambda value: value.question,
    named_entities.OF_QUESTION.name: lambda value: value.question,
}


def _pairs(value: rate_neighbours.Input) -> Iterator[Pair]:
    return (_pair(value.question, value.entity, neighbour.name) for neighbour in value.neighbours)


def _pair(question: str, seed: str, neighbour: str) -> Pair:
    return _as_traced(question), _as_traced(seed), _as_traced(neighbour)


def _rating(neighbour: RatedNeighbour) -> Rating | None:
    if neighbour.missing:
        return None
    return Rating(number=None, name=neighbour.name, score=neighbour.score, reason=neighbour.reason)


def _filtered(value: fact_filter.Input, facts_kept: Sequence[str]) -> fact_filter.Output:
    """The candidates among the filtered facts of a trace, in its order."""
    texts = {_as_traced(" — ".join(fact)): list(fact) for fact in value.facts}
    return fact_filter.Output(facts=[texts[text] for text in map(_as_traced, facts_kept) if text in texts])


def _as_traced(text: str) -> str:
    """A text as a trace of level `ids` names it, without the surrogates that no request holds."""
    text = storable(text)
    return f"sha256:{text_hash(text)}" if len(text) > LONG else text
