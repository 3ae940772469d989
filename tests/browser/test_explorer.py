"""The explorer in a notebook: typing, sliding, clicking, going on; both themes; ordinary and hostile names."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from lab import LABELS, SETTLED, becomes
from playwright.sync_api import expect
from test_hostile_records import ATTACKS
from test_views import HOSTILE, TAGS
from tiny import TinyEncoder

from workbench.data import Dataset, Extraction
from workbench.index import Index
from workbench.records import Passage

pytestmark = pytest.mark.browser

OPEN = "import workbench as wb\nindex = wb.Index.open(wb.home() / 'indexes' / '{}')"
SAID = re.compile("^Subgraph")
AT = "view.labels().filter((box) => box.words === words).map(({x, y, w, h}) => ({x: x + w / 2, y: y + h / 2}))[0]"


def nodes(notebook) -> list[str]:
    """What the tooltips of a picture's nodes say, in their order."""
    frame = notebook.panel.frame_locator("iframe").first
    frame.locator("canvas").wait_for()
    return frame.locator("body").evaluate("() => view.data().nodes.map(({tip}) => tip)")


def hover(notebook, position: int) -> None:
    """The mouse goes to a node, to where the picture says that it stands."""
    notebook.panel.locator("iframe").first.scroll_into_view_if_needed()
    where = (
        notebook.panel.frame_locator("iframe")
        .first.locator("body")
        .evaluate(f"async (_, row) => {{ {SETTLED} return view.at(row) }}", position)
    )
    notebook.panel.locator("iframe").first.hover(position={"x": where["x"], "y": where["y"]})


@pytest.mark.usefixtures("meridian")
def test_a_walk_through_the_graph(lab, page):
    lab.write("explore.ipynb", OPEN.format("meridian"), "explorer = wb.explore(index, 'lanthorn bridge')\nexplorer")
    notebook = lab.open(page, "explore.ipynb")
    notebook.run_all()
    panel = notebook.panel
    said = panel.get_by_text(SAID)
    expect(said).to_contain_text("'Lanthorn Bridge'")

    # Typing brings proposals; choosing one shows its neighbourhood and its details.
    search = panel.get_by_placeholder("type, then choose")
    search.fill("")
    search.press_sequentially("venn")
    expect(panel.locator("datalist option[value='vennick']")).to_be_attached()
    search.fill("vennick")
    expect(said).to_contain_text("'Vennick'")
    expect(panel.get_by_text(re.compile(r"^Vennick phrase"))).to_be_visible()
    whole = said.inner_text()
    notebook.screenshot("explorer_light")

    # No two labels meet, and a click on one is a click on its node.
    body = panel.frame_locator("iframe").locator("body")
    assert body.evaluate(LABELS) > 15
    words = body.evaluate("() => view.labels().find((box) => box.id !== null && box.words !== 'Vennick').words")
    body.click(position=body.evaluate("(_, words) => at(words)".replace("at(words)", AT), words), force=True)
    expect(panel.get_by_text(re.compile(f"^{re.escape(words)} phrase", re.IGNORECASE))).to_be_visible()

    # Fewer hops by keyboard, and back.
    hops, limit, *_ = panel.get_by_role("slider").all()
    hops.press("ArrowLeft")
    expect(said).to_have_text("Subgraph 'Vennick': 1 node, 0 edges")
    hops.press("ArrowRight")
    expect(said).to_have_text(whole)

    # One kind of edge less, and none.
    boxes = [panel.get_by_label(name, exact=True) for name in ("facts", "synonyms", "stated in")]
    boxes[2].uncheck()
    expect(said).not_to_have_text(whole)
    for box in boxes[:2]:
        box.uncheck()
    expect(said).to_have_text("Subgraph 'Vennick': 1 node, 0 edges")
    for box in boxes:
        box.check()
    expect(said).to_have_text(whole)

    # The picture fits its frame.
    fits = "document.documentElement.scrollHeight <= innerHeight"
    assert body.evaluate(f"async () => {{ {SETTLED} return {fits} }}")

    # A click in the sandboxed frame shows the card of that node, with its passages and facts; from there one goes on.
    hover(notebook, [says.startswith("Aldermark\nphrase") for says in nodes(notebook)].index(True))
    page.mouse.down()
    page.mouse.up()
    expect(panel.get_by_text(re.compile(r"^Aldermark phrase \d+ neighbours"))).to_be_visible()
    for words in (r"^\d+ passages", r"^\d+ facts"):
        part = panel.locator("details", has=page.get_by_text(re.compile(words))).last
        part.evaluate("element => { element.open = true }")
        expect(part.get_by_text(re.compile("aldermark", re.IGNORECASE)).first).to_be_visible()
    expect(said).to_have_text(whole)
    panel.get_by_role("button", name="go on from here").click()
    expect(said).to_contain_text("'Aldermark'")
    expect(search).to_have_value("aldermark")

    # Enter after a part of a name takes the first proposal, or says that there is none.
    search.fill("zzz")
    search.press("Enter")
    expect(panel.get_by_text("no name contains 'zzz'")).to_be_visible()
    search.fill("venn")
    search.press("Enter")
    expect(said).to_contain_text("'Vennick'")

    # Hundreds of nodes in the same picture.
    hops.press("ArrowRight")
    for _ in range(4):  # one answer before the next key, which would start from the old value
        before = said.inner_text()
        limit.press("ArrowRight")
        expect(said).not_to_have_text(before)
    expect(said).to_have_text(re.compile("[2-9]\\d\\d nodes|[1-9],\\d{3} nodes"))
    becomes(panel, lambda _: len(nodes(notebook)), lambda count: count > 120)  # leaves are folded
    assert body.evaluate(LABELS) > 15
    notebook.screenshot("explorer_large")


