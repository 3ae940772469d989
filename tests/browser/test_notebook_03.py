"""Notebook 03 as its reader sees it: first screens, DOTs, a path, moved settings; both themes."""

from __future__ import annotations

import re
import shutil

import pytest
from dot_traces import film_folder
from judges import Judge
from lab import LABELS, NAMES, WHERE, Notebook, becomes
from playwright.sync_api import Locator, expect

import workbench as wb
from workbench.analyses import win_rate
from workbench.index import Index
from workbench.llm.engine import RulesEngine
from workbench.records import Question

pytestmark = pytest.mark.browser


def drawn(tracer: Locator) -> list[str]:
    """The first line of what each node's tooltip says."""
    frame = tracer.frame_locator("iframe")
    frame.locator("canvas").wait_for()
    return frame.locator("body").evaluate(NAMES)


def click(tracer: Locator, name: str) -> None:
    """The mouse clicks a node, where the frame's own network says that it stands."""
    tracer.locator("iframe").scroll_into_view_if_needed()
    where = tracer.frame_locator("iframe").locator("body").evaluate(WHERE, name)
    tracer.locator("iframe").click(position={"x": where["x"], "y": where["y"]})


def test_it_opens_on_a_success(lab, page, notebook):
    """The right answer, whose it is, and a dozen nodes of which no two labels meet."""
    notebook = lab.open(page, notebook("03", live=True).path)
    tracer = notebook.panel.locator(".hopscope-tracer")
    answer = tracer.get_by_text("answer: Ansgard Polytechnic")
    expect(answer).to_be_visible(timeout=60_000)
    expect(tracer.get_by_text("Steps by replies written by hand").first).to_be_visible()
    expect(tracer.locator("select[size] option").nth(1)).to_contain_text("✓ 0.2.1 complete 0.97: High Water at Orsby")
    picture = tracer.locator("iframe")
    picture.scroll_into_view_if_needed()  # a picture draws itself once it is seen
    body = picture.content_frame.locator("body")
    assert body.evaluate(LABELS) >= 8 and body.evaluate("() => view.shown().length") == 12
    notebook.first_screens("03", answer, picture)


def test_its_tracer_traces(lab, page, notebook_on_films):
    notebook = lab.open(page, notebook_on_films(live=True).path)
    expect(notebook.outputs("03 Trace the paths of DotRAG: films")).to_contain_text("checks hold")
    notebook.both_themes("03_trace")
    trace(notebook)


def trace(notebook: Notebook) -> None:
    live = notebook.panel.locator(".hopscope-tracer")
    expect(live).to_have_count(1, timeout=60_000)
    paths = live.locator("select[size]")

    # Every picture is a page of its own; a click on a node shows a path to it, another one all paths again.
    whole = drawn(live)
    assert {"Ilse Varn", "Glass Harbour", "Salt Line"} <= {name.removesuffix(" (gold)") for name in whole}
    click(live, "Salt Line")
    expect(paths.locator("option:checked")).to_contain_text("Ilse Varn")
    expect(live.get_by_text("a click on any node shows all paths again")).to_be_visible()
    becomes(live, drawn, lambda names: len(names) < len(whole))
    notebook.both_themes("03_path", live)
    click(live, "Ilse Varn")
    expect(live.get_by_text("a click on a node shows a path to it")).to_be_visible()
    becomes(live, drawn, whole.__eq__)

    # A line of the list does the same.
    paths.select_option(index=1)
    expect(live.get_by_text("a click on any node shows all paths again")).to_be_visible()
    becomes(live, drawn, lambda names: len(names) < len(whole))
    paths.select_option(index=0)
    expect(live.get_by_text("a click on a node shows a path to it")).to_be_visible()

    # From iteration to iteration, back to where there are only anchors.
    _, hops, _, stage, _ = live.get_by_role("slider").all()
    stage.press("Home")
    expect(paths.locator("option")).to_have_count(1)
    becomes(live, drawn, lambda names: [name.removesuffix(" (gold)") for name in names] == ["Ilse Varn"])
    stage.press("End")
    becomes(live, drawn, whole.__eq__)

    # A setting: the method is asked again, and what that changes is said.
    hops.press("Home")
    expect(live.get_by_text(re.compile(r"^dotrag\[.*h_max=1")).first).to_be_visible(timeout=60_000)
    expect(live.get_by_text(re.compile(r"\d+ gained, \d+ lost"))).to_be_visible()
    notebook.screenshot("03_settings", live)
    for _ in range(2):
        hops.press("ArrowRight")
    expect(live.get_by_text(re.compile(r"\d+ gained, \d+ lost"))).to_have_count(0, timeout=60_000)

    # The whole region, other methods beside it, and a question of one's own.
    live.get_by_role("button", name="the whole region").click()
    becomes(live, drawn, lambda names: len(names) >= 5)
    notebook.screenshot("03_region", live)
    live.get_by_role("button", name="other methods beside").click()
    expect(live.get_by_text("bold: found by another method as well")).to_be_visible(timeout=60_000)
    asked = live.locator("input[list]")
    asked.fill("who starred in Fog?")
    asked.press("Enter")
    expect(live.get_by_text("who starred in Fog?").first).to_be_visible(timeout=60_000)
    expect(live.get_by_text("bold: found by another method as well")).to_have_count(0)
    becomes(live, drawn, lambda names: names[0] == "Fog")


def test_two_answers_and_the_reasons_of_a_judge(lab, page):
    """Of a saved run, without its index: what was said of both orders, in each dimension."""
    data = wb.load(film_folder(lab.root / "films"))
    index = Index.build(data, RulesEngine(), lab.root / "index", layers=["typed"], progress=False)
    asked = [Question("q1", "what movies did [Ilse Varn] direct?", ("Glass Harbour", "Salt Line"))]
    methods = [wb.method(spec, index) for spec in ("dotrag", "lightrag")]
    run = wb.evaluate(asked, methods, wb.reader("essay"), lab.root / "judged", measures=["abstained"], progress=False)
    judge = Judge(lambda shown, dimension: 1 if dimension == "coherence" else 2, "Of {}: <b>both</b> films are named.")
    win_rate(run, "dotrag", run, "lightrag", run.questions, judge, both_orders=True, keep=True)
    shutil.rmtree(index.folder)
    lab.write("judged.ipynb", "import workbench as wb\nwb.trace_dots(wb.home() / 'judged')")
    notebook = lab.open(page, "judged.ipynb")
    notebook.run_all()
    tracer = notebook.panel.locator(".hopscope-tracer")
    beside = tracer.get_by_label("answer beside")
    expect(tracer.get_by_text("judged by openai:judge")).to_have_count(0)
    beside.select_option("lightrag")
    expect(tracer.get_by_text("judged by openai:judge")).to_be_visible()
    two = tracer.locator(".two > div")
    expect(two).to_have_count(2)
    first, second = (two.nth(at).bounding_box() for at in range(2))
    assert first["y"] == second["y"] and first["x"] + first["width"] <= second["x"], "side by side"
    expect(two.first).to_contain_text("won overall 1 of 2")
    rows = tracer.get_by_role("row").filter(has_text="Of relevance: <b>both</b> films are named.")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text(re.compile(r"relevance\s*lightrag\s*dotrag"))
    expect(rows.last).to_contain_text(re.compile(r"relevance\s*dotrag\s*lightrag"))
    notebook.both_themes("03_answers", tracer)
    beside.select_option("– none –")
    expect(two).to_have_count(0)
