"""Measures of a graph's nodes: the three readings by hand, and what holds between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import measures
from workbench.measures import NODES, Outcome
from workbench.records import Question

ASKED = Question("q", "What else did the director of Jaws direct?", ("Duel", "1941"), hops=2, answer_set=True,
                 start=("Jaws",))  # fmt: skip
# The method returns three nodes; its passages stand for the start, an answer and two others.
OWN, RESOLVED = ["Steven Spielberg", "Duel", "Duel"], ["Jaws", "1975", "Duel", "Robert Shaw"]
FOUND = Outcome(["a", "b"], nodes=OWN, resolved=RESOLVED)


def measured(question=ASKED, outcome=FOUND):
    return {name: measures.measure(name)(question, outcome) for name in NODES}


def test_the_three_readings_by_hand():
    """R = {Steven Spielberg, Duel, Jaws, 1975, Robert Shaw}; G = {Jaws, Duel, 1941}."""
    assert measured() == {
        "node_recall": pytest.approx(2 / 3), "node_precision": 2 / 5, "node_f1": 0.5,
        "node_recall:answers": 1 / 2, "node_precision:answers": 1 / 5, "node_f1:answers": pytest.approx(2 / 7),
        "node_recall:nodes": 1 / 2, "node_precision:nodes": 1 / 2, "node_f1:nodes": 1 / 2,
        "node_count": 5, "node_count:nodes": 2,
    }  # fmt: skip


def test_passages_alone_are_worth_what_they_stand_for():
    found = measured(outcome=Outcome(["a"], resolved=["Jaws", "Duel"]))
    assert found["node_recall"] == pytest.approx(2 / 3) and found["node_precision"] == 1
    assert found["node_recall:answers"] == found["node_precision:answers"] == 0.5
    assert found["node_recall:nodes"] == found["node_f1:nodes"] == found["node_count:nodes"] == 0
    assert set(measured(outcome=Outcome([], resolved=[])).values()) == {0.0}
    assert set(measured(outcome=Outcome([], failed=True, resolved=[])).values()) == {0.0}
    comedy = Question("q", "?", ("Comedy",), answer_set=True)  # names are compared as they are written
    assert measured(comedy, Outcome([], nodes=["comedy", "Comedy "], resolved=[]))["node_recall"] == 0


@pytest.mark.parametrize(("question", "outcome"), [
    (ASKED, Outcome(["a"], nodes=["Duel"])),  # no graph
    (Question("q", "?", ("Duel", "The Duel")), FOUND),  # an answer and its alias
    (Question("q", "?", answer_set=True, start=("Jaws",)), FOUND),
])  # fmt: skip
def test_where_they_are_not_defined(question, outcome):
    assert set(measured(question, outcome).values()) == {None}


names = st.lists(st.sampled_from(["a", "b", "c", "d", "", "\x00", "e"]), max_size=6)


@given(names.filter(bool), names, names, names)
def test_relations_between_them(answers, start, nodes, resolved):
    question = Question("q", "?", tuple(answers), answer_set=True, start=tuple(start))
    found = measured(question, Outcome([], nodes=nodes, resolved=resolved))
    assert all(0 <= value <= 1 for name, value in found.items() if "count" not in name)
    assert found["node_recall:nodes"] <= found["node_recall:answers"]
    assert found["node_count:nodes"] <= found["node_count"]
    assert found["node_precision:answers"] <= found["node_precision"], "the start can only be one more that is right"
    for reading in ("", ":answers", ":nodes"):
        recall, precision = found[f"node_recall{reading}"], found[f"node_precision{reading}"]
        mean = 2 * recall * precision / (recall + precision) if recall + precision else 0
        assert found[f"node_f1{reading}"] == pytest.approx(mean)
