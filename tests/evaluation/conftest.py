"""Intervals by resampling take most of the time of a table, and the same scores stand in hundreds of tests: each is
drawn once."""

from __future__ import annotations

import pytest

from workbench.papers import tables


@pytest.fixture(scope="session", autouse=True)
def _intervals():
    drawn, interval = {}, tables.bootstrap_interval

    def bootstrap_interval(*values, **settings):
        key = repr((values, settings))
        if key not in drawn:
            drawn[key] = interval(*values, **settings)
        return drawn[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "bootstrap_interval", bootstrap_interval)
        yield
