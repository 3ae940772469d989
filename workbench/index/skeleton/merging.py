"""The records of the chunks, merged into one undirected graph (KET-RAG)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from workbench.steps.graph_records import Output

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(slots=True)
class Node:
    """`chunks`: of those that describe it. An end of a relationship that no chunk describes has no type either."""

    name: str
    type: str = ""
    descriptions: dict[str, None] = field(default_factory=dict)
    chunks: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Edge:
    """`source` and `target` as they were first stated; `chunks`: of those that state it in either direction."""

    source: str
    target: str
    weight: float = 0.0
    descriptions: dict[str, None] = field(default_factory=dict)
    chunks: list[int] = field(default_factory=list)


def merge(records: Iterable[tuple[int, Output]]) -> tuple[list[Node], list[Edge]]:
    """Nodes and edges of (number of the chunk, its records), ascending, in the order of the graph: nodes as they are
    first named, edges by the earlier of their ends. Names are upper-case; the first type given counts; weights add up.
    A relationship of a name with itself is dropped."""
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str], Edge] = {}
    for chunk, output in records:
        for entity in output.entities:
            if name := clean(entity.name).upper():
                node = nodes.setdefault(name, Node(name))
                node.type = node.type or clean(entity.type).upper()
                _describe(node, entity.description, chunk)
        for relation in output.relationships:
            source, target = clean(relation.source).upper(), clean(relation.target).upper()
            if source and target and source != target:
                for name in (source, target):
                    _stated(nodes.setdefault(name, Node(name)), chunk)
                edge = edges.setdefault((min(source, target), max(source, target)), Edge(source, target))
                edge.weight += relation.strength
                _describe(edge, relation.description, chunk)
    place = {name: at for at, name in enumerate(nodes)}
    return list(nodes.values()), sorted(edges.values(), key=lambda edge: min(place[edge.source], place[edge.target]))


def clean(text: str) -> str:
    """Without HTML escapes, control characters and spaces around.

    >>> clean(" Ash &amp; Sons\\x00 ")
    'Ash & Sons'
    """
    return " ".join(_CONTROL.sub(" ", html.unescape(text)).split())


def _describe(item: Node | Edge, description: str, chunk: int) -> None:
    _stated(item, chunk)
    if text := clean(description):
        item.descriptions.setdefault(text)


def _stated(item: Node | Edge, chunk: int) -> None:
    if item.chunks[-1:] != [chunk]:
        item.chunks.append(chunk)
