from itertools import product

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.stats import permutation_test

from workbench.evaluation.significance import FEWEST, bootstrap_interval, compared, deviation, holm, paired_test


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
    low, high = bootstrap_interval(values, fewest=2)
    for end, share in ((low, 0.025), (high, 0.975)):
        assert np.mean(means < end - 1e-9) - 0.01 <= share <= np.mean(means <= end + 1e-9) + 0.01
    assert (low, high) == bootstrap_interval(values, fewest=2)


def test_too_few_questions_have_no_interval():
    assert FEWEST == 20
    for values in ([], [0.25], [0, 1], [0, 1] * 9, [0] * 19):
        assert np.isnan(bootstrap_interval(values)).all(), len(values)
        assert np.isnan(bootstrap_interval([[one, one + 1] for one in values])).all()
    low, high = bootstrap_interval([0, 1] * 10)
    assert 0.25 <= low < 0.5 < high <= 0.75


def test_the_interval_over_questions_and_repeats_worked_out():
    """Two questions with two repeats: a resample draws two questions, and of each draws two repeats, 64 equal ways."""
    values = [[0.0, 1.0], [2.0, 4.0]]
    drawn = [np.mean(pair) for one in values for pair in product(one, repeat=2)]  # of a question: 4 equal means
    means = np.array([(a + b) / 2 for a, b in product(drawn, repeat=2)])
    assert len(means) == 64 and means.mean() == pytest.approx(1.75), "the mean of the means of the questions"
    for level in (0.5, 0.8):
        low, high = bootstrap_interval(values, fewest=2, level=level)
        for end, share in ((low, (1 - level) / 2), (high, (1 + level) / 2)):
            assert np.mean(means < end - 1e-9) - 0.02 <= share <= np.mean(means <= end + 1e-9) + 0.02
    assert bootstrap_interval(values, fewest=2) == bootstrap_interval(values, fewest=2), "the same in every run"


def test_repeats_that_do_not_vary_change_no_interval_and_others_widen_it():
    once = [0.0, 1.0] * 20
    assert bootstrap_interval([[one] * 5 for one in once]) == bootstrap_interval(once)
    same = [0.5] * 40
    assert bootstrap_interval(same) == (0.5, 0.5)
    low, high = bootstrap_interval([[0.0, 1.0]] * 40)
    assert low < 0.5 < high, "all questions have the same mean, but not the same answers"


def test_the_interval_covers_a_mean_over_questions_and_repeats():
    """Rates of questions between 0 and 1, three answers drawn from each: 95 % should hold the mean rate."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(200):
        rates = rng.random(40)
        values = [[float(rng.random() < rate) for _ in range(3)] for rate in rates]
        low, high = bootstrap_interval(values, resamples=500)
        held += low <= 0.5 <= high
    assert held / 200 >= 0.92


def test_a_difference_resamples_the_repeats_of_both_sides():
    ours, base = [[1.0, 1.0]] * 30, [[0.0, 1.0]] * 30
    low, high = bootstrap_interval(ours, base)
    assert 0.3 < low < 0.5 < high < 0.7
    mirrored = bootstrap_interval(base, ours)
    assert mirrored == pytest.approx((-high, -low), abs=0.02)
    assert bootstrap_interval([1.0] * 30, [0.0, 1.0] * 15) == bootstrap_interval([1.0, 0.0] * 15)


def test_the_deviation_between_repeats_by_hand():
    assert deviation([[0, 1, 1], [1, 1, 1]]) == pytest.approx(np.std([0.5, 1, 1], ddof=1))
    assert deviation([[0, 1], [1]]) == pytest.approx(np.std([0, 1], ddof=1)), "what is not finished does not count"
    assert deviation([[0], [1]]) is None and deviation([]) is None


def test_pairs_are_the_means_of_repeats():
    ours = {str(at): [1.0, 0.0] for at in range(20)}
    base = {str(at): [0.0] for at in range(20)} | {"only": [1.0]}
    found = compared(ours, base)
    assert (found["n"], found["value"], found["baseline"], found["difference"]) == (20, 0.5, 0, 0.5)
    assert found["p"] < 0.001 and found["mcnemar"] is None and found["low"] < 0.5 < found["high"]
    few = compared({"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 1.0})
    assert few["low"] is None and few["high"] is None and few == compared({"a": 1, "b": 1}, {"a": 0, "b": 1})


@pytest.mark.parametrize("n", [6, 40])
def test_against_a_test_that_swaps_the_pairs(n):
    rng = np.random.default_rng(n)
    a, b = rng.random(n).round(1), rng.random(n).round(1)
    peer = permutation_test(
        (a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", vectorized=True, rng=1
    )
    assert paired_test(a, b) == pytest.approx(peer.pvalue, abs=0.02)


values = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.6]) == [1, 1]
    assert holm([]) == []


def test_the_interval_holds_the_mean_and_shrinks_with_more_questions():
    few, many = bootstrap_interval([0, 1] * 10), bootstrap_interval([0, 1] * 500)
    assert few[0] < many[0] < 0.5 < many[1] < few[1]
