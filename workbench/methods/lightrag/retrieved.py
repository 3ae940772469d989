"""What LightRAG and PathRAG put into a context, and the evidence that it makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.methods.lightrag.graph import EdgeGraph
from workbench.records import Evidence, Path, Scored, ranked

SCALE = "1/rank"


class Retrieved(NamedTuple):
    """Rows of entities and passages, and edges, in the order of the context."""

    entities: list[int]
    edges: list[int]
    passages: list[int]


def evidence(
    question: str,
    label: str,
    graph: EdgeGraph,
    found: Retrieved,
    k: int,
    paths: tuple[Scored[Path], ...] = (),
) -> Evidence:
    """The ends of the context's relations follow its entities. Scores are 1 / rank, but for those of the paths."""
    passages = [graph.passages[row] for row in found.passages[:k]]
    entities = dict.fromkeys([*found.entities, *graph.ends_of(found.edges)])
    facts = [triple for edge in found.edges for triple in graph.triples(edge)]
    return Evidence(
        question,
        label,
        SCALE,
        _by_rank(passages),
        entities=_by_rank([graph.typed.entities[row] for row in entities]),
        facts=_by_rank(facts),
        paths=paths,
    )


def _by_rank(items: Sequence) -> tuple[Scored, ...]:
    return ranked(items, 1 / np.arange(1, len(items) + 1))
