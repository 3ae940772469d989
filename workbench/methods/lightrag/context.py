"""The contexts of LightRAG and PathRAG (entities, edges, their passages), and the evidence made from them. Entities,
edges and passages are rows; all lists are best first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from workbench.encoding.similarity import top
from workbench.methods.lightrag.graph import EdgeGraph
from workbench.records import ContextGraph, Evidence, Path, Scored, ranked
from workbench.tokens import leading_texts

SCALE = "1/rank"
PICKS = ("vector", "weight")
UNUSED = ("turns", "first")  # who gets what an item leaves of its places
COUNTED = ("first", "all")  # the entities whose neighbours order the passages


class Retrieved(NamedTuple):
    """Rows of entities and passages, and edges, in the order of the context."""

    entities: list[int]
    edges: list[int]
    passages: list[int]


def evidence(
    question: str,
    label: str,
    graph: EdgeGraph,
    retrieved: Retrieved,
    k: int,
    context: ContextGraph,
    paths: tuple[Scored[Path], ...] = (),
) -> Evidence:
    """At most k passages, and the context, which k does not cut. The ends of the context's relations follow its
    entities. Scores are 1 / rank, but for those of the paths."""
    passages = [graph.passages[row] for row in retrieved.passages[:k]]
    entities = dict.fromkeys([*retrieved.entities, *graph.ends_of(retrieved.edges)])
    facts = [triple for edge in retrieved.edges for triple in graph.triples(edge)]
    return Evidence(
        question,
        label,
        SCALE,
        _by_rank(passages),
        entities=_by_rank([graph.typed.entities[row] for row in entities]),
        facts=_by_rank(facts),
        paths=paths,
        context=context,
    )


def tables(graph: EdgeGraph, retrieved: Retrieved, layout: str) -> ContextGraph:
    """The retrieved entities, edges and passages as LightRAG lays them out."""
    return ContextGraph(
        tuple(map(graph.entity, retrieved.entities)),
        tuple(map(graph.edge, retrieved.edges)),
        chunks=tuple(map(graph.unit, retrieved.passages)),
        layout=layout,
    )


def nothing(question: str, label: str, why: str, layout: str) -> Evidence:
    """The evidence without keywords, whose context is empty."""
    context = ContextGraph(layout=layout)
    return Evidence(question, label, SCALE, (), fallback=f"nothing is retrieved: {why}", context=context)


def _by_rank(items: Sequence) -> tuple[Scored, ...]:
    return ranked(items, 1 / np.arange(1, len(items) + 1))


# -- the current code --------------------------------------------------------------------------------------------------


def picked(
    sources: Sequence[Sequence[int]],
    cosines: np.ndarray,
    related: int,
    pick: str,
    *,
    own: bool = False,
    unused: str = "turns",
) -> list[int]:
    """Passages of items, the best item first, each with the passages that it comes from.

    `vector`: those closest to the question, `related` / 2 per item; by `weight` if that is none. `weight`: from
    `related` for the first item down to 1 for the last; an item's `unused` places go to the others, one each in turn,
    or all to the first that has more. A passage belongs to the first item that selects it, and is ordered there by the
    number of items that do. With `own`, an item that no passage belongs to does not count.
    """
    sources = [source for source in sources if len(source)]
    brought = Counter(passage for source in sources for passage in source)
    owned: list[list[int]] = []
    seen: set[int] = set()
    for source in sources:
        owned.append(sorted(set(source) - seen, key=lambda passage: (-brought[passage], passage)))
        seen.update(source)
    if own:
        owned = [passages for passages in owned if passages]
    if pick == "vector" and (most := related * len(owned) // 2):
        pool = np.array([passage for passages in owned for passage in passages], dtype=np.int64)
        return pool[top(cosines[pool], most)].tolist()
    return _by_weight(owned, related, unused)


def _by_weight(owned: Sequence[Sequence[int]], related: int, unused: str) -> list[int]:
    quotas = np.rint(np.linspace(related, 1, len(owned))).astype(int).tolist()
    passages = [passage for own, quota in zip(owned, quotas) for passage in own[:quota]]
    rest = [own[quota:] for own, quota in zip(owned, quotas)]
    turns = rest if unused == "first" else zip_longest(*rest)
    more = [passage for turn in turns for passage in turn if passage is not None]
    return passages + more[: sum(quotas) - len(passages)]


def interleaved(*lists: Iterable[int]) -> list[int]:
    """The first of each list, then the second of each, and so on, each row once."""
    return list(dict.fromkeys(row for turn in zip_longest(*lists) for row in turn if row is not None))


# -- the first code, which PathRAG grew out of: whole items, cut by the tokens of their descriptions -------------------


def local_side(
    graph: EdgeGraph, entities: Sequence[int], relation_tokens: int, text_tokens: int, counted: str
) -> Retrieved:
    """The local context: entities, their edges by rank, and the passages that describe them."""
    edges = graph.edges_of(entities).tolist()
    edges = edges[: leading_texts(map(graph.description, edges), relation_tokens)]
    return Retrieved(list(entities), edges, fitting(graph, of_entities(graph, entities, counted), text_tokens))


def global_side(
    graph: EdgeGraph, edges: Sequence[int], relation_tokens: int, entity_tokens: int, text_tokens: int
) -> Retrieved:
    """The global context: edges in the order of their ranks, which discards that of their similarity, their ends, and
    the passages that state them."""
    edges = graph.by_rank(np.array(edges, dtype=np.int64)).tolist()
    edges = edges[: leading_texts(map(graph.description, edges), relation_tokens)]
    entities = graph.ends_of(edges)
    entities = entities[: leading_texts((graph.typed.descriptions[row] for row in entities), entity_tokens)]
    return Retrieved(entities, edges, fitting(graph, of_edges(graph, edges), text_tokens))


def fitting(graph: EdgeGraph, passages: Sequence[int], text_tokens: int) -> list[int]:
    return list(passages[: leading_texts((graph.passages[row].content for row in passages), text_tokens)])


def of_entities(graph: EdgeGraph, entities: Sequence[int], counted: str) -> list[int]:
    """Passages by entity, then by the number of its neighbours that the passage describes; `counted=all` adds up those
    of every entity here that the passage describes, as the first code does."""
    brought = [(row, graph.passages_of_entity(row)) for row in entities]
    shared = {(row, passage): graph.neighbours_sharing(row, passage) for row, own in brought for passage in own}
    together: Counter[int] = Counter()
    for (_, passage), neighbours in shared.items():
        together[passage] += neighbours
    passages = []
    for row, own in brought:
        number = together if counted == "all" else {passage: shared[row, passage] for passage in own}
        passages += sorted(own, key=lambda passage: (-number[passage], passage))
    return list(dict.fromkeys(passages))


def of_edges(graph: EdgeGraph, edges: Sequence[int]) -> list[int]:
    """Passages by edge (first code)."""
    return list(dict.fromkeys(passage for edge in edges for passage in graph.passages_of_edge(edge)))
