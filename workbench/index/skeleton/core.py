"""Which pieces the skeleton is extracted from, and the chunks that they make up (KET-RAG)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import groupby, pairwise

import numpy as np
import scipy.sparse as sp

from workbench import tokens
from workbench.index.pieces import PiecesLayer
from workbench.index.skeleton.merging import Edge
from workbench.records import Passage, Unit
from workbench.text import unicode_phrase

DIGITS = 9  # of a PageRank times the number of pieces: the rest is rounding, and would order equals at random


def by_pagerank(graph: sp.csr_array, count: int, damping: float) -> list[int]:
    """Rows of the `count` pieces of the highest PageRank, ascending; of equals the earlier counts more."""
    import igraph

    n = graph.shape[0]
    ends = sp.triu(graph).nonzero()
    ranks = igraph.Graph(n, np.stack(ends, axis=1).tolist()).pagerank(damping=damping)
    order = np.argsort(-np.round(np.array(ranks) * n, DIGITS), kind="stable")
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
    found = []
    # Rows that follow one another, and lie in one chunk of the passage, have a constant difference to their place.
    for _, run in groupby(enumerate(rows), lambda at: (at[1] - at[0], pieces.chunk[at[1]])):
        members = [row for _, row in run]
        title = passages[pieces.passage[members[0]]].title
        text = "".join(pieces.pieces[row].text for row in members)
        found.append((title, text.removeprefix(f"{title}\n") if title else text))
    return tuple(found)


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
    """The words of a text between spaces, so that whole words alone are found in it."""
    return f" {unicode_phrase(text)} "
