"""Pieces: windows worked out by hand, borders inside characters, what is encoded again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import CountingEncoder, TinyEncoder, tiny_dataset

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


@pytest.mark.parametrize("text", ["\x00\x01\x1b[31m <script>alert(1)</script> 東京🦊", "x" * 100_000], ids=range(2))
def test_texts_of_any_kind_are_cut(tmp_path, text):
    layer = build(tmp_path, corpus(text)).pieces
    assert "".join(piece.text for piece in layer.pieces if piece.id)[:1200] == text[:1200]
    assert all(count <= 150 for count in layer.tokens) and "<script>" not in layer._repr_html_()


def test_a_piece_that_is_a_whole_passage_is_not_encoded_again(tmp_path):
    encoder = CountingEncoder()
    data = tiny_dataset()
    index = build(tmp_path, data, encoder)
    assert len(set(encoder.texts)) == len(encoder.texts) == len(index.passages.passages)
    assert np.array_equal(index.pieces.vectors, index.passages.vectors)


def test_what_was_encoded_is_not_encoded_again_after_a_change(tmp_path):
    encoder = CountingEncoder()
    index = build(tmp_path / "changed", corpus(counted(4), counted(5, 9)), encoder, piece_tokens=2)
    encoder.calls.clear()
    new = Passage("new", "", " y z" + counted(2))
    index = index.insert([new], progress=False)
    assert encoder.texts == [new.content, " y z"], "the other piece is the first of all"
    index = index.delete(["p0"], progress=False)
    assert [piece.id for piece in index.pieces.pieces] == ["0", "1", "2", "3", "4"]
    data = Dataset("made", tuple(index.passages.passages))
    fresh = build(tmp_path / "fresh", data, piece_tokens=2).pieces
    assert fresh.pieces == index.pieces.pieces and np.array_equal(fresh.vectors, index.pieces.vectors)
