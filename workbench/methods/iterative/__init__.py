"""What the iterative methods have in common: rounds of thinking and retrieving over a backbone, which is any method.

    round 0     the question is searched for                                          -> pool
    round t     the best of the pool are read, a thought says what to search for next  -> pool, by the maximum rule
    conclusion  what becomes of the pool

Follows the common loop of "Beyond Static Retrieval", in which IRCoT, IRGS (ITER-RETGEN), GCoT (Graph-CoT), ToG and BDTR
run over one retriever. Rounds are counted after the first retrieval, for all methods alike (the code bases
differ by one). A thought is searched for with its first 64 tokens, and never twice."""

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
from workbench.methods.iterative.pool import SCALES, Entry, Pool, named, scored
from workbench.records import Evidence
from workbench.settings import Natural, Positive, validated
from workbench.trace import Trace


@dataclass(frozen=True)
class Thought:
    """What a round's Step said: `texts` by name (BDTR: fast and slow), and the queries that follow from it, each with
    its origin. After one that is `done` the method stops. `failure` says why the Step said nothing."""

    texts: Mapping[str, str] = field(hash=False)
    queries: tuple[tuple[str, str], ...] = ()
    done: bool = False
    failure: str | None = None


@validated
class Settings:
    """`backbone` is a method or its SPEC; `iterations` are rounds after the first retrieval; `depth` passages are
    fetched per query and `shown` of the pool are read by a thought. `scale` is what happens to scores before
    they meet in the pool (`workbench.methods.iterative.pool`)."""

    backbone: Any = "hipporag2"
    iterations: Natural = 2
    depth: Positive = 200
    shown: Positive = 10
    scale: Annotated[Literal[*SCALES], BeforeValidator(lambda scale: scale or "none")] = "none"
    query_tokens: Positive = 64


