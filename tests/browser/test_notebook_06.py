"""Notebook 06 as its reader sees it: stages, seeds, settings, ratings by hand, both walks; both themes."""

from __future__ import annotations

import re

import pytest
from lab import LABELS, WHERE, Notebook, becomes
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser


def picture(widget: Locator, at: int = 0) -> Locator:
    """The page of a visible picture."""
    frame = widget.locator("iframe:visible").nth(at).content_frame
    frame.locator("canvas").wait_for()
    return frame.locator("body")


def nodes(widget: Locator, at: int = 0) -> dict[str, list[float]]:
    """Name → position and size of each node of a picture, where all of them stand."""
    return picture(widget, at).evaluate(
        "() => Object.fromEntries(view.data().nodes.map(({tip, x, y, r}) => [tip.split('\\n')[0], [x, y, r]]))"
    )


def edges(widget: Locator) -> list[str]:
    """What the tooltips of the edges of the steered picture say."""
    last = widget.locator("iframe:visible").count() - 1
    return picture(widget, last).evaluate("() => view.data().edges.map(({tip}) => tip)")


def sizes(widget: Locator) -> dict[str, float]:
    return {name: place[2] for name, place in nodes(widget).items()}


def test_the_notebook(lab, page, notebook):
    """A page of JupyterLab with a kernel: opened once for all that is looked at."""
    opened = lab.open(page, notebook("06", live=True).path)
    opens_on_a_success(opened)
    expect(opened.outputs("06 Steer the walk: meridian")).to_contain_text("checks hold")
    opened.both_themes("06_steer")
    steer(opened)


def opens_on_a_success(opened: Notebook) -> None:
    """The right answer on the first two screens, why the unsteered walk does not get there, and the steered one; then a
    question on which steering changes no rank."""
    read = opened.outputs("Aldous Quarrender").filter(has_text="gold passages at").first
    expect(read).to_contain_text("replies written by hand")
    expect(read).to_contain_text("(abstained)")
    widget = opened.panel.locator(".hopscope-steering").first
    frame = widget.locator("iframe:visible")
    opened.first_screens("06", read, widget.get_by_text("+ rated edges hubs hold"))
    frame.scroll_into_view_if_needed()  # labels are placed when they are seen
    becomes(widget, lambda shown: picture(shown).evaluate(LABELS), lambda count: count > 8)
    assert len(nodes(widget)) <= 14
    expect(opened.outputs("not among the first five").first).to_be_visible()
    expect(opened.outputs("3 May 1889").filter(has_text="gold passages at")).to_have_count(1)


def steer(notebook: Notebook) -> None:
    live = notebook.panel.locator(".hopscope-steering")
    expect(live).to_have_count(1, timeout=60_000)
    *settings, stage = live.get_by_role("slider").all()[:6]
    seed, neighbour = live.locator("select:visible").all()[-2:]

    # A dozen nodes first, and more of them.
    dozen = set(nodes(live))
    live.get_by_label("more nodes").check()
    becomes(live, lambda widget: set(nodes(widget)), lambda more: dozen < more)
    live.get_by_label("more nodes").uncheck()
    becomes(live, lambda widget: set(nodes(widget)), dozen.__eq__)

    # From stage to stage on one layout: edges change, and so do the sizes of nodes.
    steered, steered_sizes = nodes(live), sizes(live)
    assert any(", × " in tooltip for tooltip in edges(live))
    stage.press("Home")
    expect(live.get_by_text("HippoRAG 2's walk hubs hold")).to_be_visible()
    static = nodes(live)
    assert {name: place[:2] for name, place in static.items()} == {name: place[:2] for name, place in steered.items()}
    assert sizes(live) != steered_sizes
    assert not any(", × " in tooltip for tooltip in edges(live))
    notebook.both_themes("06_static", live)
    for name in ("+ key facts", "+ anchors", "+ rated edges"):
        stage.press("ArrowRight")
        expect(live.locator("b", has_text=name).first).to_be_visible()
    becomes(live, sizes, steered_sizes.__eq__)

    # The play button goes through the stages by itself.
    stage.press("Home")
    live.locator(".jupyter-widget-play button, .widget-play button").first.click()
    expect(live.locator("p", has_text="+ rated edges hubs hold")).to_be_visible(timeout=30_000)

    # A seed from the list, and one by a click on its node.
    seed.select_option(index=0)
    last = seed.locator("option").last.inner_text().replace("\xa0", " ")
    expect(seed.locator("option:checked")).not_to_have_text(last)
    live.locator("iframe:visible").scroll_into_view_if_needed()
    where = picture(live).evaluate(WHERE, f"{last}\n")
    live.locator("iframe:visible").click(position={"x": where["x"], "y": where["y"]})
    expect(seed.locator("option:checked")).to_have_text(last)
    notebook.page.mouse.move(0, 0)  # takes the tooltip away

    # A rating by hand: its edge is gone.
    neighbour.select_option(index=0)
    rated = neighbour.locator("option:checked").inner_text()
    score = live.get_by_role("slider").last
    score.press("Home")
    live.get_by_role("button", name="rate by hand").click()
    expect(live.get_by_text(re.compile(r"^by hand; it was \d+$"))).to_be_visible(timeout=30_000)
    expect(neighbour.locator("option:checked")).to_have_text(re.sub(r"^\d+", "0", rated))
    notebook.both_themes("06_rated", live)

    expect(live.get_by_text(re.compile("^asking"))).to_have_count(0)

    # A setting, and back to where it began.
    key_facts = settings[1]
    key_facts.press("Home")
    expect(live.get_by_text(re.compile(r"beta=0")).first).to_be_visible(timeout=30_000)
    live.get_by_role("button", name="own settings and ratings").click()
    expect(live.get_by_text(re.compile(r"beta=0"))).to_have_count(0, timeout=30_000)
    expect(live.get_by_text(re.compile(r"^by hand"))).to_have_count(0)
    becomes(live, sizes, steered_sizes.__eq__)

    # Both walks side by side on one layout.
    live.get_by_label("side by side").check()
    expect(live.locator("iframe:visible")).to_have_count(2)
    left, right = (nodes(live, at) for at in range(2))
    assert {name: pytest.approx(place[:2], abs=3) for name, place in left.items()} == {
        name: place[:2] for name, place in right.items()
    }
    notebook.both_themes("06_beside", live)

    # A question of the list for both.
    asked = live.locator("input[list]")
    before = asked.input_value()
    asked.fill("mer-q01")
    asked.press("Enter")
    expect(live.locator("p", has_text="When was the engineer").first).to_be_visible(timeout=60_000)
    asked.fill(before)
    asked.press("Enter")
    expect(live.locator("p", has_text=before.partition(": ")[2]).first).to_be_visible(timeout=60_000)
