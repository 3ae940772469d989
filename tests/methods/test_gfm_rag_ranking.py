"""From entities to documents, worked out by hand: three documents, four entities, the last one in no document."""

import numpy as np
import pytest
import scipy.sparse as sp

from workbench.methods.gfm_rag import entity_weights, rank

CONTEXT = sp.csr_array(np.array([[1.0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0]]))
DOCUMENTS = np.array([1.0, 3, 1, 0])
LOGITS = np.array([0.0, 2.0, -1.0, 9.0])


def sigmoid(value: float) -> float:
    return 1 / (1 + np.exp(-value))


@pytest.mark.parametrize(
    ("ranker", "expected"),
    [
        ("simple", [0, 2, -1, 9]),
        ("idf", [0, 2 / 3, -1, 0]),
        ("topk", [0, 1, 0, 1]),
        ("idf_topk", [0, 1 / 3, 0, 0]),
        ("idf_sigmoid", [0, sigmoid(2) / 3, 0, 0]),
    ],
)
def test_what_each_entity_gives(ranker, expected):
    assert entity_weights(LOGITS, DOCUMENTS, ranker, best=2) == pytest.approx(expected)


def test_documents_by_the_sum_over_their_entities():
    found = rank(LOGITS, CONTEXT, DOCUMENTS, "idf_topk", best=3)  # entities 3, 1 and 0
    assert found.rows.tolist() == [0, 2, 1]
    assert found.scores == pytest.approx([1, 0, 0])  # sums 4/3, 1/3, 1/3
    assert found.ties == 2
    assert rank(np.array([5.0, 1, 0, 0]), CONTEXT, DOCUMENTS, "idf_topk", best=1).rows.tolist() == [0]
    nothing = rank(LOGITS, CONTEXT, DOCUMENTS, "idf_topk", best=1)  # the best entity is in no document
    assert nothing.rows.tolist() == [] and nothing.ties == 0


def test_equal_sums_are_ordered_by_the_logits_of_all_entities_then_by_the_corpus():
    """Documents 1 and 2 get 1/3 each; document 2 has entity 2 as well, so σ(-1) / 1 more."""
    assert rank(LOGITS, CONTEXT, DOCUMENTS, "idf_topk", best=2).rows.tolist() == [0, 2, 1]
    twins = sp.csr_array(np.array([[1.0], [1.0], [1.0]]))
    found = rank(np.array([1.0]), twins, np.array([3.0]), "idf_topk", best=20)
    assert found.rows.tolist() == [0, 1, 2] and found.ties == 3
    assert found.scores.tolist() == [1.0, 1.0, 1.0], "min-max of equal scores"
