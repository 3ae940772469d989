"""The base of all widgets, by the small one that the documents print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dot_traces import dot_trace
from rounds import bdtr_trace
from test_views import Checked

import workbench as wb
from workbench.errors import SettingError
from workbench.records import Question
from workbench.trace import Trace
from workbench.views.session import open_session

DOCUMENT = Path(__file__).parents[2] / "docs" / "extending.md"
SECTION = DOCUMENT.read_text("utf-8").partition("## A widget of your own")[2]
PRINTED: dict = {}  # what the section defines, up to where it is used
for block in re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL):
    exec(block.partition("\n\n\ntree = ")[0], PRINTED)
EventTree = PRINTED["EventTree"]


@pytest.fixture
def saved(tmp_path) -> Trace:
    return Trace.open(dot_trace().save(tmp_path / "trace.jsonl"))


def test_a_new_widget_shows_a_saved_trace(saved):
    tree = EventTree(saved)
    assert [node.id for node in tree.drawing.nodes] == [event.id for event in saved]
    assert len(tree.drawing.edges) == len(saved) - 1 and tree.drawing.nodes[0].x == 0
    assert "select regions" in tree._picture.frame.page
    tree._picture.frame.picked = 2  # a click
    Checked(tree._event.html)
    assert saved[2].step in tree._event.html


def test_it_goes_through_a_saved_run(tiny, tiny_index, tmp_path):
    run = wb.evaluate(tiny.questions, [wb.method("dense", tiny_index)], out=tmp_path / "run", progress=False)
    tree = EventTree(run)
    assert tree.question.id == "q1" and tree._question_box.options == tuple(
        f"{q.id}: {q.question}" for q in tiny.questions
    )
    tree._question_box.value = f"q2: {tiny.questions[1].question}"
    assert tree.question == tiny.questions[1] and tree.trace[0].inputs["question"] == tiny.questions[1].question


def test_an_error_of_a_control_is_shown_and_one_of_code_is_raised(saved):
    tree = EventTree(saved)
    before, shown = tree._question_box.value, tree.trace
    tree._question_box.value = "<what> else?"
    assert "SettingError: a trace of one question only has no question &#x27;&lt;what&gt; else?" in tree._message.html
    Checked(tree._message.html)
    assert tree._question_box.value == before and tree.trace is shown
    with pytest.raises(SettingError, match="has no question"):
        tree.ask("what else?")
    tree._question_box.value = ""
    assert tree._message.html == ""


def test_controls_that_are_set_fire_nothing(saved):
    tree = EventTree(saved)
    asked = []
    tree.ask = asked.append
    with tree._quietly():
        with tree._quietly():
            tree._question_box.value = "one"
        tree._question_box.value = "two"
    assert asked == []
    tree._question_box.value = "three"
    assert asked == ["three"]


def test_a_page_needs_no_kernel(saved, tmp_path):
    tree = EventTree(saved)
    assert tree._repr_mimebundle_()["text/html"] == tree.static_html()
    page = tree.save(tmp_path / "pages" / "tree.html").read_text(encoding="utf-8")
    assert page.endswith(tree.static_html()) and page.count("<iframe") == 1
    assert "hopscope-event-tree" in tree.widget._dom_classes


def test_an_unknown_theme_is_refused(saved):
    with pytest.raises(SettingError, match="theme='pink' is unknown"):
        EventTree(saved, theme="pink")


# -- sessions ----------------------------------------------------------------------------------------------------------

QUESTIONS = (Question("a", "Who?"), Question("b", "Where?"))


def test_a_question_is_found_by_id_text_label_and_position(tiny_index):
    session = open_session(tiny_index, QUESTIONS, methods={"dense": "dense"})
    for wanted in ("b", "Where?", "b: Where?", 1, QUESTIONS[1]):
        assert session.find(wanted) is QUESTIONS[1]
    for wanted in ("c", 2, -1, Question("a", "Who else?")):
        with pytest.raises(
            SettingError, match=r"the list has no question .*; give the id or the text of one; there are a, b"
        ):
            session.find(wanted)
    assert session.find_or_own("Why?") == Question("own", "Why?") and session.find_or_own("a") is QUESTIONS[0]
    with pytest.raises(SettingError):
        session.find_or_own(7)


def test_a_question_is_asked_once_per_method_and_settings(tiny_index, tiny):
    reports = []
    session = open_session(tiny_index, tiny.questions, methods={"dense": "dense", "words": "bm25"}, k=3)
    session.report = reports.append
    first = session.retrieval(tiny.questions[0], "words")
    assert session.retrieval(tiny.questions[0], "words") is first and reports == ["retrieving with words …"]
    assert first.method == "bm25" and len(first.ranking) == 3 and first.answer == ""
    assert [one.method for one in session.others(tiny.questions[0], "words", ["dense"])] == ["dense"]
    assert session.retrieval(tiny.questions[1], "words") is not first and len(reports) == 3
    with pytest.raises(SettingError, match="'raptor' is not among the methods dense, words"):
        session.retrieval(tiny.questions[0], "raptor")


def test_traces_in_memory_know_their_question(saved):
    session = open_session({"one": saved, "two": bdtr_trace()}, QUESTIONS)
    assert session.methods == ["one", "two"] and session.questions[0].question == saved[0].inputs["question"]
    assert session.retrieval(session.questions[0], "one").trace is saved
    with pytest.raises(SettingError, match="a saved retrieval cannot be changed"):
        session.retrieval(session.questions[0], "one", tau=0.5)
    with pytest.raises(SettingError, match="no trace was given"):
        open_session({})
