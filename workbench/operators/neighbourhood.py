"""The part of an index's graph around some of its nodes, for display and for methods that expand nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import SettingError
from workbench.index import Index
from workbench.operators.types import types_of
from workbench.records import Record
from workbench.text import PHRASE_RULES

if TYPE_CHECKING:
    import networkx
    from pyvis.network import Network

KINDS = ("relation", "synonym", "context")


class Node(NamedTuple):
    """`row` in the index's graph (phrases first, then passages); `kind`: `phrase` or `passage`; `name`: a phrase or a
    passage's id; `label`: the displayed text (a phrase as the passages spell it, a passage's title); `hop`: distance
    from the start; `degree`: in the whole graph, over all kinds of edges; `value`: a number for its size in a view (a
    walk's probability), or None; `type`: of an entity whose type is known."""

    row: int
    kind: str
    name: str
    label: str
    hop: int
    degree: int
    value: float | None = None
    type: str = ""


class Edge(NamedTuple):
    """`source` and `target` are positions in `Subgraph.nodes`. `weight` is the number of passages that state a fact of
    the pair, the cosine of a synonym, or 1 for a passage and its phrase; `facts` are rows of the facts layer, and
    `passages` the ids of the passages that state them."""

    source: int
    target: int
    kind: str
    weight: float
    says: str = ""
    facts: tuple[int, ...] = ()
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Subgraph(Record):
    """Nodes and the edges among them. `left_out` counts the nodes that the limit cut off; nodes behind these are not
    counted. `types` are those of the whole index, the most frequent first."""

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0
    types: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.nodes)

    def to_networkx(self) -> networkx.MultiGraph:
        """The subgraph for networkx: nodes are rows of the graph; see `workbench.index.networks`."""
        from workbench.index import networks

        return networks.subgraph_to_networkx(self)

    def to_pyvis(self, **options: Any) -> Network:
        """The same as a pyvis network with fixed positions: `.save_graph("page.html")` writes a page that needs no
        connection. `options` are those of `pyvis.network.Network`."""
        from workbench.index import networks

        return networks.to_pyvis(self.to_networkx(), **options)


def neighbourhood(
    index: Index,
    start: str | int | Sequence[str | int],
    *,
    hops: int = 1,
    kinds: Iterable[str] = KINDS,
    limit: int = 60,
    facts: int = 1,
    similarity: float = 0.0,
) -> Subgraph:
    """The nodes within `hops` edges of `start` (phrases, ids of passages, or rows of the graph), at most `limit`.

    Only edges of these `kinds` are followed: relations that at least `facts` passages state, and synonyms with a cosine
    of at least `similarity`. If the limit cuts, every hop has an equal share of it, and what one hop leaves of its
    share goes to the others; the nodes most strongly connected to those already included remain, ties in the order of
    rows."""
    if not (isinstance(hops, int) and hops >= 0 and isinstance(limit, int) and limit >= 1):
        raise SettingError(f"hops={hops!r}, limit={limit!r}; hops should be 0 or more, limit 1 or more")
    if not (isinstance(facts, int) and isinstance(similarity, int | float) and similarity == similarity):
        raise SettingError(
            f"facts={facts!r}, similarity={similarity!r}; facts should be a whole number, similarity a cosine"
        )
    kinds = tuple(kinds)
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise SettingError(f"no kind of edge is called {unknown[0]!r}; there are {', '.join(KINDS)}")
    starts = [start] if isinstance(start, str | int | np.integer) else list(start)
    chosen = list(dict.fromkeys(row_of(index, start) for start in starts))[:limit]
    least = {"relation": facts, "synonym": similarity, "context": 0}
    parts = {kind: _at_least(index.graph.undirected[kind], least[kind]) for kind in kinds}
    hop_of, met = _within(parts.values(), chosen, hops, limit, index.graph.nodes)
    names = ", ".join(node.label for node in _nodes(index, dict.fromkeys(chosen[:3], 0)))
    return _subgraph(index, names, hop_of, parts, len(met) - len(hop_of))


def _within(parts: Iterable, starts: Sequence[int], hops: int, limit: int, n: int) -> tuple[dict[int, int], set[int]]:
    """Row → hop of the nodes that the limit leaves, by hop, and all rows that were met on the way. First every hop may
    take its share of the room, and what those before it left; then what is left goes to the nearest."""
    hop_of, met = dict.fromkeys(starts, 0), set(starts)
    for shared in (True, False):
        for hop in range(1, hops + 1):
            frontier = [row for row, at in hop_of.items() if at == hop - 1]
            best = _strongest(parts, frontier, met if shared else hop_of, n)
            met |= set(best)
            most = len(starts) + (limit - len(starts)) * hop // hops if shared else limit
            hop_of |= dict.fromkeys(best[: max(0, most - len(hop_of))], hop)
    return dict(sorted(hop_of.items(), key=lambda item: item[1])), met


def _strongest(parts: Iterable, frontier: Sequence[int], visited: Iterable[int], n: int) -> list[int]:
    """The neighbours of a frontier that are not known yet, by the strength of their edges to it."""
    strength = np.zeros(n)
    for part in parts:
        rows = part[frontier]
        np.add.at(strength, rows.indices, rows.data)
    strength[list(visited)] = 0.0
    met = np.flatnonzero(strength)
    return met[np.lexsort((met, -strength[met]))].tolist()


