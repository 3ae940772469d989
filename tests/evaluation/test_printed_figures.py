"""Printed numbers that are no score of one method, beside ours: gains in percent, figure 3 of BDTR, lengths of contexts
of the thesis."""

from __future__ import annotations

import json

import pytest
from test_analyses import written

from workbench.evaluation.run import Run
from workbench.papers.recipes import recipes
from workbench.papers.tables import DIFFERS, REPRODUCED, tables
from workbench.published import paper
from workbench.records import Question

QUESTIONS = tuple(Question(f"q{at}", "?", ("x",)) for at in range(500))
OVER = {"bgec": True, "iterations": 2, "min_docs": 5}
METHODS = {
    "Original": ("raptor", {}),
    "BDTR": ("bdtr[backbone=raptor]", OVER | {"backbone": "raptor"}),
    **{name.upper(): (f"{name}[backbone=raptor]", {"backbone": "raptor"}) for name in ("ircot", "gcot", "tog", "irgs")},
}


@pytest.fixture(autouse=True)
def comparable(monkeypatch):
    """As if every condition were known and agreed."""
    monkeypatch.setattr("workbench.papers.tables.differences", lambda *_: iter(()))


@pytest.fixture
def ask(tmp_path):
    def ask(right, data="musique/dev/hipporag-1000", under="raptor", f1=None):
        """`right`: method → of the 500 questions, how many are answered; or which."""
        methods, scores = {}, {}
        for called, count in right.items():
            label, settings = METHODS[called]
            label = label.replace("raptor", under)
            methods[label] = {key: under if key == "backbone" else value for key, value in settings.items()}
            of = range(count) if isinstance(count, int) else count
            values = [float(at in of) for at in range(500)]
            scores[label] = {"em": values, "f1": values}
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        return written(folder, methods, scores, questions=QUESTIONS, data={"name": data, "fingerprint": ""})

    return ask


def cell(found, table, **wanted):
    (one,) = [
        one for one in found.cells
        if one.table == table and all(getattr(one, key) == value for key, value in wanted.items())
    ]  # fmt: skip
    return one


# -- gains ------------------------------------------------------------------------------------------------------------


def test_a_gain_over_static_stands_beside_ours_and_has_an_interval(ask):
    """Table 5: 34.8 % over RAPTOR alone. 201 of 500 against 150 are 34 %."""
    found = tables("bdtr", [ask({"Original": 150, "BDTR": 201})])
    one = cell(found, "5", method="BDTR", measure="em", published=34.8)
    assert one.ours == pytest.approx(34.0) and one.verdict == REPRODUCED and one.low < 34.0 < one.high
    assert cell(tables("bdtr", [ask({"Original": 300, "BDTR": 301})]), "5", method="BDTR", measure="em",
                published=34.8).verdict == DIFFERS  # fmt: skip


def test_a_mean_of_data_sets_needs_them_all(ask):
    """The text's gains over RAPTOR: each data set counts the same."""
    names = ("hotpotqa", "2wiki", "musique")
    counts = ((200, 220), (100, 150), (100, 120))
    runs = [
        ask(dict(zip(("Original", "BDTR"), pair)), f"{name}/dev/hipporag-1000") for name, pair in zip(names, counts)
    ]
    one = cell(tables("bdtr", runs), "text", backbone="RAPTOR", measure="em")
    assert one.ours == pytest.approx((10 + 50 + 20) / 3) and one.n == 1_500
    assert cell(tables("bdtr", runs[:2]), "text", backbone="RAPTOR", measure="em").ours is None


def test_the_average_improvement_is_over_the_best_baseline_of_each_backbone(ask):
    """Table 1, last row: the mean of 250/200 and 330/300 over four backbones, two of which gain nothing."""
    base = {"IRCOT": 200, "GCOT": 100, "TOG": 90, "IRGS": 80}
    runs = [
        ask(base | {"BDTR": 250}), ask(base | {"GCOT": 300, "BDTR": 330}, under="hipporag2"),
        ask(base | {"BDTR": 200}, under="gfm_rag"), ask(base | {"BDTR": 200}, under="graphrag"),
    ]  # fmt: skip
    one = cell(tables("bdtr", runs), "1", backbone="mean", data="musique", measure="em")
    assert one.ours == pytest.approx((25 + 10 + 0 + 0) / 4)
    assert cell(tables("bdtr", runs[:3]), "1", backbone="mean", data="musique", measure="em").ours is None
    checks = tables("bdtr", runs).measured.facts
    assert not any("mean" in str(said) for said in checks.values()), "a gain is no score of a backbone called mean"


def test_figure_3_says_which_questions_either_method_answers(ask):
    found = tables("bdtr", [ask({"Original": range(100, 300), "IRGS": range(250)}, under="hipporag2")])
    shares = {one.method: one.ours for one in found.cells if one.table == "figure 3"}
    assert shares == {"both": 30.0, "only IRGS": 20.0, "only Original": 10.0, "neither": 40.0}
    assert all("MuSiQue is assumed" in " ".join(one.why) for one in found.cells if one.table == "figure 3")


def test_the_recipes_run_what_the_figures_are_made_of():
    (one,) = recipes(paper("bdtr"), "figure 3")
    assert one.source == "musique/dev/hipporag-1000" and set(one.methods) == {"hipporag2", "irgs"}
    assert {one.data for one in recipes(paper("bdtr"), "text")} == {"hotpotqa", "2wiki", "musique"}
    (first, *_) = recipes(paper("bdtr"), "text")
    assert all(by == ("direct",) for by in first.read_by.values()) and len(first.methods) == 6


# -- lengths ----------------------------------------------------------------------------------------------------------


def test_lengths_of_contexts_stand_beside_those_of_the_thesis(tmp_path):
    runs = []
    for at, (data, tokens, read) in enumerate(
        (("hotpotqa", 9_000, 4_500), ("musique", 10_000, 4_000), ("2wiki", 11_000, 1_100))
    ):
        scores = {"ket_rag": {"coverage:substring": [1.0] * 500, "f1": [1.0] * 500}}
        run = written(tmp_path / str(at), {"ket_rag": {}}, scores, questions=QUESTIONS,
                      reader="direct[prompt=brief,compress=graph-walk]", data={"name": data, "fingerprint": ""},
                      engine="openai:llama-3.1-8b-instant")  # fmt: skip
        rows = [json.dumps(row | {"context_tokens": tokens, "read_tokens": read}) for row in run.rows]
        (run.folder / "checksums.json").unlink(missing_ok=True)
        (run.folder / "results.jsonl").write_text("\n".join(rows) + "\n")
        runs.append(Run(run.folder))
    found = tables("reasoning", runs)
    assert cell(found, "text", backbone="KET-RAG", measure="context tokens").ours == pytest.approx(10_000)
    assert cell(found, "text", measure="tokens saved").ours == pytest.approx((50 + 60 + 90) / 3)
    assert cell(found, "text", backbone="LightRAG").ours is None
    assert {(one.measure, one.backbone) for one in found.cells if one.table == "text"} == {
        ("context tokens", "KET-RAG"), ("context tokens", "LightRAG"), ("tokens saved", "KET-RAG"),
    }  # fmt: skip
