"""Opened, run and saved as `make lab` opens it, a notebook leaves its original alone and keeps its outputs."""

from __future__ import annotations

import nbformat
import pytest
from lab import ROOT
from playwright.sync_api import expect

from workbench.notebooks import working_copies

pytestmark = pytest.mark.browser
NAME = "01_build_graph.ipynb"


@pytest.mark.usefixtures("meridian")
def test_running_and_saving_leaves_the_original_alone(lab, page):
    original = ROOT / "notebooks" / NAME
    before = original.read_bytes()
    copy = lab.root / "lab" / NAME
    copy.unlink(missing_ok=True)  # another test's
    assert working_copies(ROOT / "notebooks", copy.parent)[copy] == "new"
    notebook = lab.open(page, NAME)
    notebook.run_all()
    expect(notebook.outputs("01 Build a graph: meridian")).to_contain_text("all checks hold")
    notebook.save()
    saved = copy.read_bytes()
    assert any(cell.get("outputs") for cell in nbformat.reads(saved.decode(), as_version=4).cells)
    assert (lab.root / "figures" / "meridian" / "01_verdict.json").exists()
    assert original.read_bytes() == before
    assert working_copies(ROOT / "notebooks", copy.parent)[copy] == "as it was"
    assert copy.read_bytes() == saved
