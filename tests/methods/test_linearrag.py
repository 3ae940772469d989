"""LinearRAG on the tri-graph of three entities and two passages, each of its equations worked by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from told import index_of, tagged

import workbench as wb
from workbench.methods import linearrag
from workbench.trace import Trace

COSINES = {"A B A": 0.8, "B C": 0.6, "A B A.": 0.5, "B C.": 0.25}  # of sentences, and of passages
ROWS = ("a", "b", "c")


@pytest.fixture
def index(tmp_path, monkeypatch):
    tagged(monkeypatch, linearrag)
    return index_of(tmp_path, COSINES, ["trigraph"], p="A B A.", q="B C.")


def activated(index, seeds=None, **settings):
    method = wb.method("linearrag", index, **settings)
    return method, method.activate(seeds or {0: 1.0}, np.array([0.8, 0.6]), Trace("off"))


def test_the_matrices(index):
    graph = index.trigraph
    assert graph.entities == [*ROWS] and graph.sentences == ["A B A", "B C"]
    assert graph.mention.toarray().tolist() == [[1, 1, 0], [0, 1, 1]]
    assert graph.contain.toarray().tolist() == [[2, 1, 0], [0, 1, 1]]


def test_activation_by_sums(index):
    """M a = (1, 0); times σ: (.8, 0); back: b gets .8. Then M a = (1.8, .8), (1.44, .48): a 1.44, b 1.92, c .48."""
    _, found = activated(index, profile="paper", delta=0.4, iterations=2)
    assert found.values == pytest.approx([1.44, 1.92, 0.48]) and found.levels.tolist() == [1, 2, 3]


def test_the_threshold_leaves_a_new_entity_out_and_ends_the_activation(index):
    _, found = activated(index, profile="paper", delta=0.5)
    assert found.values == pytest.approx([1.44, 1.92, 0]) and found.levels.tolist() == [1, 2, 0]


def test_a_sentence_passes_on_once(index):
    """a over A B A: b gets 1 × .8. b then over B C, although A B A is closer: c gets .8 × .6; a keeps 1."""
    _, found = activated(index, delta=0.4)
    assert found.values == pytest.approx([1, 0.8, 0.48]) and found.levels.tolist() == [1, 2, 3]


def test_a_product_below_the_threshold_is_not_passed_on(index):
    _, found = activated(index)
    assert found.values == pytest.approx([1, 0.8, 0]) and found.levels.tolist() == [1, 2, 0]


@pytest.mark.parametrize(("sentences", "reached"), [(1, [0.8, 1, 0]), (2, [0.8, 0.8 + 0.6, 0.6])])
def test_the_sentences_closest_to_the_question_pass_on(index, sentences, reached):
    """b is in both, and gets back what each passes on."""
    _, found = activated(index, {1: 1.0}, sentences=sentences, iterations=1)
    assert found.values == pytest.approx(reached)


def test_what_two_sentences_pass_on_is_added(index):
    """a over A B A and c over B C: b gets .8 + .6."""
    _, found = activated(index, {0: 1.0, 2: 1.0})
    assert found.values == pytest.approx([1, 1.4, 1])


def test_of_two_entities_of_a_sentence_the_stronger_passes_on(index):
    """b takes A B A; a, which has no other, passes nothing on: c gets nothing, a gets .8."""
    _, found = activated(index, {0: 0.7, 1: 1.0}, iterations=1)
    assert found.values == pytest.approx([0.8, 1, 0])


def test_it_stops_where_no_entity_is_new(index):
    trace = Trace()
    wb.method("linearrag[profile=paper,delta=0.5]", index).retrieve("Who is A?", trace=trace)
    steps = [event for event in trace if event.step.startswith("bridge")]
    assert [event.outputs["new"] for event in steps] == [1, 0]
    assert steps[1].outputs["sentences"] == ["A B A", "B C"]


def test_what_a_passage_begins_with(index):
    method, active = activated(index, profile="paper", delta=0.5, trade_off=3.0, passage_weight=2.0)
    found = method.importance(active, np.array([0.5, 0.25]), Trace("off"))
    shared = 1.92 * log(2) / 2  # b, on level 2, once in each
    by_hand = [2 * (3 * 0.5 + log(1 + 1.44 * log(3) + shared)), 2 * (3 * 0.25 + log(1 + shared))]
    assert found == pytest.approx(by_hand, rel=1e-6)


def test_the_walk_over_five_nodes(index):
    """p = (1 - d) r + d Wᵀ D⁻¹ p over a, b, c, p, q, solved exactly."""
    method, active = activated(index, profile="paper")
    begins = np.array([0.3, 0.1])
    edges = np.zeros((5, 5))
    for entity, passage in ((0, 3), (1, 3), (1, 4), (2, 4)):
        edges[entity, passage] = edges[passage, entity] = 1
    reset = np.r_[active.values, begins]
    exact = np.linalg.solve(np.eye(5) - 0.85 * (edges / edges.sum(1, keepdims=True)).T, 0.15 * reset / reset.sum())
    assert method.walk(active, begins, Trace("off")) == pytest.approx(exact[3:], abs=1e-5)


def test_the_whole_way(index):
    evidence = wb.method("linearrag[profile=paper,delta=0.5]", index).retrieve("Who is A?", k=2)
    assert [name for name, _ in evidence.ranking] == ["p", "q"] and evidence.fallback is None
    assert [(one.name, score) for one, score in evidence.entities] == [
        ("b", pytest.approx(1.92)), ("a", pytest.approx(1.44)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "why"),
    [("Who is it?", "the question names no entity"), ("Who is X?", "no entity of the index is like what it names")],
)
def test_a_question_without_an_entity_is_ranked_by_cosines(index, question, why):
    evidence = wb.method("linearrag", index).retrieve(question, k=2)
    assert evidence.fallback == f"dense ranking, because {why}" and evidence.scale == "cosine"
    assert evidence.ranking == wb.method("dense", index).retrieve(question, k=2).ranking


def test_a_name_that_is_none_of_the_index_starts_at_the_closest(tmp_path, monkeypatch):
    tagged(monkeypatch, linearrag)
    index = index_of(tmp_path, {**COSINES, "b": 0.7}, ["trigraph"], p="A B A.", q="B C.")
    method = wb.method("linearrag", index)
    seeds, _ = method.link("Who is X?", Trace("off"))
    assert seeds == {1: pytest.approx(0.7)}
