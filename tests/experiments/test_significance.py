from itertools import product

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


@pytest.mark.parametrize("differences", [
    [0.5], [1, -0.5, 0.25], [0.1, 0.2, -0.3, 0.3, 0.6], [1, 1, -1, -1, 0.5, 0.5, 1, -0.5], [1e6, 2e6 + 0.1, -3e6, 5e5],
])  # fmt: skip
def test_a_small_sample_is_enumerated(differences):
    """Of all sign patterns, the share whose sum is at least as far from 0."""
    sums = [abs(sum(sign * one for sign, one in zip(signs, differences)))
            for signs in product((1, -1), repeat=len(differences))]  # fmt: skip
    least = abs(sum(differences)) * (1 - 1e-12) - 1e-12
    exact = sum(one >= least for one in sums) / len(sums)
    assert paired_test(differences, [0] * len(differences)) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("n", [14, 16])
def test_a_larger_sample_differs_from_enumeration_by_chance_alone(n):
    differences = np.random.default_rng(n).choice([-1, -0.5, 0.5, 1, 1], n)
    signs = np.array(list(product((1, -1), repeat=n)))
    exact = np.mean(np.abs(signs @ differences) >= abs(differences.sum()))
    found = paired_test(differences, np.zeros(n))
    assert found == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 9_999) ** 0.5)
    assert found == paired_test(differences, np.zeros(n)), "the same in every run"
    assert paired_test([1] * 40, [0] * 40) == 1 / 10_000, "the observed pattern counts, so p is never 0"


def test_the_interval_has_the_share_of_all_resamples_between_its_ends():
    values = [0, 1, 3, 7, 8]
    means = np.array([np.mean(some) for some in product(values, repeat=len(values))])
    low, high = bootstrap_interval(values)
    for end, share in ((low, 0.025), (high, 0.975)):
        assert np.mean(means < end - 1e-9) - 0.01 <= share <= np.mean(means <= end + 1e-9) + 0.01
    assert (low, high) == bootstrap_interval(values)
    assert bootstrap_interval([0.25]) == (0.25, 0.25) and np.isnan(bootstrap_interval([])).all()
    assert bootstrap_interval([1, 1, 1]) == (1, 1)


@pytest.mark.parametrize("n", [6, 40])
def test_against_a_test_that_swaps_the_pairs(n):
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
