"""Notebook 05 as its reader sees it: compression on and off, its budget, routes, the query drawn, wrong answers; both
themes."""

from __future__ import annotations

import re

import pytest
from lab import LABELS, NAMES, Notebook, becomes
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

ASKED = "When was the engineer behind the Lanthorn Bridge born?"


def drawn(widget: Locator) -> list[str]:
    """The first line of what each node's tooltip says."""
    frame = widget.frame_locator("iframe")
    frame.locator("canvas").wait_for()
    return frame.locator("body").evaluate(NAMES)


def tab(widget: Locator, name: str) -> None:
    widget.get_by_role("tab", name=name).click()


def test_it_opens_on_a_success(lab, page, notebook):
    """The right answer with its query, on the first two screens; then the same question answered wrongly, and why."""
    opened = lab.open(page, notebook("05", live=True).path)
    widget = opened.panel.locator(".hopscope-ablator").first
    right = widget.locator("p", has_text="gold: 3 May 1889").first
    expect(right.locator("b")).to_have_text("3 May 1889", timeout=60_000)
    expect(right.locator(".tag")).to_have_text("right")
    expect(right).to_contain_text("query: verified")
    by = widget.get_by_text("by replies written by hand, no language model")
    picture = widget.locator("iframe")
    opened.first_screens("05", right, by, picture)
    picture.scroll_into_view_if_needed()  # labels are placed when they are seen
    becomes(picture, lambda shown: shown.content_frame.locator("body").evaluate(LABELS), lambda count: 6 < count < 20)
    tried = opened.outputs("6 June 1931").filter(has_text="reasoning failure: the answer is in the context")
    expect(tried.first).to_be_visible()
    expect(opened.outputs("the chain is broken at its last hop").first).to_be_visible()
    cut = opened.panel.locator(".hopscope-ablator").nth(1)
    expect(cut.get_by_text("lost in compression: the answer was in the full context").first).to_be_visible()


@pytest.mark.usefixtures("meridian")
def test_its_widgets_answer(lab, page):
    """Both widgets of the notebook by rules, which answer any question; a small grid."""
    lab.write(
        "ablate.ipynb",
        "import workbench as wb\ndata, rules = wb.load('meridian'), wb.engine('rules')\n"
        "index = wb.Index.build(data, rules)\n"
        "methods = {spec: wb.method(spec, index, rules) for spec in ('hipporag2', 'dense')}",
        "widget = wb.ablate(index, [data.question('mer-q05'), data.question('mer-q01')], prompt='sparql', budget=300,\n"
        "                   engine=rules, methods=list(methods), compress='', check=False)\n"
        "widget.ask(compress='graph-walk')\nwidget",
        "asked = data.questions[:: len(data.questions) // 4][:4]\n"
        "readers = {prompt: f'direct[prompt={prompt},k=none,budget=12000]' for prompt in ('brief', 'sparql')}\n"
        "grid = wb.grid(asked, methods, readers, wb.home() / 'ablated', k=50, progress=False)\n"
        "wb.ablate(grid, asked, index=index)",
    )
    notebook = lab.open(page, "ablate.ipynb")
    notebook.run_all()
    ablate(notebook)
    look_into(notebook)


def ablate(notebook: Notebook) -> None:
    widget = notebook.panel.locator(".hopscope-ablator").first
    beside = widget.locator(".beside")
    expect(widget.locator("select")).to_have_count(4, timeout=60_000)
    retrieval, context, prompt, _ = widget.locator("select").all()
    retrieval.select_option(label="dense")
    budget = widget.get_by_role("slider")

    # A question of one's own choice; its gold stands beside the answer.
    asked = widget.locator("input[list]")
    asked.fill(ASKED)
    asked.press("Enter")
    expect(widget.get_by_text("gold: 3 May 1889")).to_be_visible(timeout=60_000)
    expect(widget.get_by_text("by rules, no language model")).to_be_visible()

    # A smaller budget strikes more through; the full context has nothing beside it.
    budget.press("Home")
    expect(beside.get_by_text("compressed").first).to_be_visible()
    expect(widget.get_by_text(re.compile(r"budget 250"))).to_be_visible(timeout=60_000)
    few = beside.locator(".gone").count()
    notebook.both_themes("05_compressed", widget)
    budget.press("End")
    expect(widget.get_by_text(re.compile(r"budget 12,000"))).to_be_visible(timeout=60_000)
    assert 0 <= beside.locator(".gone").count() < few
    context.select_option(label="full")
    expect(beside).to_have_count(0, timeout=60_000)
    expect(widget.locator(".noUi-target")).to_have_attribute("disabled", "true")
    context.select_option(label="compressed: graph-walk")
    expect(beside).to_have_count(1, timeout=60_000)

    # Routed, the prompt is no longer one's own choice.
    widget.get_by_label("route by kind").check()
    expect(widget.get_by_text("taken for")).to_be_visible(timeout=60_000)
    expect(prompt).to_be_disabled()
    widget.get_by_label("route by kind").uncheck()
    expect(widget.get_by_text("taken for")).to_have_count(0, timeout=60_000)

    # The query is drawn on the facts that it was matched with; ticked, it needs no button.
    tab(widget, "query")
    expect(widget.get_by_role("button", name="execute the query")).to_be_visible()
    widget.get_by_label("execute the query").check()
    expect(widget.get_by_role("button", name="execute the query")).to_have_count(0, timeout=60_000)
    expect(widget.locator("th", has_text="pattern").first).to_be_visible()
    assert any("lanthorn bridge" in name.lower() for name in drawn(widget))
    notebook.both_themes("05_query", widget)

    # Another method and another prompt; all that was tried is listed.
    retrieval.select_option(label="hipporag2")
    prompt.select_option(label="sparql-exec")
    # An answer brings its query to the front, so the tab is chosen once it is there.
    expect(widget.locator("td", has_text="sparql-exec").first).to_be_attached(timeout=60_000)
    tab(widget, "tried so far")
    expect(widget.locator("td", has_text="sparql-exec").first).to_be_visible(timeout=60_000)
    assert widget.get_by_role("row").count() >= 6
    tab(widget, "trace")
    expect(widget.locator("summary", has_text="execute").first).to_be_visible()


def look_into(notebook: Notebook) -> None:
    widget = notebook.panel.locator(".hopscope-failures").first
    expect(widget.locator("select")).to_have_count(3, timeout=60_000)
    configuration, _, wrong = widget.locator("select").all()
    configuration.select_option(index=1)
    expect(widget.get_by_text("rests on").or_(widget.get_by_text("every answer is right")).first).to_be_visible()
    options = configuration.locator("option").count()
    for at in range(options):  # until a configuration has a wrong answer
        configuration.select_option(index=at)
        expect(wrong.locator("option").first).to_be_attached()
        if widget.get_by_text("rests on").count():
            break
    expect(widget.get_by_text("rests on").first).to_be_visible()
    expect(widget.get_by_text("read", exact=True).first).to_be_visible()
    notebook.screenshot("05_failures", widget)
    tab(widget, "trace")
    expect(widget.locator("summary", has_text="CHAIN").first).to_be_visible()
    tab(widget, "all of them")
    expect(widget.get_by_text("Why answers are wrong").first).to_be_visible()
    notebook.screenshot("05_diagnosis", widget)
