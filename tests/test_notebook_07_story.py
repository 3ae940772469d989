"""Notebook 07 without a browser: what it writes, what its page shows, and data that have no questions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from workbench.experiments.published import papers

pytestmark = pytest.mark.slow
NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "07_tables_and_verdicts.ipynb"


def test_on_the_bundled_corpus(notebook):
    ran = notebook("07")
    assert {path.name for path in ran.figures.iterdir()} == {
        *(f"07_{name}.csv" for name in ("claims", "conditions", "cost", "sources", "table")),
        "07_sources.png",
        "07_verdict.json",
    }
    assert ran.verdict["holds"] and len(ran.verdict["checks"]) == 6
    sources = pd.read_csv(ran.figures / "07_sources.csv", index_col="paper")
    assert list(sources.index) == papers() and sources.loc["bdtr", "not comparable"] == 12
    assert (sources["reproduced"] == 0).all(), "rules reproduce nothing"
    table = pd.read_csv(ran.figures / "07_table.csv")
    assert len(table) == 12 and table["why"].str.contains("split and corpus: meridian").all()
    conditions = pd.read_csv(ran.figures / "07_conditions.csv").set_index("condition")
    assert conditions.loc["questions", ["theirs", "ours", "state"]].tolist() == ["1,000", "4", "differs"]
    says = " ".join(output["text"] for output in ran.outputs if output.get("name") == "stdout")
    assert f"Of {sources.iloc[:, :4].to_numpy().sum():,} printed numbers" in says and "would take " in says
    assert ran.count("image/png") == 1
    made = ran.page()
    assert "Verdicts at table" not in made and "What it does not buy" in made  # no kernel: tables
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)


def test_on_a_folder_without_questions(run_in_folder, notes):
    """Nothing can be measured, so all is shown as printed."""
    run_in_folder(NOTEBOOK, data=str(notes))
    verdict = json.loads((notes.parent / "figures" / "notes" / "07_verdict.json").read_text())
    assert verdict["holds"] and verdict["facts"]["not comparable"] == 0
