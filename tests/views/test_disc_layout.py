"""Discs: none upon another, similar ones close, and the same every time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.views.tree_map import apart, spread, sunflower


def gaps(places: np.ndarray, radii: np.ndarray) -> np.ndarray:
    distances = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    return (distances - radii[:, None] - radii[None])[np.triu_indices(len(radii), 1)]


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.1, 30)), min_size=2, max_size=40))
def test_no_disc_lies_upon_another(drawn):
    drawn = np.array(drawn)
    places = apart(drawn[:, :2], drawn[:, 2])
    assert np.isfinite(places).all() and gaps(places, drawn[:, 2]).min() > 0


def test_discs_at_one_point_part_always_in_the_same_way():
    places = apart(np.zeros((30, 2)), np.full(30, 2.0))
    assert gaps(places, np.full(30, 2.0)).min() > 0
    assert np.array_equal(places, apart(np.zeros((30, 2)), np.full(30, 2.0)))


def test_what_has_room_stays_where_it_is():
    places = np.array([[-1.0, 0], [1, 0], [0, 1]])
    moved = apart(places, np.full(3, 0.001))
    assert moved[:, 0].argsort().tolist() == [0, 2, 1] and moved[2, 1] > moved[0, 1]
    assert moved[0, 1] == pytest.approx(moved[1, 1])


def test_nothing_is_placed_nowhere():
    assert apart(np.zeros((0, 2)), np.zeros(0)).shape == (0, 2)
    assert apart(np.zeros((1, 2)), np.ones(1)).tolist() == [[0, 0]]
    assert spread(np.zeros((1, 2))).shape == (1, 2) and sunflower(0, 1).shape == (0, 2)


@given(st.integers(1, 300), st.floats(0.1, 100))
def test_a_sunflower_stays_in_its_disc_from_the_middle_outwards(count, radius):
    reach = np.hypot(*sunflower(count, radius).T)
    assert (np.diff(reach) > 0).all() and reach.max() < radius


def test_a_crowded_part_is_spread_and_keeps_its_order():
    line = np.c_[np.r_[np.linspace(0, 0.01, 9), 1.0], np.zeros(10)]
    wide = spread(line)[:, 0]
    assert wide.argsort().tolist() == list(range(10)) and np.diff(wide).min() > 0.05
