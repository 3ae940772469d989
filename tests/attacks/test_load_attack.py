"""Many questions at once have the answers that each has alone."""

from load import attack


def test_questions_side_by_side(tmp_path):
    tally = attack(3, 1, tmp_path)
    assert tally.tried > 32 and tally.holds, tally.failures
