"""Hub bias by hand: strengths and masses of a few phrases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.operators.walk_distribution import hub_bias, super_hubs


def test_three_phrases():
    # One super hub (there is always one): phrase 1. p̂ = mass / .8; S = .5·2 + .25·10 + .25·4.
    found = hub_bias(np.array([0.4, 0.2, 0.2]), np.array([2.0, 10.0, 4.0]))
    assert found == pytest.approx((4.5, 0.25, 0.25, 10 / 16))


def test_twelve_phrases_of_which_ten_count():
    mass = np.r_[np.full(10, 0.08), 0.01, 0.03]
    strength = np.r_[np.arange(1.0, 11.0), 100.0, 50.0]
    found = hub_bias(mass, strength)
    assert found.strength == pytest.approx(5.5)  # the mean of 1 … 10
    assert found.share_top == 0  # the super hub, phrase 10, is not among the ten best
    assert found.share_all == pytest.approx(0.01 / 0.84)
    assert found.expected == pytest.approx(100 / 205)


def test_super_hubs_are_the_strongest_hundredth():
    strength = np.zeros(300)
    strength[[7, 100, 250, 20]] = 9, 8, 8, 7
    assert super_hubs(strength).tolist() == [7, 100, 250]  # equal ones by row
    assert super_hubs(np.array([1.0, 1.0])).tolist() == [0]
    assert super_hubs(np.zeros(0)).tolist() == []


def test_nothing_is_no_division_by_zero():
    assert hub_bias(np.zeros(0), np.zeros(0)) == (0, 0, 0, 0)
    assert hub_bias(np.zeros(3), np.zeros(3)) == (0, 0, 0, 0)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 100)), min_size=1, max_size=300), st.floats(0.1, 10))
def test_shares_do_not_depend_on_the_scale_of_the_mass(pairs, factor):
    mass, strength = np.array(pairs).T
    found = hub_bias(mass, strength)
    assert 0 <= found.share_top <= 1 + 1e-9 and 0 <= found.share_all <= 1 + 1e-9 and 0 <= found.expected <= 1 + 1e-9
    assert found.strength <= strength.max() + 1e-9
    if mass.min() > 1e-6:
        assert hub_bias(mass * factor, strength) == pytest.approx(found)
    even = hub_bias(strength, strength)
    assert even.share_all == pytest.approx(even.expected)
