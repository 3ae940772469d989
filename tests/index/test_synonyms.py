"""Near-synonyms: exact neighbours, whatever the blocks they are found in, and the rules of who may be one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import TinyEncoder

from workbench.data import Dataset, Extraction
from workbench.index import Index, synonyms
from workbench.index.synonyms import close_pairs
from workbench.records import Passage

EDGE = 1e-4  # cosines nearer than this to the threshold may fall on either side


def unit(rows: list) -> np.ndarray:
    matrix = np.array(rows, dtype=np.float32).reshape(len(rows), 3) + np.float32(0.01)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


numbers = st.integers(-3, 3)
matrices = st.lists(st.tuples(numbers, numbers, numbers), max_size=12).map(unit)


@st.composite
def searches(draw):
    vectors = draw(matrices)
    queries = draw(st.sets(st.integers(0, max(0, len(vectors) - 1)))) if len(vectors) else set()
    return vectors, np.array(sorted(queries), dtype=np.int64), draw(st.sampled_from([-0.5, 0.0, 0.5, 0.8, 0.95]))


def pairs_of(found: np.ndarray) -> dict[tuple[int, int], float]:
    pairs = {(int(source), int(target)): cosine for source, target, cosine in found.T}
    assert len(pairs) == found.shape[1], "no pair is found twice"
    return pairs


@given(searches(), st.integers(1, 5))
def test_close_pairs_are_those_of_brute_force(search, block):
    vectors, queries, threshold = search
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synonyms, "BLOCK", block)
        found = pairs_of(close_pairs(vectors, queries, threshold))
    cosines = vectors.astype(float) @ vectors.astype(float).T
    for a in range(len(vectors)):
        for b in range(len(vectors)):
            asked = a != b and (a in queries or b in queries)
            if abs(cosines[a, b] - threshold) > EDGE:
                assert ((a, b) in found) == (asked and cosines[a, b] > threshold)
            if (a, b) in found:
                assert found[a, b] == pytest.approx(cosines[a, b], abs=1e-6)


def test_the_bits_of_a_cosine_depend_on_its_two_vectors_alone():
    """Else a phrase that is compared in another block, after a change, could change places with one of equal cosine."""
    dimension = 384
    random = np.random.default_rng(dimension)
    vectors = random.normal(size=(synonyms.BLOCK + 300, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    whole = pairs_of(close_pairs(vectors, np.arange(len(vectors)), 0.1))
    assert len(whole) > 10_000 and all(whole[b, a] == cosine for (a, b), cosine in whole.items())
    for size in (1, 2, 7, 40, len(vectors) - 1):
        rows = np.sort(random.choice(len(vectors), size, replace=False))
        asked = set(rows.tolist())
        alone = pairs_of(close_pairs(vectors, rows, 0.1))
        assert alone == {pair: cosine for pair, cosine in whole.items() if not asked.isdisjoint(pair)}


# -- the layer ------------------------------------------------------------------------------------------------------

TARGETS = ("old river aldra", "river aldra", "the old river aldra", "the river aldra", "xi", "a xi", "…")


def synonyms_of(tmp_path, **settings) -> dict[str, list[tuple[str, float]]]:
    """Phrase → its near-synonyms, best first."""
    said = tuple((phrase, "is", "quay") for phrase in TARGETS)
    data = Dataset("synonyms", (Passage("p", "", "x"),), (), (Extraction("p", (), said, "x"),))
    chosen = {"facts": {"normalise": "ascii"}, "synonyms": settings}
    index = Index.build(data, None, tmp_path, encoder=TinyEncoder(), settings=chosen, progress=False)
    found: dict[str, list[tuple[str, float]]] = {}
    phrases, layer = index.facts.phrases, index.synonyms
    for source, target, similarity in zip(layer.sources, layer.targets, layer.similarities):
        found.setdefault(phrases[source], []).append((phrases[target], float(similarity)))
    return found


def expected(threshold: float = 0.8, k: int = 2047, cap: int = 101, min_characters: int = 3) -> dict[str, list[str]]:
    """The rules, one phrase at a time."""
    phrases = ["", "a xi", "old river aldra", "quay", "river aldra", "the old river aldra", "the river aldra", "xi"]
    vectors = TinyEncoder().encode(phrases).astype(float)
    lists = {}
    for row, phrase in enumerate(phrases):
        if sum(map(str.isalnum, phrase)) >= min_characters:
            near = sorted(
                (-round(vectors[row] @ vectors[other], 6), name)
                for other, name in enumerate(phrases)
                if name and other != row and vectors[row] @ vectors[other] >= threshold
            )
            lists[phrase] = [name for _, name in near[: min(k - 1, cap)]]
    return {phrase: names for phrase, names in lists.items() if names}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"threshold": 0.5},
        {"threshold": 0.5, "cap": 1},
        {"threshold": 0.5, "cap": 2},
        {"threshold": 0.5, "cap": 0},
        {"threshold": 0.5, "k": 1},  # the phrase itself is the one
        {"threshold": 0.5, "k": 3},
        {"threshold": 0.5, "k": 3, "cap": 1},
        {"threshold": 0.5, "min_characters": 0},
        {"threshold": 0.5, "min_characters": 12},
        {"threshold": 0.0, "min_characters": 0},  # all but the empty phrase are near all
    ],
    ids=str,
)
def test_the_lists_follow_the_rules(tmp_path, settings):
    found = synonyms_of(tmp_path, **settings)
    assert {phrase: [name for name, _ in names] for phrase, names in found.items()} == expected(**settings)
