"""The loop of all iterative methods: rounds of thinking and retrieval over a backbone, which is any method.

    round 0     search for the question                                               -> pool
    round t     read the best of the pool; a thought says what to search for next      -> pool, by the maximum rule
    conclusion  rank the pool

Follows the common loop of "Beyond Static Retrieval", in which IRCoT, IRGS (ITER-RETGEN), GCoT (Graph-CoT), ToG and BDTR
run over one retriever. All methods count rounds after the first retrieval (the code bases differ by one). No query is
repeated."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator

from workbench import tokens
from workbench.errors import SettingError
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.llm.step import Result, Step
from workbench.methods.base import Method
from workbench.methods.composite import Composite
from workbench.methods.iterative.events import PoolEvent, RoundEvent, Search, ThoughtEvent
from workbench.methods.iterative.pool import SCALES, Entry, Pool, named, scored
from workbench.records import Evidence
from workbench.settings import Natural, Positive, validated
from workbench.trace import Trace


@dataclass(frozen=True)
class Thought:
    """The output of a round's Step: `texts` by name (BDTR: fast and slow), and the resulting queries, each with its
    origin. The method stops after a thought that is `done`. `failure` states why the Step had no output."""

    texts: Mapping[str, str] = field(hash=False)
    queries: tuple[tuple[str, str], ...] = ()
    done: bool = False
    failure: str | None = None


@validated
class Settings:
    """`backbone` is a method or its SPEC; `iterations` counts the rounds after the first retrieval; each query fetches
    `depth` passages, and a thought reads the first `shown` of the pool. `scale` is applied to scores before they are
    merged in the pool (`workbench.methods.iterative.pool`). A query is the whole thought, or its first `query_tokens`;
    an encoder reads no more of it than its own `max_tokens`. With `grounds`, the reader gets all passages that a
    thought was shown which found them sufficient; without it, as in the papers, only as many as it reads by itself,
    and what the thought rested on may be beyond them."""

    backbone: Any = "hipporag2"
    iterations: Natural = 2
    depth: Positive = 200
    shown: Positive = 10
    scale: Annotated[Literal[*SCALES], BeforeValidator(lambda scale: scale or "none")] = "none"
    query_tokens: Positive | None = None
    grounds: bool = False


class Iterative(Composite):
    """Rounds of thinking and retrieval over a backbone. Entities, facts, paths and reports are those that the backbone
    found for the question itself."""

    Settings = Settings
    paper = "Beyond Static Retrieval"
    of = "backbone"
    accumulates = True  # whether rankings are merged, or each round's replaces the one before

    def __init__(self, index: Index, engine: Engine | None = None, **settings: Any):
        super().__init__(index, engine, **settings)
        self.scale = named(self.backbone.scale, self.settings.scale)
        self._given: tuple[Thought, ...] = ()

    @property
    def backbone(self) -> Method:
        return self.parts[0]

    def parts_of(self, given: Any, index: Index, engine: Engine | None) -> tuple[Method, ...]:
        (backbone,) = super().parts_of(given, index, engine)
        if isinstance(backbone, Iterative) and backbone.name == self.name:
            raise SettingError(f"{self.name} cannot retrieve with {backbone.label}; choose another method as backbone")
        return (backbone,)

    def given(self, thoughts: Sequence[Thought]) -> Iterative:
        """This method with given thoughts for its first rounds; the engine writes the later ones."""
        other = copy.copy(self)
        other._given = tuple(thoughts)
        other.label = f"{self.label} (thoughts by hand)"
        return other

    def asked(self) -> tuple[str, ...]:
        """The method's own Steps under its settings."""
        return type(self).steps if self.settings.iterations else ()

    @abstractmethod
    def think(self, question: str, best: Sequence[Entry], before: Sequence[Thought], trace: Trace) -> Thought:
        """The thought of the next round, from the best of the pool and the thoughts of the rounds before."""

    def pool(self) -> Pool:
        """An empty pool."""
        return Pool(self.settings.scale)

    def conclude(self, question: str, pool: Pool, thoughts: Sequence[Thought], k: int, trace: Trace) -> Evidence:
        """The evidence from the pool: its best k passages, in order."""
        return Evidence(question, self.label, pool.scale or self.scale, scored(pool.ranked()[:k]))

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        pool, thoughts, searched, notes = self.pool(), [], set(), []
        with RoundEvent.open(trace, round=0):
            (first,) = self._retrieve(pool, 0, [("question", question)], searched, trace)
            notes += [first.fallback] if first.fallback else []
        for number in range(1, self.settings.iterations + 1):
            with RoundEvent.open(trace, round=number):
                thought = self._thought(number, question, pool, thoughts, trace)
                thoughts.append(thought)
                if thought.failure:
                    notes.append(f"the thought of round {number} failed: {thought.failure}")
                if thought.done:
                    break
                merged, searched = (pool, searched) if self.accumulates else (self.pool(), set())
                evidence_found = self._retrieve(merged, number, thought.queries, searched, trace)
                notes += [f"round {number}: {evidence.fallback}" for evidence in evidence_found if evidence.fallback]
                pool = merged if len(merged) else pool
        evidence = self.conclude(question, pool, thoughts, k, trace)
        if self.settings.grounds and thoughts and thoughts[-1].done:
            evidence = replace(evidence, selected=max(evidence.selected or 0, min(self.settings.shown, k)))
        if pool.mixed:
            notes.append(f"scores of different scales met as {pool.scale}")
        notes += [evidence.fallback] if evidence.fallback else []
        others = {name: getattr(first, name) for name in ("entities", "facts", "paths", "reports")}
        return replace(evidence, **others, fallback="; ".join(notes) or None, mixed=pool.mixed)

    def ask(self, step: Step, value: Any, trace: Trace) -> Result:
        """The result of one Step for one input."""
        return self.engine.run(step, [value], trace=trace)[0]

    def _thought(self, number: int, question: str, pool: Pool, before: Sequence[Thought], trace: Trace) -> Thought:
        with ThoughtEvent.open(trace, round=number) as write:
            given = number <= len(self._given)
            best = pool.ranked()[: self.settings.shown]
            thought = self._given[number - 1] if given else self.think(question, best, before, trace)
            most = self.settings.query_tokens
            queries = tuple(
                (origin, query if most is None else tokens.cut(query, most)) for origin, query in thought.queries
            )
            shortened = sum(cut != query for (_, cut), (_, query) in zip(queries, thought.queries))
            write(
                texts=thought.texts,
                queries=queries,
                done=thought.done,
                given=given,
                shortened=shortened or None,
                failure=thought.failure or None,
            )
        return replace(thought, queries=queries)

    def _retrieve(
        self, pool: Pool, number: int, queries: Sequence[tuple[str, str]], searched: set[str], trace: Trace
    ) -> list[Evidence]:
        """Merge the backbone's results for each new query into the pool, and return them."""
        evidence_found, before = [], pool.ranked()
        for origin, query in queries:
            if not query.strip() or normal(query) in searched:
                continue
            searched.add(normal(query))
            with Search.open(trace, origin=origin, query=query) as write:
                evidence = self.backbone.retrieve(query, self.settings.depth, trace=trace)
                ranking = tuple(evidence.ranking)
                write(scale=evidence.scale, found=len(ranking), fallback=evidence.fallback or None, ranking=ranking)
            evidence_found.append(evidence)
            pool.merge(evidence, number)
        if trace:
            with PoolEvent.open(trace) as write:
                write(_pool_event(pool, before))
        return evidence_found


def contents(entries: Sequence[Entry]) -> tuple[tuple[str, str], ...]:
    """The passages of entries as (title, text), for a Step."""
    return tuple((entry.passage.title, entry.passage.text) for entry in entries)


def texts_of(result: Result) -> dict[str, str]:
    """The texts of a Step's output, by name."""
    value: BaseModel | None = result.value
    return {name: str(text) for name, text in value.model_dump().items()} if value else {}


def _pool_event(pool: Pool, before: Sequence[Entry]) -> PoolEvent:
    """The pool, and the changes of a round in its first ranks."""
    now = [entry.passage.id for entry in pool.ranked()]
    were = [entry.passage.id for entry in before]
    return PoolEvent(
        size=len(now),
        scale=pool.scale,
        mixed=pool.mixed,
        risen={k: tuple(name for name in now[:k] if name not in were[:k]) for k in (5, 10)},
        queries={entry.passage.id: entry.query for entry in pool.ranked()[:5]},
        ranking=tuple((entry.passage.id, entry.score) for entry in pool.ranked()),
    )


def normal(query: str) -> str:
    """The normal form by which queries are compared."""
    return " ".join(query.casefold().split()).rstrip(" ?.!")
