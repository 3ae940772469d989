"""The look of a steered walk, its pictures and its record; nothing in them is acted upon."""

from __future__ import annotations

import pytest
from small import index_of
from steered import ASKED, QUESTION, SPEC, Rater, hub_index
from test_views import HOSTILE, UNSHOWABLE, Checked

import workbench as wb
from workbench.methods.catrag.steering import EditedEdge, RatedNeighbour, RatedSeed, Seed, Steering, staged, steering
from workbench.views import html
from workbench.views.drawing import drawing_data, drawing_page
from workbench.views.figures import drawing_figure
from workbench.views.render import html_of
from workbench.views.replay import bump_figure, ranks_part
from workbench.views.steering import (
    ANCHOR,
    GOLD,
    GONE,
    KEY_FACT,
    SAME,
    SEED,
    SKIPPED,
    STRONGER,
    edge_width,
    flow_part,
    places_of,
    ratings_part,
    stages_table,
    steered_drawing,
)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    built = hub_index(tmp_path_factory.mktemp("hub"))
    wb.method("catrag", built)
    return wb.Index.open(built.folder, encoder=built.encoder)


@pytest.fixture(scope="module")
def walk(index):
    """With an anchor, an edge of each kind, and a gold passage."""
    method = wb.method(SPEC, index, Rater(entities=("Show 3",)), k_edge=8, linking_top_k=2)
    return staged(method, QUESTION, ASKED.support)


def styles(drawing) -> dict:
    """(source, target) → the edge between them."""
    names = [node.name for node in drawing.nodes]
    return {(names[edge.source], names[edge.target]): edge for edge in drawing.edges}


def told_of(text: str) -> Steering:
    """A record with the text in every field that takes one."""
    neighbours = (RatedNeighbour(text, 9, text), RatedNeighbour(text, 4, "", True), RatedNeighbour(text, None))
    seeds = (Seed(text, 0.5), Seed(text, 0.2, text, 0.9))
    edges = (EditedEdge(text, text, "relation", 2.0, 0.0), EditedEdge(text, text, "context", 1.0, 3.5))
    scores = ((text, 0.5),)
    return Steering(text, text, scores, scores, scores, (text,), seeds, (RatedSeed(text, 0.5, 3, neighbours),), edges,
                    scores, scores, (text,), text, text)  # fmt: skip


def test_hostile_names_of_an_index(tmp_path):
    texts = [text.replace("\ud800", "?") for text in HOSTILE]
    index = index_of(tmp_path, {f"{at} {text}": [(f"x{text}", text, f"{text} {at}"), (f"{text} {at}", text, "y")]
                                for at, text in enumerate(texts)})  # fmt: skip
    for question in texts[::4]:
        walk = staged(wb.method("catrag[filter=identity]", index, Rater(entities=texts)), question, texts)
        Checked(html(walk))
        assert not UNSHOWABLE.search(repr(walk) + html(walk))
        Checked(html_of(ranks_part(walk, 3, {one.id: one for one in index.passages.passages})))
        drawn = drawing_page(steered_drawing(walk, 3))
        assert "<script>alert" not in drawn and "<img src=x" not in drawn


def test_stages_share_one_layout_and_edges_change_their_looks(walk):
    places = places_of(walk)
    drawn = [steered_drawing(walk, stage, places, "kestrel") for stage in range(4)]
    assert len({tuple((node.name, node.x, node.y) for node in one.nodes) for one in drawn}) == 1
    assert len({frozenset(styles(one)) for one in drawn}) == 1, "an edge is at its place before it is edited"
    looks = [styles(one) for one in drawn]
    assert looks[0]["kestrel", "ilse"].style is SAME and looks[3]["kestrel", "ilse"].style is STRONGER
    assert looks[3]["kestrel", "ilse"].width > looks[0]["kestrel", "ilse"].width == edge_width(4)
    gone = looks[3]["kestrel", "show 1"]
    assert gone.style is GONE and gone.label == "✕ 0" and gone.arrows == "to" and "gone, 2 → 0" in gone.tooltip
    assert looks[1]["kestrel", "programme 0"].style is KEY_FACT and looks[0]["kestrel", "programme 0"].style is SAME
    skipped = {edge.style for (source, _), edge in looks[3].items() if source == "kestrel"}
    assert SKIPPED in skipped
    nodes = [{node.name: node for node in one.nodes} for one in drawn]
    assert nodes[3]["show 3"].style is ANCHOR is not nodes[1]["show 3"].style
    assert nodes[0]["kestrel"].style is SEED and nodes[0]["kestrel"].role == "hub" and nodes[0]["kestrel"].outline
    assert nodes[0]["born"].style is GOLD
    assert nodes[3]["ilse"].size > nodes[0]["ilse"].size, "its probability grew"


