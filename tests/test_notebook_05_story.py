"""Notebook 05 without a browser: what it writes, what its page shows, and that it can be stopped and resumed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from workbench import notebooks
from workbench.experiments import Grid

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "05_ablate_reasoning.ipynb"
SMALL = {"methods": ["dense"], "ablated": ["dense"], "prompts": ["brief", "sparql"], "limit": 3, "budget": 600}


@pytest.fixture
def run(tmp_path, monkeypatch, meridian_index):
    """Execute it with its figures and runs in a temporary folder."""
    monkeypatch.chdir(tmp_path)

    def run(**parameters):
        given = {**SMALL, "index": str(meridian_index.folder), **parameters}
        return notebooks.run(NOTEBOOK, tmp_path / "executed", given, progress=False)

    return run


def test_on_the_bundled_corpus(run, tmp_path):
    executed = run()
    figures = tmp_path / "figures" / "meridian"
    written = {path.name for path in figures.iterdir()}
    tables = ("by_kind", "compared", "cost", "coverage", "covered_only", "decomposition", "diagnosis", "grid")
    assert {f"05_{name}.csv" for name in tables} <= written
    assert {"05_decomposition.png", "05_covered_only.png", "05_cost.png", "05_verdict.json"} <= written
    verdict = json.loads((figures / "05_verdict.json").read_text())
    assert verdict["holds"] and len(verdict["checks"]) == 8
    before, after = verdict["facts"]["tokens"]
    assert after <= 600 < before
    parts = pd.read_csv(figures / "05_decomposition.csv")
    assert set(parts["reader"]) == set(Grid.open(tmp_path / "runs" / "05_meridian").runs)
    outputs = [output for cell in nbformat.read(executed, as_version=4).cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) in (3, 4)  # the query may match nothing
    made = executed.with_suffix(".html").read_text(encoding="utf-8")
    assert "Ablator with" not in made and "<b>compressed</b>" in made and "Made with rules" in made
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)


def test_it_goes_on_where_it_was_stopped(run, tmp_path):
    """A grid of which answers were lost: only these are asked again."""
    run()
    grid = Grid.open(tmp_path / "runs" / "05_meridian")
    results = grid.runs["brief"].folder / "results.jsonl"
    whole = results.read_bytes()
    results.write_bytes(whole[: len(whole) // 2])
    untouched = grid.runs["sparql"].folder / "results.jsonl"
    before = untouched.stat().st_mtime_ns
    run(question="mer-q05")
    assert results.read_bytes() == whole and untouched.stat().st_mtime_ns == before
    facts = json.loads((tmp_path / "figures" / "meridian" / "05_verdict.json").read_text())["facts"]
    assert facts["question"] == "Who is governor of the province to which the wine town of Mirañel belongs?"
