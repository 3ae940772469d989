"""Notebook 02 as its reader sees it: walking, weighing, comparing, asking; both themes; large maps."""

from __future__ import annotations

import re

import pytest
from lab import SETTLED, Notebook, becomes
from panning import panned
from planted_tree import planted_tree
from playwright.sync_api import Locator, expect

from workbench.operators.regrouping import Division
from workbench.views.drawing import drawing_page
from workbench.views.tree_map import community_map, overview_map, type_palette

pytestmark = pytest.mark.browser

ASKED = "To which First Minister was the founder of the Vennick Conservatory married?"  # replied to by hand

# Where a click meets the row of a node and nothing else, in pixels of the page; waits until the map stands still.
WHERE = f"""async (_, id) => {{
  {SETTLED}
  const row = view.data().nodes.findIndex((node) => node.id === id), {{x, y, r}} = view.at(row);
  const {{width, height}} = document.querySelector("canvas").getBoundingClientRect();
  for (let reach = 0; reach < Math.max(r, 8); reach += 2) for (let turn = 0; turn < 12; turn++) {{
    const [a, b] = [x + reach * Math.cos(turn / 2), y + reach * Math.sin(turn / 2)];
    if (a > 0 && b > 0 && a < width && b < height && view.hit(a, b) === row) return {{x: a, y: b}};
  }}
}}"""
STANDS = f"""async () => {{
  {SETTLED}
  const {{nodes, discs}} = view.data();
  const [ids, labels, x] = ["id", "label", "x"].map((name) => nodes.map((node) => node[name] ?? null));
  return {{ids, discs, labels, rings: nodes.filter(({{ring}}) => ring).length, x}};
}}"""


def picture(widget: Locator) -> Locator:
    """The page of the map."""
    frame = widget.locator("iframe:visible").first.content_frame
    frame.locator("canvas").wait_for()
    return frame.locator("body")


def stands(widget: Locator) -> dict:
    """What the map shows when nothing moves any more. A frame that is out of sight draws nothing."""
    widget.locator("iframe:visible").first.scroll_into_view_if_needed()
    return picture(widget).evaluate(STANDS)


def click(widget: Locator, id: int) -> None:
    """A click on a node. A frame that is out of sight neither draws nor notices its new size, and the browser takes a
    while until it hands clicks over to one that has come into sight: it is clicked until the map has heard one."""
    frame = widget.locator("iframe:visible").first
    frame.scroll_into_view_if_needed()
    for _ in range(6):
        widget.page.wait_for_timeout(500)
        where = picture(widget).evaluate(WHERE, id)
        assert where, f"{id} cannot be clicked"
        picture(widget).evaluate(
            "() => { window.heard = 0; document.querySelector('canvas').onpointerup = () => { heard += 1 } }"
        )
        frame.click(position=where)
        widget.page.wait_for_timeout(200)
        if picture(widget).evaluate("heard"):
            return
    raise AssertionError("the map hears no click")


def entries(widget: Locator) -> list[str]:
    return widget.locator("select[size] option").all_inner_texts()


def choose(widget: Locator, entry: str) -> None:
    widget.locator("select[size]").select_option(label=entry)


def tab(widget: Locator, name: str) -> Locator:
    """Bring a tab to the front."""
    widget.get_by_role("tab", name=name).click()
    return widget.locator(".jupyter-widget-tab-contents, .widget-tab-contents")


def test_the_notebook(lab, page, notebook):
    """A page of JupyterLab with a kernel: opened once for all that is looked at."""
    opened = lab.open(page, notebook("02", live=True).path)
    opens_on_a_success(opened)
    its_widgets_walk_the_tree(opened)


def opens_on_a_success(opened: Notebook) -> None:
    """The right answer, whose it is, and the map on which the searches are marked; then one search that fails."""
    answer = opened.outputs("Aldous Quarrender").first
    expect(answer).to_contain_text("replies written by hand")
    widget = opened.panel.locator(".hopscope-tree").first
    opened.first_screens("02", answer, widget.locator("input[list]").first)
    assert stands(widget)["rings"]
    expect(opened.outputs("one search brings the founder and stops").first).to_be_visible()


def its_widgets_walk_the_tree(notebook: Notebook) -> None:
    expect(notebook.outputs("02 Inspect communities: meridian")).to_contain_text("checks hold")
    widgets = notebook.panel.locator(".hopscope-tree")
    expect(widgets).to_have_count(3, timeout=60_000)
    live, weighed, saved = widgets.all()
    walk(notebook, live)
    compare(notebook, live)
    ask(notebook, live)
    notebook.both_themes("02_weighed", weighed)
    notebook.both_themes("02_saved", saved)
    expect(weighed.get_by_text("are in another community than in the index")).to_be_visible()
    asked = saved.locator("input[list]").first.input_value()
    expect(saved.locator("p", has_text=asked.partition(": ")[2]).first).to_be_visible()


