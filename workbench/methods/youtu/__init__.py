"""Youtu-GraphRAG: an agent decomposes a question by the schema of a knowledge tree, and searches the tree in four ways.

Follows "Youtu-GraphRAG" (profile `paper`; docs/youtu.md says what the paper leaves open, and what we chose) and its
code (TencentCloudADP/youtu-graphrag, d982b5a; profile `released`):

    sub-questions, involved types = decompose(question, schema)        one request
    for each sub-question, side by side:
        triples   = entity route + triple route + community route + path route      filtered by the involved types
        the K best triples, each once; passages by the best of their own cosine and their triples
    a0 = answer(question, evidence)                                    agent only
    up to 5 rounds: reflect(question, evidence, thoughts)              stops with an answer, or names the next query,
                                                                       whose routes add to the evidence
    evidence of all queries, ranked, for a reader to answer from

Where the paper ablates, a setting does: `agent=false`, `schema=false` (decomposition and filter without it; the layer
`schema_graph` has its own setting for the construction), `community=false` (levels 3 and 4), and one for each other
route."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from workbench.layouts import youtu as layout
from workbench.methods.base import Method
from workbench.methods.youtu.context import Gathered, Knowledge, Reflection, evidence_of
from workbench.methods.youtu.released import Released
from workbench.methods.youtu.routed import Decomposition
from workbench.methods.youtu.routes import SUB_QUESTION, Tree
from workbench.operators.linking import named
from workbench.records import Evidence
from workbench.settings import NonNegative, Positive, Share, validated
from workbench.steps import sub_questions
from workbench.text import storable
from workbench.trace import Trace

SCALES = {"paper": "minmax-cosine", "released": "1/rank"}


class Decomposed(NamedTuple):
    """The sub-questions, the types of the graph that they involve, and why there is only the question itself."""

    sub_questions: tuple[str, ...]
    types: frozenset[str] = frozenset()
    failure: str | None = None


class Youtu(Method):
    """Decomposition with the schema, four routes through the knowledge tree, reflection."""

    name = "youtu"
    paper = "Youtu-GraphRAG"
    layers = ("passages", "schema_graph", "tree")
    steps = ("sub_questions", "answer", "reflect")
    scale = SCALES["paper"]
    profiles: Mapping = {"paper": {}, "released": {"type_filter": "hard", "depth": 2, "sub_questions": 10}}

    @validated
    class Settings:
        """agent            whether it reflects, for at most `max_steps` rounds
        sub_questions    at most so many; a decomposition that fails leaves the question itself
        schema           whether the decomposition sees the schema, and its types filter
        entity, triple, community, path   whether the route is taken; in `released` the last two change nothing
        type_filter      entities of other types count `type_penalty` times (`soft`), not at all (`hard`), or as all
                         (`off`)
        top_k            K: entities and triples of a route, triples and passages that stay of a query and in the end
        top_communities  communities of a query; triples of their members count `gamma` times
        path_seeds, depth, visits, paths   of the path route: where it starts, edges of a path, limits of a query
        shown            passages that the Steps see
        top_k_filter     only in `released`: triples and passages of all sub-questions together"""

        profile: str = "paper"
        agent: bool = True
        max_steps: Positive = 5
        sub_questions: Positive = 4
        schema: bool = True
        entity: bool = True
        triple: bool = True
        community: bool = True
        path: bool = True
        type_filter: Literal["soft", "hard", "off"] = "soft"
        type_penalty: Share = 0.8
        top_k: Positive = 20
        top_communities: Positive = 5
        gamma: NonNegative = 0.9
        path_seeds: Positive = 10
        depth: Positive = 5
        visits: Positive = 10_000
        paths: Positive = 200
        shown: Positive = 10
        top_k_filter: Positive = 20

    def prepare(self) -> None:
        self.scale = SCALES[self.settings.profile]
        self._tree = (Released if self.settings.profile == "released" else Tree)(self.index, self.settings)
        self._graph, self._schema = self.index.schema_graph, self.index.schema_graph.schema

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        decomposed = self.decompose(question, trace)
        gathered = Gathered(self._tree, question)
        self.look_up(gathered, decomposed.sub_questions, SUB_QUESTION, decomposed.types, trace)
        notes = [f"the decomposition failed: {decomposed.failure}"] if decomposed.failure else []
        if self.settings.agent:
            notes += self.reflect(question, gathered, trace)
        return evidence_of(gathered, self.label, self.scale, k, notes, trace)

    def decompose(self, question: str, trace: Trace) -> Decomposed:
        """The sub-questions of a question, with the types that they involve; one request."""
        with Decomposition.open(trace) as write:
            (result,) = self.engine.run(sub_questions.STEP, [self._to_decompose(question)], trace=trace)
            if result.failure:
                write(sub_questions=(question,), failure=result.failure)
                return Decomposed((question,), failure=result.failure)
            questions = tuple(result.value.sub_questions[: self.settings.sub_questions])
            involved = result.value.involved_types
            types = self._tree.typed(involved.entity_types) if self.settings.schema else frozenset()
            write(sub_questions=questions, **involved.model_dump(), matched=tuple(sorted(types)))
        return Decomposed(questions, types)

    def _to_decompose(self, question: str) -> sub_questions.Input:
        question, most = storable(question), self.settings.sub_questions
        if not self.settings.schema:
            return sub_questions.Input(question, most=most)
        parts = (self._schema.entity_types, self._schema.relations, self._schema.attributes)
        names = (tuple(item.name for item in part) for part in parts)
        met = tuple((span, self._graph.types[row]) for span, row in named(self._graph, question))
        return sub_questions.Input(question, *names, most, met)

    def look_up(
        self, gathered: Gathered, queries: Sequence[str], origin: str, types: frozenset[str], trace: Trace
    ) -> None:
        """Search for some queries side by side: their cosines come from one pass over the vectors."""
        for query, cosines in zip(queries, self._tree.cosines(queries)):
            gathered.add(self._tree.search(query, origin, cosines, types, trace))

    def reflect(self, question: str, gathered: Gathered, trace: Trace) -> list[str]:
        """Rounds of reflection, which add to the evidence; what went wrong, in words. A round's query is filtered by no
        types."""
        loop = Reflection(
            self.engine,
            question,
            [search.query for search in gathered.results],
            self.settings.profile == "released",
            trace,
        )
        loop.run(
            self.settings.max_steps,
            lambda: self._knowledge(gathered),
            lambda query, origin: self.look_up(gathered, [query], origin, frozenset(), trace),
        )
        return loop.notes

    def _knowledge(self, gathered: Gathered) -> Knowledge:
        graph = gathered.graph(self.settings.shown)
        return Knowledge(layout.write(graph), tuple((unit.title, unit.text) for unit in graph.chunks))


__all__ = ["Decomposed", "Youtu"]
