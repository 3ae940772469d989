"""Notebook 06 without a browser: what it writes, what its page shows, and data that have no questions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.slow
NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "06_steer_the_walk.ipynb"


def test_on_the_bundled_corpus(notebook):
    ran = notebook("06")
    assert {path.name for path in ran.figures.iterdir()} == {
        *(f"06_{name}.csv" for name in ("alone", "compared", "damping", "flow", "hub_bias", "hubs", "run")),
        *(f"06_{name}.png" for name in ("damping", "ranks", "static", "steered")),
        "06_verdict.json",
    }
    assert ran.verdict["holds"] and len(ran.verdict["checks"]) == 7
    drift = pd.read_csv(ran.figures / "06_hub_bias.csv", index_col="stage")
    assert list(drift.index) == ["HippoRAG 2's walk", "+ key facts", "+ anchors", "+ rated edges"]
    assert drift["edited edges"].is_monotonic_increasing and drift["edited edges"].iloc[0] == 0
    assert (drift["on hubs"] != drift["expected"]).all()
    curves = pd.read_csv(ran.figures / "06_damping.csv", index_col="damping")
    gap = (curves["HippoRAG 2's walk"] - drift["expected"].iloc[0]).abs()
    assert gap.iloc[-3:].is_monotonic_decreasing, "a long walk forgets its question"
    flow = pd.read_csv(ran.figures / "06_flow.csv")
    assert flow["change"].is_monotonic_decreasing and flow["change"].max() > 0 > flow["change"].min()
    assert ran.count("image/png") == 4
    made = ran.page()
    assert "Steer at" not in made and made.count("hopscope-bump") == 2  # no kernel: pictures
    assert made.count("<iframe") >= 2
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)


def test_on_a_folder_without_questions(run_in_folder, notes):
    run_in_folder(NOTEBOOK, data=str(notes), question="Who designed the theatre in Halden?")
    assert json.loads((notes.parent / "figures" / "notes" / "06_verdict.json").read_text())["holds"]
