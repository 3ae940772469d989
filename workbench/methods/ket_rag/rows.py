"""How many cl100k tokens the rows of a context have: each is counted by itself, and once.

Their sum is the count of the whole, because the tokenizer joins nothing across a line feed that a word or a number
follows. A header is counted with the blank lines before it, for which the whole may need a token fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, lru_cache
from typing import TypeVar

from workbench import tokens
from workbench.index.pieces import PiecesLayer
from workbench.index.skeleton import SkeletonLayer
from workbench.layouts import ket_rag as layout
from workbench.records import ContextEntity, ContextGraph, ContextRelation, Unit

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


def leading(items: Iterable[T], size: Callable[[T, int], int], used: int, cap: int) -> tuple[list[T], int]:
    """The first items that fit under a cap, up to the one that does not, and the tokens that are used then. `size` is
    given an item and its place from 1 on; `used` are the tokens before it, which count only where an item fits."""
    kept: list[T] = []
    for place, item in enumerate(items, 1):
        more = size(item, place)
        if used + more > cap:
            break
        kept.append(item)
        used += more
    return kept, used if kept else 0
