"""Whatever is killed goes on to the bytes of an undisturbed run: `make attack` kills every verb."""

import random

import pytest
from kills import APART, COMMANDS, attack, killed_verbs, verbs

PATIENT = 30.0  # seconds that a signal may take on a machine that runs other tests; no answer would come in time


def test_every_verb_is_killed_or_left_alone_for_a_reason():
    assert verbs() == killed_verbs() | APART.keys()


@pytest.mark.slow
def test_killed_commands_go_on(tmp_path):
    """Processes are started and killed for half a minute: an index, a run of it, and two verbs by chance."""
    cheap = sorted(name for name, command in COMMANDS.items() if not command.dear)
    names = {"index", "evaluate", *random.Random(8).sample(cheap, 2)}
    tally = attack(2 * len(names), 8, tmp_path, names, within=PATIENT, row=1)
    assert tally.tried >= 2 * len(names) and tally.holds, tally.failures
