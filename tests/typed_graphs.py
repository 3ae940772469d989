"""Typed graphs in memory, and engines that say what they are told: what tests of DotRAG stand on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import numpy as np
from tiny import TinyEncoder

from workbench.data.graph import EntityType, Relation, Schema
from workbench.index.typed import TypedLayer, _ones
from workbench.records import Passage


class TypedGraph(TypedLayer):
    """A typed layer of no folder. `types`: name → type; `triples`: (source, label, target); every entity is described
    from one passage of its own name, which states the relations that it is the source of."""

    def __init__(self, types: Mapping[str, str], triples: Sequence[tuple[str, str, str]], encoder=None, told=True):
        encoder = encoder or TinyEncoder()
        self.names = sorted(types)
        self.types = [types[name] for name in self.names]
        self.descriptions = [f"{name} is a {types[name]}." if told else "" for name in self.names]
        self.row = {name: at for at, name in enumerate(self.names)}
        self.sources = np.array([self.row[source] for source, _, _ in triples], dtype=np.int32)
        self.targets = np.array([self.row[target] for _, _, target in triples], dtype=np.int32)
        self.labels = [label for _, label, _ in triples]
        self.relation_descriptions = [" ".join(triple) + "." if told else "" for triple in triples]
        self.keywords = [label.split() for label in self.labels]
        self.weights = np.ones(len(triples), dtype=np.float32)
        self.type_counts = dict(Counter(self.types).most_common())
        self.schema = Schema(
            tuple(EntityType(name, f"a {name}") for name in sorted(self.type_counts)),
            tuple(
                Relation(
                    label,
                    "",
                    *(tuple(sorted({types[triple[at]] for triple in triples if triple[1] == label})) for at in (0, 2)),
                )
                for label in sorted(set(self.labels))
            ),
            description="A small graph.",
        )
        texts = [f"{name}\n{said}" for name, said in zip(self.names, self.descriptions)]
        self.entity_vectors = encoder.encode(texts)
        said = [f"{label}\t{source}\n{target}\n" for source, label, target in triples]
        self.relation_vectors = encoder.encode(said) if said else np.zeros((0, encoder.dimension), np.float32)

    def _links(self, what: str, rows: int):
        passages = np.arange(len(self.names)) if what == "entity" else self.sources
        return _ones(np.arange(rows), passages, (rows, len(self.names)))

    def __repr__(self) -> str:
        return "TypedGraph"


class GraphIndex:
    """As much of an index as a method over `passages` and `typed` asks for."""

    name = "graph"

    def __init__(self, typed: TypedGraph, encoder=None):
        self.typed, self.encoder = typed, encoder or TinyEncoder()
        passages = [Passage(f"p:{name}", name, said) for name, said in zip(typed.names, typed.descriptions)]
        vectors = self.encoder.encode([passage.content for passage in passages])
        self.passages = SimpleNamespace(
            passages=passages, vectors=vectors, row={p.id: i for i, p in enumerate(passages)}
        )

    def ensure(self, layers, engine):
        return self

    def encode(self, texts):
        return self.encoder.encode(texts)

    def encode_query(self, text, task=""):
        return self.encoder.encode([text])[0]


def verdict(path, label, next_question="", confidence=0.5):
    return {"id": path.id, "label": label, "confidence": confidence, "justification": "told",
            "next_question": next_question}  # fmt: skip
