"""Compression by similarity, for contexts whose entities and relations all touch the question (LightRAG): hops cannot
order them, similarity to the question can.

Units and lines of the tables are chosen by maximal marginal relevance (Carbonell and Goldstein, 1998): like the
question, unlike what is chosen already. Similarity is the cosine of TF-IDF vectors within the context, or of an
encoder's vectors. No sentence is said twice. What is kept stands in the order of the context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from workbench.encoding import Encoder, cached, encoder
from workbench.encoding.similarity import minmax
from workbench.reading.compression.base import made, size, tables
from workbench.reading.compression.budget_fill import BudgetFill, Line, line_of, page_within
from workbench.reading.compression.texts import Texts, empty_words, families, ranks, words
from workbench.records import Compressed, ContextGraph
from workbench.settings import Budget, NonNegative, Number, Share, changed, settle, spec_of, validated

GRAPH, TEXTS = "=== Entities and relationships ===", "=== Texts ==="


class Similarity:
    """Reduces a context to what resembles the question, no sentence twice: at most `budget` cl100k tokens.

    encoder        an encoder or its SPEC, for similarity of meaning, seconds for a context that is new to it (texts are
                   `cached`); None: words alone
    diversity      the weight of being unlike what is chosen, from 0 (nothing) to 1 (alone)
    order          the weight of the place in its table beside similarity (1); 0 where the order says nothing
    rank_constant  of the reciprocal ranks by which the two are added up
    lines          the share of the budget for lines of the tables, where not all texts fit; 0: none are shown
    """

    name = "similarity"
    paper = "maximal marginal relevance (Carbonell and Goldstein, 1998)"

    @validated
    class Settings:
        budget: Budget = 4_000
        encoder: Any = None
        diversity: Share = 0.2
        order: NonNegative = 1.0
        rank_constant: Annotated[Number, Field(ge=1)] = 20
        lines: Share = 0.1

    def __init__(self, **settings: Any):
        given = settle(self.name, self.Settings, settings)
        self.budget, self.encoder, self.diversity = given.budget, _encoder(given.encoder), given.diversity
        self.order, self.rank_constant, self.lines = given.order, given.rank_constant, given.lines
        label_settings = {key: getattr(value, "name", value) for key, value in changed(given).items()}
        self.label = spec_of(self.name, label_settings)

    def compress(self, question: str, context: ContextGraph | str) -> Compressed:
        """The units and lines that are most like the question. A text is read by the layout that it is in; DataError if
        it is in none."""
        graph = tables(context)
        texts = Texts((*graph.chunks, *graph.sources))
        lines = _lines(graph) if self.lines else []
        fill = BudgetFill(self.budget - sum(size(head + "\n\n") for head in (GRAPH, TEXTS)), texts.weights_of(question))
        chosen = [lines[at] for at in self._ranked(question, [line.text for line in lines])]
        by_rank = self._ranked(question, [text.text for text in texts.texts])

        def divide():
            """Lines by the names that they stand under, texts in their order."""
            lines = sorted(fill.lines, key=lambda line: line.rank)
            return lines, ((GRAPH, None, lines, ()), (TEXTS, None, (), sorted(fill.units)))

        page = page_within(fill, self.budget, graph, by_rank, texts.texts, chosen, self.lines, divide)
        return made(self, question, context, graph, page.graph, page.text, kept=page.kept)

    def _ranked(self, question: str, texts: Sequence[str]) -> list[int]:
        """Places of the texts, the best first."""
        if not texts:
            return []
        relevance, alike = self._similarities(question, texts)
        fused = [
            self.order / (self.rank_constant + place) + 1 / (self.rank_constant + by_relevance)
            for place, by_relevance in enumerate(ranks(relevance.tolist()))
        ]
        return marginal(minmax(np.array(fused)), alike, self.diversity)

    def _similarities(self, question: str, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Of each text to the question, and of the texts to each other: (n,), (n, n)."""
        if self.encoder is not None:
            vectors = self.encoder.encode(list(texts))
            return vectors @ self.encoder.encode_query(question, "passages"), vectors @ vectors.T
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectoriser = TfidfVectorizer(analyzer=_content, sublinear_tf=True)
        try:
            vectors = vectoriser.fit_transform(texts)
        except ValueError:  # no text has a content word
            return np.zeros(len(texts)), np.zeros((len(texts), len(texts)))
        vector = vectoriser.transform([question])
        return (vectors @ vector.T).toarray().ravel(), (vectors @ vectors.T).toarray()


def marginal(relevance: np.ndarray, alike: np.ndarray, diversity: float) -> list[int]:
    """The order of maximal marginal relevance: next is what has most of (1 - diversity) · relevance less diversity ·
    its similarity to the closest that went before; of equals the first.

    >>> twins = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> marginal(np.array([1.0, 0.9, 0.8]), twins, 0.5)
    [0, 2, 1]
    """
    closest = np.zeros(len(relevance))
    left = np.ones(len(relevance), dtype=bool)
    order = []
    for _ in range(len(relevance)):
        gain = np.where(left, (1 - diversity) * relevance - diversity * closest, -np.inf)
        best = int(gain.argmax())
        order.append(best)
        left[best] = False
        closest = np.maximum(closest, alike[best])
    return order


def _content(text: str) -> list[str]:
    return families(word for word in words(text) if word not in empty_words())


def _encoder(given: Encoder | str | None) -> Encoder | None:
    return given and cached(encoder(given) if isinstance(given, str) else given)


def _lines(graph: ContextGraph) -> list[Line]:
    entities = [line_of(row, (at,), row.name) for at, row in enumerate(graph.entities) if row.description]
    return entities + [line_of(row, (at,), row.source) for at, row in enumerate(graph.relations, len(graph.entities))]
