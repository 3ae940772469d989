"""The mistakes that `benchmarks/mutations.py` makes can still be made: each has its place, and tests to notice it."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import loaded

ROOT = Path(__file__).parents[1]


mutations = loaded(ROOT / "benchmarks" / "mutations.py", "mutations")


def test_each_applies():
    for mutation in mutations.MUTATIONS:
        file = mutations.place(mutation)
        changed = file.read_text(encoding="utf-8").replace(mutation.old, mutation.new)
        compile(changed, str(file), "exec")
        assert changed != file.read_text(encoding="utf-8"), mutation.name
        assert all((ROOT / test).exists() for test in mutation.tests), mutation.name


def test_a_mutation_without_its_place_is_said_to_be_outdated():
    with pytest.raises(mutations.Outdated, match="should stand once below workbench, it is nowhere"):
        mutations.place(mutations.MUTATIONS[0]._replace(folder="workbench", old="what is written nowhere"))


def test_there_are_forty_at_least_of_different_names():
    assert len({mutation.name for mutation in mutations.MUTATIONS}) == len(mutations.MUTATIONS) >= 40
