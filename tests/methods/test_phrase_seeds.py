"""Seeds worked out by hand: phrases 0 … 3, facts (0, 1), (1, 2), (3, 3)."""

import numpy as np
import pytest

from workbench.methods.hipporag2 import phrase_seeds

SUBJECTS, OBJECTS = np.array([0, 1, 3]), np.array([1, 2, 3])
PASSAGES_OF = np.array([1, 2, 4, 1])


def seeds(scores, passages_of=PASSAGES_OF, limit=5):
    return phrase_seeds([0, 1, 2], scores, SUBJECTS, OBJECTS, passages_of, limit)


def test_the_mean_of_score_over_passage_count():
    # phrase 0: 1.0/1; phrase 1: (1.0/2 + 0.8/2) / 2; phrase 2: 0.8/4; phrase 3: (0.5 + 0.5) / 2, being twice in its
    # fact
    assert dict(seeds([1.0, 0.8, 0.5])) == pytest.approx({0: 1.0, 1: 0.45, 2: 0.2, 3: 0.5})


def test_without_the_division_as_in_the_paper():
    assert dict(seeds([1.0, 0.8, 0.5], passages_of=None)) == pytest.approx({0: 1.0, 1: 0.9, 2: 0.8, 3: 0.5})


def test_the_largest_are_kept_and_ties_go_by_row():
    assert [phrase for phrase, _ in seeds([1.0, 1.0, 1.0], passages_of=None, limit=3)] == [0, 1, 2]
