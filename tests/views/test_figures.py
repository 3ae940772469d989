"""Figures of hostile and ordinary data: saving never fails, and the same data give the same bytes."""

from __future__ import annotations

import re
import warnings

import pytest
from sight import contrast
from test_hostile_views import CONTROL, subgraph_of

import workbench as wb
from workbench.data import Dataset, Extraction
from workbench.errors import SettingError
from workbench.operators.neighbourhood import Subgraph
from workbench.records import Evidence, Passage, ranked
from workbench.views.figures import degree_figure, graph_figure, ranking_figure, recall_figure, walk_figure
from workbench.views.node_details import graph_drawing
from workbench.views.palette import THEMES
from workbench.views.render import html_of

TEXTS = [
    CONTROL,
    "{0} %s \\ $x$ ` <b>",
    "$",
    "$x_{$",
    "\\$ \\ \\\\$",
    r"\frac{1}{0} $\undefined$ $\frac{1}$",
    "a\nb\r\nc",
    "שלום עולם مرحبا",
    "_hidden",
    "",
    "x" * 100_000,
]


@pytest.fixture(autouse=True)
def _missing_letters():
    """A font without a letter draws a box and says so."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        warnings.filterwarnings("ignore", "Matplotlib currently does not support .* natively")
        yield


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> wb.Index:
    """Every text is a passage's title and text, and all state a fact."""
    from tiny import TinyEncoder

    texts = [text.replace("\ud800", "?") for text in TEXTS]
    passages = tuple(Passage(str(at), text, text) for at, text in enumerate(texts))
    extractions = tuple(
        Extraction(str(at), (), ((f"a {at} {text}", text, "b"),), "by hand") for at, text in enumerate(texts)
    )
    data = Dataset("hostile", passages, (), extractions)
    return wb.Index.build(data, None, tmp_path_factory.mktemp("index"), encoder=TinyEncoder(), progress=False)


def figures(index: wb.Index, text: str) -> list:
    passages = index.passages.passages
    found = Evidence(text, text, text, ranked(passages, range(len(passages), 0, -1)))
    walk = wb.method("hipporag2[filter=identity]", index).walk_distribution(text)
    none = wb.method("hipporag2[linking_top_k=1]", index, Silent()).walk_distribution(text)
    return [
        graph_figure(subgraph_of(text, 5)),
        walk_figure(walk, gold=("1",)),
        walk_figure(none),
        ranking_figure(found, found, gold=("1",)),
        recall_figure({text: {1: 0.5, 5: 1.0}, "other": {}}),
    ]


class Silent:
    """An engine whose fact filter keeps nothing."""

    name, workers = "silent", 1

    def __init__(self):
        from workbench.llm.meter import Meter

        self.meter = Meter()

    def run(self, step, inputs, *, trace=None):
        from workbench.llm import Result

        return [Result(step.output(facts=[]))]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text)[:30])
def test_any_text_can_be_drawn(index, text):
    for picture in figures(index, text):
        assert picture._repr_png_().startswith(b"\x89PNG")
        assert "<img" in html_of(picture.part())
        assert isinstance(repr(picture), str)


@pytest.mark.parametrize("theme", THEMES)
def test_every_letter_is_read_on_the_paper_of_each_theme(index, theme):
    """The letters of a picture on a page; those in files are black on white."""
    colours = THEMES[theme]._asdict()
    for picture in figures(index, "Orsby"):
        texts = re.findall(r'<g id="text_\d+">.*?<g([^>]*)>', picture.svg(), re.DOTALL)
        fills = [re.search(r"fill: (?:var\(--)?([#\w]+)", look) for look in texts]
        assert texts and picture.svg() == picture.svg() and "#000000" not in picture.svg()
        for fill in fills:
            name = fill[1] if fill else "ink"
            assert contrast(colours.get(name, name), colours["paper"]) >= 4.5, (repr(picture), name)
        assert f"--paper:{colours['paper']}" in picture.svg()


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_data_give_the_same_bytes(index, tmp_path, suffix):
    for at, twice in enumerate(zip(figures(index, "$ \\ \n \u202e & <b>"), figures(index, "$ \\ \n \u202e & <b>"))):
        first, second = (
            picture.save(tmp_path / folder / f"{at}{suffix}").read_bytes() for picture, folder in zip(twice, "ab")
        )
        assert first == second
        assert first == twice[0].save(tmp_path / "again" / f"{at}{suffix}").read_bytes()


def test_another_kind_of_file_is_refused(tiny_index, tmp_path):
    with pytest.raises(
        SettingError, match=r"graph\.txt has no suffix of a picture; end it in one of \.png, .* or give none"
    ):
        degree_figure(tiny_index.graph).save(tmp_path / "graph.txt")


def test_a_graph_figure_shows_each_mark_and_edge_once(tiny_index):
    found = wb.neighbourhood(tiny_index, "orsby")
    drawing = graph_drawing(found)
    axes = graph_figure(found).figure.axes[0]
    lines, dots = axes.collections[:3], axes.collections[3:]
    assert [len(line.get_paths()) for line in lines] == [
        sum(edge.style.name == name for edge in drawing.edges) for name in ("facts", "synonyms", "stated in")
    ]
    assert [len(part.get_offsets()) for part in dots] == [
        sum(node.style == style for node in drawing.nodes) for style in drawing.node_styles
    ]
    written = {text.get_text() for text in axes.texts}
    assert written <= {one.label for one in (*drawing.nodes, *drawing.edges)} and "Orsby" in written


def test_labels_of_a_figure_do_not_meet(meridian_index):
    hub = meridian_index.facts.phrases[int(meridian_index.graph.strength.argmax())]
    picture = graph_figure(wb.neighbourhood(meridian_index, hub, hops=2, limit=40)).figure
    boxes = [text.get_window_extent() for text in picture.axes[0].texts]
    assert len(boxes) > 15
    for at, box in enumerate(boxes):
        assert not [one for one in boxes[:at] if box.shrunk(0.9, 0.6).overlaps(one.shrunk(0.9, 0.6))]


def test_a_walk_figure_has_a_bar_for_each_passage_best_first(tiny_index):
    walk = wb.method("hipporag2[filter=identity]", tiny_index).walk_distribution(
        "Which lake does the River Aldra flow into?"
    )
    left, right = walk_figure(walk, gold=("p2",), k=3).figure.axes
    best = sorted(range(8), key=lambda row: (-walk.on_passages[row], row))[:3]
    titles = [tiny_index.passages.passages[row].title for row in best]
    assert [label.get_text() for label in left.get_yticklabels()] == titles
    assert [bar.get_width() for bar in left.patches] == pytest.approx([walk.on_passages[row] for row in best])
    assert [bar.get_width() for bar in right.patches] == pytest.approx([walk.dense[row] for row in best])
    dense = sorted(range(8), key=lambda row: (-walk.dense[row], row))
    assert [text.get_text().strip() for text in right.texts] == [str(dense.index(row) + 1) for row in best]
    assert [bool(bar.get_hatch()) for bar in left.patches] == [
        tiny_index.passages.passages[row].id == "p2" for row in best
    ]


def test_nothing_can_be_drawn_too(tmp_path):
    assert graph_figure(Subgraph("", (), ()))._repr_png_()
    assert recall_figure({})._repr_png_()
