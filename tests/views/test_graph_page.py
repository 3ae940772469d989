"""The page of a graph: hostile names stay data, change no tag, and nothing is loaded; the legend has what is shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from test_dot_views import swapped
from test_hostile_views import CONTROL, subgraph_of
from test_passing_view import planted
from test_proof_views import NAMED, WHOLE
from test_views import HOSTILE, UNSHOWABLE, hostile

import workbench as wb
from workbench.errors import SettingError
from workbench.methods.dotrag.dots import dots
from workbench.operators.neighbourhood import Edge, Node, Subgraph
from workbench.records import Binding, Proof, Triple
from workbench.text import clean, short
from workbench.views import html
from workbench.views.dots import dot_drawing, path_drawing
from workbench.views.drawing import LEGEND, OTHER, Drawing, drawing_data, drawing_frame, drawing_page, drawing_part
from workbench.views.figures import drawing_figure
from workbench.views.node_details import LARGEST, graph_drawing
from workbench.views.palette import THEMES
from workbench.views.passing import passing_drawing
from workbench.views.proofs import proof_drawing
from workbench.views.render import html_of


class Page(HTMLParser):
    """What a browser finds: the tags with their attributes, and the texts of the scripts."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[tuple] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, *attributes))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] == "script" and not self.closed:
            self.scripts[-1] += data
        elif self.tags and self.tags[-1][0] != "style":
            self.texts.append(data)

    closed = True

    def parse_starttag(self, i):
        self.closed = False
        return super().parse_starttag(i)

    def handle_endtag(self, tag):
        self.closed = True

    def data(self, name: str) -> list[dict]:
        """What the last script shows as `nodes` or `edges`."""
        found, end = json.JSONDecoder().raw_decode(self.scripts[-1].removeprefix("view.show("))
        assert self.scripts[-1].removeprefix("view.show(")[end:] == ");"
        return found[name]


def graph_page(subgraph: Subgraph, **settings) -> str:
    return drawing_page(graph_drawing(subgraph), **settings)


HARMLESS = Page(graph_page(subgraph_of("harmless")))


@settings(max_examples=15)
@given(hostile)
def test_hostile_names_stay_data(text):
    page = Page(graph_page(subgraph_of(text)))
    assert page.tags == HARMLESS.tags
    assert "".join(page.texts).split() == "".join(HARMLESS.texts).split()
    assert page.scripts[:-1] == HARMLESS.scripts[:-1]
    nodes, edges = page.data("nodes"), page.data("edges")
    kept = 2 if text else 3  # a phrase and the passage of its title share a mark, and no edge joins them
    assert [node.get("label", "") for node in nodes] == [short(text, 40)] * kept
    assert all(node["tip"].startswith(f"{clean(text, 300)}\n") for node in nodes)
    assert [edge["tip"] for edge in edges] == [
        f"{clean(text, 80)} — {clean(text, 80)}\nsynonyms, cosine 1.000",
        f"{clean(text, 80)} — {clean(text, 80)}\nthe passage states it",
    ][: kept - 1]


def pictures(text: str) -> list[Drawing]:
    """One of each maker of drawings, with the text in every field that takes one."""
    searched, triple = dots(swapped(text)), Triple(text, text, f"{text}!", (text,))
    match = replace(NAMED, fact=triple)
    proof = replace(WHOLE, bindings=(Binding(((text, text),), (match,), 0.5),))
    return [
        graph_drawing(subgraph_of(text)),
        dot_drawing(searched),
        path_drawing(searched, searched.final[0]),
        proof_drawing(proof, [Triple(text, text, f"other {text}")]),
        *(passing_drawing(planted(text), stage) for stage in (1, 3)),
    ]


@settings(max_examples=15)
@given(hostile)
def test_no_picture_acts_upon_a_name(text):
    for drawn in pictures(text):
        script = Page(drawing_page(drawn)).scripts[-1].removeprefix("view.show(").removesuffix(");")
        assert "<" not in script and not UNSHOWABLE.search(script) and json.loads(script) == drawing_data(drawn)


