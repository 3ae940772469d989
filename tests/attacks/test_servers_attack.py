"""Servers that answer with anything but an answer: see `servers`."""

from __future__ import annotations

import pytest
import servers


@pytest.mark.slow
def test_misdeeds_are_withstood(tmp_path):
    """Some servers answer late, and are waited for."""
    tally = servers.attack(50, 7, tmp_path)
    assert tally.holds and tally.tried == 50, tally.failures
