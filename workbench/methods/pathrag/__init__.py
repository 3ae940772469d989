"""PathRAG: the paths with the most flow between the entities of a question, shown from the least to the most reliable.

Follows "PathRAG: Pruning Graph-based Retrieval Augmented Generation with Relational Paths" (arXiv 2502.14902) as its
released code does (snapshot of December 2025), a fork of the early LightRAG whose two sides it keeps: low
keywords find entities, between which paths are searched; high keywords find relations. Profile `paper` scores paths
by the paper's formula; its values for the settings could not be confirmed, so they are the code's.

The evidence has paths best first; a reader, and the layout `tables` of its own context, reverse them. Passages are the
text units of the high level, then those of the low level; all scores except those of paths are 1 / rank. Without a
high-level hit, where the code fails, the evidence has the low level alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from workbench.methods.base import Method
from workbench.methods.lightrag.context import (
    COUNTED,
    SCALE,
    Retrieved,
    evidence,
    fitting,
    global_side,
    nothing,
    of_entities,
    tables,
)
from workbench.methods.lightrag.graph import EdgeGraph, leading
from workbench.methods.lightrag.levels import high_level, keywords_of, low_level
from workbench.methods.pathrag.flow import FORMS, HOPS, Nodes, flow_paths
from workbench.records import Evidence, Path, Scored
from workbench.settings import Cosine, Positive, Share, Tokens, validated
from workbench.trace import Trace


class PathRAG(Method):
    """Flow-based pruning of the paths between retrieved entities."""

    name = "pathrag"
    paper = "PathRAG (arXiv 2502.14902)"
    layers = ("passages", "typed")
    steps = ("keywords",)
    scale = SCALE
    profiles = {"released": {}, "paper": {"form": "nodes"}}

    @validated
    class Settings:
        """top_k, least      maximum number of entities and of relations per search, and their least cosine
        alpha, threshold  decay of the flow at each further edge; flow below which nothing is passed on
        form              whether a path's score averages over edges (the code) or nodes (the paper)
        hops, paths       maximum number of edges of a path; number of paths kept
        limit             paths examined of one ordered pair, if flow is passed on
        counted           a passage of an entity is ordered by the neighbours that share it: those of `all` entities
                          found that it describes (the code), or of the `first` of them
        text_tokens, relation_tokens, local_tokens   caps of the passages of each level; of the relations of the high
                          level; of its entities, and of the paths"""

        profile: str = "released"
        top_k: Positive = 40
        least: Cosine = 0.2
        alpha: Share = 0.8
        threshold: Share = 0.3
        form: Literal[*FORMS] = "edges"
        hops: Annotated[int, Field(ge=1, le=HOPS)] = 3
        paths: Positive = 15
        limit: Positive = 10_000
        counted: Literal[*COUNTED] = "all"
        text_tokens: Tokens = 4000
        relation_tokens: Tokens = 3000
        local_tokens: Tokens = 5000

    def prepare(self) -> None:
        self._typed, self._graph = self.index.typed, EdgeGraph(self.index)

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        words = keywords_of(question, self._graph, self.engine, trace)
        if not (words.high and words.low):
            why = words.failure or f"the question has no {'low' if words.high else 'high'}-level keywords"
            return nothing(question, self.label, why, "tables")
        chosen, graph = self.settings, self._graph
        near = low_level(words.low, self.index, graph, chosen.top_k, chosen.least, trace)
        edges = high_level(words.high, self.index, graph, chosen.top_k, chosen.least, trace)
        paths, scores = self.paths(near, trace)
        with trace.span("CHAIN", "context") as span:
            caps = chosen.relation_tokens, chosen.local_tokens, chosen.text_tokens
            high = global_side(graph, edges, *caps)
            low = fitting(graph, of_entities(graph, near, chosen.counted), chosen.text_tokens)
            entities = dict.fromkeys([*near, *(row for path in paths for row in path), *high.entities])
            found = Retrieved(list(entities), high.edges, list(dict.fromkeys([*high.passages, *low])))
            span.set(entities=len(found.entities), edges=len(found.edges), passages=len(found.passages))
        records = tuple(Scored(self._record(path), score) for path, score in zip(paths, scores))
        shown = tables(graph, Retrieved([], high.edges, found.passages), "tables")
        told = [graph.entity(row, "high") for row in high.entities] + [graph.entity(row, "low") for row in near]
        shown = replace(shown, entities=tuple(told), paths=tuple(path for path, _ in records))
        return evidence(question, self.label, graph, found, k, shown, records)

    def paths(self, nodes: list[int], trace: Trace) -> tuple[list[Nodes], list[float]]:
        """The paths that fit, as rows of entities, best first, and their scores."""
        chosen = self.settings
        with trace.span("RETRIEVER", "paths", nodes=len(nodes)) as span:
            flow = flow_paths(
                self._typed.adjacency,
                nodes,
                alpha=chosen.alpha,
                threshold=chosen.threshold,
                hops=chosen.hops,
                keep=chosen.paths,
                limit=chosen.limit,
                form=chosen.form,
            )
            fitting_paths = leading(map(self.text, flow.paths), chosen.local_tokens)
            names = (" – ".join(self._typed.names[row] for row in path) for path in flow.paths[:fitting_paths])
            span.set(simple_paths=flow.counts, bounded_pairs=flow.bounded, kept=len(flow.paths), told=fitting_paths)
            span.score(zip(names, flow.scores))
        return flow.paths[:fitting_paths], flow.scores[:fitting_paths]

    def text(self, path: Nodes) -> str:
        """A path in the words of the code, for the reader and for the cut by its length: inner entities occur twice."""
        typed = self._typed
        entities = [f"{typed.names[row]} is a {typed.types[row]} ({typed.descriptions[row]})." for row in path]
        joins = [
            f"Between {typed.names[a]} and {typed.names[b]} there is an edge ({self._keywords(a, b)})."
            for a, b in pairwise(path)
        ]
        return " ".join(f"{one} {joint} {other}" for (one, other), joint in zip(pairwise(entities), joins))

    def _keywords(self, a: int, b: int) -> str:
        return ", ".join(sorted({word for row in self._typed.between(a, b) for word in self._typed.keywords[row]}))

    def _record(self, path: Nodes) -> Path:
        """The path as a record, with all parallel relations, and with its text; ⁻¹ marks a relation followed in
        reverse."""
        typed, passages = self._typed, self._graph.passages
        hops = [(a, typed.between(a, b)) for a, b in pairwise(path)]
        stating = np.unique(typed.relation_stated[[row for _, rows in hops for row in rows]].indices)
        return Path(
            tuple(typed.names[row] for row in path),
            tuple(" / ".join(dict.fromkeys(self._label(row, a) for row in rows)) for a, rows in hops),
            tuple(passages[row].id for row in stating),
            text=self.text(path),
        )

    def _label(self, relation: int, start: int) -> str:
        typed = self._typed
        label = typed.labels[relation] or ", ".join(typed.keywords[relation])
        return label + ("" if typed.sources[relation] == start else "⁻¹")
