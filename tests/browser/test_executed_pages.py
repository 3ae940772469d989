"""An executed notebook as a page, opened from the disk: its pictures live on without a kernel and without a network."""

from __future__ import annotations

import nbformat
import pytest
from dot_traces import dot_trace
from playwright.sync_api import expect
from rounds import bdtr_trace

import workbench as wb
from workbench.notebooks import _to_html

pytestmark = pytest.mark.browser


def page_of(folder, *shown) -> str:
    """The address of the page of a notebook that displayed these."""
    cells = []
    for thing in shown:
        output = nbformat.v4.new_output("display_data", thing._repr_mimebundle_())
        cells.append(nbformat.v4.new_code_cell("shown", outputs=[output]))
    path = folder / "executed.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    _to_html(path)
    return path.with_suffix(".html").as_uri()


def test_replays_and_dots_are_stepped_through(page, tmp_path):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    address = page_of(tmp_path, wb.replay(bdtr_trace()), wb.trace_dots(dot_trace()))
    page.goto(address)
    expect(page.get_by_text("This page has no kernel")).to_be_visible()
    replay = page.locator(".steps").first
    expect(replay.locator("output")).to_have_text("end (3 of 3)")
    expect(replay.locator("> details:visible")).to_have_count(1)
    replay.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    expect(replay.locator("output")).to_have_text("round 1 (2 of 3)")
    expect(replay.locator("> details:visible")).to_contain_text("River Aldra, flows into")
    dot = page.locator(".steps", has=page.locator(".hopscope-graph canvas:visible"))
    expect(dot.locator("output").first).to_have_text("iteration 2 (3 of 3)")
    frame = page.frame_locator("iframe").first
    expect(frame.locator("canvas")).to_be_visible()
    assert {url for url in asked if not url.startswith(("about:", "data:", "blob:"))} == {address}


def test_a_page_without_widgets_has_no_note(page, tmp_path):
    path = tmp_path / "plain.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Plain")]), path)
    _to_html(path)
    page.goto(path.with_suffix(".html").as_uri())
    expect(page.get_by_role("heading", name="Plain")).to_be_visible()
    expect(page.get_by_text("no kernel")).to_have_count(0)
