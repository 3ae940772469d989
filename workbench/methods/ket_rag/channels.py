"""Token counts of the rows of a context, each counted once.

Their sum is the count of the whole, because the tokenizer joins nothing across a line feed that a word or a number
follows. A header is counted with the blank lines before it, for which the whole may need a token fewer.

The keyword channel: pieces that contain the keywords closest to the question.

The entity channel: relationships of the entities close to the question, and their source texts (Microsoft GraphRAG
0.4.1's local search).

Pieces that the skeleton connects to the chunks in the context: chunk → entity → piece.

A piece names an entity if it contains the words of the name in order, in any case, so the skeleton, extracted from the
core of the corpus, reaches all of it. Every chunk in the context passes 1 / its rank to each entity that it names,
every entity close to the question has 1 / its own rank, and each entity divides its score among the pieces that name
it:

    s(p) = Σ_{e in p} a(e) / |pieces of e|        a(e) = 1 / rank(e) + Σ_{chunks c that name e} 1 / rank(c)

A name in many pieces thus connects them only weakly. This covers the second hop of a question, which is similar to the
answer and not to the question's words.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from workbench import tokens
from workbench.encoding.similarity import top
from workbench.index.keywords import KeywordsLayer
from workbench.index.pieces import PiecesLayer
from workbench.index.skeleton import SkeletonLayer
from workbench.layouts import ket_rag as layout
from workbench.records import ContextEntity, ContextGraph, ContextRelation, Unit
from workbench.text import words as _words

T = TypeVar("T")
DIGITS = 3  # of a number make one token


@cache
def stub_tokens() -> int:
    """Tokens of a context without rows."""
    return tokens.count(layout.BETWEEN + layout.write(ContextGraph()))


@cache
def reports_tokens() -> int:
    """Tokens of what stands in place of the reports."""
    return tokens.count(layout.EMPTY_REPORTS)


class Rows:
    """Rows of a context from those of the layers, and their tokens. `titles`: whether a piece that does not hold the
    title of its passage is shown with it."""

    def __init__(self, pieces: PiecesLayer, skeleton: SkeletonLayer, titles: bool):
        self._pieces = pieces.pieces if titles else [replace(piece, title="") for piece in pieces.pieces]
        self._skeleton = skeleton
        self.entity_tokens = lru_cache(None)(self._entity_tokens)
        self.relation_tokens = lru_cache(None)(self._relation_tokens)
        self.unit_tokens = lru_cache(None)(self._unit_tokens)
        self.piece_tokens = lru_cache(None)(self._piece_tokens)

    def entity(self, row: int) -> ContextEntity:
        return self._skeleton.entities[row]

    def relation(self, row: int, links: int | None) -> ContextRelation:
        return replace(self._skeleton.relations[row], links=links)

    def unit(self, row: int) -> Unit:
        """A source. Parts of one chunk share its number, as in the released code."""
        return replace(self._skeleton.units[row], id=str(self._skeleton.unit_chunk[row]))

    def piece(self, row: int) -> Unit:
        """A piece as a source."""
        return self._pieces[row]

    def chunk(self, row: int, rank: int) -> Unit:
        return replace(self._pieces[row], id=f"chunk_{rank}")

    def chunk_tokens(self, row: int, rank: int) -> int:
        return self.piece_tokens(row, "chunk_1") + (len(str(rank)) - 1) // DIGITS

    def _entity_tokens(self, row: int) -> int:
        return tokens.count(layout.entity_row(self.entity(row), row))

    def _relation_tokens(self, row: int, links: int | None) -> int:
        columns = ("rank",) if links is None else ("rank", "links")
        return tokens.count(layout.relation_row(self.relation(row, links), row, columns))

    def _unit_tokens(self, row: int) -> int:
        unit = self.unit(row)
        return tokens.count(layout.unit_row(unit, unit.id))

    def _piece_tokens(self, row: int, id: str | None = None) -> int:
        return tokens.count(layout.unit_row(self._pieces[row], id or self._pieces[row].id))


@cache
def head_tokens(table: str, linked: bool = False) -> int:
    """Of a header and the names of the columns; `linked`: relationships have links."""
    shape = [ContextRelation("", "", rank=0, links=0 if linked else None)]
    return tokens.count(layout.BETWEEN + layout.head(table, shape))


class Pool(NamedTuple):
    """`brought`: row of a piece → row of the keyword that selected it, in order of selection; the number of keywords
    examined, the tokens of the pieces, and why the selection ended."""

    brought: dict[int, int]
    keywords: int
    tokens: int
    ended: str

    def by_cosine(self, cosines: np.ndarray) -> list[int]:
        """The pieces, closest to the question first, whichever keyword selected them."""
        pieces = np.fromiter(self.brought, dtype=np.int64)
        return pieces[np.argsort(-cosines[pieces], kind="stable")].tolist()


def pool(
    keywords: KeywordsLayer,
    pieces: PiecesLayer,
    query: np.ndarray,
    cosines: np.ndarray,
    *,
    candidates: int,
    cap: int,
    duplicates_end_it: bool,
) -> Pool:
    """Up to `cap` tokens of pieces: those of the closest keyword, the closest to the question first, then those of the
    next, of `candidates` keywords. A keyword's vector is shorter than 1: closeness is a product and no cosine, which
    would rank otherwise.

    `cosines`: of all pieces to the question. `duplicates_end_it`: a piece that is in the pool already ends it where a
    new one of its size would.
    """
    brought: dict[int, int] = {}
    used = 0
    closest = top(np.asarray(keywords.vectors) @ query, candidates).tolist()
    for looked_at, keyword in enumerate(closest, 1):
        holding = keywords.incidence.indices[
            keywords.incidence.indptr[keyword] : keywords.incidence.indptr[keyword + 1]
        ]
        for piece in holding[np.lexsort((holding, -cosines[holding]))].tolist():
            if piece in brought and not duplicates_end_it:
                continue
            size = int(pieces.tokens[piece])
            if used + size > cap:
                return Pool(brought, looked_at, used, "full")
            if piece not in brought:
                brought[piece] = keyword
                used += size
    return Pool(brought, len(closest), used, "no keyword is left")


Related = tuple[int, int | None]  # row of a relationship, and its links


class Skeleton:
    """The skeleton as used by the channel: the relationships and the units of each entity."""

    def __init__(self, layer: SkeletonLayer):
        self._layer = layer
        self._ends = np.asarray(layer.ends).reshape(-1, 2)
        self._ranks = layer.ranks
        numbers = np.arange(len(self._ends))
        joined = (np.ones(2 * len(numbers)), (self._ends.T.ravel(), np.r_[numbers, numbers]))
        self._incident = sp.coo_array(joined, shape=(len(layer.entities), len(numbers))).tocsr()

    def related(self, entities: Sequence[int], outside: int) -> list[Related]:
        """Relationships of some entities: those among them by rank; then, up to `outside`, those with others, by the
        number of the entities that the other one is joined to (links), then by rank."""
        rows = self._incidents(entities)
        inside = np.isin(self._ends[rows], entities)
        within = inside.all(axis=1)
        among, out = rows[within], rows[~within]
        others = np.where(inside[~within, 0], self._ends[out, 1], self._ends[out, 0])
        _, place, counts = np.unique(others, return_inverse=True, return_counts=True)
        links = counts[place]
        among = among[np.lexsort((among, -self._ranks[among]))]
        order = np.lexsort((out, -self._ranks[out], -links))[:outside]
        return [(row, None) for row in among.tolist()] + list(zip(out[order].tolist(), links[order].tolist()))

    def units(self, entity: int) -> list[int]:
        """Units of an entity, by the number of its relationships that they state."""
        units = self._layer.entity_units[[entity]].indices
        stated = np.asarray(self._layer.relation_units[self._incidents([entity])].sum(axis=0)).ravel()
        return units[np.lexsort((units, -stated[units]))].tolist()

    def _incidents(self, entities: Sequence[int]) -> np.ndarray:
        return np.unique(self._incident[list(entities)].indices)


class Tables(NamedTuple):
    """Rows of entities and relationships of a context, and their tokens."""

    entities: list[int]
    relations: list[Related]
    tokens: int


def tables(skeleton: Skeleton, rows: Rows, entities: Sequence[int], cap: int, per_entity: int) -> Tables:
    """Both tables under one cap: as many entities as fit, and the relationships of more and more entities, until both
    tables together no longer fit. Links are shown if the first relationship has them, so the columns differ between
    questions."""
    entities_in, used = tokens.leading(entities, lambda row, _: rows.entity_tokens(row), cap, head_tokens("entities"))
    best: list[Related] = []
    more = 0
    for many in range(1, len(entities) + 1):
        related = skeleton.related(entities[:many], per_entity * many)
        linked = bool(related) and related[0][1] is not None
        fitting = [(row, links if linked else None) for row, links in related]
        head = head_tokens("relations", linked)
        fitting, size = tokens.leading(fitting, lambda pair, _: rows.relation_tokens(*pair), cap, head)
        if used + size > cap:
            break
        best, more = fitting, size
    return Tables(entities_in, best, used + more)


class Bridges:
    """`named`: float64 csr (entities, pieces), 1 where the piece names the entity."""

    def __init__(self, names: Sequence[str], texts: Sequence[str]):
        self.named = _named(names, texts)
        pieces = np.diff(self.named.indptr)
        self._per_piece = np.divide(1.0, pieces, out=np.zeros(len(names)), where=pieces > 0)
        self._of_piece = self.named.T.tocsr()

    def scores(self, entities: Sequence[int], chunks: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """s of every piece and a of every entity, from the matched entities and the pieces in the context, best
        first."""
        given = np.zeros(self.named.shape[1])
        given[list(chunks)] = 1 / np.arange(1, len(chunks) + 1)
        amounts = self.named @ given
        amounts[list(entities)] += 1 / np.arange(1, len(entities) + 1)
        return self._of_piece @ (amounts * self._per_piece), amounts

    def best(self, piece: int, amounts: np.ndarray) -> int | None:
        """The entity that contributes most to the score of a piece."""
        names = self._of_piece.indices[self._of_piece.indptr[piece] : self._of_piece.indptr[piece + 1]]
        return int(names[np.argmax((amounts * self._per_piece)[names])]) if len(names) else None

    def first(self, entity: int, chunks: Sequence[int]) -> int | None:
        """The place, from 1 on, of the first chunk that names an entity."""
        naming = set(self.named.indices[self.named.indptr[entity] : self.named.indptr[entity + 1]].tolist())
        return next((place for place, piece in enumerate(chunks, 1) if piece in naming), None)


def _named(names: Sequence[str], texts: Sequence[str]) -> sp.csr_array:
    rows = defaultdict(list)  # words of a name -> entities: QUELL-ON-SEA and QUELL ON SEA are two of them
    lengths = defaultdict(set)  # first word -> how many words names have that begin with it
    for row, name in enumerate(names):
        if words := tuple(_words(name)):
            rows[words].append(row)
            lengths[words[0]].add(len(words))
    named, ends = array("q"), [0]  # the entities of the pieces, one after the other, and where those of each end
    for text in texts:
        words, rows_found = _words(text), set()
        for at, word in enumerate(words):
            for length in lengths.get(word, ()):
                rows_found.update(rows.get(tuple(words[at : at + length]), ()))
        named.extend(sorted(rows_found))
        ends.append(len(named))
    shape = (len(texts), len(names))
    return sp.csr_array((np.ones(len(named)), np.array(named, dtype=np.int64), ends), shape=shape).T.tocsr()