@pytest.mark.filterwarnings("ignore:Glyph", "ignore:no installed font")  # matplotlib has no letter for some of them
@pytest.mark.parametrize("text", ["$5 or $10", "".join(HOSTILE)], ids=["plain", "hostile"])
def test_the_same_picture_prints_the_same_bytes(text):
    """Slow, because matplotlib draws each of the pictures twice."""
    for drawn in pictures(text):
        first, second = (drawing_figure(drawn)._repr_png_() for _ in range(2))
        assert first == second and first[:4] == b"\x89PNG"
    assert drawing_figure(proof_drawing(Proof()))._repr_png_(), "nothing is a picture, too"


@pytest.mark.parametrize(
    "text", ["plain", *HOSTILE, CONTROL, "$", "</script><script src=https://example.org/x></script>"]
)
def test_nothing_is_loaded_and_the_page_forbids_it(text):
    page = Page(graph_page(subgraph_of(text)))
    for _, *attributes in page.tags:
        assert not {name for name, _ in attributes} & {"src", "href", "srcset", "action", "data", "poster", "onload"}
    first = page.tags[:3]
    assert [tag for tag, *_ in first] == ["html", "head", "meta"]
    policy = dict(page.tags[2][1:])
    assert policy["http-equiv"] == "Content-Security-Policy"
    assert policy["content"].startswith("default-src 'none'; ")
    assert "http" not in policy["content"]


def test_its_styles_load_nothing():
    styles = "".join(re.findall(r"<style[^>]*>(.*?)</style>", graph_page(subgraph_of("harmless")), re.DOTALL))
    assert "@import" not in styles
    assert {address[:5] for address in re.findall(r"""url\(\s*['"]?([^'")]*)""", styles)} <= {"data:"}


@pytest.mark.parametrize("theme", THEMES)
def test_a_page_of_each_theme(tiny_index, theme):
    found = wb.neighbourhood(tiny_index, "orsby")
    page = Page(graph_page(found, theme=theme))
    nodes, edges = page.data("nodes"), page.data("edges")
    phrases = {node.label.casefold() for node in found.nodes if node.kind == "phrase"}
    own = {node.row for node in found.nodes if node.kind == "passage" and node.label.casefold() in phrases}
    assert len(own) == 3 and [node["id"] for node in nodes] == [n.row for n in found.nodes if n.row not in own]
    assert {page.data("looks")[node["s"]][1] for node in nodes} == {"dot", "square"}
    assert [node.get("ring") for node in nodes] == [1, *[None] * (len(nodes) - 1)]  # the start is marked
    assert all({edge["source"], edge["target"]} <= set(range(len(nodes))) for edge in edges)
    assert f"--paper:{THEMES[theme].paper};--ink:{THEMES[theme].ink}" in graph_page(found, theme=theme)
    assert graph_page(found, theme=theme) == graph_page(found, theme=theme)


def test_a_phrase_and_the_passage_of_its_title_are_one_mark():
    nodes = (
        Node(0, "phrase", "orsby", "Orsby", 1, 3), Node(1, "phrase", "aldra", "Aldra", 1, 2),
        Node(5, "passage", "p1", "ORSBY", 0, 2), Node(6, "passage", "p2", "Fog", 2, 1),
    )  # fmt: skip
    edges = (
        Edge(0, 1, "relation", 1.0, "lies on"), Edge(0, 2, "context", 1.0), Edge(1, 2, "context", 1.0),
        Edge(0, 1, "context", 1.0), Edge(1, 3, "context", 1.0),
    )  # fmt: skip
    drawing = graph_drawing(Subgraph("x", nodes, edges))
    assert [(node.id, node.style.name, node.role) for node in drawing.nodes] == [
        (0, "phrase and its passage", "start"), (1, "phrase", ""), (6, "passage", ""),
    ]  # fmt: skip
    found = [(edge.source, edge.target, edge.style.name, edge.label) for edge in drawing.edges]
    assert found == [(0, 1, "facts", "lies on"), (0, 1, "stated in", ""), (1, 2, "stated in", "")]
    assert drawing.nodes[0].tooltip == "Orsby\nphrase and its passage, 5 neighbours"


