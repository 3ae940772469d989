"""DotRAG's tables next to measured numbers: what is printed, what follows from it, and where a run has its place."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
import unchanged
from auditing import checks_of
from films import film_index
from test_analyses import written
from typer.testing import CliRunner

import workbench as wb
from workbench.cli.app import app
from workbench.evaluation.identity import of_method
from workbench.evaluation.run import Run
from workbench.methods import METHODS
from workbench.papers import tables as tables_
from workbench.papers.tables import DIFFERS, NOT_COMPARABLE, NOT_MEASURED, REPRODUCED, compare, tables
from workbench.published import Key, paper
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
        (run.folder / "checksums.json").unlink(missing_ok=True)
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


# -- what follows from it ---------------------------------------------------------------------------------------------


def test_most_claims_hold_by_the_papers_own_tables_and_these_do_not():
    claims = tables("dotrag").claims
    failing = {check.name: str(check.value) for check in claims.checks if not check.holds}
    assert (len(failing), len(claims.checks)) == (6, 18)
    assert list(failing) == [
        "on MetaQA DotRAG wins more often in every dimension",
        "ten hops around the anchors raise recall",
        "six iterations find more than one: a higher recall",
        "three iterations and three hops are the best balance: the best f1 of the variants",
        "on UltraDomain CS it is on a par with PathRAG in every dimension, within the noise of 100 questions",
        "the four dimensions that are announced are those of Tables 1 and 3",
    ]
    wins, far, more, balance, level, _ = failing.values()
    assert [said.rsplit(" ", 1)[1] for said in wins.split("; ")[1:]] == ["0.45", "0.49", "0.46", "0.49"]
    assert far.startswith("1 of 3") and "DotRAG 0.919 against DotRAG, 10 hops around 0.8482 (2 hops" in far
    assert more == "2 of 3; DotRAG, 1 iteration 0.9417 against DotRAG, 6 iterations 0.9323 (1 hop, node_recall)"
    assert balance.startswith("8 of 12") and "DotRAG, 1 hop around 0.0857 against DotRAG 0.0855 (2 hops" in balance
    assert level == "4 of 5; coherence 0.35"


def test_what_the_text_says_of_its_tables_counts_as_its_claim_also_where_it_holds():
    holding = {check.name: (check.where, check.value) for check in tables("dotrag").claims.checks if check.holds}
    assert holding["DotRAG has the best recall of two and of three hops"] == ("4.1, on Table 2", "6 of 6")
    assert holding["on UltraDomain it beats LightRAG and TradRAG in every dimension"][1] == "20 of 20"
    assert holding["one iteration is better at one hop"] == ("4.3, on Table 3", "5 of 5")
    assert len(holding) == 12


def test_what_we_recompute_is_a_fact():
    """One hop: 2 · 94.91 · 4.07 / (94.91 + 4.07) = 7.81, and 7.48 is printed."""
    facts = tables("dotrag").claims.facts
    assert facts["f1 of DotRAG at 1 hop from mean recall and precision"] == 0.0781
    assert facts["table 1: columns whose overall rate is that of logicity"] == "13 of 15"
    assert [said for name, said in facts.items() if name.startswith("f1 that cannot")] == ["none, of 24"]


def test_claims_of_numbers_by_hand():
    def key(method, hops, measure="node_recall"):
        return "", method, hops, measure

    values = {key("DotRAG", "2 hops"): 0.9, key("LightRAG", "2 hops"): 0.9, key("LightRAG", "3 hops"): 0.6}
    found = {check.name: check.value for check in checks_of("dotrag", values)}
    assert found == {
        "recall of the baselines falls with every hop": "1 of 1",
        "DotRAG has the best recall of two and of three hops":
        "0 of 1; LightRAG 0.9 against DotRAG 0.9 (2 hops, node_recall)",
    }
    for near, holds in ((0.59, True), (0.61, False)):
        checks = checks_of("dotrag", values | {key("DotRAG, 1 hop around", "2 hops"): near})
        assert [check.holds for check in checks if "third" in check.name] == [holds]
    one, six = "DotRAG, 1 iteration", "DotRAG, 6 iterations"
    for recall, holds in ((0.91, True), (0.9, False)):
        checks = checks_of("dotrag", {key(one, "2 hops"): 0.9, key(six, "2 hops"): recall})
        assert [(check.name[:14], check.holds) for check in checks] == [("six iterations", holds)]
    rate = {key("DotRAG over PathRAG", "ultradomain mixed", "overall"): 0.55}
    (noise,) = checks_of("dotrag", rate)
    assert not noise.holds, "within the noise of 100 questions"
    assert checks_of("dotrag", {}) == []


# -- where a run has its place ----------------------------------------------------------------------------------------


def test_questions_are_told_apart_by_hops(ask, monkeypatch):
    monkeypatch.setattr("workbench.papers.tables.differences", lambda *_: iter(()))
    trad = "lightrag[mode=naive]"
    shares = {"dotrag": (0.95, 0.8, 0.55), trad: (0.93, 0.48, 0.33)}
    run = ask({"dotrag": DOTRAG, trad: {"mode": "naive"}}, shares)
    found = compare(run, "dotrag")
    assert [(cell.method, cell.data, cell.ours, cell.verdict) for cell in found.cells] == [
        ("DotRAG", "1 hop", pytest.approx(0.95), REPRODUCED), ("DotRAG", "2 hops", 0.8, DIFFERS),
        ("DotRAG", "3 hops", pytest.approx(0.55), REPRODUCED), ("TradRAG", "1 hop", pytest.approx(0.93), REPRODUCED),
        ("TradRAG", "2 hops", 0.48, REPRODUCED), ("TradRAG", "3 hops", 0.33, REPRODUCED),
    ]  # fmt: skip
    assert {cell.n for cell in found.cells} == {300} and {cell.measure for cell in found.cells} == {"node_recall"}
    assert found.cells[1].p == pytest.approx(1e-4), "against TradRAG"
    assert [cell.p for cell in found.cells[3:]] == [None] * 3
    assert {check.name: check.value for check in found.measured.checks} == {
        "recall of the baselines falls with every hop": "2 of 2",
        "DotRAG has the best recall of two and of three hops": "2 of 2",
    }


def test_settings_say_which_row_it_is(ask):
    methods = {
        "dotrag[t_max=1]": DOTRAG | {"t_max": 1}, "dotrag[t_max=6]": DOTRAG | {"t_max": 6},
        "dotrag[h_max=1]": DOTRAG | {"h_max": 1}, "dotrag[h_max=10]": DOTRAG | {"h_max": 10},
        "dotrag[h_max=2]": DOTRAG | {"h_max": 2}, "dotrag[tau=0.5]": DOTRAG, "dotrag": DOTRAG,
        "lightrag[mode=mix]": {}, "lightrag[mode=naive]": {"mode": "naive"}, "pathrag": {}, "ball[hops=2]": {},
        "dense": {},
    }  # fmt: skip
    found = compare(ask(methods, dict.fromkeys(methods, (1, 1, 1))), "dotrag")
    places = {cell.label: (cell.table, cell.method) for cell in found.cells}
    assert places == {
        "dotrag[t_max=1]": ("4", "DotRAG, 1 iteration"), "dotrag[t_max=6]": ("4", "DotRAG, 6 iterations"),
        "dotrag[h_max=1]": ("4", "DotRAG, 1 hop around"), "dotrag[h_max=10]": ("4", "DotRAG, 10 hops around"),
        "dotrag[h_max=2]": ("2", "DotRAG"), "dotrag[tau=0.5]": ("2", "DotRAG"), "dotrag": ("2", "DotRAG"),
        "lightrag[mode=mix]": ("2", "LightRAG"), "lightrag[mode=naive]": ("2", "TradRAG"), "pathrag": ("2", "PathRAG"),
    }  # fmt: skip
    assert all("h_max: 2, there 3" in cell.why for cell in found.cells if cell.label == "dotrag[h_max=2]")
    assert "no place for ball[hops=2], dense; no row is of it" in found.notes[-1]


CLOSED = unchanged.closed(paper("dotrag"))
TABLE_2 = [row for row in CLOSED.scores.itertuples() if row.table == "2"]


@pytest.mark.parametrize("method", ["DotRAG", "PathRAG", "LightRAG", "TradRAG"])
def test_every_number_of_table_2_can_be_reproduced(tmp_path, monkeypatch, method):
    """By a run that shares every condition, once the paper leaves none open; how many nodes were found is measured
    beside it."""
    monkeypatch.setattr(tables_.published, "paper", lambda _: CLOSED)
    for at, row in enumerate(row for row in TABLE_2 if row.method == method):
        run = unchanged.run_of(tmp_path / str(at), CLOSED, row)
        rows = [one | {"scores": one["scores"] | {"node_count": 70.0}} for one in run.rows]
        (run.folder / "checksums.json").unlink(missing_ok=True)
        (run.folder / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
        config = run.config | {"measures": [*run.measures, "node_count"]}
        (run.folder / "checksums.json").unlink(missing_ok=True)
        (run.folder / "run.json").write_text(json.dumps(config))
        cells = compare(run.folder, "dotrag").cells
        assert [(cell.method, cell.data, cell.measure, cell.verdict) for cell in cells] == [
            (method, row.data, row.measure, REPRODUCED)
        ]


def test_tradrag_is_the_naive_mode_of_lightrag_which_asks_no_model(tmp_path):
    index = film_index(tmp_path, {})
    method = wb.method("lightrag[mode=naive]", index)
    described = of_method(method).description
    assert method.steps == () and described["engine"] is None and described["prompts"] == {}
    assert wb.method("lightrag", index).steps == ("keywords",)
    assert "profiles" in described["layers"], "who wrote them is a condition"


@pytest.mark.parametrize(("method", "k", "why"), [
    ("DotRAG", 4, "k: 4 passages ranked, there at least 5"),
    ("LightRAG", 19, "k: 19 passages ranked, there at least 20"),
    ("PathRAG", 7, "passages returned: cut to the 7 passages ranked for 300 questions, there all"),
])  # fmt: skip
def test_what_a_method_returns_must_not_be_cut_by_k(tmp_path, method, k, why):
    row = next(row for row in TABLE_2 if row.method == method)
    run = unchanged.run_of(tmp_path / "run", CLOSED, row)
    assert unchanged.reasons(CLOSED, run, row) == [[]]
    shorter = unchanged.changed(run, lambda config, *_: config.update(k=k))
    assert unchanged.reasons(CLOSED, shorter, row) == [[why]]


@pytest.mark.parametrize(("what", "change", "why"), [
    ("brackets", {"options": {"brackets": False, "filtered": False}}, "'s brackets: False, there True"),
    ("options", {"options": {}}, "'s brackets: the run does not say, there True"),
    ("prompt of articles", {"articles": {"shard": 25, "template_above": 500, "attempts": 4, "profile": "workbench"}},
     "articles.profile: workbench, there paper"),
    ("articles", {"articles": None}, "articles: none, there made"),
])  # fmt: skip
def test_how_the_graph_was_read_and_written_is_a_condition(tmp_path, what, change, why):
    row = next(row for row in TABLE_2 if row.method == "DotRAG")
    run = unchanged.run_of(tmp_path / "run", CLOSED, row)
    assert unchanged.reasons(CLOSED, run, row) == [[]]
    other = unchanged.changed(run, lambda config, *_: config["data"].update(change))
    (reasons,) = unchanged.reasons(CLOSED, other, row)
    assert any(one.endswith(why) for one in reasons)


def test_ultradomain_is_resolved_and_relabelled_and_its_questions_stay_open(tmp_path):
    row = next(row for row in TABLE_2 if row.method == "DotRAG")._replace(data="ultradomain cs")
    run = unchanged.run_of(tmp_path / "run", CLOSED, row)
    assert unchanged.reasons(CLOSED, run, row) == [[]]

    def put(change):
        other = unchanged.changed(run, lambda config, described, rows: change(described["layers"]))
        (reasons,) = unchanged.reasons(CLOSED, other, row)
        return reasons

    assert put(lambda layers: layers["resolved"]["settings"].update(threshold=0.9)) == [
        "resolved.threshold: 0.9, there 0.6"
    ]
    assert put(lambda layers: layers.pop("relabelled")) == ["relabelled: none, there made"]
    (reasons,) = unchanged.reasons(paper("dotrag"), run, row)
    assert any("which 100 questions" in why for why in reasons)


def test_every_setting_of_the_methods_is_a_condition(tmp_path):
    """Those by which the profile `paper` differs, too, and how far a region of ten hops may grow."""
    for method, name in (("DotRAG, 10 hops around", "dotrag"), ("LightRAG", "lightrag"), ("PathRAG", "pathrag")):
        row = next(one for one in CLOSED.scores.itertuples() if one.method == method)
        run = unchanged.run_of(tmp_path / name, CLOSED, row)
        tried = {what for what, _ in unchanged.changes(run) if what.startswith("setting ")}
        assert tried == {f"setting {one.name}" for one in fields(METHODS[name].Settings)}
    says = paper("dotrag").terms["settings"]["dotrag"]
    ours = METHODS["dotrag"].profiles["paper"]
    assert {key: None if says[key] == "none" else says[key] for key in ours if key in says} == {
        key: value for key, value in ours.items() if key != "first_query"
    }, "where a first query comes from is left open"


def test_what_differs_is_named(ask):
    dev = tuple(one for one in QUESTIONS if one.hops == 3 and one.id.endswith("0"))
    run = ask({"dotrag": DOTRAG}, {"dotrag": (1, 1, 0.5)}, dev, True, engine="rules",
              data={"name": "metaqa", "fingerprint": ""})  # fmt: skip
    config = json.loads((run.folder / "run.json").read_text())
    config["methods"]["dotrag"]["layers"] = {"profiles": {"made_by": ["rules"]}}
    (run.folder / "checksums.json").unlink(missing_ok=True)
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
    (run.folder / "checksums.json").unlink(missing_ok=True)
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
    trad = "lightrag[mode=naive]"
    run = ask({"dotrag": DOTRAG, trad: {"mode": "naive"}}, {"dotrag": (0.95, 0.8, 0.55), trad: (0.93, 0.48, 0.33)})
    said = CliRunner().invoke(app, ["tables", "--paper", "dotrag", "--run", str(run.folder)])
    assert said.exit_code == 0 and "0.9491 | 0.9500 [0.92" in said.output
    assert "The paper's claims, by our numbers" in said.output
