"""Notebook 05 without a browser: what it writes, and what its page shows."""

from __future__ import annotations

import re

import pandas as pd

from workbench.evaluation import Grid


def test_on_the_bundled_corpus(notebook):
    ran = notebook("05")
    assert ran.pictures() == (drawn := {"05_decomposition", "05_covered_only", "05_cost"})
    assert ran.tables() == drawn | {f"05_{name}" for name in ("by_kind", "compared", "diagnosis", "grid", "paper")}
    assert ran.verdict["holds"] and len(ran.verdict["checks"]) == 8
    assert "with brief over" in ran.verdict["facts"]["question 1 ends"][0]
    assert "3 May 1889 (right)" in ran.verdict["facts"]["question 1 ends"][1]
    assert "(lost in compression" in ran.verdict["facts"]["question 2 ends"][1]
    parts = pd.read_csv(ran.figures / "05_decomposition.csv")
    assert set(parts["reader"]) == set(Grid.open(ran.project / "runs" / "05_meridian").runs)
    assert ran.count("image/png") == 1
    made = ran.page()
    assert "Ablator with" not in made and "<b>compressed</b>" in made
    for part in ("by replies written by hand, no language model", "Did it help?", "answered by rules"):
        assert part in made
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)
