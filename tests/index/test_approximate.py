"""Close pairs by FAISS: most of those that exact products find, and the manifest says how many."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from tiny import TinyEncoder

from workbench.data import Dataset, Extraction
from workbench.errors import IndexFault
from workbench.index import Index, approximate, synonyms
from workbench.records import Passage

pytest.importorskip("faiss")
NEAREST, THRESHOLD = 20, 0.8


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    """Unit rows, of which each third has a neighbour made of it."""
    random = np.random.default_rng(3)
    vectors = random.normal(size=(3_000, 32)).astype(np.float32)
    vectors[1::3] = vectors[::3] + random.normal(scale=0.4, size=(1_000, 32)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def pairs(found: np.ndarray) -> dict[tuple[int, int], float]:
    return {(int(source), int(target)): cosine for source, target, cosine in found.T}


def test_the_pairs_are_exact_ones_and_the_recall_is_that_of_all(vectors):
    rows = np.arange(len(vectors))
    found, said = approximate.close_pairs(vectors, rows, THRESHOLD, NEAREST)
    truth, found = pairs(synonyms.close_pairs(vectors, rows, THRESHOLD)), pairs(found)
    assert len(truth) > 1_000 and all(truth[pair] == pytest.approx(cosine, abs=1e-6) for pair, cosine in found.items())
    assert {(b, a) for a, b in found} == set(found)
    assert said["recall"] >= approximate.ENOUGH and len(found) / len(truth) >= 0.98
    assert said["probed"] < said["lists"], "not all lists had to be probed"


def test_too_few_lists_are_seen_in_the_recall(vectors, monkeypatch):
    """The figure is measured: where a tenth is enough, it says how much was found, and fewer pairs are."""
    monkeypatch.setattr(approximate, "ENOUGH", 0.1)
    random = np.random.default_rng(5).normal(size=(3_000, 8)).astype(np.float32)
    random /= np.linalg.norm(random, axis=1, keepdims=True)
    _, said = approximate.close_pairs(random, np.arange(len(random)), 0.5, 3_000)
    assert said["probed"] == 4 and said["recall"] < 0.9


def test_only_pairs_of_the_queries_are_found(vectors):
    queries = np.array([0, 1, 2, 30])
    found, _ = approximate.close_pairs(vectors, queries, THRESHOLD, NEAREST)
    truth = pairs(synonyms.close_pairs(vectors, queries, THRESHOLD))
    assert set(pairs(found)) == set(truth) and truth


# -- the layer ------------------------------------------------------------------------------------------------------


def data(names: int) -> Dataset:
    said = tuple((f"the river {number} aldra", "flows to", f"river {number} aldra") for number in range(names))
    return Dataset("many", (Passage("p", "", "x"),), (), (Extraction("p", (), said, "x"),))


def build(folder, names: int, **settings) -> Index:
    return Index.build(
        data(names), None, folder, encoder=TinyEncoder(), settings={"synonyms": settings}, progress=False
    )


def test_a_layer_above_the_size_says_how_its_pairs_were_found(tmp_path):
    exact, most = build(tmp_path / "exact", 60), build(tmp_path / "most", 60, exact_up_to=100)
    assert "approximate" not in exact.synonyms.metadata
    said = json.loads((tmp_path / "most" / "manifest.json").read_text())["layers"]["synonyms"]["approximate"]
    assert said["recall"] >= approximate.ENOUGH and said["by"].startswith("faiss-cpu")
    entries = [set(zip(i.synonyms.sources.tolist(), i.synonyms.targets.tolist())) for i in (exact, most)]
    assert entries[0] and len(entries[0] & entries[1]) >= 0.98 * len(entries[0])


def test_without_faiss_a_large_layer_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(IndexFault, match=r"hopscope\[scale\].*exact_up_to"):
        build(tmp_path, 60, exact_up_to=100)
    assert build(tmp_path, 60).synonyms.metadata["entries"], "a small one needs none"
