"""Notebook 01 as its reader sees it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_its_trace_folds(lab, page, notebook):
    notebook = lab.open(page, notebook("01", live=True).path)
    expect(notebook.outputs("01 Build a graph: meridian")).to_contain_text("all checks hold")

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
