"""The steering widget without a browser: functions move the controls, controls move the walk, errors are said."""

from __future__ import annotations

import pytest
from steered import ASKED, QUESTION, Rater, hub_index
from test_views import Checked

import workbench as wb
from workbench.errors import DataError, SettingError
from workbench.methods.catrag.replies import UNRATED
from workbench.records import Question

MODEL = "catrag[tolerance=1e-14]"
OTHER = Question("s2", "what broadcasts show 3?", ("kestrel",), "bridge", 1, ("programme 3",))


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    built = hub_index(tmp_path_factory.mktemp("hub"))
    wb.method("catrag", built)
    return wb.Index.open(built.folder, encoder=built.encoder)


@pytest.fixture
def engine():
    return Rater(entities=("Show 3",), facts=2)


@pytest.fixture
def widget(index, engine):
    return wb.steer(index, [ASKED, OTHER], method=MODEL, engine=engine)


@pytest.fixture
def run(index, engine, tmp_path):
    methods = [wb.method(spec, index, engine) for spec in ("dense", f"{MODEL[:-1]},k_edge=3]")]
    return wb.evaluate([ASKED, OTHER], methods, out=tmp_path / "run", progress=False)


def state(widget) -> tuple:
    controls = [widget._question_box, widget._stage, widget._pair, widget._seed, *widget._sliders.values()]
    shown = (widget._head.html, widget._table.html, widget._ratings.html)
    return widget.shown, widget.at, widget.chosen, [control.value for control in controls], shown


def after(widget, source="kestrel", target="ilse") -> float:
    return next((e.after for e in widget.shown.edges if (e.source, e.target) == (source, target)), None)


def test_it_starts_with_the_steered_walk_of_the_first_question(widget, engine):
    assert (widget.walk.question, widget.walk.gold, widget.at) == (QUESTION, ASKED.support, 3)
    assert widget._question_box.value == f"s1: {QUESTION}" and widget._stage.value == 3
    assert [label for label, _ in widget._stage.options] == list(widget.walk.stages)
    assert widget.chosen == widget.shown.rated[0].phrase == widget._seed.value
    assert (widget._sliders["beta"].value, widget._sliders["damping"].value) == (2.5, 0.5)
    assert widget._sides[0].layout.display == "none" and widget._canvases[1].children
    assert widget._message.html == "" and "hubs hold" in widget._captions[1].html
    assert "mass gained and lost" in widget._table.html
    assert len(engine.steps) == len(set(engine.steps)) - 1 + engine.steps.count("rate_neighbours"), "asked once"
    assert repr(widget).startswith("Steer at + rated edges, seed ")


def test_stages_by_function_slider_and_play(widget):
    assert widget.stage(0) is widget.walk.parts[0].steering and widget._stage.value == 0
    first = widget.drawing
    widget._stage.value = 2
    assert widget.at == 2 and widget._play.value == 2 and widget.drawing != first
    widget._play.value = 3
    assert widget.at == 3 == widget._stage.value
    assert widget.stage("+ key facts").edges and widget.at == 1
    before = state(widget)
    with pytest.raises(SettingError, match="there is no stage 4; there are HippoRAG 2's walk, "):
        widget.stage(4)
    assert state(widget) == before


def test_a_seed_by_function_list_and_click(widget):
    found = widget.seed("ilse")
    assert found.phrase == "ilse" == widget._seed.value and "of kestrel" in widget._ratings.html
    widget._seed.value = "kestrel"
    assert widget.chosen == "kestrel" and "Direct" in widget._ratings.html
    labels = {edge.label for edge in widget.drawing.edges}
    assert "10" in labels
    row = next(node.id for node in widget.drawing.nodes if node.name == "ilse")
    widget._canvases[1].clicked(row)
    assert widget.chosen == "ilse"
    (show,) = [node.id for node in widget.drawing.nodes if node.name == "show 1"]
    widget._canvases[1].clicked(show)
    assert widget.chosen == "kestrel" and widget._neighbour.value == "show 1" and widget._score.value == 0
    with pytest.raises(SettingError, match="the neighbours of 'nobody' were not rated"):
        widget.seed("nobody")


def test_settings_by_function_and_slider_ask_for_nothing_known(widget, engine):
    asked = len(engine.steps)
    before = widget.walk.ranking(3)
    assert widget.set(beta=0, damping=0.9).ranking(3) != before
    assert (widget._sliders["beta"].value, widget._sliders["damping"].value) == (0, 0.9)
    assert widget.walk.method == "catrag[tolerance=1e-14,beta=0,damping=0.9]"
    widget._sliders["k_edge"].value = 2
    assert len([one for one in widget.shown.seed("kestrel").neighbours if one.score is not None]) == 2
    assert len(engine.steps) == asked
    widget._reset.click()
    assert widget.walk.ranking(3) == before and widget._sliders["k_edge"].value == 15
    assert widget.set(k_edge=50).ranking(3) == before and widget._sliders["k_edge"].max == 50
    before = state(widget)
    with pytest.raises(SettingError, match="damping=1"):
        widget.set(damping=1)
    with pytest.raises(SettingError, match="no setting 'colour'"):
        widget.set(colour="blue")
    assert state(widget) == before


