"""Damaged files are noticed, and mended by the command that their error names."""

from __future__ import annotations

import damage
import pytest


def test_damage_is_noticed(tmp_path):
    tally = damage.attack(60, 7, tmp_path)
    assert tally.tried == 60 and tally.holds, "\n".join(tally.failures)


@pytest.mark.slow
def test_more_damage_is_noticed(tmp_path):
    tally = damage.attack(200, 11, tmp_path)
    assert tally.holds, "\n".join(tally.failures)
