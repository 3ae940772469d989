"""Hostile inputs are refused in words of ours, or harmless (`inputs.py`); `benchmarks/attacks.py` tries more."""

from __future__ import annotations

import inputs
import pytest


@pytest.mark.parametrize("count", [60, pytest.param(240, marks=pytest.mark.slow)])
def test_nothing_comes_of_hostile_inputs(count, tmp_path):
    tally = inputs.attack(count, 7, tmp_path)
    assert tally.holds, "\n".join(tally.failures)
    assert tally.tried >= count
