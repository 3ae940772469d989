"""A map as its page gets it: bounded texts, and nothing that a page could act on."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from direction import harm_of_direction
from test_views import HOSTILE, UNSHOWABLE, Checked

from workbench.errors import SettingError
from workbench.views import html, text
from workbench.views.drawing import (
    LABEL,
    Drawing,
    DrawnNode,
    EdgeStyle,
    Map,
    NodeStyle,
    drawing_data,
    drawing_frame,
    drawing_page,
)
from workbench.views.figures import map_figure
from workbench.views.palette import BLUE, GREY
from workbench.views.render import script_data
from workbench.views.widget import Canvas


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
    data = sent(drawing_page(shown))
    assert data == json.loads(json.dumps(drawing_data(shown)))
    assert [node["id"] for node in data["nodes"]] == [10, 11, 12, 13, 14]
    assert data["nodes"][1] == {"id": 11, "x": 1.0, "y": 1.0, "r": 0.5, "s": 0, "label": "two", "tip": "two", "ring": 1}
    assert data["edges"] == [{"source": 1, "target": 2, "s": 0}] and data["discs"] == 1


def test_a_map_of_many_points_is_small():
    """Names cost most: points without any cost some fifty bytes each."""
    assert len(drawing_page(small(n=6_000))) < 6_000 * 55


@pytest.mark.parametrize("attack", HOSTILE)
def test_nothing_in_a_map_is_acted_upon(attack):
    shown = small(attack * 3)
    page = drawing_page(shown)
    assert page.count("<script>") == page.count("</script>") == 2
    assert "default-src 'none'" in page and len(sent(page)["nodes"][0]["label"]) <= LABEL
    Checked(html(shown).replace(drawing_frame(shown), ""))
    assert drawing_frame(shown).count("<iframe") == 1 and 'sandbox="allow-scripts"' in drawing_frame(shown)
    assert "\n" not in text(shown)[:40]
    assert map_figure(shown)._repr_png_()


def test_what_a_script_is_given_turns_no_text_around():
    """Whatever a picture forgot to clean, and in the escapes of JSON as well; what is written out stays."""
    data = {"\u202ea": ["\u2066<b>\u200f\n", "\x00\b\r\x1b\x7f\x85\u2028", "\\\\u202e", '\\"', "\ud800", 0.5, None]}
    written = script_data(data)
    assert json.loads(written) == {"�a": ["�<b>�\n", "�" * 7, "\\\\u202e", '\\"', "�", 0.5, None]}
    assert "<" not in written and not UNSHOWABLE.search(written)
    assert not harm_of_direction(drawing_page(small("a\u202eb")))
    node = DrawnNode(0, "\u202e", NodeStyle("\u202e", BLUE), 0, 0, "\u202e", "\u2066")
    assert not harm_of_direction(drawing_page(Drawing("\u202e", (node,), ())))


def test_themes():
    light, dark = (drawing_page(small(), theme=theme) for theme in ("light", "dark"))
    assert "#ffffff" in light and "#111111" in dark and "#ffffff" not in dark
    with pytest.raises(SettingError, match="theme='pink'"):
        drawing_page(small(), theme="pink")


def test_a_frame_loads_one_page_and_is_sent_the_other_maps():
    canvas, clicked = Canvas("light", 300), []
    canvas.clicked = clicked.append
    canvas.draw(small())
    page = canvas.frame.page
    assert canvas.children == (canvas.frame,) and canvas.frame.drawn == {}
    canvas.draw(small("other"))
    assert canvas.frame.page == page and canvas.frame.drawn["nodes"][0]["label"] == "other"
    canvas.frame.picked = 11
    assert clicked == [11]
    canvas.draw(None)
    assert canvas.children == ()


def test_an_empty_map_is_shown():
    none = np.zeros(0, np.int64)
    empty = Map("nothing", "here", none, np.zeros((0, 2)), np.zeros(0), none, ())
    assert sent(drawing_page(empty))["nodes"] == [] and "0 discs, 0 points" in text(empty)
    assert map_figure(empty)._repr_png_()
