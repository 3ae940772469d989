"""Notebook 01 as its reader sees it."""

from __future__ import annotations

import pytest
from lab import LABELS
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


def test_it_opens_on_a_success(lab, page, notebook):
    """The right answer, whose it is, and the picture, in which no two labels meet."""
    notebook = lab.open(page, notebook("01", live=True).path)
    answer = notebook.outputs("replies written by hand").first
    expect(answer).to_contain_text("Stavering")
    picture = notebook.panel.locator("iframe").first
    picture.scroll_into_view_if_needed()  # a picture draws itself once it is seen
    assert 12 <= picture.content_frame.locator("body").evaluate(LABELS) <= 40
    notebook.first_screens("01", answer, picture)
