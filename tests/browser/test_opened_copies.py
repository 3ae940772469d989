"""Opened, run and saved as `make lab` opens it, a notebook leaves its original alone and keeps its outputs."""

from __future__ import annotations

import shutil

import nbformat
import pytest
from notebook_server import ROOT
from playwright.sync_api import expect

from workbench.notebooks import working_copies

pytestmark = pytest.mark.browser
NAME = "01_build_graph.ipynb"


def test_running_and_saving_leaves_the_original_alone(lab, page, notebook):
    """All cells run once more, as a reader has JupyterLab run them."""
    ran, original = notebook("01", live=True), ROOT / "notebooks" / NAME
    before, copy = original.read_bytes(), ran.path
    shutil.rmtree(ran.figures)
    opened = lab.open(page, copy)
    opened.clear()
    opened.run_all()
    expect(opened.outputs("01 Build a graph: meridian")).to_contain_text("checks hold")
    opened.save()
    saved = copy.read_bytes()
    assert any(cell.get("outputs") for cell in nbformat.reads(saved.decode(), as_version=4).cells)
    assert ran.verdict["holds"]
    assert original.read_bytes() == before
    assert working_copies(ROOT / "notebooks", copy.parent)[copy] == "as it was"
    assert copy.read_bytes() == saved