class Iterative(Method):
    """Rounds of thinking and retrieving over a backbone. What stands beside the passages (entities, facts, paths,
    reports) is what the backbone found for the question itself."""

    Settings = Settings
    paper = "Beyond Static Retrieval"
    layers = ()  # those of its backbone
    accumulates = True  # whether rankings are merged, or each round's replaces the one before

    def __init__(self, index: Index, engine: Engine | None = None, **settings: Any):
        from workbench.methods import method  # which lists this class

        given = settings.get("backbone", self._default("backbone", settings))
        self.backbone = given if isinstance(given, Method) else method(given, index, engine)
        if isinstance(self.backbone, Iterative) and self.backbone.name == self.name:
            raise SettingError(f"{self.name} over {self.backbone.label}; take a backbone that is another method")
        settings |= {"backbone": self.backbone.label} if "backbone" in settings else {}
        super().__init__(self.backbone.index, engine or self.backbone.engine, **settings)
        self.layers = self.backbone.layers
        self.steps = tuple(dict.fromkeys((*type(self).steps, *self.backbone.steps)))
        self.scale = named(self.backbone.scale, self.settings.scale)
        self._given: tuple[Thought, ...] = ()

    @property
    def engines(self) -> tuple[Engine, ...]:
        return (*super().engines, *self.backbone.engines)

    @property
    def reads(self) -> tuple[str, ...]:
        return self.backbone.reads

    def given(self, thoughts: Sequence[Thought]) -> Iterative:
        """This method, with the thoughts of its first rounds given by hand; from then on the engine is asked."""
        other = copy.copy(self)
        other._given = tuple(thoughts)
        other.label = f"{self.label} (thoughts by hand)"
        return other

    @abstractmethod
    def think(self, question: str, shown: Sequence[Entry], before: Sequence[Thought], trace: Trace) -> Thought:
        """The thought of the next round, from the best of the pool and the thoughts of the rounds before."""

    def pool(self) -> Pool:
        """An empty pool."""
        return Pool(self.settings.scale)

    def conclude(self, question: str, pool: Pool, thoughts: Sequence[Thought], k: int, trace: Trace) -> Evidence:
        """What becomes of the pool: its best k, in order."""
        return Evidence(question, self.label, pool.scale or self.scale, scored(pool.ranked()[:k]))

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        pool, thoughts, asked, notes = self.pool(), [], set(), []
        with trace.span("CHAIN", "round 0", round=0):
            (first,) = self._seek(pool, 0, [("question", question)], asked, trace)
            notes += [first.fallback] if first.fallback else []
        for number in range(1, self.settings.iterations + 1):
            with trace.span("CHAIN", f"round {number}", round=number):
                thought = self._thought(number, question, pool, thoughts, trace)
                thoughts.append(thought)
                if thought.failure:
                    notes.append(f"the thought of round {number} failed: {thought.failure}")
                if thought.done:
                    break
                found, asked = (pool, asked) if self.accumulates else (self.pool(), set())
                for came in self._seek(found, number, thought.queries, asked, trace):
                    notes += [f"round {number}: {came.fallback}"] if came.fallback else []
                pool = found if len(found) else pool
        evidence = self.conclude(question, pool, thoughts, k, trace)
        if pool.mixed:
            notes.append(f"scores of different scales met as {pool.scale}")
        notes += [evidence.fallback] if evidence.fallback else []
        beside = {name: getattr(first, name) for name in ("entities", "facts", "paths", "reports")}
        return replace(evidence, **beside, fallback="; ".join(notes) or None)

    def ask(self, step: Step, value: Any, trace: Trace) -> Result:
        """What one Step says to one input."""
        return self.engine.run(step, [value], trace=trace)[0]

    def _thought(self, number: int, question: str, pool: Pool, before: Sequence[Thought], trace: Trace) -> Thought:
        with trace.span("CHAIN", "think", round=number) as span:
            given = number <= len(self._given)
            shown = pool.ranked()[: self.settings.shown]
            thought = self._given[number - 1] if given else self.think(question, shown, before, trace)
            queries = [(origin, tokens.cut(query, self.settings.query_tokens)) for origin, query in thought.queries]
            shortened = sum(cut != query for (_, cut), (_, query) in zip(queries, thought.queries))
            thought = replace(thought, queries=tuple(queries))
            span.set(texts=thought.texts, queries=queries, done=thought.done, given=given)
            span.set(**{"shortened": shortened} if shortened else {})
            span.set(**{"failure": thought.failure} if thought.failure else {})
        return thought

    def _seek(
        self, pool: Pool, number: int, queries: Sequence[tuple[str, str]], asked: set[str], trace: Trace
    ) -> list[Evidence]:
        """Merge what the backbone finds for each query that is new, and return it."""
        all_found, before = [], pool.ranked()
        for origin, query in queries:
            if not query.strip() or normal(query) in asked:
                continue
            asked.add(normal(query))
            with trace.span("CHAIN", "search", origin=origin, query=query) as span:
                found = self.backbone.retrieve(query, self.settings.depth, trace=trace)
                span.set(scale=found.scale, found=len(found.passages))
                span.set(**{"fallback": found.fallback} if found.fallback else {})
                span.score(found.ranking)
            all_found.append(found)
            pool.merge(found, number)
        if trace:
            self._show(pool, before, trace)
        return all_found

    def _show(self, pool: Pool, before: Sequence[Entry], trace: Trace) -> None:
        with trace.span("CHAIN", "pool") as span:
            now = pool.ranked()
            risen = {
                str(k): [entry.passage.id for entry in now[:k] if entry.passage.id not in were]
                for k in (5, 10)
                for were in [{entry.passage.id for entry in before[:k]}]
            }
            queries = {entry.passage.id: entry.query for entry in now[:5]}
            span.set(size=len(now), scale=pool.scale, mixed=pool.mixed, risen=risen, queries=queries)
            span.score((entry.passage.id, entry.score) for entry in now)

    @classmethod
    def _default(cls, name: str, settings: Mapping[str, Any]) -> Any:
        profile = cls.profiles.get(settings.get("profile", next(iter(cls.profiles), None)), {})
        return profile.get(name, cls.Settings.__dataclass_fields__[name].default)


def contents(entries: Sequence[Entry]) -> tuple[tuple[str, str], ...]:
    """The passages of entries as (title, text), for a Step."""
    return tuple((entry.passage.title, entry.passage.text) for entry in entries)


def said(result: Result) -> dict[str, str]:
    """The texts of a Step's output, by name."""
    value: BaseModel | None = result.value
    return {name: str(text) for name, text in value.model_dump().items()} if value else {}


def normal(query: str) -> str:
    """Queries of one normal form are one query."""
    return " ".join(query.casefold().split()).rstrip(" ?.!")
