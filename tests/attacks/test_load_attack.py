"""Many questions at once have the answers that each has alone."""

import pytest
from load import attack


@pytest.mark.slow
def test_every_method_side_by_side(tmp_path):
    """Every method is built and asked alone before; the ten processes import everything."""
    tally = attack(6, 2, tmp_path)
    assert tally.tried > 32 and tally.holds, tally.failures
