"""Pictures of neighbourhoods can be read: no labels meet, the frame is filled, starts and paths are told. A sample of
what `benchmarks/legibility.py` measures."""

from __future__ import annotations

import pytest
from notebook_server import ROOT
from scripts import loaded

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # an index, and a page for each picture
legibility = loaded(ROOT / "benchmarks" / "legibility.py", "legibility")


@pytest.mark.parametrize("limit", [60, 500])
def test_pictures_of_neighbourhoods_can_be_read(page, meridian_index, limit):
    hops, count = (2, 6) if limit == 60 else (3, 1)
    found = [
        legibility.measured(page, drawing)
        for drawing in legibility.neighbourhoods(meridian_index, count, limit=limit, hops=hops)
    ]
    assert len(found) == count
    assert {one["name"]: wrong for one in found if (wrong := legibility.faults(one))} == {}
    assert all(one["labels"] >= min(0.5 * one["nodes"], 40) and one["path"] for one in found)
