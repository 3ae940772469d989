"""Reader `global`: the answer from the reports on all communities of an index (Microsoft GraphRAG's global search,
arXiv 2404.16130; microsoft/graphrag, commit 6dad6d2). It reads no passage and does not look at the evidence.

Reports of one level, each entity in one of them, are shuffled and dealt out to as many calls of `global_map` as it
takes; the points that these find, the most important first, are what `global_reduce` answers from. The order within a
call is by the share of the passages that a community is mentioned in. Left out: the choice of communities by a model
(dynamic selection).

Reader `local`: reports, entities, relationships and passages in one context, a short answer (Microsoft GraphRAG's
local search, arXiv 2404.16130; microsoft/graphrag, commit 6dad6d2).

It reads whatever the evidence holds of these: all four from the method `graphrag`, passages alone from `dense`. Each
table (`workbench.layouts.graphrag`) has its share of the budget and is filled in the order of the evidence, up to the
first row that does not fit. Left out: conversation history, claims, the source's markdown report; the prompts are those
of all readers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench import tokens
from workbench.errors import IndexFault, SettingError
from workbench.index.communities import mentions, text_units
from workbench.layouts import graphrag
from workbench.layouts.evidence import tables_of
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.step import Result, Step
from workbench.llm.window import room_beside
from workbench.reading import base
from workbench.reading.base import settled, trace_of
from workbench.reading.render import Context, Contexts
from workbench.records import Answer, ContextEntity, Evidence, Record
from workbench.settings import Budget, Natural, Share, spec_of, validated
from workbench.steps import reporting
from workbench.steps.answer import Mode
from workbench.trace import Trace

if TYPE_CHECKING:
    from workbench.index import Index

SEED = 86  # of the released code


class Global(Record):
    """Reads the reports of `level`, or coarser where an entity has none so fine; at most `budget` tokens a call. With
    `mode=open` the last call answers from the model's own knowledge what the reports do not hold."""

    name = "global"
    paper = "From Local to Global (arXiv 2404.16130)"
    reads_index = True
    reads = ("communities",)
    steps = ("global_map", "global_reduce")

    @validated
    class Settings:
        level: Natural = 2
        budget: Budget = 12_000
        mode: Mode = "reject"

    @classmethod
    def asked(cls, settings: Settings) -> tuple[str, ...]:
        """Names of the Steps that are asked, whatever the settings."""
        return cls.steps

    def __init__(self, engine: Engine | None = None, *, index: Index | None = None, **settings: Any):
        if index is None:
            raise SettingError(
                "the reader 'global' reads the reports of an index; pass it: wb.reader('global', engine, index=index)"
            )
        given, changed = settled(type(self), settings)
        self.engine, self.level, self.mode = engine or RulesEngine(), given.level, given.mode
        self._budget = given.budget
        self.index = index.ensure(["communities"], engine)
        if not self.index.communities.reports:
            raise IndexFault(
                f"{self.index.folder} has no report on a community to read; build the layer 'communities' with a "
                "smaller min_members, or with another engine if reports failed"
            )
        self.label = spec_of(self.name, changed)

    @cached_property
    def budget(self) -> int:
        """Tokens of reports that a call reads: as set, or as many as the window of the engine holds."""
        window = getattr(self.engine, "window", None)
        if window is None:
            return self._budget
        of_map = room_beside(reporting.MAP, reporting.MapInput("", "", ()), window)
        of_reduce = room_beside(self._reduce, reporting.ReduceInput("", "", (), self.mode), window)
        return max(1, min(self._budget, of_map, of_reduce))

    @property
    def limits(self) -> dict[str, int]:
        """Settings that the window of the engine makes smaller."""
        return {"budget": self.budget} if self.budget < self._budget else {}

    @cached_property
    def batches(self) -> list[reporting.MapInput]:
        """What each call of `global_map` reads; the question is still to be filled in."""
        layer = self.index.communities
        ids = [id for id in layer.rolled_up(self.level) if id in layer.reports]
        random.Random(SEED).shuffle(ids)
        mentioned = mentions(self.index.facts, len(self.index.passages.passages))
        units = text_units([layer.communities[id] for id in ids], mentioned)
        share = dict(zip(ids, (units.indptr[1:] - units.indptr[:-1]).tolist()))
        blocks = {id: f"-----Report {id}-----\n{layer.reports[id].content}" for id in ids}
        batches = []
        for some in _dealt(blocks, self.budget):
            some.sort(key=lambda id: (-share[id], -layer.reports[id].rating, id))
            reports = tuple((layer.reports[id].title, layer.reports[id].text) for id in some)
            batches.append(reporting.MapInput("", "\n\n".join(blocks[id] for id in some), reports))
        return batches

    @property
    def reports(self) -> int:
        """The number of reports that are read; one longer than `budget` is skipped."""
        return sum(len(batch.reports) for batch in self.batches)

    @cached_property
    def _reports(self) -> Context:
        """All the reports that are read, the same for every question; no passage is."""
        text = "\n\n".join(batch.context for batch in self.batches)
        return Context(text, tokens.count(text), ())

    def contexts(self, evidence: Evidence) -> Contexts:
        """The reports, which no compressor cuts."""
        return Contexts(self._reports)

    def context(self, evidence: Evidence) -> Context:
        """All the reports that are read."""
        return self._reports

    def read(
        self, question: str, evidence: Evidence, *, contexts: Contexts | None = None, trace: Trace | None = None
    ) -> Answer:
        """The answer; its thought is the response in full."""
        trace = trace_of(evidence, trace)
        with trace.span("CHAIN", self.label, question=question, reports=self.reports) as span:
            fields = self._answered(question, trace)
            answer = Answer(question, reader=self.label, engine=self.engine.name, trace=trace, **fields)
            span.set(answer=answer.text, abstained=answer.abstained)
        return answer

    def _answered(self, question: str, trace: Trace) -> dict[str, Any]:
        """The fields of the answer: map over the reports, then reduce."""
        inputs = [reporting.MapInput(question, batch.context, batch.reports) for batch in self.batches]
        with trace.span("CHAIN", "map", calls=len(inputs)) as span:
            results = self.engine.run(reporting.MAP, inputs, trace=trace)
            points = _points(results)
            failed = [result for result in results if result.failure]
            span.set(points=len(points), failures=len(failed))
        if failed and len(failed) == len(results):
            return {"text": "", "failure": failed[0].failure, "reply": failed[0].text}
        if not points and self.mode == "reject":
            return {"text": "", "abstained": True, "thought": "no report says anything towards the question"}
        with trace.span("CHAIN", "reduce", points=len(points)):
            inputs = reporting.ReduceInput(question, *_packed(points, self.budget), self.mode)
            (result,) = self.engine.run(self._reduce, [inputs], trace=trace)
        if result.failure:
            return {"text": "", "failure": result.failure, "reply": result.text}
        output = result.value
        text = "" if output.abstained else output.answer
        return {"text": text, "abstained": output.abstained, "thought": output.response}

    @property
    def reworded(self) -> tuple[Step, ...]:
        """The reader's Step whose messages differ from the catalogue's."""
        return (self._reduce,) if self.mode == "open" else ()

    @property
    def _reduce(self) -> Step:
        return reporting.REDUCE.opened if self.mode == "open" else reporting.REDUCE

    def __repr__(self) -> str:
        return f"{self.label} over {self.index.name!r} with engine {self.engine.name}"


