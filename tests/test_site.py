"""The docs site: what builds it, and that the built pages need nothing but themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import loaded

HERE = Path(__file__).parents[1] / "docs" / "site"


def test_what_a_page_lacks_is_named(tmp_path):
    (tmp_path / "a.html").write_text(
        '<link rel="stylesheet" href="https://cdn.example/x.css"><link rel="canonical" href="https://x.example/">'
        '<script src="lost.js"></script><img src="data:image/png;base64,AA==">'
        '<a href="b.html#there">1</a><a href="b.html#nowhere">2</a><a href="c.html">3</a><a href="../x.html">4</a>'
        '<a href="https://example.org">5</a><a href="#top">6</a>'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    assert [fault.partition(": ")[2] for fault in loaded(HERE / "links.py", "site_links").faults(tmp_path)] == [
        "loads https://cdn.example/x.css from elsewhere",
        "loads lost.js, which is not there",
        "links to b.html#nowhere, where there is no such place",
        "links to c.html, which is not there",
        "links to ../x.html, outside the site",
    ]


def test_columns_and_indented_parts_of_a_docstring_are_marked_up():
    lines = ["A formula:", "    a = b*", "", "    c", "and prose.", "", "one    this", "       goes on", "two    that"]
    assert loaded(HERE / "docstrings.py", "site_docstrings").as_rst(lines) == [
        "A formula:", "", "::", "", "    a = b*", "", "    c", "", "and prose.", "",
        "* ``one``: this goes on", "* ``two``: that", "",
    ]  # fmt: skip


def test_a_flow_chart_becomes_a_picture():
    drawn = loaded(HERE / "flowchart.py", "site_flowchart").drawn
    chart = drawn('```mermaid\nflowchart BT\n    base["a, b"]\n    c --> base\n```\n')
    assert chart.startswith("<svg") and "a, b" in chart and chart.count("<rect") == 2 and "mermaid" not in chart


def test_the_reference_has_every_public_name_verb_and_registered_thing():
    import workbench as wb
    from workbench.cli.app import app
    from workbench.registry import KINDS

    pages = loaded(HERE / "reference.py", "site_reference").pages()
    assert all(f"## {name}\n" in pages["api.md"] for name in wb.__all__ if name != "methods")
    verbs = [one.name or one.callback.__name__.replace("_", "-") for one in app.registered_commands]
    assert all(f"## workbench {verb}\n" in pages["commands.md"] for verb in verbs)
    listed = pages["catalogue.md"].replace("\\", "")
    assert not [name for kind in KINDS.values() for name in kind.registry if name not in listed]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:'myst_parser")  # of Sphinx about its extension
def test_the_built_site_works_from_a_disk(tmp_path):
    pytest.importorskip("myst_nb", reason="the extra `docs` is not installed")
    pytest.importorskip("furo", reason="the extra `docs` is not installed")
    site = tmp_path / "site"
    assert list(loaded(HERE / "build.py", "site_build").build(site, tmp_path / "source")) == []
    for page in (
        "index.html",
        "docs/methods/hipporag2.html",
        "docs/reference/api.html",
        "notebooks/01_build_graph.html",
    ):
        assert (site / page).exists()
