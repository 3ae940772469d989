"""The stages of a skeleton (KET-RAG): pieces are joined, the core is chosen among them and chunks are made of it, an
engine reads these, and one undirected graph is made of their records.

Each piece is joined to those that share most words with it, and to those nearest in meaning. The source compares all
pairs in a loop; here sparse and dense products of blocks do (`graph`). Of more than `EXACT_UP_TO` pieces, FAISS finds
most of the nearest (`likely_graph`). For words, the bag of each piece is projected on `DIRECTIONS` random directions,
where products are nearly the numbers of shared words; of the `CANDIDATES` nearest there, the words that are shared are
counted."""

from __future__ import annotations

import html
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from workbench import threads, tokens
from workbench.index.approximate import ENOUGH, Lists, highest, sampled, share_found
from workbench.index.journal import StepJournal, request_key
from workbench.index.keywords import sentences, stop_words
from workbench.index.pieces import PiecesLayer
from workbench.index.synonyms import rank_in_group
from workbench.records import Passage, Unit
from workbench.steps import graph_records, summarising
from workbench.steps.graph_records import Output
from workbench.text import terms, unicode_phrase

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


EXACT_UP_TO = 200_000  # pieces
WORDS = 2000  # of a piece: its most frequent
CELLS = 2**22  # of a product of a block of pieces with all
DIGITS = 6  # of a cosine: what lies beyond differs with the place in a product, and would order equals at random


def graph(texts: Sequence[str], vectors: np.ndarray, k: int = 1) -> sp.csr_array:
    """The undirected graph of n pieces, (n, n): 1 where one is among the `k` nearest of the other, by words or by
    vectors; `vectors` float32 (n, d), unit rows. Of equals the earlier is nearer. Two things differ from the source: a
    piece is kept from its own neighbours as such, not as the first of its row, which a duplicate may be; and pieces
    that share no word are not joined for their words."""
    return joined([*lexical(texts, k), *semantic(vectors, k)], len(texts))


def joined(parts: Sequence[np.ndarray], n: int) -> sp.csr_array:
    """The undirected graph of n pieces with these pairs, each part int (m, 2)."""
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *parts])
    adjacency = sp.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()
    adjacency = (adjacency + adjacency.T).tocsr()
    adjacency.data[:] = 1.0
    return adjacency


def lexical(texts: Sequence[str], k: int = 1) -> Iterator[np.ndarray]:
    """(piece, partner) by the number of words that both hold, block by block, int (m, 2)."""
    held = bags(texts)
    across = held.T.tocsr()
    block = _block(len(texts))
    for start in range(0, len(texts), block):
        yield _best((held[start : start + block] @ across).toarray(), start, k, least=1)


def semantic(vectors: np.ndarray, k: int = 1) -> Iterator[np.ndarray]:
    """(piece, partner) by cosine, block by block, int (m, 2)."""
    import torch

    threads.settle_torch()
    whole, block = torch.from_numpy(np.array(vectors)), _block(len(vectors))
    for start in range(0, len(vectors), block):
        products = (whole[start : start + block] @ whole.T).numpy()
        yield _best(np.round(products, DIGITS), start, k, least=-2)


