"""DotRAG's tables next to measured numbers: what is printed, what follows from it, and where a run has its place."""

from __future__ import annotations

import json

import pytest
from test_analyses import written
from typer.testing import CliRunner

from workbench.cli import app
from workbench.experiments.published import Key, dotrag, paper
from workbench.experiments.run import Run
from workbench.experiments.tables import DIFFERS, NOT_COMPARABLE, NOT_MEASURED, REPRODUCED, compare, tables
from workbench.records import Question

TEST = {"name": "metaqa/vanilla/test/300-per-hop@42", "fingerprint": ""}
DOTRAG = {"h_max": 3, "t_max": 3, "stop_on_complete": False}
QUESTIONS = tuple(
    Question(f"{hops}-{at}", "?", ("x",), hops=hops, answer_set=True) for hops in (1, 2, 3) for at in range(300)
)


@pytest.fixture
def ask(tmp_path):
    """A run by hand; `shares`: label → of the questions of 1, 2, 3 hops the share with a recall of 1; the others have
    0."""

    def ask(methods, shares, questions=QUESTIONS, counts=False, **config):
        scores = {}
        for label in methods:
            found = [float(int(one.id[2:]) < 300 * shares[label][one.hops - 1]) for one in questions]
            scores[label] = {"node_recall": found} | ({"node_count": [70] * len(questions)} if counts else {})
        run = written(tmp_path / "run", methods, scores, questions=questions, **{"data": TEST} | config)
        hops = {question.id: question.hops for question in questions}
        rows = [json.dumps(row | {"hops": hops[row["question_id"]]}) for row in run.rows]
        (run.folder / "results.jsonl").write_text("\n".join(rows) + "\n")
        return Run(run.folder)

    return ask


# -- what is printed --------------------------------------------------------------------------------------------------


def test_the_tables_are_whole():
    source = paper("dotrag")
    assert source.scores.groupby("table").size().to_dict() == {"1": 75, "2": 36, "3": 60, "4": 36}
    assert source.scores["value"].between(0, 1).all() and not source.scores["value"].isna().any()
    assert not source.scores.duplicated(["method", "data", "measure"]).any()
    assert source.values[Key("", "LightRAG", "1 hop", "node_recall")] == 0.9886
    assert source.values[Key("", "DotRAG, 10 hops around", "3 hops", "node_f1")] == 0.0633
    assert source.values[Key("", "DotRAG over PathRAG", "ultradomain cs", "coherence")] == 0.35
    assert source.values[Key("", "DotRAG over 6 iterations", "2 hops", "comprehensiveness")] == 0.44


def test_every_name_of_the_terms_is_one_of_the_tables():
    source = paper("dotrag")
    found = source.scores[source.scores["table"].isin(["2", "4"])]
    assert {one["called"] for one in source.terms["methods"]} == set(found["method"])
    assert {*source.terms["data"]} == set(source.scores["data"]) and {*source.terms["hops"]} == set(found["data"])
    assert {*dotrag.BASELINES, dotrag.OURS, *dotrag.ITERATIONS, dotrag.NEAR, dotrag.FAR} == set(found["method"])


# -- what follows from it ---------------------------------------------------------------------------------------------


def test_the_papers_own_tables_contradict_these_claims_and_no_other():
    failing = {check.name: str(check.value) for check in tables("dotrag").claims.checks if not check.holds}
    assert len(tables("dotrag").claims.checks) == 17
    assert list(failing) == [
        "ten hops around the anchors raise recall",
        "three iterations and three hops are the best balance: the best f1 of the variants",
        "on MetaQA DotRAG wins more often in every dimension",
        "on UltraDomain CS it is on a par with PathRAG in every dimension, within the noise of 100 questions",
        "every win rate is beyond the noise of 300 questions, 100 of UltraDomain (95 %)",
        "the four dimensions that are announced are those of Tables 1 and 3",
        "table 1: the overall rate is not that of logicity over again",
        "table 3: the overall rate is not that of logicality over again",
    ]
    far, balance, wins, level, *_ = failing.values()
    assert far.startswith("1 of 3") and "DotRAG 0.9190 against DotRAG, 10 hops around 0.8482 (2 hops)" in far
    assert balance.startswith("8 of 12") and "DotRAG, 1 hop around 0.0857 against DotRAG 0.0855 (2 hops)" in balance
    assert [said.rsplit(" ", 1)[1] for said in wins.split("; ")[1:]] == ["0.45", "0.49", "0.46", "0.49"]
    assert level == "of 5; coherence 0.35"
    assert failing["table 1: the overall rate is not that of logicity over again"] == "equal in 13 of 15 columns"


def test_f1_is_a_mean_of_f1():
    """One hop: 2 · 94.91 · 4.07 / (94.91 + 4.07) = 7.81, and 7.48 is printed."""
    facts = tables("dotrag").claims.facts
    assert list(facts.values()) == [0.0781]


def test_claims_of_numbers_by_hand():
    def key(method, hops, measure="node_recall"):
        return "", method, hops, measure

    values = {key("DotRAG", "2 hops"): 0.9, key("DotRAG", "3 hops"): 0.6, key("LightRAG", "2 hops"): 0.9}
    checks = {check.name: check for check in dotrag.claims(values).checks}
    assert [check.holds for check in checks.values()] == [True, False]
    falls, best = checks.values()
    assert falls.value == "1 of 1 comparisons"
    assert best.value == "0 of 1 comparisons; LightRAG 0.9000 against DotRAG 0.9000 (2 hops)"
    for near, holds in ((0.59, True), (0.61, False)):
        checks = dotrag.claims(values | {key(dotrag.NEAR, "2 hops"): near}).checks
        assert [check.holds for check in checks if "third" in check.name] == [holds]
    assert dotrag.claims({}).checks == []


