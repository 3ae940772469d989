"""A map as its page gets it: columns, bounded texts, and nothing that a page could act on."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from direction import harm_of_direction
from test_views import HOSTILE, UNSHOWABLE, Checked

from workbench.errors import SettingError
from workbench.views import html, text
from workbench.views.base import script_data
from workbench.views.canvas import Canvas, MapFrame
from workbench.views.drawing import Drawing, DrawnNode, EdgeStyle, NodeStyle, drawing_page
from workbench.views.figures import map_figure
from workbench.views.map_page import LABEL, Map, map_data, map_frame, map_page
from workbench.views.palette import BLUE, GREY


def small(label: str = "one", n: int = 5, space: str = "here") -> Map:
    """A disc with points in it, the first two of which a line joins."""
    places = np.c_[np.arange(n), np.arange(n)].astype(float)
    return Map(
        f"map of {label}", space, np.arange(n) + 10, places, np.full(n, 0.5), np.zeros(n, np.int32),
        (NodeStyle(label, BLUE),), discs=1, labels=(label, "two"), tips=(label, "two"), rings=(1,), outlined=label,
        edges=np.array([[1, 2]]), edge_style=np.array([0]), edge_styles=(EdgeStyle("line", GREY),), left_out=label,
    )  # fmt: skip


def sent(page: str) -> dict:
    return json.loads(re.search(r"show\((\{.*\})\);</script>", page)[1])


def test_the_page_holds_what_the_map_says():
    shown = small()
    data = sent(map_page(shown))
    assert data == json.loads(json.dumps(map_data(shown)))
    assert data["nodes"]["id"] == [10, 11, 12, 13, 14] and data["nodes"]["label"] == ["one", "two"]
    assert data["edges"] == {"ends": [1, 2], "s": [0]} and data["rings"] == [1] and data["discs"] == 1
    assert shown.row(12) == 2
    with pytest.raises(ValueError, match="does not show 99"):
        shown.row(99)


def test_a_map_of_many_points_is_small():
    """Names cost most: points without any cost some twenty bytes each."""
    assert len(map_page(small(n=6_000))) < 165_000 < 6_000 * 30


@pytest.mark.parametrize("attack", HOSTILE)
def test_nothing_in_a_map_is_acted_upon(attack):
    shown = small(attack * 3)
    page = map_page(shown)
    assert page.count("<script>") == page.count("</script>") == 1
    assert "default-src 'none'" in page and len(sent(page)["nodes"]["label"][0]) <= LABEL
    Checked(html(shown).replace(map_frame(shown), ""))
    assert map_frame(shown).count("<iframe") == 1 and 'sandbox="allow-scripts"' in map_frame(shown)
    assert "\n" not in text(shown)[:40]
    assert map_figure(shown)._repr_png_()


def test_what_a_script_is_given_turns_no_text_around():
    """Whatever a picture forgot to clean, and in the escapes of JSON as well; what is written out stays."""
    data = {"\u202ea": ["\u2066<b>\u200f\n", "\x00\b\r\x1b\x7f\x85\u2028", "\\\\u202e", '\\"', "\ud800", 0.5, None]}
    written = script_data(data)
    assert json.loads(written) == {"�a": ["�<b>�\n", "�" * 7, "\\\\u202e", '\\"', "�", 0.5, None]}
    assert "<" not in written and not UNSHOWABLE.search(written) and not harm_of_direction(map_page(small("a\u202eb")))
    node = DrawnNode(0, "\u202e", NodeStyle("\u202e", BLUE), 0, 0, "\u202e", "\u2066")
    assert not harm_of_direction(drawing_page(Drawing("\u202e", (node,), ())))


def test_themes():
    light, dark = (map_page(small(), theme=theme) for theme in ("light", "dark"))
    assert "#ffffff" in light and "#111111" in dark and "#ffffff" not in dark
    with pytest.raises(SettingError, match="theme='pink'"):
        map_page(small(), theme="pink")


def test_a_frame_loads_one_page_and_is_sent_the_other_maps():
    canvas, clicked = Canvas("light", 300, MapFrame), []
    canvas.clicked = clicked.append
    canvas.draw(small())
    page = canvas.frame.page
    assert canvas.children == (canvas.frame,) and canvas.frame.drawn == {}
    canvas.draw(small("other"))
    assert canvas.frame.page == page and canvas.frame.drawn["nodes"]["label"][0] == "other"
    canvas.frame.picked = 11
    assert clicked == [11]
    canvas.draw(None)
    assert canvas.children == ()


def test_an_empty_map_is_shown():
    none = np.zeros(0, np.int64)
    empty = Map("nothing", "here", none, np.zeros((0, 2)), np.zeros(0), none, ())
    assert sent(map_page(empty))["nodes"]["id"] == [] and "0 discs, 0 points" in text(empty)
    assert map_figure(empty)._repr_png_()
