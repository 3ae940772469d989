"""A build, an insert, a retry, a resumed evaluation and a judgement ask a paid engine for no more than they did."""

from __future__ import annotations

import counts
import pytest


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return dict(counts.all_counts(tmp_path_factory.mktemp("counts")))


@pytest.mark.parametrize("what", counts.recorded())
def test_it_asks_for_no_more_than_it_did(what, found):
    before = counts.recorded()[what]
    assert {step: calls for step, calls in found[what].items() if calls > before.get(step, 0)} == {}


def test_what_was_answered_is_not_asked_again(found):
    assert found["judge"]["judge"] and found["batch"]["requests"]
    assert not found["build again"] and not found["evaluate again"] and not found["judge again"]
    assert found["retry"].keys() and found["retry"]["triples"] < found["build with failures"]["triples"]
