"""RAPTOR on a tree worked out by hand, against the formula spelled out, and where it comes to the same as dense."""

from __future__ import annotations

import numpy as np
import pytest
from planted import Summariser, planted
from tiny import TinyEncoder

import workbench as wb
from workbench.data import Dataset
from workbench.index import Index, summaries
from workbench.records import Passage

# Cosines with the question. The tree: S1 over a and b, S2 over b and c, S3 over d; T1 over S1 and S2, T2 over S3.
COSINES = {"a": 0.5, "b": 0.2, "c": -0.3, "d": 0.1, "S1": 0.8, "S2": 0.6, "S3": -0.2, "T1": 0.9, "T2": 0.05}
CLUSTERS = {"level 1": [[0, 1], [1, 2], [3]], "level 2": [[0, 1], [2]]}
SUMMARIES = {("a", "b"): "S1", ("b", "c"): "S2", ("d",): "S3", ("S1", "S2"): "T1", ("S3",): "T2"}
IDS = {"S1": "summary-1-1", "S2": "summary-1-2", "S3": "summary-1-3", "T1": "summary-2-1", "T2": "summary-2-2"}


class Plane:
    """A text is the unit vector whose cosine with the question is the one of the table."""

    name = "plane"
    dimension = 2

    def encode(self, texts):
        cosines = np.array([COSINES[text] for text in texts])
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32).reshape(-1, 2)

    def encode_query(self, text, task=""):
        return np.array([1, 0], dtype=np.float32)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """The index by hand; `tree(fails)` is that whose summaries of these names failed."""

    def clusters(vectors, texts, settings, label, progress):
        if label == "level 1":
            return [np.array(rows) for rows in CLUSTERS[label]]
        return [np.array(rows) for rows in CLUSTERS[label] if max(rows) < len(texts)]

    def of(*fails: str) -> Index:
        monkeypatch.setattr(summaries, "_clusters", clusters)
        engine = Summariser(says=lambda texts: SUMMARIES[texts], fails=lambda texts: SUMMARIES[texts] in fails)
        return Index.build(
            Dataset("hand", tuple(Passage(name, "", name) for name in "abcd")),
            engine,
            tmp_path / "-".join(["tree", *fails]),
            encoder=Plane(),
            layers=["summaries"],
            settings={"summaries": {"dimension": 1, "levels": 2}},
            progress=False,
        )

    return of


def ranking(index: Index, spec: str, k: int = 10) -> list[tuple[str, float]]:
    return [(name, round(score, 5)) for name, score in wb.method(spec, index).retrieve("?", k=k).ranking]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        # T1 lends 0.81 * 0.9, more than S1's 0.9 * 0.8; T2 lends d 0.81 * 0.05, less than its own.
        ("", [("a", 0.729), ("b", 0.729), ("c", 0.729), ("d", 0.1)]),
        ("gamma=0.5", [("a", 0.5), ("b", 0.4), ("c", 0.3), ("d", 0.1)]),
        ("gamma=0.5,nodes=1", [("a", 0.5), ("b", 0.225), ("c", 0.225), ("d", 0.1)]),
        ("gamma=0.5,nodes=2", [("a", 0.5), ("b", 0.4), ("c", 0.225), ("d", 0.1)]),
        ("gamma=1", [("a", 0.9), ("b", 0.9), ("c", 0.9), ("d", 0.1)]),
        ("gamma=0", [("a", 0.5), ("b", 0.2), ("d", 0.1), ("c", 0.0)]),
        ("mode=leaves", [("a", 0.5), ("b", 0.2), ("d", 0.1), ("c", 0.0)]),
        # T1, then S1 are kept: a and b are reached, and lent 0.729. The others come last, by their own cosines.
        ("mode=traversal,width=1", [("a", 0.729), ("b", 0.729), ("d", 0.1), ("c", 0.0)]),
        ("mode=traversal,width=1,dense_fill=false", [("a", 0.729), ("b", 0.729)]),
        ("mode=traversal,width=1,gamma=0,dense_fill=false", [("a", 0.5), ("b", 0.2)]),
        # T1 and T2, then S1 and S2: d is below a summary that was not kept.
        ("mode=traversal,width=2,gamma=0.5", [("a", 0.5), ("b", 0.4), ("c", 0.3), ("d", 0.1)]),
        ("mode=traversal,width=9,dense_fill=false", [("a", 0.729), ("b", 0.729), ("c", 0.729), ("d", 0.1)]),
    ],
)
def test_scores_worked_out_by_hand(tree, settings, expected):
    index = tree()
    for k in (1, 3, 10):
        assert ranking(index, f"raptor[{settings}]" if settings else "raptor", k) == expected[:k]