def star(weights, values=(), hop=1) -> Subgraph:
    """A hub, joined to a leaf by each weight; perhaps with the probabilities of a walk. Many leaves stay apart with
    hop=0, as starts."""
    value = dict(enumerate(values))
    nodes = [Node(at, "phrase", str(at), f"n{at}", hop, 1, value.get(at)) for at in range(len(weights) + 1)]
    return Subgraph("x", tuple(nodes), tuple(Edge(0, at, "relation", one) for at, one in enumerate(weights, 1)))


def test_many_edges_fade_by_their_weight():
    fades = [edge.fade for edge in graph_drawing(star([1.0] * 318 + [3.0, 5.0], hop=0)).edges]
    assert fades == [0.5] * 318 + [0.75, 1.0]
    assert {edge.fade for edge in graph_drawing(star([2.0] * 320, hop=0)).edges} == {0.5}, (
        "all of one weight: by their number"
    )
    assert {edge.fade for edge in graph_drawing(star([1.0, 5.0] * 40)).edges} == {1.0}, "few edges do not fade"
    drawing = graph_drawing(star([1.0] * 318 + [3.0, 5.0], hop=0))
    assert [edge.get("fade", 1.0) for edge in drawing_data(drawing)["edges"]] == fades


def test_a_path_that_matters_is_strong_and_has_its_meaning():
    drawing = graph_drawing(star([1.0] * 400, hop=0), {frozenset(("0", "7"))}, "kept path")
    data = drawing_data(drawing)
    assert [at for at, edge in enumerate(data["edges"]) if data["lines"][edge["s"]][5]] == [6]
    assert "fade" not in data["edges"][6] and "kept path" in [entry["name"] for entry in data["legend"]]


def test_a_legend_has_what_is_shown_and_one_entry_for_all_rare_types():
    kinds = tuple(f"type {at}" for at in range(12))
    nodes = tuple(Node(at, "phrase", str(at), f"n{at}", 1, 1, type=kind) for at, kind in enumerate(kinds))
    data = drawing_data(graph_drawing(Subgraph("x", nodes, (Edge(0, 1, "synonym", 1.0),), types=kinds)))
    shown = [entry["name"] for entry in data["legend"]]
    assert shown == ["phrase", *kinds[:8], OTHER.name, "synonyms"]
    assert data["looks"][data["nodes"][11]["s"]][2] == ["phrase", OTHER.name], "by these entries it is hidden"
    assert [entry["name"] for entry in drawing_data(graph_drawing(star([1.0])))["legend"]] == ["phrase", "facts"]


@pytest.mark.parametrize("text", [*HOSTILE, CONTROL])
def test_a_picture_in_a_page_is_one_element_whose_data_stay_data(text):
    drawing = graph_drawing(subgraph_of(text))
    figure = Page(html_of(drawing_part(drawing)))
    assert [tag for tag, *_ in figure.tags] == ["figure", "p"]
    assert json.loads(dict(figure.tags[0][1:])["data-graph"]) == json.loads(json.dumps(drawing_data(drawing)))
    assert "nodes" in "".join(figure.texts) or "node" in "".join(figure.texts), "what a page without scripts says"


def test_in_a_series_every_node_keeps_its_place():
    whole = graph_drawing(star([1.0] * 9))
    early = replace(whole, nodes=whole.nodes[:2], edges=whole.edges[:1])
    assert drawing_data(early, whole)["bounds"] == drawing_data(whole)["bounds"] != drawing_data(early)["bounds"]
    assert drawing_part(replace(whole, nodes=(), edges=())) is None


