"""The two sides of a context as LightRAG filled it at first, and as PathRAG, which grew out of that code, still does
(spec A5.7). Everything is cut by the tokens of its descriptions, in whole items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.methods.lightrag.chunks import of_edges, of_entities
from workbench.methods.lightrag.graph import EdgeGraph, leading
from workbench.methods.lightrag.retrieved import Retrieved


def local_side(graph: EdgeGraph, entities: Sequence[int], relation_tokens: int, text_tokens: int) -> Retrieved:
    """Around entities: their edges by rank, the passages that they are described from."""
    edges = graph.edges_of(entities).tolist()
    edges = edges[: leading(map(graph.description, edges), relation_tokens)]
    return Retrieved(list(entities), edges, fitting(graph, of_entities(graph, entities), text_tokens))


def global_side(
    graph: EdgeGraph, edges: Sequence[int], relation_tokens: int, entity_tokens: int, text_tokens: int
) -> Retrieved:
    """Around edges, which are put in the order of their ranks (trap 2): their ends, the passages that state them."""
    edges = graph.by_rank(np.array(edges, dtype=np.int64)).tolist()
    edges = edges[: leading(map(graph.description, edges), relation_tokens)]
    entities = graph.ends_of(edges)
    entities = entities[: leading((graph.typed.descriptions[row] for row in entities), entity_tokens)]
    return Retrieved(entities, edges, fitting(graph, of_edges(graph, edges), text_tokens))


def fitting(graph: EdgeGraph, passages: Sequence[int], text_tokens: int) -> list[int]:
    return list(passages[: leading((graph.passages[row].content for row in passages), text_tokens)])