def walk(notebook: Notebook, live: Locator) -> None:
    """Down from a disc, by clicks and by the list, and back from a passage."""
    live.get_by_role("button", name="all communities").click()
    shown = stands(live)
    assert shown["discs"] > 10 and len(entries(live)) >= shown["discs"]
    notebook.both_themes("02_overview", live)

    # A disc, then a member of it, by clicks.
    click(live, shown["ids"][0])
    expect(live.locator("span.tag", has_text="community 0")).to_be_visible()
    keywords = entries(live)
    inside = becomes(live, stands, lambda found: found["discs"] == 0 and found["rings"])
    notebook.both_themes("02_community", live)
    click(live, inside["ids"][0])
    name = inside["labels"][0]
    expect(live.locator("p b", has_text=name).first).to_be_visible()
    becomes(live, stands, lambda found: found["ids"] != inside["ids"])  # the community may have its name
    notebook.screenshot("02_entity", live)

    # Level by level with the list; a passage; its place on the map of all communities.
    live.get_by_role("button", name="attributes", exact=True).click()
    expect(live.locator("select[size] option").first).to_contain_text(": ")
    live.get_by_role("button", name="passages", exact=True).click()
    expect(live.locator("select[size] option").first).to_have_text(re.compile(r"\((?!.*: )[^ ]+\)$"))
    choose(live, entries(live)[0])
    expect(live.get_by_text("passage ›")).to_be_visible()
    becomes(live, stands, lambda found: found["rings"] and found["discs"] == shown["discs"])
    notebook.screenshot("02_passage", live)

    # The search, and up again.
    found = live.get_by_placeholder("a community, an entity, a passage")
    found.fill(name)
    expect(live.locator(f'datalist option[value="{name} [entity]"]')).to_have_count(1)
    found.fill(f"{name} [entity]")
    found.press("Enter")
    expect(live.get_by_text("passage ›")).to_have_count(0)
    live.get_by_role("button", name=re.compile(r"\bup$")).click()
    expect(live.locator("span.tag", has_text="community 0")).to_be_visible()
    assert keywords == entries(live)
    live.get_by_role("button", name=re.compile(r"\bback$")).click()
    expect(live.locator("span.tag", has_text="community 0")).to_have_count(0)
    live.get_by_role("button", name="all communities").click()
    becomes(live, stands, lambda found: found["discs"] == shown["discs"])


def compare(notebook: Notebook, live: Locator) -> None:
    """Colours, weights, merges, other divisions, the schema."""
    colour = live.locator("select:not([size])").first
    before = stands(live)
    for by, said in (("structure", "structure from"), ("leiden", "by leiden"), ("raptor", "by raptor")):
        colour.select_option(by)
        expect(picture(live).get_by_text(said).first).to_be_visible(timeout=30_000)
        becomes(live, stands, lambda found: found["labels"] != before["labels"])
        notebook.screenshot(f"02_by_{by}", live)
    colour.select_option("type")

    # A lower bar between centres: communities merge, the map moves, and goes back.
    bar = live.get_by_role("slider").nth(3)
    bar.press("Home")
    expect(live.get_by_text("are in another community than in the index")).to_be_visible(timeout=60_000)
    becomes(live, stands, lambda found: 0 < found["discs"] < before["discs"])
    notebook.screenshot("02_merged", live)
    live.get_by_role("button", name="as built").click()
    expect(live.get_by_text("are in another community than in the index")).to_have_count(0)
    again = becomes(live, stands, lambda found: found["discs"] == before["discs"])
    assert again["x"] == before["x"]

    for name, said in (("merges", "outcome"), ("other groupings", "adjusted Rand"), ("schema", "in the seed")):
        expect(tab(live, name).get_by_text(said).first).to_be_visible(timeout=30_000)
        notebook.screenshot(f"02_{name.split()[0]}", live)


def ask(notebook: Notebook, live: Locator) -> None:
    """A question through the routes, and the agent's rounds."""
    asked = live.locator("input[list]").first
    asked.fill(ASKED)
    asked.press("Enter")
    expect(live.get_by_text("sub-question").first).to_be_visible(timeout=60_000)
    expect(live.locator("p b", has_text=ASKED).first).to_be_visible()
    becomes(live, stands, lambda found: found["rings"])
    live.get_by_role("button", name="path", exact=True).click()
    expect(live.get_by_text("through").first).to_be_visible()
    notebook.both_themes("02_asked", live)
    expect(tab(live, "rounds").get_by_text("first answer").first).to_be_visible()
    notebook.screenshot("02_rounds", live)


def test_forty_thousand_entities_open_at_once_and_pan_smoothly(page, tmp_path):
    """Bounds that a busy machine keeps, too; `benchmarks/tree_map.py` measures."""
    tree = planted_tree(40_000, 200, dimension=32)
    division = Division.built(tree)
    maps = {"all": overview_map(tree, division, type_palette(tree, division)), "one": community_map(tree, 0)}
    for name, shown in maps.items():
        path = tmp_path / f"{name}.html"
        path.write_text(drawing_page(shown), encoding="utf-8")
        assert path.stat().st_size < 450_000
        found = panned(page, path)
        assert found.opened < 6 and found.frames > 12, name
        assert page.evaluate("view.labels().length > 5")
