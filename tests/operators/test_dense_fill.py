"""The dense ranking below what a walk found."""

import numpy as np

from workbench.operators.walk_distribution import with_dense_fill
from workbench.records import Passage

PASSAGES = [Passage(f"p{n}", "", f"text {n}") for n in range(5)]
COSINES = np.array([0.9, 0.1, 0.5, 0.7, 1.0000001], dtype=np.float32)


def ranking(*args):
    return [(passage.id, round(score, 3)) for passage, score in with_dense_fill(PASSAGES, *args)]


def test_found_first_then_the_rest_from_zero_down():
    assert ranking({1: 0.2, 2: 0.4}, COSINES, 9) == [("p2", 0.4), ("p1", 0.2), ("p4", 0), ("p0", -0.1), ("p3", -0.3)]


def test_equal_scores_are_ordered_by_cosine_then_row():
    assert ranking({1: 0.2, 3: 0.2, 2: 0.2}, COSINES, 3) == [("p3", 0.2), ("p2", 0.2), ("p1", 0.2)]
    assert ranking({3: 0.2, 1: 0.2}, np.zeros(5), 2) == [("p1", 0.2), ("p3", 0.2)]


def test_k_cuts_and_changes_nothing():
    whole = ranking({1: 0.2, 2: 0.4}, COSINES, 5)
    assert [ranking({1: 0.2, 2: 0.4}, COSINES, k) for k in range(1, 6)] == [whole[:k] for k in range(1, 6)]


def test_without_a_tail_only_what_was_found():
    assert ranking({1: 0.2}, COSINES, 5, False) == [("p1", 0.2)]
    assert ranking({}, COSINES, 5, False) == []
