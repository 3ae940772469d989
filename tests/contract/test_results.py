"""Every method gives what it gave: rankings, scores, answers and the course of the trace (canonical.py). A change that
is meant records them anew and says why in its commit."""

from __future__ import annotations

import canonical
import pytest

from workbench.methods import METHODS
from workbench.settings import parse_spec


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return {_name(row): row for row in canonical.rows(*canonical.built(tmp_path_factory.mktemp("results")))}


def _name(row) -> str:
    return f"{row['data']} {row['method']} {row['question']}"


@pytest.mark.parametrize("before", canonical.recorded(), ids=_name)
def test_it_gives_what_it_gave(before, found):
    assert [*canonical.differences(before, found[_name(before)])] == []


def test_every_method_is_in_it():
    named = {parse_spec(row["method"])[0] for row in canonical.recorded()}
    assert set(METHODS) == named


def test_equal_scores_may_change_places_and_others_may_not():
    before = [["a", 0.5], ["b", 0.5], ["c", 0.25], ["d", 0.1]]
    for now in ([["b", 0.5], ["a", 0.5], ["c", 0.250004], ["e", 0.1]], before):
        assert not [*canonical.differences(before, now)]
    for now in ([["a", 0.5], ["c", 0.5], ["b", 0.25], ["d", 0.1]], before[:3], [["a", 0.51], *before[1:]]):
        assert [*canonical.differences(before, now)]