def test_reports_are_the_summaries_found_until_one_does_not_fit(tree):
    index = tree()
    found = wb.method("raptor", index).retrieve("?").reports
    assert [(r.id, round(s, 5)) for r, s in found] == [(IDS[n], COSINES[n]) for n in ("T1", "S1", "S2", "T2")]
    assert [r.passages for r, _ in found] == [("a", "b", "c"), ("a", "b"), ("b", "c"), ("d",)]
    assert [(r.text, r.level) for r, _ in found][:2] == [("T1", 2), ("S1", 1)]
    two = wb.method("raptor[report_tokens=5]", index).retrieve("?").reports  # each has two tokens
    assert [r.text for r, _ in two] == ["T1", "S1"]
    assert wb.method("raptor[report_tokens=0]", index).retrieve("?").reports == ()
    assert wb.method("raptor[mode=leaves]", index).retrieve("?").reports == ()
    walked = wb.method("raptor[mode=traversal,width=1]", index).retrieve("?")
    assert [r.text for r, _ in walked.reports] == ["T1", "S1"]
    (searched,), (scored,) = walked.trace.find("search tree"), walked.trace.find("score passages")
    assert searched.outputs == {"summaries": 2, "reached": 2}
    assert scored.outputs == {"through": {"a": IDS["T1"], "b": IDS["T1"]}, "tail": 2}


def test_what_a_failed_summary_leaves_behind_is_still_reached(tree):
    """Without S1, a has no parent at all, and T1 was not made: S2 and S3 are roots, and so is a."""
    index = tree("S1", "T2")
    assert [node.text for node in index.summaries.nodes] == ["S2", "S3"]
    expected = [("b", 0.54), ("c", 0.54), ("a", 0.5), ("d", 0.1)]
    assert ranking(index, "raptor") == expected
    assert ranking(index, "raptor[mode=traversal,width=1,dense_fill=false]") == expected[:3]


# -- beside the formula, and beside dense -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grown(tmp_path_factory) -> Index:
    """A tree of several levels over the planted topics."""
    return Index.build(
        planted(),
        Summariser(),
        tmp_path_factory.mktemp("indexes") / "planted",
        encoder=TinyEncoder(),
        layers=["summaries"],
        settings={"summaries": {"reduction": "pca", "dimension": 3, "components": 6, "cluster_tokens": 60}},
        progress=False,
    )


QUESTIONS = ("Which court heard the choir?", "harbour tide anchor", "nothing of the kind", "sonata ballad")


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("gamma", "nodes"), [(0.9, 5), (0.5, 20), (1.0, 200), (0.0, 50)])
def test_scores_are_those_of_the_formula(grown, question, gamma, nodes):
    assert len(grown.manifest["layers"]["summaries"]["levels"]) > 1
    query, tree = grown.encode_query(question), grown.summaries
    vectors = np.concatenate([grown.passages.vectors, tree.vectors])
    cosines = [float(vector @ query) for vector in vectors]
    found = sorted(range(len(cosines)), key=lambda row: (-cosines[row], row))[:nodes]
    parents: dict[int, list[int]] = {}
    for row, node in enumerate(tree.nodes):
        for child in node.children:
            parents.setdefault(child, []).append(60 + row)
    expected = {}
    for leaf, passage in enumerate(grown.passages.passages):
        best, above, distance = cosines[leaf], {leaf}, 0
        while above:
            above, distance = {parent for row in above for parent in parents.get(row, [])}, distance + 1
            best = max([best, *(gamma**distance * cosines[row] for row in above if row in found)])
        expected[passage.id] = min(1.0, max(0.0, best))
    got = dict(wb.method("raptor", grown, gamma=gamma, nodes=nodes).retrieve(question, k=60).ranking)
    assert got == pytest.approx(expected, abs=1e-6)
    walked = wb.method("raptor[mode=traversal,width=1]", grown).retrieve(question, k=60).ranking
    assert len({name for name, _ in walked}) == 60 and all(0 <= score <= 1 for _, score in walked)


@pytest.mark.parametrize("mode", ["collapsed", "traversal"])
def test_a_corpus_too_small_for_a_tree_is_ranked_as_by_dense_and_that_is_said(tiny_index, mode):
    evidence = wb.method("raptor", tiny_index, mode=mode).retrieve("Where does the River Aldra flow?")
    dense = wb.method("dense", tiny_index).retrieve("Where does the River Aldra flow?")
    assert [name for name, _ in evidence.ranking] == [name for name, _ in dense.ranking]
    assert evidence.fallback == "dense ranking, because the tree has no summary" and evidence.reports == ()
