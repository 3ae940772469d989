"""Drawings as still pictures: the marks stand where the drawing says, labels have room, and text is text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import combinations

import pytest
from test_views import HOSTILE, UNSHOWABLE

from workbench.views.drawing import DASHED, DOTTED, SHAPES, THICK, Drawing, DrawnEdge, DrawnNode, NodeStyle
from workbench.views.palette import BLUE, VERMILION
from workbench.views.svg import EDGE, FONT, LETTER, SIDE, WIDTH, drawing_legend_svg, drawing_svg

DOT = NodeStyle("person", BLUE)


def drawn(*nodes: DrawnNode, edges=(), **more) -> Drawing:
    return Drawing("a picture", nodes, tuple(edges), (DOT,), (THICK._replace(name="kept"),), inches=(8, 4), **more)


def node(at: int, x: float, y: float, label: str = "", style: NodeStyle = DOT, **more) -> DrawnNode:
    return DrawnNode(at, f"node {at}", style, x, y, label, f"node {at}\nperson", **more)


def numbers(pattern: str, words: str) -> list[tuple[float, ...]]:
    return [tuple(map(float, found)) for found in re.findall(pattern, words)]


CIRCLE = r'<circle cx="([\d.]+)" cy="([\d.]+)"'


def test_positions_fill_the_picture():
    shown = drawing_svg(drawn(node(0, -1, 5), node(1, 1, 9), node(2, 0, 7)))
    assert f'viewBox="0 0 {WIDTH} 360"' in shown  # 8 inches wide, 4 high
    assert numbers(CIRCLE, shown) == [(SIDE, EDGE), (WIDTH - SIDE, 360 - EDGE), (WIDTH / 2, 180)]


def test_a_node_keeps_its_place_in_a_series():
    whole = drawn(node(0, -1, 0), node(1, 1, 0), node(2, 3, 1))
    early = drawn(node(0, -1, 0), node(1, 1, 0))
    assert numbers(CIRCLE, drawing_svg(early, whole)) == numbers(CIRCLE, drawing_svg(whole))[:2]
    assert numbers(CIRCLE, drawing_svg(early)) == [(SIDE, 180), (WIDTH - SIDE, 180)]  # alone: a row in the middle


def test_an_arrow_ends_at_the_mark_and_points_at_it():
    shown = drawing_svg(drawn(node(0, 0, 0), node(1, 1, 0), edges=[DrawnEdge(0, 1, THICK, "tip", arrows="to")]))
    tip, *back = numbers(r"([\d.]+),([\d.]+)", re.search(r'<polygon points="([^"]+)" stroke="none"', shown)[1])
    assert tip[1] == 180 and WIDTH - SIDE - 8 < tip[0] < WIDTH - SIDE
    assert all(x < tip[0] for x, _ in back) and {y - 180 > 0 for _, y in back} == {True, False}
    assert drawing_svg(drawn(node(0, 0, 0), node(1, 0, 0), edges=[DrawnEdge(0, 1, THICK)])).count("<path") == 0


def test_dashes_repeat_the_colour_and_only_faint_lines_have_no_tooltip():
    edges = [DrawnEdge(0, 1, style, f"tip {at}") for at, style in enumerate((THICK, DASHED, DOTTED))]
    shown = drawing_svg(drawn(node(0, 0, 0), node(1, 1, 0), edges=edges))
    assert shown.count("stroke-dasharray") == 2
    assert [f"tip {at}" in shown for at in range(3)] == [True, True, False]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_drawn(shape):
    shown = drawing_svg(drawn(node(0, 0, 0, style=NodeStyle("x", BLUE, shape), outline=3)))
    corners = {"dot": 0, "square": 4, "diamond": 4, "triangle": 3, "triangleDown": 3, "hexagon": 6, "star": 10}[shape]
    assert len(numbers(r"(-?[\d.]+),(-?[\d.]+)", shown)) == corners and VERMILION in shown


def test_no_label_lies_upon_another_or_leaves_the_picture():
    """Forty nodes in a heap: those that have room are labelled, the larger ones first."""
    nodes = [node(at, at % 8, at // 8 / 4, f"a long label {at}", points=5 + at % 3) for at in range(40)]
    shown = drawing_svg(drawn(*nodes))
    labels = re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)">([^<]+)</text>', shown)
    boxes = [(float(x), float(y) - FONT + 3, float(x) + LETTER * len(text), float(y) + 3) for x, y, text in labels]
    assert 8 < len(boxes) <= 40
    assert all(left >= 0 and right <= WIDTH for left, _, right, _ in boxes)
    assert not [pair for pair in combinations(boxes, 2) if _overlap(*pair)]


def _overlap(one, other) -> bool:
    slack = 1  # places are rounded to whole units
    return all(one[at] + slack < other[at + 2] and other[at] + slack < one[at + 2] for at in (0, 1))


class Svg(HTMLParser):
    """Fails on whatever a picture does not need."""

    def handle_starttag(self, tag, attributes):
        assert tag in {"svg", "g", "path", "circle", "polygon", "line", "text", "title", "p", "span"}
        assert not [name for name, _ in attributes if name.startswith("on") or name in ("href", "style", "src")]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_is_acted_upon(text):
    style = NodeStyle(text, BLUE)
    edge = DrawnEdge(0, 1, THICK._replace(name=text), text, text, "to")
    nodes = (DrawnNode(0, text, style, 0, 0, text, text), DrawnNode(1, text, style, 1, 1, text, text))
    drawing = Drawing(text, nodes, (edge,), (style,), (edge.style,), outlined=text, left_out=3)
    for shown in (drawing_svg(drawing), drawing_legend_svg(drawing)):
        Svg(convert_charrefs=True).feed(shown)
        assert not UNSHOWABLE.search(shown)


def test_the_legend_names_styles_outlines_and_what_is_left_out():
    shown = drawing_legend_svg(drawn(node(0, 0, 0), outlined="anchor", left_out=1200))
    for words in ("person", "anchor", "kept", "1,200 more had no room"):
        assert words in shown
    assert drawing_svg(drawn()) == ""