def test_of_a_large_graph_the_leaves_of_a_node_are_one_mark():
    """Those of one relation as "+ 160 works by", others of a node together; what is joined to several nodes stays."""
    works = [Node(at, "phrase", f"work {at}", f"Work {at}", 1, 1) for at in range(2, 162)]
    others = [Node(at, "phrase", f"other {at}", f"Other {at}", 2, 1) for at in range(162, 166)]
    nodes = (Node(0, "phrase", "ilse", "Ilse", 0, 170), Node(1, "phrase", "tarn", "Tarn", 1, 9), *works, *others)
    edges = [Edge(0, at, "relation", 1.0, "works by") for at in range(2, 162)]
    edges += [Edge(1, at, "relation", 1.0, f"says {at}") for at in range(162, 166)]
    edges += [Edge(0, 1, "relation", 1.0, "met"), Edge(1, 161, "relation", 1.0, "met")]
    drawn = graph_drawing(Subgraph("Ilse", nodes, tuple(edges)))
    assert [node.label for node in drawn.nodes] == ["Ilse", "Tarn", "Work 161", "+ 159 works by", "+ 4 more"]
    assert [node.id for node in drawn.nodes] == [0, 1, 161, 0, 1], "a click leads to the node whose leaves they are"
    assert drawn.nodes[4].tooltip == "+ 4 more\nOther 162\nOther 163\nOther 164\nOther 165"
    assert drawn.nodes[3].tooltip.endswith("… 147 more")
    assert len(graph_drawing(Subgraph("Ilse", nodes[:100], tuple(edges[:98]))).nodes) == 100
    told = graph_drawing(star([1.0] * 400), {frozenset(("0", "7"))}, "kept path")
    assert [node.label for node in told.nodes] == ["n0", "n7", "+ 399 more"], "what a path goes through stays"


def test_edges_of_a_walk_fade_by_what_it_sends_over_them():
    """Where a stronger fact leads to a phrase that the walk hardly reaches, the other edges keep their colour."""
    values = [0.1, *[0.2] * 160, *[0.0] * 160]
    fades = [edge.fade for edge in graph_drawing(star([1.0] * 160 + [2.0] * 160, values)).edges]
    assert fades[0] == 1.0 and fades[-1] == 0.5


def test_an_unknown_theme_is_refused(tiny_index):
    with pytest.raises(SettingError, match="theme='pink' is unknown; choose one of auto, light, dark"):
        graph_page(wb.neighbourhood(tiny_index, "orsby"), theme="pink")


def test_names_of_100_kb_are_cut():
    plain, long = (len(graph_page(subgraph_of(text))) for text in ("a", "a" * 100_000))
    assert long - plain < 5_000


def test_the_frame_is_sandboxed_and_holds_the_page():
    subgraph = subgraph_of('</iframe>"><script>alert(1)</script>')
    frame = drawing_frame(graph_drawing(subgraph))
    style, tag = Page(frame).tags
    attributes = dict(tag[1:])
    assert (style[0], tag[0]) == ("style", "iframe")
    assert attributes["sandbox"] == "allow-scripts"  # so that its scripts see nothing of the notebook
    assert attributes["srcdoc"] == graph_page(subgraph) and attributes["height"] == str(520 + LEGEND)
    assert unescape(frame).count("</iframe>") >= 1


def test_graphs_are_drawn_and_the_largest_are_described():
    assert "<iframe" in html(subgraph_of("x", 300))
    assert "<iframe" not in html(subgraph_of("x", LARGEST + 1)) and "<iframe" not in html(Subgraph("x", (), ()))
    assert repr(subgraph_of("x", 5)) == "Subgraph 'x': 5 nodes, 4 edges; 7 more are within reach"
    assert not UNSHOWABLE.search(repr(subgraph_of(CONTROL)))