def _block(n: int) -> int:
    """How many of n pieces are compared with all at once."""
    return max(1, CELLS // max(1, n))


def bags(texts: Sequence[str]) -> sp.csr_array:
    """1 where a piece holds a word, (n, words): in lower case, letters alone, no stop words."""
    rows, columns, columns_of = [], [], {}
    for row, split in enumerate(sentences(texts)):
        words = Counter(word.lower() for part in split for token in part for word in terms(token) if word.isalpha())
        for word in stop_words():
            words.pop(word, None)
        for word, _ in words.most_common(WORDS):
            rows.append(row)
            columns.append(columns_of.setdefault(word, len(columns_of)))
    ones = np.ones(len(rows), np.int32)
    return sp.coo_array((ones, (rows, columns)), shape=(len(texts), len(columns_of))).tocsr()


def _best(scores: np.ndarray, start: int, k: int, least: float) -> np.ndarray:
    """(start + row, column) of the `k` highest scores of each row, of `least` or more; a piece is not its own."""
    rows = np.arange(len(scores))
    pairs = [np.zeros((0, 2), np.int64)]
    scores[rows, start + rows] = least - 1
    for _ in range(min(k, scores.shape[1])):
        columns = scores.argmax(axis=1)  # the first of equals
        good = scores[rows, columns] >= least
        pairs.append(np.c_[start + rows[good], columns[good]])
        scores[rows, columns] = least - 1
    return np.concatenate(pairs)


DIRECTIONS, CANDIDATES = 256, 100
ENOUGH_WORDS, GAIN = 0.9, 0.01  # recall by words that is enough, and that twice the time has to bring
_DENSITY = 0.1  # of the directions: a word has a part in a tenth of them
_INSTEAD = "have the pieces drawn by lot: settings={'skeleton': {'selection': 'uniform'}}"


def likely_graph(
    texts: Sequence[str], vectors: np.ndarray, k: int = 1, progress: bool = False
) -> tuple[sp.csr_array, dict]:
    """Most of `graph`, and how it was found, by words and by vectors: library, lists, how many were probed, and the
    `recall`, the share of the nearest of a sample for which one as near was found."""
    held = bags(texts)
    sharing, by_words = by_words_shared(held, k, progress)
    near, by_vectors = by_cosine(np.asarray(vectors), k, progress)
    return joined([sharing, near], len(texts)), {"words": by_words, "vectors": by_vectors}


def by_words_shared(held: sp.csr_array, k: int, progress: bool = False) -> tuple[np.ndarray, dict[str, Any]]:
    """(piece, partner) by the number of words that both hold, int (m, 2). `held`: 1 where a piece holds a word,
    (n, words)."""
    from sklearn.random_projection import SparseRandomProjection

    directions = SparseRandomProjection(DIRECTIONS, density=_DENSITY, dense_output=True, random_state=0)
    projected = directions.fit_transform(held.astype(np.float32)).astype(np.float32, copy=False)
    lists, every = Lists(projected, _INSTEAD, halved=True), np.arange(held.shape[0])
    sample = sampled(every)
    truth = [highest(counts[counts > 0], k) for counts in _all_shared(held, sample)]

    def recall() -> float:
        best = np.concatenate([_sharing(held, *ends, k) for *ends, _ in lists.pairs(sample, CANDIDATES)])
        return share_found((best[best[:, 0] == piece, 2] for piece in sample), truth)

    lists.probe_enough(recall, ENOUGH_WORDS, GAIN)
    pairs = lists.pairs(every, CANDIDATES, "pieces by words", "piece", progress)
    return np.concatenate([_sharing(held, *ends, k)[:, :2] for *ends, _ in pairs]), lists.metadata


def by_cosine(vectors: np.ndarray, k: int, progress: bool = False) -> tuple[np.ndarray, dict[str, Any]]:
    """(piece, partner) by cosine, int (m, 2)."""
    lists, every = Lists(vectors, _INSTEAD), np.arange(len(vectors))
    lists.probe_enough(lists.recall(sampled(every), k), ENOUGH)
    parts = []
    for sources, targets, cosines in lists.pairs(every, 2 * k, "pieces by vectors", "piece", progress):
        cosines = np.round(cosines.astype(np.float64), DIGITS)
        parts.append(_first(sources, targets, cosines, k)[:, :2])
    return np.concatenate(parts).astype(np.int64), lists.metadata


def _first(sources: np.ndarray, targets: np.ndarray, scores: np.ndarray, k: int) -> np.ndarray:
    """(source, target, score) of the `k` highest scores of each source; of equals the earlier target."""
    order = np.lexsort((targets, -scores, sources))
    first = order[rank_in_group(sources[order]) < k]
    return np.c_[sources[first], targets[first], scores[first]]


def _sharing(held: sp.csr_array, sources: np.ndarray, targets: np.ndarray, k: int) -> np.ndarray:
    """(piece, partner, words shared) of the `k` candidates that share most words with a piece, if any."""
    both = np.asarray(held[sources].multiply(held[targets]).sum(axis=1)).ravel()
    sharing = both > 0
    return _first(sources[sharing], targets[sharing], both[sharing], k)


def _all_shared(held: sp.csr_array, pieces: np.ndarray) -> Iterator[np.ndarray]:
    """Of each of some pieces, how many words it shares with every other."""
    across = held.T.tocsr()
    for piece in pieces.tolist():
        counts = (held[[piece]] @ across).toarray()[0]
        counts[piece] = 0
        yield counts


PAGERANK_DIGITS = 9  # of a PageRank times the number of pieces: the rest is rounding, and would order equals at random


def by_pagerank(graph: sp.csr_array, count: int, damping: float) -> list[int]:
    """Rows of the `count` pieces of the highest PageRank, ascending; of equals the earlier counts more."""
    import igraph

    n = graph.shape[0]
    ends = sp.triu(graph).nonzero()
    ranks = igraph.Graph(n, np.stack(ends, axis=1).tolist()).pagerank(damping=damping)
    order = np.argsort(-np.round(np.array(ranks) * n, PAGERANK_DIGITS), kind="stable")
    return sorted(order[:count].tolist())


def at_random(n: int, count: int, seed: int) -> list[int]:
    """Rows of `count` of n pieces, ascending."""
    return sorted(random.Random(seed).sample(range(n), count))


def merged(core: Sequence[int], sizes: Sequence[int], limit: int) -> list[tuple[int, ...]]:
    """Core pieces in their order, as many together as have up to `limit` tokens; one that has more stands alone. They
    need not follow one another, nor be of one passage.

    >>> merged([0, 2, 3, 4], [5, 9, 5, 1, 30], limit=10)
    [(0, 2), (3,), (4,)]
    """
    chunks: list[list[int]] = []
    total = 0
    for row in core:
        if not chunks or total + sizes[row] > limit:
            chunks.append([])
            total = 0
        chunks[-1].append(row)
        total += sizes[row]
    return [tuple(chunk) for chunk in chunks]


def chunk_of(number: int, rows: Sequence[int], pieces: PiecesLayer) -> Unit:
    """The text that pieces make up, nothing between them."""
    parts = [pieces.pieces[row] for row in rows]
    passages = dict.fromkeys(passage for part in parts for passage in part.passages)
    return Unit(str(number), "".join(part.text for part in parts), "", tuple(passages))


def runs(rows: Sequence[int], pieces: PiecesLayer, passages: Sequence[Passage]) -> tuple[tuple[str, str], ...]:
    """(title, text) of each run of pieces that follow one another in a passage: what can be read without reading across
    a seam. The title that a passage begins with is no part of its text."""
    runs_found = []
    # Rows that follow one another, and lie in one chunk of the passage, have a constant difference to their place.
    for _, run in groupby(enumerate(rows), lambda at: (at[1] - at[0], pieces.chunk[at[1]])):
        members = [row for _, row in run]
        title = passages[pieces.passage[members[0]]].title
        text = "".join(pieces.pieces[row].text for row in members)
        runs_found.append((title, text.removeprefix(f"{title}\n") if title else text))
    return tuple(runs_found)


def units_of(chunk: Unit, rows: Sequence[int], pieces: PiecesLayer, size: int) -> list[Unit]:
    """The parts of `size` cl100k tokens that a chunk is shown in, each with the passages that it holds something of."""
    starts = tokens.starts(chunk.text)
    borders = [*starts[:-1:size], starts[-1]]
    ends = np.cumsum([len(pieces.pieces[row].text) for row in rows])
    units = []
    for start, end in pairwise(borders):
        first, last = np.searchsorted(ends, [start, end - 1], side="right")
        passages = (passage for row in rows[first : last + 1] for passage in pieces.pieces[row].passages)
        text, name = chunk.text[start:end], f"{chunk.id}_{len(units)}"
        if text:
            units.append(Unit(name, text, "", tuple(dict.fromkeys(passages))))
    return units


class Stating:
    """Which passages of its chunks state a relationship: those of which the pieces, or the title, hold both ends;
    where none does, those with one; where none has, all of them."""

    def __init__(self, chunks: Sequence[Sequence[int]], pieces: PiecesLayer, passages: Sequence[Passage]):
        self._texts: list[dict[str, str]] = []
        for rows in chunks:
            texts: dict[str, str] = {}
            for row in rows:
                passage = passages[pieces.passage[row]]
                texts[passage.id] = texts.get(passage.id, passage.title + "\n") + pieces.pieces[row].text
            self._texts.append({passage: _padded(text) for passage, text in texts.items()})

    def __call__(self, edge: Edge) -> tuple[str, ...]:
        ends = _padded(edge.source), _padded(edge.target)
        named: dict[str, int] = {}
        for at in edge.chunks:
            for passage, text in self._texts[at].items():
                named[passage] = max(named.get(passage, 0), sum(end in text for end in ends))
        most = max(named.values())
        return tuple(passage for passage, count in named.items() if count == most)


def _padded(text: str) -> str:
    """The words of a text between spaces, so that a search finds only whole words."""
    return f" {unicode_phrase(text)} "


WINDOW = 4000  # cl100k tokens of fragments that are fused at once


def records(
    journal: StepJournal, inputs: Sequence[graph_records.Input], gleanings: int
) -> Iterator[tuple[int, graph_records.Output]]:
    """(number, records) of each chunk that did not fail, one at a time, because together they take much memory."""
    keys = [request_key(asdict(value), gleanings) for value in inputs]
    answers = journal.run(
        dict(zip(keys, inputs)),
        lambda group: graph_records.extract(journal.engine, group, rounds=gleanings),
        "extract the skeleton",
    )
    outputs = ((at, answers[key].output) for at, key in enumerate(keys))
    return ((at, graph_records.Output(**output)) for at, output in outputs if output is not None)


def descriptions(journal: StepJournal, things: Iterable[summarising.Fragments]) -> list[str]:
    """A description per thing. Several fragments are fused, in their order; those that do not fit into a request join
    its result in the next one. What cannot be fused stays one line per fragment."""
    texts_found, several = [], {}
    for at, thing in enumerate(things):
        texts_found.append("\n".join(thing.fragments))
        if len(thing.fragments) > 1:
            several[at] = thing
    left = {at: thing.fragments for at, thing in several.items()}
    failed = set()
    while open := {at: texts for at, texts in left.items() if len(texts) > 1 and at not in failed}:
        sizes = {at: _fitting(texts) for at, texts in open.items()}
        inputs = {at: replace(several[at], fragments=texts[: sizes[at]]) for at, texts in open.items()}
        keys = {at: request_key(asdict(value)) for at, value in inputs.items()}
        answers = journal.run(
            {keys[at]: value for at, value in inputs.items()},
            lambda group: journal.engine.run(summarising.FUSE, group),
            "fuse descriptions",
        )
        for at, key in keys.items():
            output = answers[key].output
            if output is None:
                failed.add(at)
            else:
                left[at] = (output["description"], *left[at][sizes[at] :])
    for at, texts in left.items():
        texts_found[at] = "\n".join(texts)
    return texts_found


def _fitting(fragments: Sequence[str]) -> int:
    """How many of the first fragments go into one request, at least two."""
    total = 0
    for number, fragment in enumerate(fragments):
        total += tokens.count(fragment)
        if number > 1 and total > WINDOW:
            return number
    return len(fragments)
