"""Pieces: windows worked out by hand, borders inside characters, what is encoded again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tiny import TinyEncoder

from workbench import tokens
from workbench.data import Dataset
from workbench.index import Index
from workbench.index.pieces import Settings, cut
from workbench.records import Passage, Unit
from workbench.text import storable


def build(folder, data, encoder=None, **chosen) -> Index:
    settings = {"pieces": chosen} if chosen else {}
    return Index.build(
        data, None, folder, encoder=encoder or TinyEncoder(), layers=["pieces"], settings=settings, progress=False
    )


def counted(n: int, start: int = 0) -> str:
    """A text of n tokens."""
    return "".join(f" {chr(97 + number % 26)}" for number in range(start, start + n))


def corpus(*texts: str) -> Dataset:
    return Dataset("made", tuple(Passage(f"p{n}", "", text) for n, text in enumerate(texts)))


def test_chunks_overlap_and_pieces_follow_one_another(tmp_path):
    text = counted(12)
    assert tokens.count(text) == 12
    layer = build(tmp_path, corpus(text, "", " z"), chunk_tokens=5, chunk_overlap=1, piece_tokens=2).pieces
    # Windows begin at 0, 4 and 8, and hold 5, 5 and 4 tokens.
    texts = [" a b", " c d", " e", " e f", " g h", " i", " i j", " k l", " z"]
    assert [piece.text for piece in layer.pieces] == texts
    assert layer.tokens.tolist() == [2, 2, 1, 2, 2, 1, 2, 2, 1] and layer.tokens.dtype == np.int32
    assert layer.chunk.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3]
    assert layer.passage.tolist() == [0] * 8 + [2]
    assert layer.pieces[8] == Unit("8", " z", "", ("p2",))
    assert layer.of_passage.toarray().tolist() == [[1] * 8 + [0], [0] * 9, [0] * 8 + [1]]
    assert np.array_equal(layer.vectors, TinyEncoder().encode(texts))


def test_a_rest_that_the_chunk_before_holds_is_a_chunk_too():
    rows = list(cut([Passage("p", "", counted(2300))], Settings()))
    starts = [sum(1 for _, _, _, chunk in rows if chunk == number) for number in range(3)]
    assert starts == [8, 8, 1]  # windows at 0, 1100 and 2200, of which the last lies wholly in the second
    assert [size for _, size, _, _ in rows] == [150] * 16 + [100]
    whole = list(cut([Passage("p", "", counted(1300))], Settings(piece_tokens=1200)))
    assert [(size, chunk) for _, size, _, chunk in whole] == [(1200, 0), (200, 1)]


@given(st.text(max_size=60).map(storable), st.integers(1, 7), st.integers(1, 9))
def test_pieces_of_a_chunk_give_back_its_text(text, size, chunk):
    rows = list(cut([Passage("p", "", text)], Settings(chunk_tokens=1000, chunk_overlap=0, piece_tokens=size)))
    assert "".join(piece for piece, _, _, _ in rows) == text
    rows = list(cut([Passage("p", "", text)], Settings(chunk_tokens=chunk, chunk_overlap=0, piece_tokens=size)))
    assert "".join(piece for piece, _, _, _ in rows) == text
    assert all(piece and number <= size for piece, number, _, _ in rows)
