"""The replay widget without a browser: functions move the controls, controls move what is shown, errors are said."""

from __future__ import annotations

import pytest
from rounds import QUESTION, bdtr_trace, ircot_trace
from test_views import UNSHOWABLE, Checked

import workbench as wb
from workbench.errors import DataError, SettingError
from workbench.llm.meter import Meter
from workbench.llm.step import Result
from workbench.methods.iterative import Thought
from workbench.methods.iterative.replay import replay
from workbench.methods.tog import ToG
from workbench.views.replay_widget import edited

BDTR = "bdtr[iterations=2,min_docs=2]"
METHODS = {"bdtr": BDTR, "ircot": "ircot[iterations=2]"}


class Script:
    """An engine without a model: every Step has one answer, but thoughts are numbered so that none is a repetition."""

    name, workers = "script", 1

    def __init__(self):
        self.meter, self.asked, self.broken = Meter(), [], False

    def run(self, step, inputs, *, trace=None):
        if self.broken:
            raise RuntimeError("the <engine> broke")
        self.asked.append(step.name)
        n = self.asked.count(step.name)
        said = {
            "fact_filter": {"fact": []},
            "dual_thoughts": {"fast": f"Lake Mira {n}", "slow": f"River Aldra flows into a lake {n}"},
            "next_thought": {"thought": f"Orsby lies on the River Aldra {n}."},
            "reasoning_chain": {"chain": "Orsby, Aldra, Mira.", "steps": ["It flows."], "bridges": ["River Aldra"]},
            "verify": {"documents": [1]},
        }[step.name]
        return [Result(step.output(**said)) for _ in inputs]


@pytest.fixture
def engine():
    return Script()


@pytest.fixture
def widget(tiny, tiny_index, engine):
    return wb.replay(tiny_index, tiny.questions, methods=METHODS, backbones=("dense", "bm25"), engine=engine)


@pytest.fixture
def run(tiny, tiny_index, engine, tmp_path):
    methods = [wb.method(spec, tiny_index, engine) for spec in ("dense", f"{BDTR[:-1]},backbone=dense]")]
    return wb.evaluate(tiny.questions, methods, out=tmp_path / "run", progress=False)


def state(widget) -> tuple:
    controls = (widget._question_box, widget._method, widget._backbone, widget._other, widget._other_backbone)
    controls = [control.value for control in controls]
    return widget.left, widget.right, widget.stage, controls, widget._stage.value, shown(widget)


def shown(widget) -> list[str]:
    """What each side says, the stage that its chart marks, and the passages of that."""
    sides = (side.children for side in widget._sides)
    return [f"{head.html}{_labels(chart)}{body.html}" for head, chart, body in sides]


def _labels(chart) -> str:
    return f"{chart.at}: {[passage['label'] for passage in chart.data['passages']]}" if chart.data else ""


def test_it_starts_with_the_first_of_everything(widget, tiny):
    left, right, stage, controls, at, sides = state(widget)
    assert (left.question, left.method, left.gold) == (
        QUESTION,
        "bdtr[iterations=2,min_docs=2,backbone=dense]",
        ("p1", "p2"),
    )
    assert (right, stage, at) == (None, 0, 0)
    assert controls == [f"q1: {QUESTION}", "bdtr", "dense", "", "dense"]
    assert "River Aldra" in sides[0] and sides[1] == ""
    assert left.stages == ("round 0", "round 1", "round 2", "end")
    assert list(widget._question_box.options) == [f"{q.id}: {q.question}" for q in tiny.questions]
    assert repr(widget).startswith(f"ReplayWidget at round 0: {QUESTION} bdtr")


def test_choose_moves_the_controls_and_leaves_the_others(widget, engine):
    found = widget.choose("q2", method="ircot")
    assert found is widget.left and found.question == "Where was the founder of Orsby born?"
    assert found.method == "ircot[iterations=2,backbone=dense]"
    assert state(widget)[3] == [widget._question_box.options[1], "ircot", "dense", "", "dense"]
    assert widget.choose(backbone="bm25").method == "ircot[iterations=2,backbone=bm25]"
    asked = len(engine.asked)
    assert widget.choose(QUESTION, "bdtr", "dense").gold == ("p1", "p2")
    assert len(engine.asked) == asked  # it was asked at the start


def test_controls_choose_and_compare(widget):
    widget._question_box.value = widget._question_box.options[1]
    assert widget.left.question == "Where was the founder of Orsby born?"
    widget._method.value = "ircot"
    widget._backbone.value = "bm25"
    assert widget.left.method == "ircot[iterations=2,backbone=bm25]"
    widget._other.value = "bdtr"
    assert widget.right.method == "bdtr[iterations=2,min_docs=2,backbone=dense]"
    widget._other_backbone.value = "bm25"
    assert widget.right.method == "bdtr[iterations=2,min_docs=2,backbone=bm25]"
    assert all(shown(widget))
    widget._question_box.value = widget._question_box.options[0]
    assert widget.left.question == widget.right.question == QUESTION
    widget._other.value = ""
    assert widget.right is None and shown(widget)[1] == ""
    assert widget._message.html == ""


