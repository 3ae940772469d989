"""Notebook 06 without a browser: what it writes, what its page shows, and data that have no questions."""

from __future__ import annotations

import re

import pandas as pd


def test_on_the_bundled_corpus(notebook):
    ran = notebook("06")
    assert ran.pictures() == (drawn := {f"06_{name}" for name in ("damping", "hubs", "ranks", "static", "steered")})
    tables = ("alone", "anchored", "answers", "compared", "flow", "hub_bias", "run")
    assert ran.tables() == drawn | {f"06_{name}" for name in tables}
    assert ran.verdict["holds"] and len(ran.verdict["checks"]) == 7
    drift = pd.read_csv(ran.figures / "06_hub_bias.csv", index_col="stage")
    assert list(drift.index) == ["HippoRAG 2's walk", "+ key facts", "+ anchors", "+ rated edges"]
    assert drift["edited edges"].is_monotonic_increasing and drift["edited edges"].iloc[0] == 0
    assert (drift["on hubs"] != drift["expected"]).all()
    curves = pd.read_csv(ran.figures / "06_damping.csv").pivot(index="damping", columns="walk", values="share on hubs")
    gap = (curves["HippoRAG 2's walk"].dropna() - drift["expected"].iloc[0]).abs()
    assert gap.iloc[-3:].is_monotonic_decreasing, "a long walk forgets its question"
    flow = pd.read_csv(ran.figures / "06_flow.csv")
    assert flow["change"].is_monotonic_decreasing and flow["change"].max() > 0 > flow["change"].min()
    read = pd.read_csv(ran.figures / "06_answers.csv", index_col="method")
    assert read["answer"].to_dict() == {"hipporag2": "(abstained)", "catrag": "Aldous Quarrender"}
    unsteered, *_, steered = ran.verdict["facts"]["ranks of aldous-quarrender, 1"]
    assert unsteered > 5 >= steered
    unmoved = [ranks for name, ranks in ran.verdict["facts"].items() if name.startswith("ranks of") and ", 2" in name]
    assert unmoved and all(len(set(ranks)) == 1 for ranks in unmoved), "the second question gains nothing"
    assert ran.count("image/png") == 3
    made = ran.page()
    assert "Steer at" not in made and made.count("data-bump=") == 1  # no kernel: pictures
    assert made.count("<iframe") >= 1 and "replies written by hand" in made
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)
