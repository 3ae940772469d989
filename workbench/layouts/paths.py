"""The context of DotRAG as text: paths in words, relationships that are on none, entities that neither names, texts.
It is written only. The paper shows no layout; this is ours (section 4, its last stage, names what goes in)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from workbench.records import ContextEntity, ContextGraph, ContextRelation, Path, Triple

PATHS, ENTITIES, SOURCES = "-----Paths-----", "-----Entities-----", "-----Sources-----"
INVERSE = "⁻¹"  # on a relation that a path follows against its direction
PARALLEL = " / "  # between relations of one hop
BETWEEN = "\n\n"  # blocks, and texts


def write(graph: ContextGraph) -> str:
    """The context as text; empty for an empty graph."""
    on_paths = {frozenset(pair) for path in graph.paths for pair in pairwise(path.nodes)}
    others = [row for row in graph.relations if frozenset((row.source, row.target)) not in on_paths]
    named = {name for pair in on_paths for name in pair} | {end for row in others for end in (row.source, row.target)}
    edges = (edge_in_words(row.source, row.target, row.description) for row in others)
    sentences = (*map(in_words, graph.paths), *edges)
    blocks = (
        (PATHS, "\n".join(numbered(sentences))),
        (ENTITIES, "\n".join(_entity(row) for row in graph.entities if row.name not in named)),
        (SOURCES, BETWEEN.join(unit.content for unit in (*graph.chunks, *graph.sources))),
    )
    return BETWEEN.join(f"{head}\n{body}" for head, body in blocks if body)


def numbered(lines: Iterable[str]) -> Iterator[str]:
    return (f"{at}. {line}" for at, line in enumerate(lines, 1))


def in_words(path: Path) -> str:
    """Its text; without one its nodes, then what joins them: "a → b → c: a directed by b; c directed by b"."""
    if path.text:
        return one_line(path.text)
    sentences = "; ".join(sentence(fact) for facts in hops(path) for fact in facts)
    return f"{one_line(' → '.join(path.nodes))}: {sentences}."


def hops(path: Path) -> list[list[Triple]]:
    """The facts of each hop, in their own directions."""
    return [
        [
            Triple(b, relation.removesuffix(INVERSE), a) if relation.endswith(INVERSE) else Triple(a, relation, b)
            for relation in relations.split(PARALLEL)
        ]
        for (a, b), relations in zip(pairwise(path.nodes), path.relations)
    ]


def edge_in_words(source: str, target: str, description: str) -> str:
    """A relationship as a path of one edge."""
    return f"{one_line(f'{source} → {target}')}: {one_line(description)}"


def sentence(fact: Triple) -> str:
    return one_line(f"{fact.subject} {fact.relation.replace('_', ' ')} {fact.object}")


def one_line(text: str) -> str:
    return " ".join(text.split())


def relations_of(paths: Iterable[Path]) -> Iterator[ContextRelation]:
    """The hops of paths as relationships, each once, in the words of their facts."""
    seen = set()
    for path in paths:
        for (a, b), facts in zip(pairwise(path.nodes), hops(path)):
            if frozenset((a, b)) not in seen:
                seen.add(frozenset((a, b)))
                yield ContextRelation(a, b, "; ".join(map(sentence, facts)), passages=path.passages)


def _entity(row: ContextEntity) -> str:
    name = f"{row.name} ({row.type})" if row.type else row.name
    return one_line(f"{name}: {row.description}" if row.description else name)
