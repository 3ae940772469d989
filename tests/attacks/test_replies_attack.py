"""Replies that nobody asked for: see `replies`."""

from __future__ import annotations

import gc
import time

import pytest
import replies


@pytest.mark.slow
def test_no_reply_gets_through_that_is_none(tmp_path):
    tally = replies.attack(1_000, 7, tmp_path)
    assert tally.holds and tally.tried == 1_000, tally.failures


def test_a_collection_of_garbage_is_no_replys_time(tmp_path, monkeypatch):
    class Littering(replies.ChatEngine):
        """Makes enough objects for a collection, which takes long, as it does where the process holds millions."""

        def run(self, step, inputs, *, trace=None):
            gc.callbacks.append(_dawdle)
            try:
                self.litter = [[] for _ in range(10_000)]
                return super().run(step, inputs, trace=trace)
            finally:
                gc.callbacks.remove(_dawdle)

    monkeypatch.setattr(replies, "ChatEngine", Littering)
    monkeypatch.setattr(replies, "SECONDS", 0.3)
    tally = replies.attack(1, 7, tmp_path)
    assert tally.holds, tally.failures


def _dawdle(phase, info):
    if phase == "start":
        end = time.process_time() + 0.1
        next(moment for moment in iter(time.process_time, None) if moment > end)
