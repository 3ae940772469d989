"""LightRAG: entities close to the concrete keywords of a question, relations close to its broad ones, and the passages
of both.

Follows "LightRAG: Simple and Fast Retrieval-Augmented Generation" (arXiv 2410.05779) as its code does (lightrag-hku
1.5.7: profile `current`) or did in early 2025 (`early`). The code fills a context and ranks no passages; here passages,
entities and relations keep the order in which it takes them, and its context is that of the evidence, whatever k is. As
in its graph, parallel relations are one edge. Where `current` differs from the code in which passages it takes, a
setting says so, and profile `released` does as the code.

Not included: reranking, the mode without retrieval, keywords given by the caller, and the mode `mix` of the early code,
which was two contexts side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench import tokens
from workbench.encoding.similarity import top
from workbench.errors import SettingError
from workbench.methods.base import Method
from workbench.methods.lightrag import context
from workbench.methods.lightrag.context import (
    COUNTED,
    PICKS,
    SCALE,
    UNUSED,
    Retrieved,
    interleaved,
    picked,
)
from workbench.methods.lightrag.graph import EdgeGraph, high_level, keywords_of, low_level
from workbench.records import Evidence
from workbench.settings import Cosine, Positive, Tokens, validated
from workbench.tokens import leading_texts
from workbench.trace import Trace

LEVELS = {  # mode: what is searched for
    "naive": (),
    "local": ("low",),
    "global": ("high",),
    "hybrid": ("high", "low"),
    "mix": ("high", "low"),
}
SHORT = 50  # characters; a shorter question without keywords is its own keyword
SPARE = 200  # tokens of the prompt that stay free


class LightRAG(Method):
    """Searches for entities and for relations, interleaved, with the passages of the results."""

    name = "lightrag"
    paper = "LightRAG (arXiv 2410.05779)"
    layers = ("passages", "typed")
    steps = ("keywords",)
    scale = SCALE
    profiles = {
        "current": {},
        "released": {"least_passage": 0.2, "quota": "own", "unused": "first"},
        "early": {
            "mode": "global", "top_k": 60, "entity_tokens": 4000, "relation_tokens": 4000, "least_passage": 0.2,
            "counted": "all",
        },
    }  # fmt: skip

    @validated
    class Settings:
        """mode               naive: passages close to the question; local: entities; global: relations; hybrid: both;
                           mix: all three
        top_k, least       maximum number of entities and of relations per search, and their least cosine
        entity_tokens, relation_tokens   caps of both tables; rows that are cut contribute no passage
        least_passage      least cosine of a passage that naive and mix take for itself (none: any)

        Only in `current` and `released`: `chunk_top_k`, the maximum number of passages; `related` and `pick` (vector,
        weight): how many passages an entity or edge contributes, and which; `quota`: whether these are granted to `all`
        edges that have passages, or to those with `own` ones, which no entity or earlier edge brings; `unused` places
        of `weight` go to the others in `turns`, or to the `first` that has more passages; `total_tokens` of the prompt,
        including `prompt_tokens` of instructions. Only in `early`: `text_tokens`, the cap of the passages of each side;
        `counted`: a passage of an entity is ordered by the neighbours that share it of the `first` entity that brings
        it, or of `all`."""

        profile: str = "current"
        mode: Literal[*LEVELS] = "mix"
        top_k: Positive = 40
        least: Cosine = 0.2
        entity_tokens: Tokens = 6000
        relation_tokens: Tokens = 8000
        chunk_top_k: Positive = 20
        related: Positive = 5
        pick: Literal[*PICKS] = "vector"
        least_passage: Cosine | None = None
        quota: Literal["all", "own"] = "all"
        unused: Literal[*UNUSED] = "turns"
        total_tokens: Tokens = 30_000
        prompt_tokens: Tokens = 1000
        text_tokens: Tokens = 4000
        counted: Literal[*COUNTED] = "first"

        def __post_init__(self):
            if (self.profile, self.mode) == ("early", "mix"):
                modes = ", ".join(mode for mode in LEVELS if mode != "mix")
                raise SettingError(f"mode='mix' is not available with profile=early; choose one of {modes}")

    def prepare(self) -> None:
        self._vectors = np.asarray(self.index.passages.vectors)
        self._graph = EdgeGraph(self.index)
        self._current = self.settings.profile != "early"
        self._layout = "lightrag" if self._current else "tables"
        if not LEVELS[self.settings.mode]:
            self.steps = ()  # naive asks for no keywords

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        chosen = self.settings
        words, failure = self.keywords(question, trace)
        # The early code gave up if one of the lists was empty.
        if words and not (any if self._current else all)(words.values()):
            why = failure or f"the question has no keywords for the mode {chosen.mode}"
            return context.nothing(question, self.label, why, self._layout)
        low = low_level(words.get("low", ""), self.index, self._graph, chosen.top_k, chosen.least, trace)
        high = high_level(words.get("high", ""), self.index, self._graph, chosen.top_k, chosen.least, trace)
        with trace.span("CHAIN", "context") as span:
            retrieved = self.merged(question, low, high) if self._current else self.early(question, low, high)
            span.set(entities=len(retrieved.entities), edges=len(retrieved.edges), passages=len(retrieved.passages))
        tables = context.tables(self._graph, retrieved, self._layout)
        return context.evidence(question, self.label, self._graph, retrieved, k, tables)

    def keywords(self, question: str, trace: Trace) -> tuple[dict[str, str], str | None]:
        """The keywords of each level that the mode searches, and why there are none, if their Step failed."""
        levels = LEVELS[self.settings.mode]
        if not levels:
            return {}, None
        words = keywords_of(question, self._graph, self.engine, trace)
        if self._current and not words.high and not words.low and len(question) < SHORT:
            words = words._replace(low=question)
        return {level: getattr(words, level) for level in levels}, words.failure

    def merged(self, question: str, low: Sequence[int], high: Sequence[int]) -> Retrieved:
        """Profiles `current` and `released`, from entities (`low`) and edges (`high`), best first."""
        graph, chosen = self._graph, self.settings
        entities = interleaved(low, graph.ends_of(high))
        entities = entities[: leading_texts(map(graph.entity_line, entities), chosen.entity_tokens, "\n")]
        edges = interleaved(graph.edges_of(low).tolist(), high)
        edges = edges[: leading_texts(map(graph.edge_line, edges), chosen.relation_tokens, "\n")]
        cosines = self._cosines(question)
        direct = self._direct(cosines, chosen.chunk_top_k) if chosen.mode in ("naive", "mix") else []
        of_entities = [graph.passages_of_entity(row) for row in entities]
        of_entities = picked(of_entities, cosines, chosen.related, chosen.pick, unused=chosen.unused)
        of_edges = [[row for row in graph.passages_of_edge(edge) if row not in of_entities] for edge in edges]
        own = chosen.quota == "own"
        of_edges = picked(of_edges, cosines, chosen.related, chosen.pick, own=own, unused=chosen.unused)
        passages = interleaved(direct, of_entities, of_edges)[: chosen.chunk_top_k]
        text = "\n".join([*map(graph.entity_line, entities), *map(graph.edge_line, edges), question])
        left = chosen.total_tokens - chosen.prompt_tokens - SPARE - tokens.count(text)
        return Retrieved(entities, edges, passages[: leading_texts(map(graph.passage_line, passages), left, "\n")])

    def early(self, question: str, low: Sequence[int], high: Sequence[int]) -> Retrieved:
        """Profile `early`: the results of the high level precede those of the low level."""
        graph, chosen = self._graph, self.settings
        if chosen.mode == "naive":
            nearest = self._direct(self._cosines(question), chosen.top_k)
            return Retrieved([], [], context.fitting(graph, nearest, chosen.text_tokens))
        caps = chosen.relation_tokens, chosen.entity_tokens, chosen.text_tokens
        sides = (
            context.global_side(graph, high, *caps),
            context.local_side(graph, low, chosen.relation_tokens, chosen.text_tokens, chosen.counted),
        )
        return Retrieved(*(list(dict.fromkeys([*first, *other])) for first, other in zip(*sides)))

    def _direct(self, cosines: np.ndarray, k: int) -> list[int]:
        """The passages closest to the question, whose cosine is at least `least_passage`."""
        nearest = top(cosines, k)
        least = self.settings.least_passage
        return (nearest if least is None else nearest[cosines[nearest] >= least]).tolist()

    def _cosines(self, question: str) -> np.ndarray:
        return self._vectors @ self.index.encode_query(question, "passages")