def test_nothing_in_an_index_is_acted_upon(lab, page):
    """Hostile text as titles, texts and ids of passages, in the picture, its tooltips, the cards and the proposals."""
    texts = [text.replace("\ud800", "?") for text in (*ATTACKS, *HOSTILE)]
    passages = tuple(Passage(f"{at} {text}", text, text) for at, text in enumerate(texts))
    extractions = tuple(Extraction(p.id, (), ((p.title, p.title, "shared"),), "by hand") for p in passages)
    data = Dataset(
        "<script>pwned = 1</script>",
        passages,
        (),
        tuple(replace(e, triples=(*e.triples, ("shared", "of", str(at)))) for at, e in enumerate(extractions)),
    )
    Index.build(data, None, lab.root / "indexes" / "hostile", encoder=TinyEncoder(), progress=False)
    lab.write(
        "hostile_index.ipynb",
        OPEN.format("hostile") + "\nexplorer = wb.explore(index, 'shared', limit=200)\nexplorer",
        "display(explorer.subgraph)",
        "for row in range(index.graph.phrases, index.graph.nodes): display(explorer.pick(row))",
        "wb.checkup(index)",
    )
    notebook = lab.open(page, "hostile_index.ipynb")
    notebook.run_all()
    panel = notebook.panel
    expect(panel.locator(".jp-OutputArea-output .hopscope details > summary").first).to_be_attached()
    panel.locator(".hopscope details").evaluate_all("all => all.forEach(element => { element.open = true })")

    search = panel.get_by_placeholder("type, then choose")
    search.fill("")
    search.press_sequentially("<")
    expect(panel.locator("datalist option").first).to_be_attached()
    tooltip = panel.frame_locator("iframe").first.locator(".tip")
    for position, says in enumerate(nodes(notebook)[:4]):
        hover(notebook, position)
        expect(tooltip).to_contain_text(says.splitlines()[0].strip()[:10])
        expect(tooltip.locator("*")).to_have_count(0)

    found = panel.locator(".hopscope *").evaluate_all("all => [...new Set(all.map(e => e.localName))]")
    assert set(found) <= TAGS
    assert panel.locator(".hopscope *:not([class])").evaluate_all(
        "all => all.every(e => e.getAttributeNames().every(name => ['open', 'style'].includes(name)))"
    )
    expect(panel.locator("iframe")).to_have_count(2)
    plain = panel.frame_locator("iframe").nth(1).locator("body")
    assert plain.evaluate("() => view.data().nodes.map(({tip}) => tip)") == nodes(notebook)
    for part in page.frames:
        assert part.evaluate("window.pwned === undefined")
    notebook.screenshot("explorer_hostile")


def test_frames_that_appear_together_all_show_their_drawing(lab, page):
    """A frame that was loaded twice in a row often stayed blank."""
    lab.write(
        "frames.ipynb",
        "import ipywidgets\nfrom workbench.views.widget import Canvas\n"
        "from workbench.views.drawing import Drawing, DrawnNode\nfrom workbench.views.node_details import NODES\n"
        "canvases = [Canvas(height=120) for _ in range(12)]\n"
        "places = [ipywidgets.VBox([canvas], layout={'width': '200px', 'display': 'none'}) for canvas in canvases]\n"
        "def show(_):\n"
        "    for place, canvas in zip(places, canvases):\n"
        "        place.layout.display = None\n"
        "        canvas.draw(Drawing('one', (DrawnNode(1, 'one', NODES['phrase'], 0, 0),), ()))\n"
        "button = ipywidgets.Button(description='show')\nbutton.on_click(show)\n"
        "ipywidgets.VBox([button, ipywidgets.HBox(places, layout={'flex_flow': 'row wrap'})])",
    )
    notebook = lab.open(page, "frames.ipynb")
    notebook.run_all()
    notebook.panel.get_by_role("button", name="show").click()
    frames = notebook.panel.locator("iframe:visible")
    expect(frames).to_have_count(12)
    for at in range(12):
        frames.nth(at).content_frame.locator("canvas").wait_for()
