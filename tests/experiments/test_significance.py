import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from workbench.experiments.significance import bootstrap_interval, holm, paired_test


def test_by_hand():
    """Three differences of one sign: 2 of the 8 patterns are as far out."""
    assert paired_test([1, 1, 1], [0, 0, 0]) == pytest.approx(2 / 8)
    assert paired_test([1, 0], [0, 1]) == 1
    assert paired_test([0.5, 0.7], [0.5, 0.7]) == 1


@pytest.mark.parametrize("n", [6, 40])
def test_against_scipy(n):
    rng = np.random.default_rng(n)
    a, b = rng.random(n).round(1), rng.random(n).round(1)
    peer = permutation_test(
        (a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", vectorized=True, rng=1
    )
    assert paired_test(a, b) == pytest.approx(peer.pvalue, abs=0.02)


values = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30)


@given(values, st.randoms(use_true_random=False))
def test_is_symmetric_and_repeatable(a, random):
    b = a[:]
    random.shuffle(b)
    p = paired_test(a, b)
    assert 0 < p <= 1
    assert p == paired_test(a, b)
    assert p == pytest.approx(paired_test(b, a))


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.6]) == [1, 1]
    assert holm([]) == []


def test_the_interval_holds_the_mean_and_shrinks_with_more_questions():
    few, many = bootstrap_interval([0, 1] * 5), bootstrap_interval([0, 1] * 500)
    assert few[0] < many[0] < 0.5 < many[1] < few[1]
