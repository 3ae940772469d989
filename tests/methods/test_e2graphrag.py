"""E²GraphRAG on a graph of five names worked by hand: steps, weights, pairs, tightening, and the tree by occurrence."""

from __future__ import annotations

import numpy as np
import pytest
from told import index_of, tagged

import workbench as wb
from workbench.methods import e2graphrag
from workbench.trace import Trace

# a - b - c - d, each edge a sentence; a - b in two; e alone. In r, a and c stand in sentences of their own.
TEXTS = {"p": "A B. B c. A B.", "q": "c d.", "r": "A. c.", "s": "E."}
COSINES = {TEXTS["p"]: 0.2, TEXTS["q"]: 0.9, TEXTS["r"]: 0.4, TEXTS["s"]: 0.6}
TREE = {"summaries": {"reduction": "pca", "dimension": 1, "components": 2}}


@pytest.fixture
def index(tmp_path, monkeypatch):
    tagged(monkeypatch, e2graphrag)
    return index_of(tmp_path, COSINES, ["mentions", "summaries"], TREE, **TEXTS)


def test_the_layer(index):
    held = index.mentions
    assert held.names == ["a", "b", "c", "d", "e"] and held.named.tolist() == [True, True, False, False, True]
    assert held.sentences == ["A B", "B c", "A B", "c d", "A", "c", "E"]
    assert held.passage.tolist() == [0, 0, 0, 1, 2, 2, 3]
    assert held.of_passages(4).toarray().tolist() == [
        [2, 3, 1, 0, 0], [0, 0, 1, 1, 0], [1, 0, 1, 0, 0], [0, 0, 0, 0, 1],
    ]  # fmt: skip


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
def test_steps_and_weights(index, hops):
    method, far = wb.method("e2graphrag", index, hops=hops), hops + 1
    line = np.abs(np.subtract.outer(range(4), range(4)))
    expected = np.full((5, 5), far)
    expected[:4, :4] = np.minimum(line, far)
    expected[4, 4] = 0
    assert method.apart(range(5)).tolist() == expected.tolist()
    assert method.weights([0, 1, 2]).tolist() == [[3, 2, 0], [2, 3, 1], [0, 1, 3]]


def test_close_names_lead_to_the_passages_that_hold_both(index):
    evidence = wb.method("e2graphrag", index).retrieve("A and c?", k=4)
    assert [name for name, _ in evidence.ranking] == ["r", "p", "q", "s"] and evidence.selected == 2
    assert [score for _, score in evidence.ranking[:2]] == pytest.approx([2 + 1.4 / 2, 2 + 1.2 / 2])  # by their cosines
    assert evidence.scale == "names" and evidence.fallback is None
    (pairs,) = evidence.trace.find("pairs")
    assert pairs.outputs["pairs"] == [["a", "c", 2, 0]] and pairs.outputs["kept"] == 3


def test_too_many_passages_make_the_pairs_closer(index):
    """All three pairs lead to p and r; those of one step, a - b and b - c, to p alone."""
    evidence = wb.method("e2graphrag[chunks=1,dense_fill=false]", index).retrieve("A B c?", k=4)
    assert [name for name, _ in evidence.ranking] == ["p"]
    assert evidence.trace.find("pairs")[0].outputs["kept"] == 1


def test_where_closer_pairs_are_none_the_last_passages_are_cut(index):
    """By occurrences: a and c occur three times in p, twice in r, which resembles the question more."""
    evidence = wb.method("e2graphrag[chunks=1,dense_fill=false]", index).retrieve("A c?", k=4)
    (pairs,) = evidence.trace.find("pairs")
    assert pairs.outputs["kept"] == 2 and pairs.outputs["passages"] == 2
    assert [name for name, _ in evidence.ranking] == ["p"]


@pytest.mark.parametrize("question", ["A and d?", "E?", "A and E?"])
def test_without_a_common_passage_the_tree_is_ordered_by_occurrence(index, question):
    evidence = wb.method("e2graphrag[dense_fill=false]", index).retrieve(question, k=4)
    counts = {"A and d?": {"p": 2, "q": 1, "r": 1}, "E?": {"s": 1}, "A and E?": {"p": 2, "r": 1, "s": 1}}[question]
    ordered = sorted(counts, key=lambda name: (-counts[name], -COSINES[TEXTS[name]]))
    assert evidence.scale == "names" and evidence.fallback is None
    assert evidence.ranking == [(name, counts[name]) for name in ordered]
    for report, score in evidence.reports:
        assert score == sum(counts.get(name, 0) for name in report.passages) > 0
    assert evidence.reports


def test_a_node_that_is_not_among_the_closest_is_not_counted(index):
    """Of 2 × 1 nodes; q and s resemble the question most."""
    cosines = [np.array([0.2, 0.9, 0.4, 0.6]), np.full(len(index.summaries.nodes), -1.0)]
    found = wb.method("e2graphrag[chunks=1]", index).occurrences(np.array([2.0, 1, 1, 0]), cosines, Trace("off"))
    assert found[:4].tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("What is it?", "the question names nothing that the index mentions"),
        ("What is A?", "none of the closest holds a name of the question"),
    ],
)
def test_its_fallbacks_are_the_dense_ranking_of_the_tree(index, monkeypatch, question, why):
    if "A" in question:
        monkeypatch.setattr(e2graphrag.E2GraphRAG, "occurrences", lambda *_: np.zeros(4 + len(index.summaries.nodes)))
    evidence = wb.method("e2graphrag", index).retrieve(question, k=4)
    assert evidence.fallback == f"dense ranking of passages and summaries, because {why}"
    assert [name for name, _ in evidence.ranking] == ["q", "s", "r", "p"] and evidence.scale == "cosine"
