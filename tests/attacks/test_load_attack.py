"""Many questions at once have the answers that each has alone."""

import random

import load
import pytest

from workbench.methods import METHODS
from workbench.testing.contract import OVER_HASHES


@pytest.mark.slow
def test_methods_side_by_side(tmp_path, monkeypatch):
    """Five methods by chance, and four processes that import everything; `make attack` takes all methods."""
    monkeypatch.setattr(load, "PROCESSES", 4)
    specs = [OVER_HASHES.get(name, name) for name in random.Random(2).sample(sorted(METHODS), 5)]
    tally = load.attack(3, 2, tmp_path, specs=specs)
    assert tally.tried > 32 and tally.holds, tally.failures
