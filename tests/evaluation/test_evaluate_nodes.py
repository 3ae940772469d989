"""What a run says of the nodes of a graph."""

import pytest
from tiny import TinyEncoder

import workbench as wb
from workbench.data import Dataset
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.index import Index
from workbench.measures import NODES
from workbench.methods.base import Method
from workbench.records import Entity, Evidence, Passage, Question, ranked

PASSAGES = (
    Passage("weir", "The Weir", "The Weir was directed by Ana Holm."),
    Passage("holm", "Ana Holm", "Ana Holm directed The Weir and Locks."),
    Passage("fog", "Fog", "Nothing is known of the fog."),
)
PROFILES = Profiles(
    (
        EntityProfile("The Weir", "film", "A film.", ("weir",)),
        EntityProfile("Ana Holm", "person", "A director.", ("holm",)),
        EntityProfile("Locks", "film", "A film.", ()),
    ),
    (
        RelationProfile("The Weir", "Ana Holm", "Ana Holm directed it.", ("directed",), 1.0, ("weir", "holm"), "by"),
        RelationProfile("Locks", "Ana Holm", "Ana Holm directed it.", ("directed",), 1.0, ("holm",), "by"),
    ),
)
ONE = Question("one", "who directed The Weir", ("Ana Holm",), hops=1, answer_set=True, start=("The Weir",))
TWO = Question("two", "what else did the director of The Weir direct", ("Locks",), hops=2, answer_set=True,
               start=("The Weir",))  # fmt: skip


@pytest.fixture
def graph(tmp_path) -> Index:
    data = Dataset("films", PASSAGES, profiles=PROFILES)
    return Index.build(data, None, tmp_path / "films", encoder=TinyEncoder(), layers=["typed"], progress=False)


class Finds(Method):
    """Two passages and a node, the first passage alone chosen for the reader; breaks on "else"."""

    name, paper, scale = "finds", "none", "none"
    selected = None

    def search(self, question, k, trace):
        if "else" in question and self.selected:
            raise ZeroDivisionError
        weir, _, fog = self.index.passages.passages
        nodes = ranked([Entity("Locks")], [1])
        return Evidence(question, self.label, self.scale, ranked([weir, fog], [2, 1]), nodes, selected=self.selected)


class Chooses(Finds):
    name, selected = "chooses", 1


def ask(methods, questions=(ONE, TWO), **settings):
    return wb.evaluate(questions, methods, progress=False, **settings)


def test_nodes_are_those_of_the_method_and_of_its_passages(graph, tmp_path):
    run = ask([Finds(graph), Chooses(graph)], out=tmp_path / "run")
    assert run.measures[-len(NODES) :] == list(NODES)
    rows = {(row["question_id"], row["method"]): row for row in run.rows}
    one = rows["one", "finds"]
    assert (one["hops"], one["nodes"]) == (1, ["Locks"])
    assert one["scores"]["node_count"] == 3, "The Weir and Ana Holm of the first passage, none of the second, and Locks"
    assert (one["scores"]["node_recall"], one["scores"]["node_recall:nodes"]) == (1, 0)
    assert one["scores"]["node_precision"] == pytest.approx(2 / 3)
    assert rows["two", "finds"]["scores"]["node_recall:nodes"] == 1
    assert rows["one", "chooses"]["scores"] == one["scores"], "a passage that stands for nothing adds nothing"
    broken = rows["two", "chooses"]
    assert broken["failure"] and {broken["scores"][name] for name in NODES} == {0}


def test_passages_that_a_method_does_not_choose_are_not_resolved(graph, tmp_path):
    class All(Finds):
        def search(self, question, k, trace):
            chosen = ranked(self.index.passages.passages, [3, 2, 1])
            return Evidence(question, self.label, self.scale, chosen, selected=self.selected)

    class First(All):
        selected = 1

    run = ask({"all": All(graph), "first": First(graph)}, [ONE], out=tmp_path / "run", measures=["node_count"])
    assert [row["scores"]["node_count"] for row in run.rows] == [3, 2]
