"""Paths in words, for the judge and the trace."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.methods.dotrag.parts import Ground, Nodes
from workbench.steps.judge_paths import PathShown


class Hop(NamedTuple):
    """An edge of a path: the relations (rows) that join its ends; each as (label, whether the hop goes its way); what
    they say; the cosine of the question and the most similar of them."""

    relations: tuple[int, ...]
    shown: tuple[tuple[str, bool], ...]
    says: str
    similarity: float


class Wording:
    """Puts paths into words for one question. Each hop is read once, as most paths share theirs."""

    def __init__(self, ground: Ground, question: str):
        self._ground, self._typed, self._question = ground, ground.typed, question
        self._read: dict[tuple[int, int], Hop] = {}

    def names(self, nodes: Nodes) -> list[str]:
        return [self._typed.names[row] for row in nodes]

    def traced(self, nodes: Nodes) -> dict[str, list]:
        """Names of the nodes, and of each hop the labels and whether the hop goes their way."""
        return {"nodes": self.names(nodes), "relations": [hop.shown for hop in self.hops(nodes)]}

    def passage(self, nodes: Nodes) -> str:
        """The chain of names, then what is said of each hop."""
        return f"{' → '.join(self.names(nodes))}: {' '.join(hop.says for hop in self.hops(nodes))}"

    def shown(self, id: str, nodes: Nodes) -> PathShown:
        """What the judge is given.

        `similarity` is the mean over the hops of the best cosine of the question and a relation of the hop, both of
        stored vectors: nothing is encoded for a path. It is the question and not the query of the iteration, so that
        confidences of different iterations, which are compared in the end, mean the same."""
        hops = self.hops(nodes)
        types = tuple(self._typed.types[row] for row in nodes)
        similarity = sum(hop.similarity for hop in hops) / len(hops)
        relations = tuple(hop.shown for hop in hops)
        return PathShown(id, self.passage(nodes), tuple(self.names(nodes)), types, relations, similarity)

    def hops(self, nodes: Nodes) -> list[Hop]:
        return [self._read.get(pair) or self._hop(*pair) for pair in pairwise(nodes)]

    def label(self, relation: int) -> str:
        """The name of a relation (row), or its keywords where it has none."""
        return self._typed.labels[relation] or ", ".join(self._typed.keywords[relation])

    def _hop(self, here: int, there: int) -> Hop:
        rows = self._typed.between(here, there)
        cosines = self._typed.relation_vectors[rows] @ self._vector
        if self._ground.settings.parallel == "best":
            rows = [rows[int(np.argmax(cosines))]]
        shown = dict.fromkeys((self.label(row), bool(self._typed.sources[row] == here)) for row in rows)
        says = " ".join(dict.fromkeys(map(self._says, rows)))
        hop = self._read[here, there] = Hop(tuple(rows), tuple(shown), says, float(cosines.max()))
        return hop

    def _says(self, relation: int) -> str:
        typed = self._typed
        if typed.told[relation]:
            return typed.told[relation][: self._ground.settings.description_chars]
        ends = typed.names[typed.sources[relation]], typed.names[typed.targets[relation]]
        return " - ".join(part for part in (ends[0], self.label(relation), ends[1]) if part)

    @cached_property
    def _vector(self) -> np.ndarray:
        return self._ground.index.encode_query(self._question, "passages")  # as `aggregate` has it encoded
