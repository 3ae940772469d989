"""Whatever is killed goes on to the bytes of an undisturbed run."""

import pytest
from kills import APART, ROUND, attack, killed_verbs, verbs

PATIENT = 30.0  # seconds that a signal may take on a machine that runs other tests; no answer would come in time


def test_every_verb_is_killed_or_left_alone_for_a_reason():
    assert verbs() == killed_verbs() | APART.keys()


@pytest.mark.slow
def test_killed_commands_go_on(tmp_path):
    tally = attack(ROUND, 8, tmp_path, within=PATIENT, row=1)
    assert tally.tried >= ROUND and tally.holds, tally.failures