def test_step_and_slider_go_through_the_stages(widget):
    assert widget.step(1) is widget.left.rounds[1]
    assert widget._stage.value == 1
    assert "<b>pool</b>" in shown(widget)[0] and "fast" in shown(widget)[0]
    widget._stage.value = 3
    assert widget.stage == 3 and "Orsby, Aldra, Mira." in shown(widget)[0]
    assert widget.step("end") is widget.left
    assert widget.step("round 0") is widget.left.rounds[0]
    for wrong in (4, -1, "round 9", 0.5):
        before = state(widget)
        with pytest.raises(SettingError, match="there are round 0, round 1, round 2, end"):
            widget.step(wrong)
        assert state(widget) == before


def test_side_by_side_the_shorter_one_stays_at_its_last_stage(widget):
    widget.choose(method="ircot")
    assert [name for name, _ in widget._stage.options] == ["round 0", "round 1", "round 2"]
    widget.compare("bdtr")
    assert [name for name, _ in widget._stage.options] == ["round 0", "round 1", "round 2", "end"]
    widget.step("end")
    left, right = shown(widget)
    assert "ended after round 2" in left and "ended after" not in right
    widget.compare()
    assert widget.stage == 2


def test_a_thought_in_other_words_is_searched_for_from_its_round_on(widget, engine):
    engine.asked.clear()
    found = widget.rerun(2, fast="Who overlooks Lake Mira?")
    assert engine.asked == ["reasoning_chain", "verify"]  # no thought is asked for again
    assert found is widget.right and widget.stage == 2
    before = widget.left.rounds
    assert found.rounds[1].texts == before[1].texts
    assert found.rounds[2].texts == {"fast": "Who overlooks Lake Mira?", "slow": before[2].texts["slow"]}
    assert [one.given for one in found.rounds] == [False, True, True]
    assert [search.query for search in found.rounds[2].searches] == list(found.rounds[2].texts.values())
    assert found.rounds[1].pool == before[1].pool and found.rounds[2].pool != before[2].pool
    assert found.gold == ("p1", "p2")
    engine.asked.clear()
    widget.rerun(1, slow="The fog")
    assert engine.asked == ["dual_thoughts", "reasoning_chain", "verify"]
    widget.choose("q2")
    assert widget.right is None  # what was edited belonged to another question


def test_the_box_holds_the_thought_and_the_button_runs_again(widget):
    assert widget._edit.layout.display == "none" and widget._texts == {}
    widget.step(1)
    assert widget._edit.layout.display is None
    assert {name: box.value for name, box in widget._texts.items()} == dict(widget.left.rounds[1].texts)
    widget._texts["fast"].value = "What is known of the fog?"
    widget._again.click()
    assert widget.right.rounds[1].texts["fast"] == "What is known of the fog?"
    assert "What is known of the fog?" in shown(widget)[1]
    assert widget._texts["fast"].value == "What is known of the fog?"  # ready to be edited further
    widget.step("end")
    assert widget._edit.layout.display == "none"


def test_an_error_of_a_control_is_said_and_leaves_everything_as_it_was(widget, engine):
    before = state(widget)
    engine.broken = True
    with pytest.raises(RuntimeError):
        widget.choose(method="ircot")
    assert state(widget) == before
    widget._method.value = "ircot"
    assert "RuntimeError: the &lt;engine&gt; broke" in widget._message.html
    Checked(widget._message.html)
    assert widget.left is before[0] and widget._method.value == "bdtr"
    widget._other.value = "ircot"
    assert "broke" in widget._message.html and state(widget) == before
    engine.broken = False
    widget._method.value = "ircot"
    assert widget._message.html == "" and widget.left.method.startswith("ircot")


@pytest.mark.parametrize(
    "wrong", [{"question": "q9"}, {"method": "tog"}, {"backbone": "raptor"}, {"method": ""}], ids=str
)
def test_what_is_not_in_the_lists_is_refused(widget, wrong):
    before = state(widget)
    with pytest.raises(SettingError, match=r"among|not available here|no question"):
        widget.choose(**wrong)
    assert state(widget) == before


@pytest.mark.parametrize(
    ("number", "texts", "said"),
    [(0, {}, "rounds 1 to 2 have"), (3, {}, "rounds 1 to 2 have"), (1, {"third": "x"}, "it has fast, slow")],
)
def test_a_thought_that_is_not_there_cannot_be_edited(widget, number, texts, said):
    before = state(widget)
    with pytest.raises(SettingError, match=said):
        widget.rerun(number, **texts)
    assert state(widget) == before