def _dealt(blocks: dict[int, str], budget: int) -> Iterator[list[int]]:
    """Ids in their order, as many at a time as fit; a text that does not fit by itself is left out."""
    some, used = [], 0
    for id, block in blocks.items():
        size = tokens.count(block + "\n\n")
        if size > budget:
            continue
        if used + size > budget:
            yield some
            some, used = [], 0
        some.append(id)
        used += size
    if some:
        yield some


def _points(results: list[Result]) -> list[tuple[int, float, str]]:
    """(analyst, score, description), best first, without points of score 0."""
    points = [
        (analyst, point.score, point.description)
        for analyst, result in enumerate(results, 1)
        if result.value is not None
        for point in result.value.points
        if point.score > 0
    ]
    return sorted(points, key=lambda point: -point[1])


def _packed(points: list[tuple[int, float, str]], budget: int) -> tuple[str, tuple[str, ...]]:
    """The text that holds as many points as fit, and these."""
    blocks = [f"-----Analyst {analyst}-----\nImportance: {score:g}\n{text}" for analyst, score, text in points]
    packed, _ = tokens.leading(blocks, lambda block, _: tokens.count(block + "\n\n"), budget)
    return "\n\n".join(packed), tuple(text for _, _, text in points[: len(packed)])


class Local(base.ContextReader):
    """Reads at most `budget` tokens: `reports` and `sources` (passages) are shares of it, entities and relationships
    have the rest; at most `entities` entities."""

    name = "local"
    paper = "From Local to Global (arXiv 2404.16130)"

    @validated
    class Settings(base.Settings):
        budget: Budget = 12_000
        reports: Share = 0.15
        sources: Share = 0.5
        entities: Natural = 20

        def __post_init__(self):
            base.check_shares(self, "reports", "sources")

    def uncompressed(self, evidence: Evidence) -> Context:
        given, held = self.settings, tables_of(evidence)
        entities = tuple(
            ContextEntity(entity.name, entity.description or entity.type)
            for entity, _ in evidence.entities[: given.entities]
        )
        graph = graphrag.filled(replace(held, entities=entities), given.budget, given.reports, given.sources)
        text = graphrag.write(graph)
        passages = tuple(passage for passage, _ in evidence.passages[: len(graph.chunks)])
        return Context(text, tokens.count(text), passages)
