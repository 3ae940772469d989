"""Keywords: which words they are, their vectors worked out by hand, what a change costs."""

from __future__ import annotations

import numpy as np
from tiny import CountingEncoder, TinyEncoder, files, tiny_dataset

from workbench.data import Dataset
from workbench.index import Index, keywords
from workbench.index.keywords import sentence_parts
from workbench.records import Passage


def build(folder, data, encoder=None) -> Index:
    return Index.build(data, None, folder, encoder=encoder or TinyEncoder(), layers=["keywords"], progress=False)


def corpus(*texts: str) -> Dataset:
    return Dataset("made", tuple(Passage(f"p{n}", "", text) for n, text in enumerate(texts)))


def vector(layer, word: str) -> np.ndarray:
    return layer.vectors[layer.words.index(word)]


def pieces(layer, word: str) -> list[int]:
    return layer.incidence[[layer.words.index(word)]].indices.tolist()


def test_a_keyword_is_a_word_as_it_is_written(tmp_path):
    layer = build(tmp_path, corpus('The fog\'s grey, the Fog is 2 -- "old"; fog & it.')).keywords
    assert layer.words == ["'s", "--", "2", "Fog", "The", "fog", "grey", "old"]


def test_against_a_plain_loop(tmp_path):
    index = build(tmp_path, tiny_dataset())
    encoder, sums, counts, held = TinyEncoder(), {}, {}, {}
    for row, piece in enumerate(index.pieces.pieces):
        (parts,) = sentence_parts([piece.text])
        for words in parts:
            for word in filter(keywords.is_keyword, words):
                sums[word] = sums.get(word, 0) + encoder.encode([" ".join(words)])[0]
                counts[word] = counts.get(word, 0) + 1
                held.setdefault(word, set()).add(row)
    assert index.keywords.words == sorted(sums) and len(sums) > 20
    for word in sums:
        assert np.allclose(vector(index.keywords, word), sums[word] / counts[word], atol=1e-6)
        assert pieces(index.keywords, word) == sorted(held[word])


def test_a_sentence_is_encoded_once_whatever_changes(tmp_path):
    data = corpus("Fog lifts. Boats sink.", "Fog lifts.")
    encoder = CountingEncoder()
    build(tmp_path / "changed", data, encoder)
    assert sum(text.endswith(" .") for text in encoder.texts) == 2
    index = Index.open(tmp_path / "changed", encoder).insert([Passage("n", "", "Boats sink. Rain.")], progress=False)
    assert encoder.texts.count("Rain .") == encoder.texts.count("Boats sink .") == 1
    index = index.delete(["p0"], progress=False)
    fresh = build(tmp_path / "fresh", Dataset("made", tuple(index.passages.passages))).keywords
    assert fresh.words == index.keywords.words and np.array_equal(
        fresh.incidence.toarray(), index.keywords.incidence.toarray()
    )
    assert np.allclose(fresh.vectors, index.keywords.vectors, atol=1e-6)
    index.delete(["n"], progress=False)
    assert not any(b"sink" in raw for raw in files(tmp_path / "changed").values())