# -- where a run has its place ----------------------------------------------------------------------------------------


def test_questions_are_told_apart_by_hops(ask, monkeypatch):
    monkeypatch.setattr("workbench.experiments.tables.differences", lambda *_: iter(()))
    run = ask({"dotrag": DOTRAG, "dense": {}}, {"dotrag": (0.95, 0.8, 0.55), "dense": (0.93, 0.48, 0.33)})
    found = compare(run, "dotrag")
    assert [(cell.method, cell.data, cell.ours, cell.verdict) for cell in found.cells] == [
        ("DotRAG", "1 hop", pytest.approx(0.95), REPRODUCED), ("DotRAG", "2 hops", 0.8, DIFFERS),
        ("DotRAG", "3 hops", pytest.approx(0.55), REPRODUCED), ("TradRAG", "1 hop", pytest.approx(0.93), REPRODUCED),
        ("TradRAG", "2 hops", 0.48, REPRODUCED), ("TradRAG", "3 hops", 0.33, REPRODUCED),
    ]  # fmt: skip
    assert {cell.n for cell in found.cells} == {300} and {cell.measure for cell in found.cells} == {"node_recall"}
    assert found.cells[1].p == pytest.approx(1e-4), "against dense"
    assert [cell.p for cell in found.cells[3:]] == [None] * 3
    claims = {check.name: check.holds for check in found.measured.checks}
    assert claims["recall falls with every hop, for every method"]
    assert claims["DotRAG has the best recall of two and of three hops"] and len(claims) == 2


def test_settings_say_which_row_it_is(ask):
    methods = {
        "dotrag[t_max=1]": DOTRAG | {"t_max": 1}, "dotrag[t_max=6]": DOTRAG | {"t_max": 6},
        "dotrag[h_max=1]": DOTRAG | {"h_max": 1}, "dotrag[h_max=10]": DOTRAG | {"h_max": 10},
        "dotrag[h_max=2]": DOTRAG | {"h_max": 2}, "dotrag[tau=0.5]": DOTRAG, "dotrag": DOTRAG,
        "lightrag[mode=mix]": {}, "pathrag": {}, "ball[hops=2]": {},
    }  # fmt: skip
    found = compare(ask(methods, dict.fromkeys(methods, (1, 1, 1))), "dotrag")
    places = {cell.label: (cell.table, cell.method) for cell in found.cells}
    assert places == {
        "dotrag[t_max=1]": ("4", "DotRAG, 1 iteration"), "dotrag[t_max=6]": ("4", "DotRAG, 6 iterations"),
        "dotrag[h_max=1]": ("4", "DotRAG, 1 hop around"), "dotrag[h_max=10]": ("4", "DotRAG, 10 hops around"),
        "dotrag[h_max=2]": ("2", "DotRAG"), "dotrag[tau=0.5]": ("2", "DotRAG"), "dotrag": ("2", "DotRAG"),
        "lightrag[mode=mix]": ("2", "LightRAG"), "pathrag": ("2", "PathRAG"),
    }  # fmt: skip
    assert all("h_max: 2, there 3" in cell.why for cell in found.cells if cell.label == "dotrag[h_max=2]")
    assert "no place for ball[hops=2]" in found.notes[-1]


def test_what_differs_is_named(ask):
    dev = tuple(one for one in QUESTIONS if one.hops == 3 and one.id.endswith("0"))
    run = ask({"dotrag": DOTRAG}, {"dotrag": (1, 1, 0.5)}, dev, True, engine="rules",
              data={"name": "metaqa", "fingerprint": ""})  # fmt: skip
    config = json.loads((run.folder / "run.json").read_text())
    config["methods"]["dotrag"]["layers"] = {"profiles": {"made_by": ["rules"]}}
    (run.folder / "run.json").write_text(json.dumps(config))
    (cell,) = compare(run.folder, "dotrag").cells
    assert (cell.data, cell.verdict, cell.n) == ("3 hops", NOT_COMPARABLE, 30)
    assert {
        "model: the run does not say, there gpt-4o-mini",
        "profiles: made by rules, not by a model",
        "split and corpus: metaqa, there metaqa/vanilla/test/300-per-hop@42",
        "questions: 30, there 300",
        "passages: the run does not say, there it is not said",
    } <= {*cell.why}
    assert cell.why[-1].startswith("there it is not said: how many passages it returns")
    del config["methods"]["dotrag"]["layers"]["profiles"]["made_by"]
    (run.folder / "run.json").write_text(json.dumps(config))
    (cell,) = compare(run.folder, "dotrag").cells
    assert "profiles: brought by the data, which do not say who wrote them" in cell.why


def test_win_rates_and_runs_without_hops_have_no_place(ask, tmp_path):
    found = tables("dotrag", [ask({"dotrag": DOTRAG}, {"dotrag": (1, 1, 1)})])
    assert {cell.verdict for cell in found.cells if cell.table in "13"} == {NOT_MEASURED}
    plain = written(tmp_path / "plain", {"dotrag": DOTRAG}, {"dotrag": {"node_recall": [1] * 900}}, questions=QUESTIONS)
    found = tables("dotrag", [plain])
    assert found.counts()[NOT_MEASURED] == 207 and "no place for dotrag" in found.notes[-1]


def test_the_command_line_prints_them(ask):
    run = ask({"dotrag": DOTRAG}, {"dotrag": (0.95, 0.8, 0.55)})
    said = CliRunner().invoke(app, ["tables", "--paper", "dotrag", "--run", str(run.folder)])
    assert said.exit_code == 0 and "0.9491 | 0.9500 [0.92" in said.output
    assert "The paper's claims, by our numbers" in said.output