def among(
    index: Index, hops: Mapping[int, int], *, kinds: Iterable[str] = KINDS, name: str = "", values: Sequence[float] = ()
) -> Subgraph:
    """The nodes of these rows, with their `hop`, and every edge among them. `values`, if given, has a value for each
    row of the graph."""
    return _subgraph(index, name, hops, {kind: index.graph.undirected[kind] for kind in kinds}, 0, values)


def row_of(index: Index, node: str | int) -> int:
    """The row of a node in the graph, given a phrase as stored in the index, the id of a passage, or the row itself.

    Raises SettingError for an unknown node."""
    if isinstance(node, int | np.integer):
        if not 0 <= node < index.graph.nodes:
            raise SettingError(f"no node has the row {node}; the graph has {index.graph.nodes:,} nodes")
        return int(node)
    if (row := index.facts.phrase_row.get(node)) is not None:
        return row
    if (row := index.passages.row.get(node)) is not None:
        return index.graph.phrases + row
    near = complete(index, node, 5)
    hint = "; near it are " + ", ".join(repr(name) for name in near) if near else ""
    raise SettingError(f"no phrase and no passage is called {node!r}{hint}; `complete(index, text)` searches")


def complete(index: Index, text: str, k: int = 20) -> list[str]:
    """Names (phrases and ids of passages) of the nodes that match the typed text, in the order of :func:`matching`."""
    n, ids = index.graph.phrases, index.passages.passages
    names = (index.facts.phrases[row] if row < n else ids[row - n].id for row in matching(index, text))
    return list(dict.fromkeys(names))[:k]


def matching(index: Index, text: str) -> list[int]:
    """Rows of the phrases and passage titles that match the typed text: those that begin with it, then those with a
    word that begins with it, then those that contain it; within each group by degree."""
    wanted = text.casefold().strip()
    if not wanted:
        return []
    groups: tuple[list[int], ...] = ([], [], [])
    labels = (*index.facts.phrases, *(passage.title for passage in index.passages.passages))
    for row, label in enumerate(map(str.casefold, labels)):
        at = label.find(wanted)
        if at >= 0:
            groups[0 if at == 0 else 1 if f" {wanted}" in label else 2].append(row)
    degrees = index.graph.degrees
    return [row for group in groups for row in sorted(group, key=lambda row: (-degrees[row], row))]


def _at_least(part, weight: float):
    if weight <= 0:
        return part
    strong = part.copy()
    strong.data[strong.data < weight] = 0.0
    strong.eliminate_zeros()
    return strong


def _subgraph(
    index: Index, name: str, hop_of: Mapping[int, int], parts: Mapping, left_out: int, values: Sequence[float] = ()
) -> Subgraph:
    rows = np.fromiter(hop_of, dtype=np.int64, count=len(hop_of))
    edges = []
    for kind, part in parts.items():
        block = part[rows][:, rows].tocoo()
        upper = block.row < block.col
        for source, target, weight in zip(block.row[upper], block.col[upper], block.data[upper]):
            facts = index.facts.between(rows[source], rows[target]) if kind == "relation" else ()
            says = " · ".join(dict.fromkeys(index.facts.facts[fact][1] for fact in facts))
            stating = sorted({int(row) for fact in facts for row in index.facts.stating(fact)})
            passages = tuple(index.passages.passages[row].id for row in stating)
            edges.append(Edge(int(source), int(target), kind, float(weight), says, tuple(facts), passages))
    return Subgraph(name, tuple(_nodes(index, hop_of, values)), tuple(edges), left_out, types_of(index).order)


def _nodes(index: Index, hop_of: Mapping[int, int], values: Sequence[float] = ()) -> Iterator[Node]:
    n, degrees = index.graph.phrases, index.graph.degrees
    phrases = [row for row in hop_of if row < n]
    labels, types = dict(zip(phrases, spellings(index, phrases))), types_of(index)
    for row, hop in hop_of.items():
        if row < n:
            kind, name, label = "phrase", index.facts.phrases[row], labels[row]
            entity = types.by_phrase.get(name, "")
        else:
            passage = index.passages.passages[row - n]
            kind, name, label, entity = "passage", passage.id, passage.title or passage.text[:60], ""
        yield Node(row, kind, name, label, hop, int(degrees[row]), float(values[row]) if len(values) else None, entity)


def spelled(index: Index, names: Iterable[str]) -> dict[str, str]:
    """Phrase → how the passages spell it, of those names that are phrases of the graph."""
    rows = {name: index.facts.phrase_row[name] for name in names if name in index.facts.phrase_row}
    return dict(zip(rows, spellings(index, list(rows.values()))))


def spellings(index: Index, phrases: Sequence[int], passages: int = 8) -> list[str]:
    """Phrases of the graph as the extracted triples of their first passages spell them most often: they are stored in
    lower case and without punctuation."""
    rule = PHRASE_RULES[index.manifest["layers"]["facts"]["settings"]["normalise"]]

    @cache
    def spelled_in(passage: int) -> Mapping[str, Sequence[str]]:
        by_phrase: dict[str, list[str]] = {}
        for triple in index.extractions.records[passage].triples:
            for end in (triple[0], triple[-1]):
                by_phrase.setdefault(rule(end), []).append(end)
        return by_phrase

    stated = index.graph.context[:, phrases].tocsc()
    labels = []
    for name, begin, end in zip((index.facts.phrases[row] for row in phrases), stated.indptr, stated.indptr[1:]):
        first = sorted(stated.indices[begin:end].tolist())[:passages]
        counts = Counter(spelling for passage in first for spelling in spelled_in(passage).get(name, ()))
        labels.append(" ".join(counts.most_common(1)[0][0].split()) if counts else name)
    return labels
