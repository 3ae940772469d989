"""Knowledge trees in memory: what the tests of Youtu-GraphRAG's agent stand on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from tiny import TinyEncoder
from typed_graphs import TypedGraph

from workbench.data.graph import Attribute as SchemaAttribute
from workbench.index.typed import _ones
from workbench.llm.call import Reply
from workbench.llm.engine import note
from workbench.llm.meter import Meter
from workbench.llm.parse import Unreadable, parse
from workbench.llm.step import Result, Step, Usage
from workbench.records import Passage


class Attribute(NamedTuple):
    entity: int
    type: str
    value: str

    @property
    def text(self) -> str:
        return f"{self.type}: {self.value}"


class SchemaGraph(TypedGraph):
    """`stated`: (head, relation, tail) → ids of passages; `attributes`: (entity, type, value) → the same."""

    def __init__(self, types, stated, attributes, passages: Sequence[Passage], encoder):
        super().__init__(types, list(stated), encoder)
        row = {passage.id: at for at, passage in enumerate(passages)}
        self._passages, self._stated = len(passages), [[row[id] for id in ids] for ids in stated.values()]
        self.attributes = sorted(Attribute(self.row[name], kind, value) for name, kind, value in attributes)
        by_text = {(self.row[name], kind, value): ids for (name, kind, value), ids in attributes.items()}
        self._attributed = [[row[id] for id in by_text[one]] for one in self.attributes]
        self.entity_vectors = encoder.encode(self.names)
        self.relation_vectors = _encoded(encoder, [" ".join(triple) for triple in stated])
        texts = [f"{self.names[one.entity]} has_attribute {one.text}" for one in self.attributes]
        self.attribute_vectors = _encoded(encoder, texts)
        kinds = sorted({one.type for one in self.attributes})
        self.schema = SimpleNamespace(
            entity_types=self.schema.entity_types,
            relations=self.schema.relations,
            attributes=tuple(SchemaAttribute(kind, "", (), "text") for kind in kinds),
        )

    @property
    def relation_stated(self):
        return _held(self._stated, self._passages)

    @property
    def attribute_stated(self):
        return _held(self._attributed, self._passages)

    @property
    def stated(self):
        ends = self.incidence @ self.relation_stated
        of = _ones(
            np.array([one.entity for one in self.attributes], int), np.arange(len(self.attributes)),
            (len(self.names), len(self.attributes)),
        )  # fmt: skip
        found = sp.csr_array(ends + of @ self.attribute_stated)
        found.data[:] = 1
        found.sort_indices()
        return found


class Tree(NamedTuple):
    """Communities with members and names: `named` id → name and summary."""

    communities: list
    named: Mapping[int, SimpleNamespace]
    community_ids: list[int]
    community_vectors: np.ndarray


class TreeIndex:
    """As much of an index as the method reads."""

    name = "small"

    def __init__(self, types, stated, attributes=(), communities=(), passages=(), encoder=None):
        self.encoder = encoder or TinyEncoder()
        attributes = dict(attributes)
        ids = list(dict.fromkeys(id for part in (stated, attributes) for ids in part.values() for id in ids))
        passages = list(passages) or [Passage(id, id, f"Text of {id}.") for id in ids]
        self.schema_graph = SchemaGraph(types, stated, attributes, passages, self.encoder)
        texts = [passage.content for passage in passages]
        self.passages = SimpleNamespace(
            passages=passages, row={one.id: at for at, one in enumerate(passages)}, vectors=self.encoder.encode(texts)
        )
        self.tree = _tree(self.schema_graph, communities, self.encoder)
        self.asked: list[str] = []

    def ensure(self, layers, engine=None):
        return self

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        return self.encoder.encode([text])[0]

    def encode(self, texts):
        return self.encoder.encode(texts)


def _tree(graph: SchemaGraph, communities, encoder) -> Tree:
    """`communities`: (name, summary, members, keywords)."""
    rows = [
        SimpleNamespace(
            id=at, members=tuple(graph.row[one] for one in members), keywords=tuple(graph.row[one] for one in central)
        )
        for at, (_, _, members, central) in enumerate(communities)
    ]
    named = {at: SimpleNamespace(name=name, summary=said) for at, (name, said, *_) in enumerate(communities)}
    texts = [f"{one.name}: {one.summary}" for one in named.values()]
    return Tree(rows, named, list(named), _encoded(encoder, texts))


def _encoded(encoder, texts: Sequence[str]) -> np.ndarray:
    return encoder.encode(texts) if texts else np.zeros((0, encoder.dimension), np.float32)


def _held(rows: Sequence[Sequence[int]], columns: int):
    ends = [(at, one) for at, ones in enumerate(rows) for one in ones]
    found = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return _ones(found[:, 0], found[:, 1], (len(rows), columns))


class WordEncoder:
    """One axis for each word: the cosine of two texts of different words is shared / √(m n)."""

    name, dimension = "words", 96

    def __init__(self):
        self._axes: dict[str, int] = {}

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()) or ["?"]:
                vectors[row, self._axes.setdefault(word, len(self._axes) % self.dimension)] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Scripted:
    """An engine that says what it is told: Step → replies, in turn, the last one again; any other Step abstains. Each
    reply is read as that of a model."""

    name, workers = "scripted", 1

    def __init__(self, **replies: Sequence[str]):
        self.meter, self.replies, self.asked = Meter(), {step: list(said) for step, said in replies.items()}, []

    def run(self, step: Step, inputs: Sequence, *, trace=None) -> list[Result]:
        results = [self._said(step, value) for value in inputs]
        note(trace, self.name, step, results)
        return results

    def _said(self, step: Step, value) -> Result:
        self.asked.append((step.name, value))
        said = self.replies.get(step.name, ["Thought: nothing is known.\nAnswer: unknown"])
        reply = said.pop(0) if len(said) > 1 else said[0]
        try:
            value, level = parse(step, Reply(reply))
        except Unreadable as error:
            usage = Usage(calls=1, failed=1)
            self.meter.add(step.name, usage)
            return Result(None, failure=str(error), text=reply, usage=usage)
        self.meter.add(step.name, Usage(calls=1))
        return Result(value, parse=level, text=reply, usage=Usage(calls=1))
