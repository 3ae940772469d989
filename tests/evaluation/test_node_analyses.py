"""Nodes by hops, and at equal numbers of them, worked out by hand."""

from __future__ import annotations

import json

import pytest
from test_analyses import written

from workbench.analyses import at_equal_nodes, by_hops
from workbench.evaluation.run import Run
from workbench.records import Question

QUESTIONS = (
    Question("one", "?", ("a", "b"), hops=1, answer_set=True, start=("s",)),
    Question("two", "?", ("c",), hops=2, answer_set=True, start=("s",)),
    Question("two more", "?", ("d",), hops=2, answer_set=True, start=("s",)),
)
NODES = {
    "dotrag": [["s", "a", "s"], ["c"], []],
    "ball": [["x", "b", "a"], ["y", "c"], ["d"]],
    "dense": [[], [], []],
}


@pytest.fixture
def run(tmp_path) -> Run:
    scores = {name: {"node_recall": [1, 0, 0.5], "node_count": [4, 2, 3]} for name in NODES}
    rankings = {name: [["p", "q"], ["p"], []] for name in NODES}
    run = written(tmp_path / "run", {name: {} for name in NODES}, scores, questions=QUESTIONS, rankings=rankings)
    return with_nodes(run, NODES)


def with_nodes(run: Run, nodes) -> Run:
    ids = [question.id for question in QUESTIONS]
    hops = {question.id: question.hops for question in QUESTIONS}
    rows = [
        row | {"hops": hops[row["question_id"]], "nodes": nodes[row["method"]][ids.index(row["question_id"])]}
        for row in run.rows
    ]
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Run(run.folder)


def test_means_by_hops(run):
    rows = by_hops(run, ["dotrag"]).rows
    assert rows == (
        {"hops": 1, "method": "dotrag", "n": 1, "node_recall": 1, "node_count": 4, "passages": 2, "failures": 0},
        {"hops": 2, "method": "dotrag", "n": 2, "node_recall": 0.25, "node_count": 2.5, "passages": 0.5, "failures": 0},
    )
    assert [row["method"] for row in by_hops(run).rows] == [*NODES, *NODES]


def test_as_many_nodes_as_the_reference_returned(run):
    """One: dotrag has s and a (s counts once), so ball's x and b are looked at. Two: one and none."""
    rows = at_equal_nodes(run, QUESTIONS).rows
    half = pytest.approx(1 / 2)
    assert rows == (
        {"hops": 1, "method": "dotrag", "n": 1, "nodes": 2, "recall": half, "precision": half, "f1": half},
        {"hops": 1, "method": "ball", "n": 1, "nodes": 2, "recall": half, "precision": half, "f1": half},
        {"hops": 2, "method": "dotrag", "n": 2, "nodes": half, "recall": half, "precision": half, "f1": half},
        {"hops": 2, "method": "ball", "n": 2, "nodes": half, "recall": 0, "precision": 0, "f1": 0},
    )
    found = at_equal_nodes(run, QUESTIONS, "ball", methods=["dotrag", "ball"])
    assert [row["recall"] for row in found.rows] == [half, 1, half, 1], "more than it has, a method does not return"
    assert "Without nodes of their own: dense." in at_equal_nodes(run, QUESTIONS).notes
