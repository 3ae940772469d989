"""Notebook 04 as its reader sees it: the rounds, a thought in other words, a saved run; both themes."""

from __future__ import annotations

import pytest
from lab import Notebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser


def stage(widget: Locator, side: int = 0) -> Locator:
    """The name of the stage that a side's picture marks; rank labels of gold passages are bold as well."""
    return widget.locator(".hopscope-bump svg").nth(side).locator("text.here")


def test_the_notebook(lab, page, notebook):
    """A page of JupyterLab with a kernel: opened once for all that is looked at."""
    opened = lab.open(page, notebook("04", live=True).path)
    opens_on_a_success(opened)
    expect(opened.outputs("04 Replay iterative retrieval: meridian")).to_contain_text("checks hold")
    opened.both_themes("04_replay")
    play(opened)


def opens_on_a_success(notebook: Notebook) -> None:
    """The right answer, whose it is, and the rank of the bridge, from round to round; no two labels meet."""
    live = notebook.panel.locator(".hopscope-replay").first
    answer = live.get_by_text("answer: 1938")
    expect(answer).to_be_visible(timeout=60_000)
    expect(live.get_by_text("Steps by replies written by hand").first).to_be_visible()
    picture = live.locator(".hopscope-bump svg")
    expect(picture.locator("title", has_text="Tallan Weir: 14")).to_have_count(1)
    boxes = picture.locator("text").evaluate_all("all => all.map(e => e.getBoundingClientRect().toJSON())")
    assert len(boxes) > 20
    assert not [(a, b) for at, a in enumerate(boxes) for b in boxes[:at] if meet(a, b)]
    notebook.first_screens("04", answer, picture)


def meet(a: dict, b: dict) -> bool:
    """Whether two boxes overlap."""
    across = a["left"] < b["right"] and b["left"] < a["right"]
    return across and a["top"] < b["bottom"] and b["top"] < a["bottom"]


def play(notebook: Notebook) -> None:
    """The success comes first, then one search beside several, then what the verifier raises, then the saved run."""
    widgets = notebook.panel.locator(".hopscope-replay")
    expect(widgets).to_have_count(4, timeout=60_000)
    live, both, raised, saved = widgets.all()

    # The slider goes from round to round.
    slider = live.get_by_role("slider").first
    expect(stage(live)).to_have_text("round 1")
    expect(live.locator("summary", has_text="Tallan Weir").first).to_be_visible()
    slider.press("ArrowRight")
    expect(stage(live)).to_have_text("round 2")
    slider.press("ArrowRight")
    expect(stage(live)).to_have_text("end")
    expect(live.get_by_text("reasoning chain").first).to_be_visible()
    expect(live.get_by_text("passages support the chain").first).to_be_visible()
    expect(live.locator("textarea")).to_have_count(0)
    notebook.both_themes("04_widget_end", live)

    # One search beside several: what the reader answers to each.
    expect(both.get_by_text("answer: (abstained)")).to_be_visible()
    expect(both.get_by_text("answer: Amarys Pellquin")).to_be_visible()
    both.get_by_role("slider").first.press("ArrowRight")
    expect(stage(both, 1)).to_have_text("round 1")
    expect(both.get_by_text("ended after round 0")).to_be_visible()

    # It opens on its end, where the verifier has raised what answers.
    expect(stage(raised)).to_have_text("end")
    expect(raised.get_by_text("answer: Corentin Vaux")).to_be_visible()

    # The saved run is replayed from its folder; what it lacks is said in the page.
    expect(stage(saved)).to_have_text("round 0")
    saved.get_by_role("slider").first.press("ArrowRight")
    expect(stage(saved)).to_have_text("round 1")
    saved.locator("input[list]").fill(saved.locator("datalist option").nth(1).get_attribute("value"))
    saved.locator("input[list]").press("Enter")
    expect(saved.get_by_text("The car ferry from Orsby").last).to_be_visible()
    saved.get_by_role("button", name="run again from this round").click()
    expect(saved.get_by_text("the run is replayed without an engine")).to_be_visible()
    expect(saved.locator(".hopscope-bump svg")).to_have_count(1)
    notebook.both_themes("04_saved", saved)


def test_a_thought_is_edited(lab, page, meridian):
    """By rules, which reply to any words: the button runs the method again from its round on, and puts the outcome
    beside."""
    lab.write(
        "edited_thought.ipynb",
        "import workbench as wb\ndata, rules = wb.load('meridian'), wb.engine('rules')\n"
        "index = wb.Index.build(data, rules)\nasked = data.question('mer-q03')",
        "widget = wb.replay(index, [asked, data.questions[0]], methods=['bdtr', 'ircot'], backbones=['hipporag2'],\n"
        "                   engine=rules)\nwidget.rerun(1, fast='Pia Normelle')\nwidget",
    )
    notebook = lab.open(page, "edited_thought.ipynb")
    notebook.run_all()
    live = notebook.panel.locator(".hopscope-replay")
    expect(stage(live)).to_have_text("round 1")
    expect(stage(live, 1)).to_have_text("round 1")
    expect(live.locator("textarea").first).to_have_value("Pia Normelle")  # or the old text comes after the new one
    live.locator("textarea").first.fill("Lucan Morravel")
    live.get_by_role("button", name="run again from this round").click()
    sides = live.locator(".widget-vbox:not(:has(.widget-vbox))", has=page.locator(".hopscope-bump"))
    again = sides.nth(1)
    expect(again).to_contain_text("Lucan Morravel", timeout=60_000)
    expect(again).to_contain_text("given by hand")
    expect(sides.first).not_to_contain_text("given by hand")
    notebook.both_themes("04_widget_edited", live)

    # Another method beside it, another question for both.
    _, _, beside, _ = live.locator("select").all()
    beside.select_option(label="ircot")
    expect(again).to_contain_text("ircot[backbone=hipporag2]", timeout=60_000)
    live.locator("input[list]").fill(live.locator("datalist option").nth(1).get_attribute("value"))
    live.locator("input[list]").press("Enter")
    expect(again).to_contain_text("Lanthorn Bridge", timeout=60_000)
    expect(stage(live, 1)).to_have_text("round 1")