def test_two_edited_directions_bend_apart(walk):
    edges = styles(steered_drawing(walk, 3))
    there, back = edges["kestrel", "ilse"], edges["ilse", "kestrel"]
    assert there.curve == back.curve > 0 and there.arrows == back.arrows == "to"
    data = drawing_data(steered_drawing(walk, 3))["edges"]
    assert sum("curve" in edge for edge in data) == sum(edge.curve > 0 for edge in edges.values())


def test_names_are_spelled_as_in_the_passages(tmp_path):
    """In the tables as in the picture, of a walk and of a trace with its index; a trace alone has the graph's names."""
    stated = {"cost": [("Kestrel FM", "cost", "3.2 million crowns")], "born": [("Ilse Varn", "founded", "Kestrel FM")]}
    index = index_of(tmp_path, stated)
    scores = dict.fromkeys(("ilse varn", "kestrel fm", "3 2 million crowns"), 3)  # and no reason repeats a name
    method = wb.method(SPEC, index, Rater(scores, entities=("Ilse Varn",)))
    walk, trace = staged(method, QUESTION), method.retrieve(QUESTION).trace
    for shown in (html(walk), html(steering(trace, index=method.index)), repr(steering(trace, index=method.index))):
        assert "Ilse Varn" in shown and "ilse varn" not in shown
        assert "3 2 million" not in shown and "kestrel fm" not in shown
    assert "Ilse Varn — founded — Kestrel FM" in html(walk) and "3.2 million crowns" in html(walk)
    assert "ilse varn" in html(steering(trace)) and steering(trace) == steering(trace, index=method.index)


def test_print(walk, tmp_path):
    drawing = steered_drawing(walk, 3)
    assert drawing_figure(drawing).save(tmp_path / "walk.png").stat().st_size > 10_000
    assert bump_figure(walk, ylabel="rank").save(tmp_path / "ranks.png").stat().st_size > 10_000


def test_the_layout_stays_where_it_suffices(index, walk):
    places = places_of(walk)
    other = staged(wb.method(SPEC, index, Rater(entities=("Show 3",)), k_edge=8, linking_top_k=2, beta=0.5), QUESTION)
    assert places_of(other, places) == {row: places[row] for row in other.shown()}
    assert places_of(walk, dict(list(places.items())[:2])) == places


def test_tables_say_what_moved(walk):
    shown = " ".join(Checked(html_of(stages_table(walk, 1))).shown)
    assert "+ key facts" in shown and "hubs: the strongest 1 % of the phrases (1)" in shown
    flow = " ".join(Checked(html_of(flow_part(walk, 3, 2))).shown)
    assert "+ anchors → + rated edges" in flow and "kestrel" in flow and "hub" in flow
    assert "phrases with most mass" in " ".join(Checked(html_of(flow_part(walk, 0, 0))).shown)
    told = " ".join(Checked(html_of(ratings_part(walk.parts[3].steering, "kestrel"))).shown)
    for words in ("ilse", "10", "Direct", "of ilse", "4 → 20", "2 → 0 (gone)", "skip"):
        assert words in told
    assert repr(walk).startswith(f"{QUESTION} catrag") and "gold at" in repr(walk)
