"""Retrieval as the released code does it in effect (TencentCloudADP/youtu-graphrag, d982b5a); inert parts are left out,
because they change nothing:

* the path route reads edges in a way that never finds one; communities are searched and dropped; the triple route looks
  its wider candidates up in its own first results, so it is the plain search (docs/traps.md, Youtu-GraphRAG);
* where the decomposer names types that entities have, the route through nodes is replaced by the first K edges of the
  K closest such entities, in the order of the graph, and passages are not searched;
* triples of one sub-question are cut to K while equal ones of two routes are still among them; triples and passages of
  all sub-questions are cut to those that share most words with the question.

Different from the code: texts have no ",none"; the edges of levels 3 and 4 are in no search; equal scores are ordered
by row instead of by hash; ids are not lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.encoding.similarity import top
from workbench.index import Index
from workbench.language.pipeline import parse
from workbench.methods.youtu.routes import SUB_QUESTION, Brought, Cosines, SearchResult, Tree
from workbench.methods.youtu.triples import slice_of
from workbench.records import Passage, Scored, by_place
from workbench.text import storable, terms, unspaced

LEAST_NODE, LEAST_TRIPLE = 0.05, 0.05
MOST_NODES, PER_WORD, ENOUGH = 50, 50, 200
BONUS, FAVOURED = 0.1, frozenset(("is", "was", "has", "had", "contains", "located", "born", "died"))
_SPOKEN = ("NOUN", "PROPN", "ADJ", "VERB")


class Released(Tree):
    """The routes of the released code over the same arrays. `first_passage` is the only passage that it keeps of an
    entity: the first that mentions it."""

    def __init__(self, index: Index, settings: Any):
        super().__init__(index, settings)
        self._names = np.asarray(self.graph.entity_vectors)
        self._labels, self._label = np.unique(np.array(list(self.graph.labels), dtype=np.str_), return_inverse=True)
        self._label_vectors = index.encode(self._labels.tolist()) if len(self._labels) else np.zeros((0, 1), np.float32)
        stated = self.graph.stated
        first = np.full(len(self.graph.names), -1)
        held = np.flatnonzero(np.diff(stated.indptr))
        first[held] = stated.indices[stated.indptr[held]]
        self.first_passage = first
        self._words = _words_of(self.graph.names)

    def routes(self, query: str, cosines: Cosines, types: frozenset[str]) -> list[Brought]:
        vector = self.index.encode_query(query, "entities")
        names = self._names @ vector
        filtered = self._filtered(names, types)
        nodes = filtered or self._nodes(query, names)
        rows = self._first_edges(nodes) if filtered else self._one_hop(nodes, vector)
        brought = [Brought("entity", self._reranked(rows, cosines.triples), nodes, filtered=bool(filtered))]
        direct = top(cosines.triples, self.settings.top_k)
        brought.append(Brought("triple", {row: float(cosines.triples[row]) for row in direct.tolist()}))
        if not filtered:
            closest = top(cosines.passages, self.settings.top_k)
            brought.append(Brought("chunk", {}, {row: float(cosines.passages[row]) for row in closest.tolist()}))
        switched = self.settings
        return [brought for brought in brought if getattr(switched, brought.route, True)]

    def _filtered(self, names: np.ndarray, types: frozenset[str]) -> dict[int, float]:
        """The K closest entities of the involved types, or of none; empty where no entity has one of these types."""
        if not types or self.settings.type_filter == "off":
            return {}
        fits = np.flatnonzero(self._fits(types))
        return {row: float(names[row]) for row in fits[top(names[fits], self.settings.top_k)].tolist()}

    def _nodes(self, query: str, names: np.ndarray) -> dict[int, float]:
        """The K closest of the nodes that are close to the query or share a word with it, each above 0.05."""
        near = top(names, min(3 * self.settings.top_k, MOST_NODES)).tolist()
        scores = {row: float(names[row]) for row in near}
        scores |= {row: max(0.0, float(names[row])) for row in self._sharing(query) if row not in scores}
        best = sorted((row for row in scores if scores[row] > LEAST_NODE), key=lambda row: (-scores[row], row))
        return {row: scores[row] for row in best[: self.settings.top_k]}

    def _sharing(self, query: str) -> list[int]:
        """Entities with a word of the query in their names: 50 for a word, and no further word once there are 200."""
        rows: dict[int, None] = {}
        for word in keywords(query):
            if len(rows) >= ENOUGH:
                break
            rows |= dict.fromkeys(self._words.get(word, ())[:PER_WORD])
        return list(rows)

    def _one_hop(self, nodes: Iterable[int], query: np.ndarray) -> list[int]:
        """The first edge of a node and each of its successors, in either direction, and all of its edges whose relation
        is among the K closest."""
        near = np.zeros(max(len(self._labels), 1), dtype=bool)
        near[top(self._label_vectors @ query, self.settings.top_k) if len(self._labels) else []] = True
        rows: dict[int, None] = {}
        for node in nodes:
            rows |= dict.fromkeys(self._of_node(node, near))
        return list(rows)

    def _of_node(self, node: int, near: np.ndarray) -> Iterable[int]:
        edges = slice_of(self.triples.of_entity, node)
        heads, tails = self.triples.heads[edges], self.triples.tails[edges]
        related = edges < self.triples.relations
        chosen = ~related  # attributes are successors
        chosen[related] = near[self._label[edges[related]]]
        others = np.where(heads == node, tails, heads)
        successors = np.unique(tails[(heads == node) & related])
        inside = np.flatnonzero(related & np.isin(others, successors))
        _, first = np.unique(others[inside], return_index=True)
        chosen[inside[first]] = True
        return edges[chosen].tolist()

    def _first_edges(self, nodes: Iterable[int]) -> list[int]:
        return self.triples.of_entities(nodes)[: self.settings.top_k].tolist()

    def _reranked(self, rows: Sequence[int], cosines: np.ndarray) -> dict[int, float]:
        """Cosines with a bonus for eight relations, those above 0.05."""
        scores = {row: float(cosines[row]) + BONUS * self._favoured(row) for row in rows}
        return {row: score for row, score in scores.items() if score > LEAST_TRIPLE}

    def _favoured(self, row: int) -> bool:
        return row < self.triples.relations and self.graph.labels[row] in FAVOURED

    # -- fusion -------------------------------------------------------------------------------------------------------

    def fuse(self, brought: Sequence[Brought], cosines: Cosines) -> tuple[dict[int, float], dict[int, float]]:
        """The triples of all routes by score, cut to K with equal ones among them, then each once. Passages: those that
        were searched, and the first of both ends of a kept triple, by cosine."""
        rows = sorted((pair for part in brought for pair in part.triples.items()), key=lambda pair: (-pair[1], pair[0]))
        triples = self._once(rows[: self.settings.top_k])
        ends = (end for row in triples for end in (self.triples.heads[row], self.triples.tails[row]) if end >= 0)
        sources = {int(self.first_passage[end]) for end in ends} - {-1}
        searched = {row for part in brought if part.route == "chunk" for row in part.through}
        scores = {row: float(cosines.passages[row]) for row in searched | sources}
        return triples, dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))

    def all_triples(self, question: str, results: Sequence[SearchResult]) -> dict[int, float]:
        """Those of the sub-questions, cut; then those of the rounds, which are not cut. Equal triples stay once."""
        rows = self._cut(question, results, "triples", lambda row: " ".join(self.triples.record(row).members))
        return self._once(rows.items())

    def all_passages(self, question: str, results: Sequence[SearchResult]) -> dict[int, float]:
        """The same of passages."""
        return self._cut(question, results, "passages", lambda row: self.triples.passages[row].content)

    def ranked(self, question: str, scores: Mapping[int, float], k: int) -> tuple[Scored[Passage], ...]:
        """At most k passages in the order in which they were found, then the others by cosine; scores are 1 / rank."""
        cosines = self.passages @ self.index.encode_query(question, "passages")
        rest = (row for row in top(cosines, k + len(scores)).tolist() if row not in scores)
        rows = [*scores, *rest][:k]
        return by_place(self.triples.passages[row] for row in rows)

    def _cut(
        self, question: str, results: Sequence[SearchResult], part: str, text: Callable[[int], str]
    ) -> dict[int, float]:
        first = _union(getattr(result, part) for result in results if result.origin == SUB_QUESTION)
        later = _union(getattr(result, part) for result in results if result.origin != SUB_QUESTION)
        return _union([self._most_words(first, set(terms(question.lower())), text), later])

    def _once(self, rows: Iterable[tuple[int, float]]) -> dict[int, float]:
        """The first of equal triples."""
        first: dict[int, tuple[int, float]] = {}
        for row, score in rows:
            first.setdefault(int(self.triples.same[row]), (row, score))
        return dict(first.values())

    def _most_words(self, scored: Mapping[int, float], words: set[str], text: Callable[[int], str]) -> dict[int, float]:
        if len(scored) <= self.settings.top_k_filter:
            return dict(scored)
        held = {row: sum(word in text(row).lower() for word in words) for row in scored}
        best = sorted(scored, key=lambda row: -held[row])[: self.settings.top_k_filter]  # stable
        return {row: scored[row] for row in best}


def keywords(query: str) -> list[str]:
    """The words of a query by which nodes are looked up, each once, in its order: words of more than two letters that
    belong to a name or say something, and names as a whole, in lower case."""
    if unspaced(query):  # no English parse splits it
        return list(dict.fromkeys(terms(query.lower())))
    (doc,) = parse([storable(query)[:2_000]])
    words = [
        token.lower_ for token in doc
        if not token.is_stop and len(token.text) > 2 and (token.ent_type_ or token.pos_ in _SPOKEN)
    ]  # fmt: skip
    return list(dict.fromkeys([*words, *(span.text.lower() for span in doc.ents)]))


def _union(parts: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """In their order, each row as it came first."""
    union: dict[int, float] = {}
    for part in parts:
        union |= {row: score for row, score in part.items() if row not in union}
    return union


def _words_of(names: Sequence[str]) -> dict[str, list[int]]:
    rows_by_word: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        for word in dict.fromkeys(terms(name.lower())):
            if len(word) > 2 or unspaced(word):
                rows_by_word.setdefault(word, []).append(row)
    return rows_by_word
