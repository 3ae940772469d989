"""The widget of passing messages in a real browser: stages by slider, a click on an entity, both themes, attacks."""

from __future__ import annotations

import pytest
from lab import WHERE, becomes
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

SHOWN = """
import workbench as wb
from workbench.records import Question
from workbench.testing import small_index
ASKED = (Question("q1", "Who designed the bridge over the river at Vennick?", support=("aldermark",)),
         Question("q2", "<script>window.pwned = 1</script> in Vennick?"))
shown = wb.messages(small_index(), ASKED, method="gfm_rag[checkpoint=untrained]")
shown
"""


def nodes(widget: Locator) -> list[list[str]]:
    """[name, what it is in this picture] of each node."""
    frame = widget.locator("iframe:visible").first.content_frame
    frame.locator("canvas").wait_for()
    return frame.locator("body").evaluate("() => view.data().nodes.map(({tip}) => tip.split('\\n').slice(0, 2))")


def changed(found, name) -> bool:
    return any(one == name and what.startswith("changed in this layer") for one, what in found)


def test_messages_pass_layer_by_layer(lab, page):
    lab.write("messages.ipynb", SHOWN)
    notebook = lab.open(page, "messages.ipynb")
    notebook.run_all()
    widget = notebook.panel.locator(".hopscope-messages")
    expect(widget).to_be_visible(timeout=120_000)
    stage = widget.get_by_role("slider").first
    becomes(widget, nodes, lambda found: ["aldermark", "gold document, rank 2"] in found)
    stage.press("Home")
    start = becomes(widget, nodes, lambda found: ["aldermark", "gold document, rank 2"] not in found)
    assert {name for name, what in start if what.startswith("entity of the question")} == {"Vennick"}
    assert {what.partition(",")[0] for _, what in start} == {"entity of the question", "not yet reached"}
    stage.press("ArrowRight")
    becomes(widget, nodes, lambda found: changed(found, "Lucan Morravel"))
    notebook.both_themes("messages", widget)
    place = widget.locator("iframe:visible").first.content_frame.locator("body").evaluate(WHERE, "Lucan Morravel")
    widget.locator("iframe:visible").first.content_frame.locator("canvas").click(
        position={"x": place["x"], "y": place["y"]}
    )
    expect(widget.get_by_text("paths to Lucan Morravel")).to_be_visible()
    widget.get_by_role("combobox").first.fill("q2: <script>window.pwned = 1</script> in Vennick?")
    widget.get_by_role("combobox").first.press("Enter")
    expect(widget.get_by_text("window.pwned = 1").first).to_be_visible()
    assert page.evaluate("window.pwned === undefined")
