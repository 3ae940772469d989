"""Everything that an index holds about one node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from workbench.encoding.similarity import top
from workbench.index import Index
from workbench.operators.neighbourhood import row_of, spelled
from workbench.records import Entity, Passage, Record, Scored, Triple, ranked


@dataclass(frozen=True, slots=True, repr=False)
class NodeDetails(Record):
    """A phrase with the facts in which it occurs, its synonyms with their cosines, and the passages that state its
    facts; or a passage with the facts that it states. The lists are cut to the requested limit, `counts` are not.
    `spelling`: phrase, as the graph has it, → as passages spell it; a passage's id → its title."""

    name: str
    kind: str
    degree: int
    facts: tuple[Triple, ...]
    synonyms: tuple[Scored[Entity], ...]
    passages: tuple[Passage, ...]
    counts: tuple[int, int, int]  # facts, synonyms, passages
    spelling: Mapping[str, str] = field(default_factory=dict, hash=False)


def node_details(index: Index, node: str | int, limit: int = 50) -> NodeDetails:
    """The details of a phrase, of the passage with an id, or of a row of the graph, with `limit` items of each list."""
    row, n = row_of(index, node), index.graph.phrases
    passage_rows, fact_rows = index.facts.stated
    if row >= n:
        facts, near, passages = fact_rows[passage_rows == row - n], (), [row - n]
        name, kind = index.passages.passages[row - n].id, "passage"
    else:
        facts, near = index.facts.about(row), _synonyms(index, row)
        passages = index.graph.context[:, [row]].nonzero()[0]
        name, kind = index.facts.phrases[row], "phrase"
    triples = tuple(index.facts.triple(fact, _ids(index, index.facts.stating(fact))) for fact in facts[:limit])
    mentioned = {name, *(entity.name for entity, _ in near[:limit])}
    mentioned.update(end for triple in triples for end in (triple.subject, triple.object))
    title = {name: index.passages.passages[row - n].title or name} if row >= n else {}
    return NodeDetails(
        name,
        kind,
        int(index.graph.degrees[row]),
        triples,
        near[:limit],
        tuple(index.passages.passages[passage] for passage in passages[:limit]),
        (len(facts), len(near), len(passages)),
        spelled(index, sorted(mentioned)) | title,
    )


def _synonyms(index: Index, phrase: int) -> tuple[Scored[Entity], ...]:
    near = index.graph.undirected["synonym"][[phrase]].tocoo()
    best = top(near.data, near.nnz)
    return ranked([Entity(index.facts.phrases[other]) for other in near.col[best]], near.data[best])


def _ids(index: Index, passages: Sequence[int] | np.ndarray) -> tuple[str, ...]:
    return tuple(index.passages.passages[passage].id for passage in passages)
