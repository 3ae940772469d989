"""Whatever is killed goes on to the bytes of an undisturbed run."""

import pytest
from kills import APART, COMMANDS, attack, verbs

PATIENT = 30.0  # seconds that a signal may take on a machine that runs other tests; no answer would come in time


def test_every_verb_is_killed_or_left_alone_for_a_reason():
    assert verbs() == COMMANDS.keys() | APART.keys()


@pytest.mark.slow
def test_killed_commands_go_on(tmp_path):
    tally = attack(12, 1, tmp_path, ("evaluate", "insert"), PATIENT)
    assert tally.tried >= 12 and tally.holds, tally.failures


@pytest.mark.slow
def test_more_killed_commands_go_on(tmp_path):
    tally = attack(40, 2, tmp_path, within=PATIENT)
    assert tally.tried >= 40 and tally.holds, tally.failures
