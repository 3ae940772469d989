"""The ball, a baseline: everything within a few edges of the entities named in a question. The gain of another method
over it is due to selection.

An entity is linked by its name in the question, unless the name is part of the question phrase ("which film"), or by
similarity if the question names none."""

from __future__ import annotations

import numpy as np

from workbench.encoding.similarity import top
from workbench.language.entity_types import names_meant
from workbench.methods.base import Method
from workbench.operators.linking import named
from workbench.operators.region import region
from workbench.records import Evidence, ranked
from workbench.settings import Cosine, Natural, Positive, validated
from workbench.text import storable
from workbench.trace import Trace

TRACED = 10  # entities that an event of the trace lists


class Ball(Method):
    """Entities by distance, then by similarity to the question; their passages by similarity."""

    name = "ball"
    paper = "none: the graph around the question's entities"
    layers = ("passages", "typed")
    scale = "cosine"

    @validated
    class Settings:
        """hops             maximum distance from the linked entities
        sources, tau     if no entity is named: how many are linked by similarity, and the least cosine
        most             maximum number of entities; the trace states how many were left out"""

        hops: Natural = 2
        sources: Positive = 5
        tau: Cosine = 0.6
        most: Positive = 20_000

    def prepare(self) -> None:
        self._typed, self._passages = self.index.typed, self.index.passages
        self._vectors = np.asarray(self._passages.vectors)
        self._types = frozenset(self._typed.types)
        self._relations = self._typed.relations

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        typed = self._typed
        cosines = typed.entity_vectors @ self.index.encode_query(question, "entities")
        linked, fallback = self.link(question, cosines, trace)
        with trace.span("CHAIN", "neighbourhood", hops=self.settings.hops) as span:
            part = region(typed, linked, self._types, self.settings.hops, None)
            order = np.lexsort((part.rows, -cosines[part.rows], part.hops))
            nodes = part.rows[order][: self.settings.most]
            span.set(sizes=part.sizes(), kept=len(nodes), left_out=len(order) - len(nodes))
            span.score((typed.names[row], cosines[row]) for row in nodes[:TRACED].tolist())
        rows = np.unique(typed.stated[nodes].indices)
        near = self._vectors[rows] @ self.index.encode_query(question, "passages")
        best = top(near, k)
        return Evidence(
            question,
            self.label,
            self.scale,
            ranked([self._passages.passages[row] for row in rows[best].tolist()], near[best]),
            entities=ranked([typed.entities[row] for row in nodes.tolist()], cosines[nodes]),
            fallback=fallback,
        )

    def link(self, question: str, cosines: np.ndarray, trace: Trace) -> tuple[list[int], str | None]:
        """Rows of the entities at the centre of the ball, and the reason if none is named or similar enough."""
        with trace.span("RETRIEVER", "link names") as span:
            spans = named(self._typed, question)
            about = set(names_meant(storable(question), [words for words, _ in spans], self._relations))
            linked, fallback = list(dict.fromkeys(row for words, row in spans if words in about)), None
            if not linked:
                near = top(cosines, self.settings.sources)
                linked = near[cosines[near] >= self.settings.tau].tolist()
                if not linked:
                    linked = near[:1].tolist()
                    fallback = f"the nearest entity, since none is named and none has a cosine of {self.settings.tau}"
            span.set(named={words: self._typed.names[row] for words, row in spans})
            span.score((self._typed.names[row], cosines[row]) for row in linked)
        return linked, fallback
