"""Pictures and tables as pages, without a notebook: legends that filter, wide tables that scroll, both themes."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from lab import LABELS, SETTLED
from PIL import Image
from playwright.sync_api import expect
from sight import contrast, hexadecimal
from test_views import HOSTILE

from workbench.views.drawing import (
    THICK,
    Drawing,
    DrawnEdge,
    DrawnNode,
    EdgeStyle,
    Map,
    NodeStyle,
    drawing_frame,
    drawing_page,
    drawing_part,
)
from workbench.views.figures import recall_figure
from workbench.views.palette import THEMES
from workbench.views.parts import details, table
from workbench.views.render import html_of
from workbench.views.render import page as html_page
from workbench.views.stepped import LIVE

pytestmark = pytest.mark.browser

PHRASE, PASSAGE = NodeStyle("phrase", "#777777"), NodeStyle("passage", "#E69F00", "square")
FACTS, SAID = EdgeStyle("facts", "#777777"), EdgeStyle("stated in", "#D9B15F")
PATH = THICK._replace(name="kept")
PERSON, PLACE = NodeStyle("person", "#8A5A2B"), NodeStyle("place", "#009E73")


def drawing(name: str = "Tarn", kind: str = "person") -> Drawing:
    """Two people, a place and a passage, each joined to the first."""
    nodes = [
        DrawnNode(at, label, style, 100 * at, 50 * (at % 2), label, label, type=of)
        for at, (label, style, of) in enumerate(
            [("Ilse", PHRASE, kind), ("Oskar", PHRASE, kind), (name, PHRASE, "place"), ("Page", PASSAGE, "")]
        )
    ]
    edges = [DrawnEdge(0, 1, FACTS), DrawnEdge(0, 2, FACTS), DrawnEdge(2, 3, SAID)]
    types = (PERSON._replace(name=kind), PLACE)
    return Drawing("Q", tuple(nodes), tuple(edges), (PHRASE, PASSAGE), (FACTS, SAID), "start", types=types)


SHOWN, EDGES = "view.shown()", "view.edges()"
WRITTEN = "view.labels().map(({words}) => words).sort()"


def settled(page, script: str):
    """What a page says when its picture stands."""
    return page.evaluate(f"async () => {{ {SETTLED} return {script}; }}")


def test_a_click_on_an_entry_hides_what_it_names(page):
    page.set_content(drawing_page(drawing()))
    entries = page.locator(".legend button")
    assert entries.all_inner_texts() == ["●phrase", "■passage", "●person", "●place", "──facts", "──stated in"]
    assert settled(page, SHOWN) == [0, 1, 2, 3]
    entries.nth(2).click()
    assert settled(page, SHOWN) == [2, 3] and settled(page, EDGES) == [2], "no edge leads to what is hidden"
    assert settled(page, WRITTEN) == ["Page", "Tarn"]
    assert entries.nth(2).get_attribute("aria-pressed") == "false"
    entries.nth(1).click()
    assert settled(page, SHOWN) == [2]
    entries.nth(2).click()
    entries.nth(1).click()
    entries.nth(5).click()
    assert settled(page, SHOWN) == [0, 1, 2, 3] and settled(page, EDGES) == [0, 1]


def test_the_keyboard_reaches_every_entry(page):
    page.set_content(drawing_page(drawing()))
    page.locator(".legend button").first.focus()
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert settled(page, SHOWN) == [0, 1, 3]
    assert page.evaluate("document.activeElement.textContent") == "●place"
    page.keyboard.press("Space")
    assert settled(page, SHOWN) == [0, 1, 2, 3]


def test_what_is_hidden_stays_hidden_in_the_next_picture(page):
    page.set_content(drawing_page(drawing()))
    page.locator(".legend button", has_text="person").click()
    page.evaluate("view.show({...view.data(), nodes: view.data().nodes.slice(0, 3), edges: []})")
    assert settled(page, SHOWN) == [2]
    page.evaluate("window.dispatchEvent(new MessageEvent('message', {source: parent, data: {hide: ['place']}}))")
    assert settled(page, SHOWN) == [0, 1]


def test_a_hostile_name_is_text_in_the_legend(page):
    for attack in HOSTILE:
        if "\ud800" not in attack:
            page.goto("about:blank")  # or the next page finds what the one before has declared
            page.set_content(drawing_page(drawing(kind=attack)))
            assert page.locator(".legend").locator("img, script, a, b, iframe").count() == 0, attack
            page.locator(".legend button").nth(2).click()
            assert settled(page, SHOWN) == [2, 3], attack


def small_map() -> Map:
    """A disc with three points of two types."""
    return Map(
        "m", "s", np.arange(4), np.array([[0, 0], [-4, 0], [4, 0], [0, 4]], float), np.array([8, 1, 1, 1], float),
        np.array([0, 0, 0, 1], np.int32), (PERSON, PLACE), discs=1, labels=("people", "Ilse", "Oskar", "Tarn"),
        tips=("people", "Ilse", "Oskar", "Tarn"), edges=np.array([[1, 3]], np.int32),
        edge_style=np.zeros(1, np.int32), edge_styles=(FACTS,),
    )  # fmt: skip


def test_the_legend_of_a_map_filters_too(page):
    page.set_content(drawing_page(small_map()))
    found = "[0, 1, 2, 3].map((row) => view.at(row)).map(({x, y}) => view.hit(x, y))"
    assert settled(page, found) == [0, 1, 2, 3]
    page.locator(".legend button", has_text="person").click()
    assert settled(page, found) == [-1, -1, -1, 3]
    assert settled(page, WRITTEN) == ["Tarn"]
    page.locator(".legend button", has_text="person").press("Enter")
    page.locator(".legend button", has_text="place").press("Enter")
    assert settled(page, found) == [0, 1, 2, 0], "what lies below is met"


@pytest.mark.parametrize("theme", THEMES)
def test_letters_of_a_legend_are_read_on_the_paper_of_each_theme(page, theme):
    page.set_content(drawing_page(drawing(), theme=theme))
    ink, paper = page.evaluate(
        "() => [getComputedStyle(document.querySelector('.legend button')).color,"
        " getComputedStyle(document.body).backgroundColor]"
    )
    rgb = [f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})" for colour in THEMES[theme][:2]]
    assert [paper, ink] == rgb


@pytest.mark.parametrize("theme", THEMES)
def test_a_picture_follows_the_theme_of_the_page_around_it(page, theme):
    """Labels of frames and of a figure, by the pixels that a reader sees."""
    framed = [drawing_frame(drawing()), drawing_frame(small_map())]
    curves = recall_figure({"dense": {1: 0.2, 5: 0.9}})
    page.set_content(f"<body data-jp-theme-light='true'>{''.join(framed)}{curves._repr_html_()}</body>")
    page.evaluate(f"document.body.dataset.jpThemeLight = '{str(theme == 'light').lower()}'")
    place, chart = page.frames[1], page.frames[2]
    for frame in (place, chart):
        frame.wait_for_function("view.labels().length === 4")
    page.wait_for_timeout(300)
    first = place.evaluate("() => view.labels().map(({x, y, w, h}) => [x, y, x + w, y + h])")
    pictures = [page.locator("iframe").first, page.locator("iframe").nth(1), page.locator("img")]
    shots = [Image.open(BytesIO(one.screenshot())).convert("RGB") for one in pictures]
    for shot in shots:
        assert hexadecimal(max(shot.getcolors(1 << 20))[1]) == THEMES[theme].paper
    below = chart.evaluate(
        "(({x, y, w, h}) => [x, y, x + w, y + h])(view.labels().find(({words}) => words === 'Tarn'))"
    )
    letters = [*(shots[0].crop(box) for box in first), shots[1].crop(below), shots[2].crop((0, 0, 30, 300))]
    for number, part in enumerate(letters):
        colours = (hexadecimal(colour) for _, colour in part.getcolors(1 << 20))
        assert max(contrast(colour, THEMES[theme].paper) for colour in colours) >= 4.5, number


def test_the_picture_and_its_legend_fill_the_frame(page):
    page.set_content(drawing_page(drawing()))
    parts = "...['canvas', '.legend'].map((name) => document.querySelector(name).offsetHeight)"
    high = settled(page, f"[innerHeight, document.documentElement.scrollHeight, {parts}]")
    assert high[1] <= high[0] and high[2] + high[3] == high[0] and high[3] < 60


def test_the_keyboard_goes_from_node_to_node_and_picks(page):
    page.set_content(drawing_page(drawing()))
    page.evaluate("addEventListener('message', ({data}) => { window.heard = data.picked })")
    canvas = page.locator("canvas")
    assert "Q: 4 nodes, 3 edges." in canvas.get_attribute("aria-label")
    assert settled(page, SHOWN) == [0, 1, 2, 3]
    canvas.press("ArrowRight")
    expect(page.locator(".tip")).to_have_text("Ilse")
    canvas.press("ArrowRight")
    expect(page.locator(".tip")).to_have_text("Tarn")  # the next one in this row
    canvas.press("Enter")
    page.wait_for_function("window.heard === 2")


def test_sixty_nodes_are_read_and_no_labels_meet(page):
    nodes = [DrawnNode(at, f"node {at}", PHRASE, at % 10, at // 10, f"node number {at}") for at in range(60)]
    crossing = [DrawnEdge(at, (7 * at + 3) % 60, FACTS, label="says") for at in range(60)]
    path = [DrawnEdge(at, at + 11, PATH, label="leads to") for at in (0, 11, 22)]
    page.set_content(drawing_page(Drawing("Q", tuple(nodes), (*crossing, *path), (PHRASE,), (FACTS, PATH))))
    assert page.evaluate(LABELS) > 50
    words = settled(page, WRITTEN)
    assert words.count("leads to") == 3 and "says" not in words, "relations elsewhere are written on hover"
    page.mouse.move(*settled(page, "[view.at(30).x, view.at(30).y]"))
    assert "says" in settled(page, WRITTEN)


def test_a_page_without_a_kernel_draws_its_pictures(page):
    page.set_content(
        f"{LIVE}<body>{html_of(drawing_part(drawing()))}{html_of(details('', drawing_part(drawing('Quell'))))}</body>"
    )
    figures = page.locator("figure.hopscope-graph")
    expect(figures).to_have_count(2)
    figures.first.locator("canvas").wait_for()
    page.locator("details").evaluate("part => { part.open = true }")
    page.wait_for_function("[...document.querySelectorAll('figure')].every(({graph}) => graph.labels().length === 4)")
    assert figures.first.evaluate("({clientWidth, scrollWidth}) => scrollWidth <= clientWidth")


def test_a_wide_table_scrolls_and_a_long_path_wraps(page):
    wide = table([f"column {at}" for at in range(40)], [["unbreakable" * 3] * 40] * 2)
    path = " → ".join(f"Somebody {at} — was born in" for at in range(60))
    page.set_content(f"<div style='width:600px'>{html_page(wide, table(['id', 'path'], [(1, path)]))}</div>")
    for at, scrolls in ((0, True), (1, False)):
        inner, outer, left = page.evaluate(
            "at => { const t = document.querySelectorAll('table')[at]; "
            "return [t.scrollWidth, t.clientWidth, t.getBoundingClientRect().right]; }",
            at,
        )
        assert outer <= 600 and left <= 620
        assert (inner > outer) == scrolls
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.querySelectorAll('table')[1].offsetHeight") > 100, "the path takes many lines"
    assert page.evaluate("getComputedStyle(document.querySelector('table')).overflowX") == "auto"


def test_a_long_path_of_the_tracer_s_list_wraps(page):
    path = " → ".join(f"Somebody {at} —was born in" for at in range(12)) + "unbreakable" * 9
    options = f"<option>all</option><option>{path}</option>"
    lists = f"<select size=9 style='width:300px'>{options}</select>"
    page.set_content(f"{LIVE}<div class='hopscope-tracer'>{lists}</div>")
    sizes = page.evaluate("[...document.querySelectorAll('option')].map((e) => [e.offsetHeight, e.scrollWidth])")
    assert sizes[1][0] > 4 * sizes[0][0] and sizes[1][1] <= 300


def test_a_narrow_table_is_as_wide_as_its_cells(page):
    page.set_content(f"<div style='width:600px'>{html_page(table(['a', 'b'], [('x', 'y')]))}</div>")
    assert page.evaluate("document.querySelector('table').offsetWidth") < 100
