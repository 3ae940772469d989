"""Notebook 01 as its reader sees it."""

from __future__ import annotations

import pytest
from lab import ROOT
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@pytest.mark.usefixtures("meridian")
def test_it_runs_and_its_trace_folds(lab, page):
    lab.add(ROOT / "notebooks" / "01_build_graph.ipynb", limit=4)
    notebook = lab.open(page, "01_build_graph.ipynb")
    notebook.run_all()
    expect(notebook.outputs("01 Build a graph: meridian")).to_contain_text("all checks hold")
    assert (lab.root / "figures" / "meridian" / "01_verdict.json").exists()

    # The output that is a trace and nothing else: its outermost event stands open, those inside are folded.
    trace = notebook.panel.locator(".jp-OutputArea-output:has(> .hopscope > details > summary > .tag)").first
    step = trace.locator("details details").first
    inside = step.locator("table").first
    expect(inside).to_be_hidden()
    step.locator("summary").first.click()
    expect(inside).to_be_visible()
    for theme in ("light", "dark"):
        notebook.set_theme(theme)
        notebook.screenshot(f"01_build_graph_{theme}")
        notebook.screenshot(f"01_trace_{theme}", trace)
    step.locator("summary").first.click()
    expect(inside).to_be_hidden()
