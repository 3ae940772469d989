"""The four routes of a query through the knowledge tree, and the filter by type (Eq. 10).

    entity     the entities closest to it, with their triples and attributes
    triple     the closest triples
    community  the closest communities, and the closest triples of their members
    path       paths from the closest entities; a triple scores as the best path that it lies on

A triple scores its cosine with the query, from a community times `gamma`. All cosines of a query come from one product
of matrices; those of entities follow from them, because an entity is the mean of its triples (Eq. 4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from workbench.encoding.similarity import top
from workbench.index import Index
from workbench.methods.youtu import fusion
from workbench.methods.youtu.routed import Facts, Fusion, Route, Scores, Search
from workbench.methods.youtu.triples import Edges, FoundPath, Triples, rows_of, search_paths, slice_of
from workbench.operators.walk_distribution import with_dense_fill
from workbench.records import Passage, Path, Scored
from workbench.trace import Trace

UNTYPED = ("", "unknown")
INVERSE = "⁻¹"
SUB_QUESTION = "sub-question"  # where a query comes from, if not from a round
SPARE = 4  # times K triples are looked at, because some may be equal


class Cosines(NamedTuple):
    """Of one query, each float32: with triples (t), entities (n), communities (c), passages."""

    triples: np.ndarray
    entities: np.ndarray
    communities: np.ndarray
    passages: np.ndarray


class Brought(NamedTuple):
    """What one route brought, best first: triples (row → score), and `through` which rows it came: of entities or
    communities, or its K best paths."""

    route: str
    triples: dict[int, float]
    through: dict[int, float] = {}
    paths: tuple[FoundPath, ...] = ()
    filtered: bool = False


class SearchResult(NamedTuple):
    """What the routes of one query brought, and what is kept of it: triples and passages (row → score), best first."""

    query: str
    origin: str
    brought: list[Brought]
    triples: dict[int, float]
    passages: dict[int, float]


class Tree:
    """What is computed once for an index: the arrays behind the routes.

    community_triples   csr (c, t): the triples of the members, for the communities with a name, in the order of
                        `community_vectors`; `communities` are their ids
    """

    def __init__(self, index: Index, settings: Any):
        self.index, self.settings = index, settings
        self.triples, self.graph, self.tree = Triples(index), index.schema_graph, index.tree
        self.edges = Edges(self.triples, len(self.graph.names))
        self.passages = np.asarray(index.passages.vectors)
        self.communities, vectors = self._named() if settings.community else ([], np.zeros((0, 1), np.float32))
        self.community_vectors = vectors
        self.community_triples = self._of_members()
        self._prepare_entities()

    def _named(self) -> tuple[list[int], np.ndarray]:
        return list(self.tree.community_ids), np.asarray(self.tree.community_vectors)

    def _of_members(self) -> sp.csr_array:
        members = [self.tree.communities[id].members for id in self.communities]
        rows = np.repeat(np.arange(len(members)), [len(member) for member in members])
        columns = np.array([row for member in members for row in member], dtype=np.int64)
        shape = (len(members), len(self.graph.names))
        held = sp.coo_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape).tocsr()
        matrix = (held @ self.triples.of_entity).tocsr()
        matrix.sort_indices()
        return matrix

    def _prepare_entities(self) -> None:
        """The weights that make cosines of entities from those of triples; entities without a triple have their
        names."""
        lengths = np.linalg.norm(self.triples.means(), axis=1)
        counts = np.diff(self.triples.of_entity.indptr)
        scale = 1 / np.maximum(lengths * counts, np.finfo(np.float32).tiny)
        weights = sp.diags_array(np.where(counts, scale, 0).astype(np.float32))
        self._means = sp.csr_array(weights @ self.triples.of_entity)
        self._bare = np.flatnonzero(counts == 0)
        self._bare_vectors = np.asarray(self.graph.entity_vectors)[self._bare]

    def cosines(self, queries: Iterable[str]) -> list[Cosines]:
        """Those of each query."""
        tasks = ("relations", "passages")
        encoded = [tuple(self.index.encode_query(query, task) for task in tasks) for query in queries]
        triples = self.triples.cosines(np.stack([vector for vector, _ in encoded]))
        return [self._of(column, *vectors) for column, vectors in zip(np.ascontiguousarray(triples.T), encoded)]

    def _of(self, triples: np.ndarray, query: np.ndarray, for_passages: np.ndarray) -> Cosines:
        entities = self._means @ triples
        entities[self._bare] = self._bare_vectors @ query
        communities = self.community_vectors @ query if self.communities else np.zeros(0, np.float32)
        return Cosines(triples, entities, communities, self.passages @ for_passages)

    def typed(self, names: Collection[str]) -> frozenset[str]:
        """The types of the graph that names of the schema denote, whatever their case and signs."""
        wanted = {plain(name) for name in names}
        return frozenset(kind for kind, plain_type in self._plain_types if plain_type in wanted)

    @cached_property
    def _plain_types(self) -> list[tuple[str, str]]:
        return [(kind, plain(kind)) for kind in self._type_codes[0]]

    def search(self, query: str, origin: str, cosines: Cosines, types: frozenset[str], trace: Trace) -> SearchResult:
        """All routes of one query, and their fusion."""
        with Search.open(trace, query=query, origin=origin):
            brought = self.routes(query, cosines, types)
            for part in brought if trace else ():
                self._write(part, trace)
            with Fusion.open(trace) as write:
                triples, passages = self.fuse(brought, cosines)
                if trace:
                    write(triples=self.facts(triples), passages=self.ids(passages))
        return SearchResult(query, origin, brought, triples, passages)

    def fuse(self, brought: Sequence[Brought], cosines: Cosines) -> tuple[dict[int, float], dict[int, float]]:
        """The K best triples of all routes, each once, and the K best passages (`fusion.of_passages`)."""
        k = self.settings.top_k
        triples = fusion.fused([part.triples for part in brought], self.triples.same, k)
        return triples, fusion.of_passages(cosines.passages, triples, self.triples.stated, k)

    def all_triples(self, question: str, results: Sequence[SearchResult]) -> dict[int, float]:
        """The K best of several queries (row → score), best first."""
        return fusion.fused([result.triples for result in results], self.triples.same, self.settings.top_k)

    def all_passages(self, question: str, results: Sequence[SearchResult]) -> dict[int, float]:
        """The passages of several queries (row → score), best first: each by the query that ranks it highest."""
        return fusion.joined([fusion.scaled(result.passages) for result in results])

    def ranked(self, question: str, scores: Mapping[int, float], k: int) -> tuple[Scored[Passage], ...]:
        """At most k passages; those that no query found follow by their cosine with the question."""
        cosines = self.passages @ self.index.encode_query(question, "passages")
        return with_dense_fill(self.triples.passages, scores, cosines, k)

    def passages_of_community(self, id: int) -> np.ndarray:
        """Rows of the passages that its members' triples are stated in."""
        place = self._places[id]
        return rows_of(self.triples.stated, slice_of(self.community_triples, place).tolist())

    @cached_property
    def _places(self) -> dict[int, int]:
        return {id: place for place, id in enumerate(self.communities)}

    # -- the routes ---------------------------------------------------------------------------------------------------

    def routes(self, query: str, cosines: Cosines, types: frozenset[str]) -> list[Brought]:
        """What the routes that are switched on bring. `types` filter entities; none filter nothing."""
        settings = self.settings
        entities = self.entities(cosines.entities, types)
        ways = {"entity": self.entity, "triple": self.triple, "community": self.community, "path": self.path}
        return [way(cosines, entities, types) for name, way in ways.items() if getattr(settings, name)]

    def entities(self, cosines: np.ndarray, types: frozenset[str]) -> dict[int, float]:
        """The K closest entities, best first: those of another type than `types` count less (`soft`) or not at all
        (`hard`)."""
        mode = self.settings.type_filter if types else "off"
        if mode == "off":
            scores = cosines
        else:
            fits = self._fits(types)
            lower = np.where(cosines > 0, cosines * self.settings.type_penalty, cosines)
            scores = np.where(fits, cosines, lower if mode == "soft" else -np.inf)
        rows = top(scores, self.settings.top_k)
        return {row: float(scores[row]) for row in rows.tolist() if np.isfinite(scores[row])}

    def _fits(self, types: frozenset[str]) -> np.ndarray:
        """Of which entities the type is one of these, or not known: bool (n)."""
        names, codes = self._type_codes
        return np.array([name in types or name in UNTYPED for name in names], dtype=bool)[codes]

    @cached_property
    def _type_codes(self) -> tuple[list[str], np.ndarray]:
        names, codes = np.unique(np.array(self.graph.types, dtype=np.str_), return_inverse=True)
        return names.tolist(), codes

    def entity(self, cosines: Cosines, entities: dict[int, float], types: frozenset[str]) -> Brought:
        best = self._best(self.triples.of_entities(entities), cosines.triples)
        return Brought("entity", best, entities, filtered=bool(types) and self.settings.type_filter != "off")

    def triple(self, cosines: Cosines, entities: dict[int, float], types: frozenset[str]) -> Brought:
        return Brought("triple", self._best(top(cosines.triples, SPARE * self.settings.top_k), cosines.triples))

    def community(self, cosines: Cosines, entities: dict[int, float], types: frozenset[str]) -> Brought:
        places = self._closest(cosines)
        scores = {self.communities[place]: float(cosines.communities[place]) for place in places}
        best = self._best(rows_of(self.community_triples, places), cosines.triples)
        gamma = self.settings.gamma
        return Brought("community", {row: score * gamma for row, score in best.items() if score > 0}, scores)

    def _closest(self, cosines: Cosines) -> list[int]:
        """Places of the closest communities, best first."""
        return top(cosines.communities, self.settings.top_communities).tolist()

    def _keywords(self, cosines: Cosines) -> np.ndarray:
        """The keywords (level 3) of the closest communities, bool (n): those of all communities would let paths that
        lead anywhere come before close ones."""
        is_keyword = np.zeros(len(self.graph.names), dtype=bool)
        for place in self._closest(cosines):
            is_keyword[list(self.tree.communities[self.communities[place]].keywords)] = True
        return is_keyword

    def path(self, cosines: Cosines, entities: dict[int, float], types: frozenset[str]) -> Brought:
        settings = self.settings
        fits = self._fits(types) if types else np.ones(len(self.graph.names), dtype=bool)
        seeds = sorted(entities, key=lambda row: not fits[row])[: settings.path_seeds]  # stable
        paths_found = search_paths(
            self.edges, cosines.triples, np.array(seeds, dtype=np.int64), self._keywords(cosines),
            settings.depth, settings.visits, settings.paths,
        )  # fmt: skip
        scores = fusion.fused([paths_found.of_triples()], self.triples.same, settings.top_k)
        return Brought("path", scores, {row: entities[row] for row in seeds}, tuple(paths_found.first(settings.top_k)))

    # -- in words -----------------------------------------------------------------------------------------------------

    def facts(self, triples: Mapping[int, float]) -> Facts:
        return tuple((*self.triples.record(row).members, score) for row, score in triples.items())

    def ids(self, passages: Mapping[int, float]) -> Scores:
        return tuple((self.triples.passages[row].id, score) for row, score in passages.items())

    def community_name(self, id: int) -> str:
        return self.tree.named[id].name

    def path_record(self, path: FoundPath) -> Path:
        """The path in words; an edge against its direction has ⁻¹ on its relation."""
        names, labels, heads = self.graph.names, self.graph.labels, self.triples.heads
        relations = tuple(
            labels[row] if heads[row] == start else f"{labels[row]}{INVERSE}"
            for start, row in zip(path.entities, path.triples)
        )
        passages = rows_of(self.triples.stated, path.triples).tolist()
        ids = tuple(self.triples.passages[row].id for row in passages)
        return Path(tuple(names[row] for row in path.entities), relations, ids)

    def _write(self, brought: Brought, trace: Trace) -> None:
        with Route.open(trace, route=brought.route) as write:
            write(triples=self.facts(brought.triples), through=self._through(brought), filtered=brought.filtered)

    def _through(self, brought: Brought) -> Scores:
        if brought.route == "path":
            return tuple((" → ".join(self.path_record(path).nodes), path.score) for path in brought.paths)
        if brought.route == "chunk":
            return self.ids(brought.through)
        named = self.community_name if brought.route == "community" else self.graph.names.__getitem__
        return tuple((named(row), score) for row, score in brought.through.items())

    def _best(self, rows: np.ndarray, cosines: np.ndarray) -> dict[int, float]:
        """The K best of some triples, equal ones once."""
        best = rows[top(cosines[rows], SPARE * self.settings.top_k)]
        cosines_of = {row: float(cosines[row]) for row in best.tolist()}
        return fusion.fused([cosines_of], self.triples.same, self.settings.top_k)


def plain(name: str) -> str:
    """The form in which names of types are compared.

    >>> plain("Time_Period") == plain("time-period")
    True
    """
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())
