"""Notebook 03 without a browser: what it writes, what its page shows, and a graph of triples instead of passages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from dot_traces import film_folder

from workbench import notebooks
from workbench.methods.dotrag.dots import dots
from workbench.trace import Trace

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "03_trace_dot_paths.ipynb"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Execute it with its figures, index and runs in a temporary folder."""
    monkeypatch.chdir(tmp_path)

    def run(**parameters):
        return notebooks.run(NOTEBOOK, tmp_path / "executed", parameters, progress=False)

    return run


def test_on_the_bundled_corpus(run, tmp_path, meridian_index):
    executed = run(index=str(meridian_index.folder))
    figures = tmp_path / "figures" / "meridian"
    assert {path.name for path in figures.iterdir()} == {
        *(f"03_{name}.csv" for name in ("beside", "paths", "settings", "sweep")),
        *("03_dot.png", "03_path.png", "03_trace.jsonl", "03_verdict.json"),
    }
    verdict = json.loads((figures / "03_verdict.json").read_text())
    assert verdict["holds"] and len(verdict["checks"]) == 6
    saved = dots(Trace.open(figures / "03_trace.jsonl"))
    assert verdict["facts"]["accepted paths"] == len(saved.final)
    assert verdict["facts"]["paths"] == len(pd.read_csv(figures / "03_paths.csv")) > 0
    outputs = [output for cell in nbformat.read(executed, as_version=4).cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
    made = executed.with_suffix(".html").read_text(encoding="utf-8")
    assert "Tracer at" not in made and made.count("<iframe") == 2  # a page has no kernel, so the pictures stand there
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)


def test_on_a_graph_of_triples(run, tmp_path):
    """Its articles are written first; the question asks for the films of a director."""
    run(data=str(film_folder(tmp_path / "films")), question="what movies did [Ilse Varn] direct?", beside=["ball"])
    figures = tmp_path / "figures" / "films"
    assert json.loads((figures / "03_verdict.json").read_text())["holds"]
    told = dots(Trace.open(figures / "03_trace.jsonl"))
    assert [anchor.name for anchor in told.dots[0].anchors] == ["Ilse Varn"]
    assert {"Glass Harbour", "Salt Line"} <= set(told.nodes)