def test_queries_follow_from_edited_thoughts():
    shown = replay(ircot_trace())
    first = Thought({"thought": "It lies on the Aldra."}, (("thought", "It lies on the Aldra."),))
    said = {"thought": "Where does the Aldra end?"}
    assert edited(shown, 2, said) == [first, Thought(said, (("thought", "Where does the Aldra end?"),))]
    for texts, queries in (
        ({"targets": "Aldra flows into (0.6)\n\n Orsby (0.25)\nplain"}, ["Aldra flows into", " Orsby", "plain"]),
        ({"reasoning": "It flows.", "answer": "Mira"}, [f"{QUESTION} It flows. Mira"]),
        ({"fast": "a", "slow": "b"}, ["a", "b"]),
    ):
        trace = bdtr_trace()
        trace.find("think")[0].outputs["texts"].clear()
        trace.find("think")[0].outputs["texts"].update(texts)
        (thought,) = edited(replay(trace), 1, {})
        assert [query for _, query in thought.queries] == queries


def test_a_saved_run_needs_neither_index_nor_engine(run, tiny):
    widget = wb.replay(run.folder)
    assert list(widget._question_box.options) == [f"{q.id}: {q.question}" for q in tiny.questions]
    assert widget._method.options == (run.methods[1],)  # dense is no iterative method
    assert widget._backbone.layout.display == "none"
    found = widget.choose("q2")
    assert found == replay(run.trace("q2", run.methods[1]), gold=found.gold) and found.gold == tiny.questions[1].support
    widget.step("end")
    assert "p4" in shown(widget)[0] and "Nora Whitlock was born" not in shown(widget)[0]
    widget.step(1)
    widget._again.click()
    assert "give index= and engine=" in widget._message.html
    with pytest.raises(SettingError, match="replayed without an engine"):
        widget.rerun(1)


def test_a_saved_run_with_questions_index_and_engine(run, tiny, tiny_index, engine):
    widget = wb.replay(run, tiny.questions, index=tiny_index, engine=engine)
    assert widget.left.gold == ("p1", "p2")
    assert "Orsby lies on the River Aldra." in shown(widget)[0]
    found = widget.rerun(1, fast="Who painted the fog?")
    assert found.rounds[1].texts["fast"] == "Who painted the fog?"
    assert len(found.final) <= len(widget.left.final)


def test_a_run_without_traces_or_iterative_methods_says_so(tiny, tiny_index, engine, tmp_path):
    plain = wb.evaluate(tiny.questions, [wb.method("dense", tiny_index)], out=tmp_path / "plain", progress=False)
    with pytest.raises(SettingError, match="no iterative method; it has dense"):
        wb.replay(plain)
    bdtr = wb.method(BDTR, tiny_index, engine, backbone="dense")
    bare = wb.evaluate(tiny.questions, [bdtr], out=tmp_path / "bare", trace="off", progress=False)
    with pytest.raises(DataError, match="no trace of question 'q1'"):
        wb.replay(bare)


def test_traces_at_hand(tiny, tiny_index):
    widget = wb.replay({"one": bdtr_trace(), "two": ircot_trace()}, tiny.questions[:1], index=tiny_index)
    assert widget.left.gold == ("p1", "p2") and widget.compare("two").method == "ircot[iterations=4]"
    evidence = wb.method("ircot[iterations=0]", tiny_index, backbone="dense").retrieve(QUESTION)
    alone = wb.replay(evidence)
    assert alone.left == replay(evidence.trace)
    with pytest.raises(SettingError, match="replayed without an engine"):
        widget.rerun(1)
    with pytest.raises(SettingError, match="has no trace"):
        wb.replay(type(evidence)("q", "m", "s", ()))


def test_a_box_gets_nothing_that_a_page_cannot_take():
    hostile = "a\ud800\x1b[2J\u202e<b>"
    trace = ircot_trace()
    trace.find("think")[0].outputs["texts"]["thought"] = hostile
    widget = wb.replay(trace)
    widget.step(1)
    assert widget._texts["thought"].value == "a��[2J�<b>"
    assert not UNSHOWABLE.search(shown(widget)[0])
    assert "a��[2J�&lt;b&gt;" in shown(widget)[0]


def test_methods_that_are_made_already_keep_their_backbone(tiny, tiny_index, engine):
    made = ToG(tiny_index, engine, backbone="bm25", iterations=0)
    widget = wb.replay(tiny_index, tiny.questions, methods={"mine": made}, backbones=("dense",))
    assert widget.left.method == made.label == "tog[backbone=bm25,iterations=0]"


def test_a_notebook_gets_a_widget_and_a_page_without_a_kernel_gets_html(widget):
    widget.compare("ircot")
    bundle = widget._repr_mimebundle_()
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.widget.model_id
    assert bundle["text/html"].count("data-bump") == 2
    assert "Orsby, Aldra, Mira." in bundle["text/html"]
