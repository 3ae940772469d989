"""Servers that answer with anything but an answer: see `servers`."""

from __future__ import annotations

import pytest
import servers


def test_some_misdeeds_are_withstood(tmp_path):
    tally = servers.attack(40, 7, tmp_path)
    assert tally.holds and tally.tried == 40, tally.failures


@pytest.mark.slow
def test_every_misdeed_is_withstood(tmp_path):
    tally = servers.attack(servers.WHOLE, 11, tmp_path)
    assert tally.holds, tally.failures
