"""Which passages LightRAG shows of those that its entities and edges come from (spec A5.4 and, for the first code,
A5.7). Passages are rows; all lists are best first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest

import numpy as np

from workbench.methods.lightrag.graph import EdgeGraph
from workbench.ranking.similarity import top

PICKS = ("vector", "weight")


def picked(sources: Sequence[Sequence[int]], cosines: np.ndarray, related: int, pick: str) -> list[int]:
    """Passages of items, the best item first, each with the passages that it comes from.

    `vector`: those closest to the question, `related` / 2 an item. `weight`: from `related` of the first item down to 1
    of the last; what an item does not use goes to the others, one each in turn. A passage belongs to the first item
    that brings it, and stands there by the number of items that do.
    """
    sources = [source for source in sources if len(source)]
    brought = Counter(passage for source in sources for passage in source)
    owned: list[list[int]] = []
    seen: set[int] = set()
    for source in sources:
        owned.append(sorted(set(source) - seen, key=lambda passage: (-brought[passage], passage)))
        seen.update(source)
    if pick == "vector":
        pool = np.array([passage for own in owned for passage in own], dtype=np.int64)
        return pool[top(cosines[pool], related * len(sources) // 2)].tolist()
    return _by_weight(owned, related)


def _by_weight(owned: Sequence[Sequence[int]], related: int) -> list[int]:
    quotas = np.rint(np.linspace(related, 1, len(owned))).astype(int).tolist()
    found = [passage for own, quota in zip(owned, quotas) for passage in own[:quota]]
    turns = zip_longest(*(own[quota:] for own, quota in zip(owned, quotas)))
    more = [passage for turn in turns for passage in turn if passage is not None]
    return found + more[: sum(quotas) - len(found)]


def interleaved(*lists: Iterable[int]) -> list[int]:
    """The first of each list, then the second of each, and so on, each row once."""
    return list(dict.fromkeys(row for turn in zip_longest(*lists) for row in turn if row is not None))


def of_entities(graph: EdgeGraph, entities: Sequence[int]) -> list[int]:
    """First code: by entity, then by how many of its neighbours are described from the passage."""
    found = []
    for row in entities:
        own = graph.passages_of_entity(row)
        found += sorted(own, key=lambda passage: (-graph.neighbours_sharing(row, passage), passage))
    return list(dict.fromkeys(found))


def of_edges(graph: EdgeGraph, edges: Sequence[int]) -> list[int]:
    """First code: by edge."""
    return list(dict.fromkeys(passage for edge in edges for passage in graph.passages_of_edge(edge)))
