"""G-Retriever on a graph worked by hand: prizes, edges that become free or cheaper, the subgraph, its passages and its
text."""

from __future__ import annotations

import pytest
from told import index_of

import workbench as wb
from workbench.index import Index
from workbench.layouts import cut, write

FACTS = {
    "p": [("a", "r", "b"), ("b", "r", "c")],
    "q": [("b", "r", "c"), ("c", "r", "d")],
    "s": [("c", "s", "d"), ("e", "r", "e")],
}  # the path a - b - c - d, and e with itself alone
COSINES = {"a": 0.9, "d": 0.8, "('b', 'r', 'c')": 0.7, "('a', 'r', 'b')": 0.5, "('c', 'r', 'd')": 0.3,
           "('c', 's', 'd')": 0.4, "s": 0.6}  # fmt: skip


def built(folder, cosines, facts=FACTS) -> Index:
    return index_of(folder, cosines, ["facts"], facts=facts)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return built(tmp_path_factory.mktemp("path"), COSINES)


def test_the_subgraph_by_hand(index):
    """a has 2, d has 1; b - c has 1, which is above the cost of .5, so it is free, with a prize of .5 for its ends:
    3.5 for the two other edges, at .5 each. Of the parallel facts of c and d, the one closer to the question."""
    evidence = wb.method("g_retriever[nodes=2,edges=1]", index).retrieve("?x", k=3)
    prizes, tree = (evidence.trace.find(step)[0] for step in ("prizes", "collect prizes"))
    assert prizes.scores == (("a", 2.0), ("d", 1.0), ("b — r — c", 1.0))
    assert tree.outputs["nodes"] == ["a", "b", "c", "d"] and tree.outputs["value"] == 2.5
    assert [one.members for one, _ in evidence.facts] == [("b", "r", "c"), ("a", "r", "b"), ("c", "s", "d")]
    assert evidence.ranking == [("p", pytest.approx(1.2)), ("q", pytest.approx(0.7)), ("s", pytest.approx(0.4))]
    assert evidence.selected == 3 and evidence.fallback is None and evidence.scale == "facts"
    assert {one.name for one, _ in evidence.entities} == {"a", "b", "c", "d"}


def test_its_text_is_two_tables(index):
    evidence = wb.method("g_retriever[nodes=2,edges=1]", index).retrieve("?x", k=3)
    assert write(evidence.context) == (
        "node_id,node_attr\n0,b\n1,c\n2,a\n3,d\n\nsrc,edge_attr,dst\n0,r,1\n2,r,0\n1,s,3"
    )
    assert write(cut(evidence.context, 12)).count("src,") <= 1


def test_a_prize_below_the_cost_makes_an_edge_cheaper(index):
    """At a cost of 1.5, b - c costs .5 once its prize of 1 is taken off: 3 less 1.5 + .5 + 1.5 is below 2, which a is
    worth alone; so no fact is left, and the ranking is dense."""
    method = wb.method("g_retriever[nodes=2,edges=1,edge_cost=1.5]", index)
    evidence = method.retrieve("?x", k=3)
    assert evidence.trace.find("collect prizes")[0].outputs == {"nodes": ["a"], "value": 2.0}
    assert evidence.fallback == "dense ranking, because the subgraph holds no fact"
    assert evidence.ranking[0][0] == "s" and evidence.context is None
    costs, prizes = method._with_prizes(method.prizes([*_cosines(index)], wb.Trace("off")))
    row = index.facts.phrase_row
    assert costs[row["b"], row["c"]] == costs[row["c"], row["b"]] == 0.5 and costs[row["a"], row["b"]] == 1.5
    assert prizes == {row["a"]: 2.0, row["d"]: 1.0}


def _cosines(index):
    for vectors in (index.facts.phrase_vectors, index.facts.fact_vectors):
        yield vectors[:, 0]


def test_a_fact_about_one_phrase_is_a_subgraph(tmp_path):
    index = built(tmp_path, {"e": 0.8, "('e', 'r', 'e')": 0.9})
    evidence = wb.method("g_retriever[nodes=1,edges=1]", index).retrieve("?x", k=3)
    assert [one.members for one, _ in evidence.facts] == [("e", "r", "e")] and evidence.ranking[0][0] == "s"


def test_an_index_without_facts(tmp_path):
    evidence = wb.method("g_retriever", built(tmp_path, {"q": 0.5}, {"p": [], "q": []})).retrieve("?x", k=2)
    assert evidence.fallback == "dense ranking, because the index holds no fact"
    assert [name for name, _ in evidence.ranking] == ["q", "p"]
