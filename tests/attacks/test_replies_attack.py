"""Replies that nobody asked for: see `replies`."""

from __future__ import annotations

import pytest
import replies


def test_no_reply_gets_through_that_is_none(tmp_path):
    tally = replies.attack(600, 7, tmp_path)
    assert tally.holds and tally.tried == 600, tally.failures


@pytest.mark.slow
def test_thousands_of_replies(tmp_path):
    tally = replies.attack(4_000, 11, tmp_path)
    assert tally.holds, tally.failures
