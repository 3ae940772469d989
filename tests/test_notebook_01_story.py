"""Notebook 01 without a browser: what it writes, and what its page shows."""

from __future__ import annotations

import re


def test_on_the_bundled_corpus(notebook):
    ran = notebook("01")
    assert {path.name for path in ran.figures.iterdir()} == {
        *(f"01_{name}.csv" for name in ("checkup", "counts", "retrieval")),
        *(f"01_{name}.png" for name in ("degrees", "neighbourhood", "ranking", "recall", "walk", "walk_and_dense")),
        "01_verdict.json",
    }
    assert ran.verdict["holds"]
    assert ran.count("image/png") == 5
    assert ran.count("text/html") >= 12
    made = ran.page()
    assert "Explorer of" not in made and "<iframe" in made  # a page has no kernel, so it shows the graph itself
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)
