"""BM25 scores as bm25s computes them, kept beside the layers of an index so that a question need not load it."""

from __future__ import annotations

import sys

import bm25s
import numpy as np
import pytest
from tiny import PASSAGES, TinyEncoder, tiny_dataset

from workbench.data import Dataset
from workbench.index import Index
from workbench.methods.bm25 import BM25
from workbench.records import Passage
from workbench.source import depends
from workbench.text import search_terms

QUESTIONS = ("Which lake does the River Aldra flow into?", "river river Orsby", "東京 twin", "nothing known", "xyzzy")


@pytest.fixture
def index(tmp_path):
    return built(tiny_dataset(), tmp_path / "index")


def built(data, folder):
    return Index.build(data, None, folder, encoder=TinyEncoder(), layers=["passages"], progress=False)


def kept(index):
    return sorted((index.folder / "derived").glob("*"))


def rankings(index, **settings):
    method = BM25(index, **settings)
    return [[(p.id, float(score)) for p, score in method.retrieve(question, 5).passages] for question in QUESTIONS]


@pytest.mark.parametrize("settings", [{}, {"k1": 0.9, "b": 0.4}])
def test_the_scores_are_those_of_bm25s_to_the_bit(index, settings):
    words = [search_terms(passage.content) for passage in PASSAGES]
    peer = bm25s.BM25(**{"k1": 1.5, "b": 0.75, **settings}, method="lucene")
    peer.index(words, show_progress=False)
    known = {word for found in words for word in found}
    for method in (BM25(index, **settings), BM25(index, **settings)):  # made, and read back
        for question in QUESTIONS[:-1]:
            asked = [word for word in search_terms(question) if word in known]
            assert np.array_equal(method._scores(asked), peer.get_scores(asked))


def test_what_is_kept_is_read_without_the_library(index, monkeypatch):
    made = rankings(index)
    assert [*depends(search_terms, versions=False).units] == ["text.py"]  # it read 57 modules for its key
    monkeypatch.setitem(sys.modules, "bm25s", None)  # to import it is an error
    assert rankings(Index.open(index.folder, index.encoder)) == made and made[0] and not made[-1]
    with pytest.raises(ImportError):
        BM25(index, k1=1.2)  # other settings, another matrix


def test_a_damaged_file_is_made_again(index):
    made = rankings(index)
    (file,) = kept(index)
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", whole.replace(b"aldra", b"aldrb")):
        file.write_bytes(damaged)
        assert rankings(index) == made and file.read_bytes() == whole


def test_where_nothing_can_be_kept_it_is_made_each_time(index):
    (index.folder / "derived").write_text("a file in the place of the folder, since root may write anywhere")
    assert rankings(index) == rankings(index)
    assert (index.folder / "derived").is_file()


def test_other_passages_have_another_file_and_what_is_superseded_goes(index):
    before = rankings(index)
    (old,) = kept(index)
    changed = index.insert([Passage("p9", "Mira Canal", "The Mira Canal leaves Lake Mira.")])
    assert not kept(index) and rankings(index) == before, "an index that was opened before answers as it did"
    assert "p9" in {passage for passage, _ in rankings(changed)[0]}
    assert old in kept(index) and len(kept(index)) == 2


def test_passages_without_words_have_no_scores(tmp_path):
    index = built(Dataset("marks", (Passage("m1", "…", "—!"),)), tmp_path / "marks")
    for _ in range(2):
        assert not BM25(index).retrieve("Which lake?", 3).passages
