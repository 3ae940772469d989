"""Notebook 01 as its reader sees it."""

from __future__ import annotations

import pytest
from lab import LABELS, Notebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_the_notebook(lab, page, notebook):
    """A page of JupyterLab with a kernel: opened once for all that is looked at."""
    opened = lab.open(page, notebook("01", live=True).path)
    opens_on_a_success(opened)
    its_trace_folds(opened)


def its_trace_folds(notebook: Notebook) -> None:
    expect(notebook.outputs("01 Build a graph: meridian")).to_contain_text("checks hold")

    # The output that is a trace and nothing else: its outermost event stands open, those inside are folded.
    trace = notebook.panel.locator(".jp-OutputArea-output:has(> .hopscope > details > summary > .tag)").first
    step = trace.locator("details details").first
    inside = step.locator("table").first
    expect(inside).to_be_hidden()
    step.scroll_into_view_if_needed()
    notebook.page.wait_for_timeout(500)  # until JupyterLab has laid out what came into view
    step.locator("summary").first.click()
    expect(inside).to_be_visible()
    notebook.both_themes("01_build_graph")
    notebook.both_themes("01_trace", trace)
    step.locator("summary").first.click()
    expect(inside).to_be_hidden()


def opens_on_a_success(notebook: Notebook) -> None:
    """The right answer, whose it is, and the picture, in which no two labels meet."""
    answer = notebook.outputs("replies written by hand").first
    expect(answer).to_contain_text("Stavering")
    picture = notebook.panel.locator("iframe").first
    picture.scroll_into_view_if_needed()  # a picture draws itself once it is seen
    assert 12 <= picture.content_frame.locator("body").evaluate(LABELS) <= 40
    notebook.first_screens("01", answer, picture)
