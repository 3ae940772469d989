"""What all stages of DotRAG read: the index, the prompts' view of its graph, and its paths in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.llm.step import Result, Step
from workbench.methods.dotrag.events import Hop, JudgedPath, Rows
from workbench.trace import Trace


class DotContext:
    """The index, the engine, the settings, and what the prompts say of the graph."""

    def __init__(self, index: Index, engine: Engine, settings):
        self.index, self.typed, self.engine, self.settings = index, index.typed, engine, settings
        schema, counts = self.typed.schema, self.typed.type_counts
        self.about = schema.description
        self.types = tuple((t.name, t.definition, counts.get(t.name, 0)) for t in schema.entity_types)
        self.relations = self.typed.relations

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit rows, float32, one per text."""
        return self.index.encode(texts)

    def encode_question(self, question: str) -> np.ndarray:
        return self.index.encode_query(question, "passages")

    def ask(self, step: Step, value, trace: Trace) -> Result:
        return self.engine.run(step, [value], trace=trace)[0]

    def label(self, relation: int) -> str:
        """The name of a relation (row), or its keywords where it has none."""
        return self.typed.labels[relation] or ", ".join(self.typed.keywords[relation])

    def stating(self, relations: Iterable[int]) -> tuple[str, ...]:
        """Ids of the passages that state one of the relations (rows)."""
        rows = columns(self.typed.relation_stated, relations)
        return tuple(self.index.passages.passages[row].id for row in rows)


class PathReader:
    """Reads paths off the graph for one question. Each hop is read once, as most paths share theirs."""

    def __init__(self, context: DotContext, question: str):
        self._context, self._typed, self._question = context, context.typed, question
        self._hops: dict[tuple[int, int], _HopRead] = {}

    def path(self, id: str, entities: Rows, query_similarity: float) -> JudgedPath:
        """The path through these entities (rows): the chain of their names, then what is said of each hop.

        Its `similarity` is the mean over the hops of the best cosine of the question and a relation of the hop, both of
        stored vectors: nothing is encoded for a path. It is the question and not the query of the iteration, so that
        confidences of different iterations, which are compared in the end, mean the same."""
        hops = [self._hops.get(pair) or self._hop(*pair) for pair in pairwise(entities)]
        names = tuple(self._typed.names[row] for row in entities)
        return JudgedPath(
            id,
            f"{' → '.join(names)}: {' '.join(hop.text for hop in hops)}",
            names,
            tuple(self._typed.types[row] for row in entities),
            tuple(hop.relations for hop in hops),
            sum(hop.similarity for hop in hops) / len(hops),
            query_similarity,
            entities=entities,
            facts=tuple(hop.rows for hop in hops),
        )

    def _hop(self, here: int, there: int) -> _HopRead:
        rows = self._typed.between(here, there)
        cosines = self._typed.relation_vectors[rows] @ self._vector
        if self._context.settings.parallel == "best":
            rows = [rows[int(np.argmax(cosines))]]
        relations = dict.fromkeys((self._context.label(row), bool(self._typed.sources[row] == here)) for row in rows)
        text = " ".join(dict.fromkeys(map(self._text, rows)))
        hop = self._hops[here, there] = _HopRead(tuple(rows), tuple(relations), text, float(cosines.max()))
        return hop

    def _text(self, relation: int) -> str:
        typed = self._typed
        if typed.told[relation]:
            return typed.told[relation][: self._context.settings.description_chars]
        ends = typed.names[typed.sources[relation]], typed.names[typed.targets[relation]]
        return " - ".join(part for part in (ends[0], self._context.label(relation), ends[1]) if part)

    @cached_property
    def _vector(self) -> np.ndarray:
        return self._context.encode_question(self._question)


class _HopRead(NamedTuple):
    """An edge of a path: the relations (rows) that join its ends, as labels with their directions, as text, and the
    cosine of the question and the most similar of them."""

    rows: Rows
    relations: Hop
    text: str
    similarity: float


def columns(table: sp.csr_array, rows: Iterable[int]) -> np.ndarray:
    """The columns in which some of these rows are not 0, ascending. Slicing the table costs a hundred times as much."""
    found = [table.indices[table.indptr[row] : table.indptr[row + 1]] for row in rows]
    return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)
