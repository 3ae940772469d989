"""Notebook 03 without a browser: what it writes, what its page shows, and a graph of triples instead of passages."""

from __future__ import annotations

import re

import pandas as pd

from workbench.methods.dotrag.dots import dots
from workbench.trace import Trace


def test_on_the_bundled_corpus(notebook):
    ran = notebook("03")
    assert {path.name for path in ran.figures.iterdir()} == {
        *(f"03_{name}.csv" for name in ("beside", "paths", "settings", "sweep")),
        *("03_dot.png", "03_path.png", "03_trace.jsonl", "03_verdict.json"),
    }
    assert ran.verdict["holds"] and len(ran.verdict["checks"]) == 6
    saved = dots(Trace.open(ran.figures / "03_trace.jsonl"))
    assert ran.verdict["facts"]["accepted paths"] == len(saved.final)
    assert ran.verdict["facts"]["paths"] == len(pd.read_csv(ran.figures / "03_paths.csv")) > 0
    assert ran.count("image/png") == 2
    made = ran.page()
    assert "Tracer at" not in made and made.count("<iframe") == 2  # a page has no kernel, so the pictures stand there
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)


def test_on_a_graph_of_triples(notebook_on_films):
    """Its articles are written first; the question asks for the films of a director."""
    ran = notebook_on_films()
    assert ran.verdict["holds"]
    assert (ran.figures / "03_dot.png").exists()
    told = dots(Trace.open(ran.figures / "03_trace.jsonl"))
    assert [anchor.name for anchor in told.dots[0].anchors] == ["Ilse Varn"]
    assert {"Glass Harbour", "Salt Line"} <= set(told.nodes)
