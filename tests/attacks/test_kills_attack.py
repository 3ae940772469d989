"""Whatever is killed goes on to the bytes of an undisturbed run."""

import pytest
from kills import attack


def test_killed_commands_go_on(tmp_path):
    tally = attack(12, 1, tmp_path)
    assert tally.tried >= 12 and tally.holds, tally.failures


@pytest.mark.slow
def test_more_killed_commands_go_on(tmp_path):
    tally = attack(40, 2, tmp_path)
    assert tally.tried >= 40 and tally.holds, tally.failures