def test_a_rating_by_hand_and_back(widget, engine):
    asked = len(engine.steps)
    assert after(widget) == 20
    walk = widget.rate("kestrel", "ilse", 0)
    assert walk is widget.walk and after(widget) == 0 and "by hand; it was 10" in widget._ratings.html
    widget.seed("kestrel")
    widget._neighbour.value = "show 1"
    assert widget._score.value == 0
    widget._score.value = 9
    widget._rate.click()
    assert after(widget, target="show 1") == 6 and after(widget) == 0 and widget._neighbour.value == "show 1"
    widget.ask("s2")
    widget.ask("s1")
    assert after(widget) == 0, "a rating by hand belongs to its question, and stays"
    widget.rate("kestrel", "ilse", None)
    assert after(widget) == 20
    widget.reset()
    assert after(widget, target="show 1") == 0
    before = state(widget)
    for neighbour, score, said in (("nobody", 5, "was not rated for 'kestrel'"), ("ilse", 11, "from 0 to 10")):
        with pytest.raises(SettingError, match=said):
            widget.rate("kestrel", neighbour, score)
    known = {"fact_filter", "question_entities", "rate_neighbours"}
    assert state(widget) == before and set(engine.steps[asked:]) <= known


def test_side_by_side(widget):
    widget.stage(0)
    widget._pair.value = True
    assert widget.at == 3, "the same walk twice shows nothing"
    assert all(place.layout.display is None for place in widget._sides)
    assert "HippoRAG 2" in widget._captions[0].html and "rated edges" in widget._captions[1].html
    places = [[(node.x, node.y) for node in one.nodes] for one in (widget.left, widget.drawing)]
    assert places[0] == places[1]
    assert widget.static_html().count("<iframe") == 2
    widget.beside(False)
    assert widget._sides[0].layout.display == "none" and widget.left is None
    assert widget.static_html().count("<iframe") == 1 and "hopscope-bump" in widget.static_html()


def test_a_question_of_ones_own_and_one_without_facts(widget, engine):
    widget.ask("who was born in tarn?")
    assert widget.walk.gold == () and widget._question_box.value == "who was born in tarn?"
    widget._question_box.value = "s2: what broadcasts show 3?"
    assert widget.walk.gold == OTHER.support
    engine.facts = 0
    widget.ask("nothing of this")
    assert "kept no fact" in widget._head.html and widget.drawing is None and widget._edit.layout.display == "none"
    assert widget.stage(0).fallback and widget.chosen == ""
    widget.ask("s1")
    assert widget.drawing and widget.chosen


# -- saved runs and traces --------------------------------------------------------------------------------------------


def test_a_saved_run_alone_tells_what_its_traces_hold(run):
    widget = wb.steer(run.folder)
    assert widget.walk is None and widget.shown.question == QUESTION and widget.shown.gold == ASKED.support
    assert "give index=" in widget._head.html and all(slider.disabled for slider in widget._sliders.values())
    widget.seed("kestrel")
    assert widget.drawing is None and "Direct" in widget._ratings.html
    assert widget.ask("s2").question == OTHER.question
    for refused in (lambda: widget.set(beta=1), lambda: widget.rate("kestrel", "ilse", 5), widget.beside, widget.reset):
        with pytest.raises(SettingError, match="needs the index; pass index="):
            refused()
    assert widget.stage(0) is widget.shown
    Checked(widget._head.html + widget._table.html + widget._ratings.html)


def test_a_saved_run_with_its_index_walks_again_without_an_engine(run, index):
    widget = wb.steer(run, index=index)
    rows = {row["method"]: row for row in run.rows if row["question_id"] == "s1"}
    assert [list(pair) for pair in widget.walk.ranking(3)] == rows[run.methods[1]]["ranking"]
    widget.seed("kestrel")
    widget.set(beta=0.5, damping=0.3)
    assert UNRATED not in widget._ratings.html
    widget.set(k_edge=6)
    assert "not rated in this run; counts as Weak" in widget._ratings.html
    widget.rate("kestrel", "ilse", 2)
    assert after(widget) == 0


def test_a_saved_run_with_an_engine_asks_for_what_it_lacks(run, index):
    asked = Rater()
    widget = wb.steer(run, index=index, engine=asked)
    assert asked.steps == []
    widget.seed("kestrel")
    widget.set(k_edge=6)
    assert asked.asked and UNRATED not in widget._ratings.html


def test_a_trace_or_evidence_at_hand(index, engine, tmp_path):
    evidence = wb.method(MODEL, index, engine).retrieve(QUESTION)
    alone = wb.steer(evidence.trace, [ASKED])
    assert alone.walk is None and alone.shown.gold == ASKED.support
    walked = wb.steer(evidence, [ASKED], index=index)
    assert walked.walk.ranking(3)[:10] == tuple(evidence.ranking)
    long = "who founded kestrel " + "and so on " * 20
    short = wb.method(MODEL, index, engine).retrieve(long, trace="ids")
    hashed = wb.steer(short.trace, index=index)
    assert hashed.walk is None and "sha256:" in hashed.shown.question
    with pytest.raises(DataError, match="take the trace of catrag"):
        wb.steer(wb.method("hipporag2", index, engine).retrieve(QUESTION).trace)


def test_it_saves_a_page(widget, tmp_path):
    page = widget.save(tmp_path / "steer.html").read_text()
    assert "hopscope-bump" in page and "<iframe" in page and "of kestrel" in page
