"""Notebook 02 without a browser: what it writes, what its page shows, and data that have no questions."""

from __future__ import annotations

import re

import pandas as pd

TABLES = ("agreement", "communities", "differences", "levels", "merges", "rounds", "routes", "run", "schema", "weights")


def test_on_the_bundled_corpus(notebook):
    ran = notebook("02")
    assert ran.pictures() == (maps := {"02_largest", "02_leiden", "02_map"})
    assert ran.tables() == maps | {f"02_{name}" for name in TABLES}
    assert ran.verdict["holds"] and len(ran.verdict["checks"]) == 10
    read = {name: pd.read_csv(ran.figures / f"02_{name}.csv") for name in TABLES}
    assert (read["levels"]["nodes"] > 0).all() and read["levels"]["nodes"].iloc[0] == len(read["communities"])
    assert read["communities"]["members"].is_monotonic_decreasing
    assert set(read["merges"]["outcome"]) <= {"merged", "difference", "dissimilar", "size", "taken"}
    own = read["weights"][(read["weights"]["relations"] == 0.3) & (read["weights"]["similar from"] == 0.5)]
    assert own["moved"].tolist() == [0] and own["Rand"].tolist() == [1.0]
    assert read["weights"]["moved"].max() > 0, "some weights move something"
    assert list(read["agreement"]["grouping"]) == ["leiden", "raptor"]
    assert read["agreement"]["adjusted Rand"].between(-0.5, 1).all() and read["agreement"]["NMI"].between(0, 1).all()
    assert read["schema"]["admitted"].any() and len(read["schema"]) > 3, "a schema that evolves"
    assert set(read["routes"]["route"]) == {"entity", "triple", "community", "path"}
    assert (read["routes"]["kept"] <= read["routes"]["brought"]).all()
    says = " ".join(output["text"] for output in ran.outputs if output.get("name") == "stdout")
    assert "ends in Aldous Quarrender, which is right, after 2 rounds of search" in says and "recall@5 is" in says
    assert "one search brings the founder and stops" in says and ran.verdict["facts"]["ended"] == "answered"
    made = ran.page()
    assert "Tree at" not in made and made.count("<iframe") >= 3  # no kernel: maps
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)
