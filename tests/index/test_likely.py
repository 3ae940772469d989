"""The graph of more pieces than can all be compared: most of the exact one, and the manifest says how much."""

from __future__ import annotations

import json
import random
import sys

import numpy as np
import pytest
from tiny import TinyEncoder

from workbench.data import Dataset
from workbench.errors import IndexFault
from workbench.index import Index, approximate
from workbench.index.skeleton import building
from workbench.records import Passage

pytest.importorskip("faiss")
pytestmark = pytest.mark.filterwarnings("ignore:The number of components is higher")  # of the few words here
PIECES = 3_000


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Pieces of some of 400 words, of which the first are far more frequent than the last."""
    chance = random.Random(7)
    words = [f"b{'o' * (at % 20)}d{'u' * (at // 20)}g" for at in range(400)]
    return [
        " ".join(words[min(int(chance.expovariate(1 / 60)), 399)] for _ in range(chance.randint(5, 30))) + "."
        for _ in range(PIECES)
    ]


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    found = np.random.default_rng(3).normal(size=(PIECES, 24)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def shared(texts, pairs) -> np.ndarray:
    held = building.bags(texts)
    return np.asarray(held[pairs[:, 0]].multiply(held[pairs[:, 1]]).sum(axis=1)).ravel()


def test_most_pieces_have_a_partner_that_shares_as_many_words(texts, monkeypatch):
    monkeypatch.setattr(approximate, "SAMPLE", PIECES)
    found, said = building.by_words_shared(building.bags(texts), 1)
    exact = np.concatenate(list(building.lexical(texts)))
    assert found[:, 0].tolist() == exact[:, 0].tolist() == list(range(PIECES)) and (found[:, 0] != found[:, 1]).all()
    as_many = shared(texts, found) == shared(texts, exact)
    assert said["recall"] == round(float(as_many.mean()), 4) >= 0.9, "all are in the sample, so the figure is exact"


def test_several_partners_are_those_that_share_most(texts):
    found, said = building.by_words_shared(building.bags(texts), 3)
    assert np.bincount(found[:, 0]).tolist() == [3] * PIECES and 0.8 < said["recall"] <= 1
    counts = shared(texts, found).reshape(-1, 3)
    assert (np.diff(counts, axis=1) <= 0).all()


def test_the_nearest_by_vectors_are_those_of_products(vectors):
    found, said = building.by_cosine(vectors, 2)
    exact = np.concatenate(list(building.semantic(vectors, 2)))
    pairs = [set(map(tuple, some.tolist())) for some in (found, exact)]
    assert said["recall"] >= 0.99 and len(pairs[0] & pairs[1]) > 0.98 * len(pairs[1])


def test_of_equals_the_earlier_is_nearer():
    vectors = np.tile(np.eye(4, dtype=np.float32), (20, 1))  # piece p is equal to p + 4, p + 8, …
    found, _ = building.by_cosine(vectors[:8], 1)
    assert found.tolist() == [[0, 4], [1, 5], [2, 6], [3, 7], [4, 0], [5, 1], [6, 2], [7, 3]]


def test_pieces_that_share_no_word_are_not_joined_for_their_words():
    held = building.bags(["Fog over the lake.", "The fog.", "Boats.", "A mill and a lake."])
    found, said = building.by_words_shared(held, 2)
    assert found.tolist() == [[0, 1], [0, 3], [1, 0], [3, 0]] and said["recall"] == 1


# -- the layer ------------------------------------------------------------------------------------------------------


def build(folder, **chosen) -> Index:
    passages = tuple(Passage(f"p{at}", "", f"The fog hides the mill number {at} of the lake.") for at in range(60))
    return Index.build(
        Dataset("many", passages), None, folder, encoder=TinyEncoder(), layers=["skeleton"], progress=False,
        settings={"skeleton": chosen},
    )  # fmt: skip


def test_a_layer_above_the_size_says_how_its_pieces_were_joined(tmp_path, monkeypatch):
    assert "approximate" not in build(tmp_path / "exact").skeleton.metadata
    monkeypatch.setattr(building, "EXACT_UP_TO", 59)
    build(tmp_path / "most")
    said = json.loads((tmp_path / "most" / "manifest.json").read_text())["layers"]["skeleton"]["approximate"]
    assert set(said) == {"words", "vectors"} and all(one["by"].startswith("faiss-cpu") for one in said.values())
    assert all(one["recall"] > 0.9 for one in said.values())


def test_without_faiss_a_large_layer_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "EXACT_UP_TO", 59)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(IndexFault, match=r"hopscope\[scale\].*selection.*uniform"):
        build(tmp_path)
    assert build(tmp_path, selection="uniform").skeleton.metadata["core"] == 48, "a core by lot needs none"
