"""The tables of The Reasoning Bottleneck next to measured numbers: what is printed, what follows from it, and where a
run has its place."""

from __future__ import annotations

import json

import audit_reasoning as reasoning
import pytest
from auditing import checks_of
from test_analyses import written
from typer.testing import CliRunner

from workbench.cli.app import app
from workbench.evaluation.run import Run
from workbench.papers.tables import NOT_COMPARABLE, NOT_MEASURED, compare, tables
from workbench.published import Key, paper
from workbench.records import Question

KET_RAG = {"strategy": "keyword", "theta": 0.5, "tokens": 12000}
DATA = {"name": "musique/dev/other", "fingerprint": ""}
QUESTIONS = tuple(Question(f"q{at}", "?", ("x",)) for at in range(10))
RIGHT = [1] * 4 + [0] * 6


@pytest.fixture
def ask(tmp_path):
    def ask(reader, right=RIGHT, method="ket_rag", settings=KET_RAG, **config):
        scores = {method: {"accuracy:thesis": right, "f1": [0.5] * 10, "coverage:substring": [1] * 5 + [0] * 5}}
        name = f"run{len(list(tmp_path.iterdir()))}"
        return written(tmp_path / name, {method: settings}, scores, questions=QUESTIONS, reader=reader,
                       **{"data": DATA, "engine": "openai:llama-3.1-8b-instant"} | config)  # fmt: skip

    return ask


def failing() -> dict[str, str]:
    return {check.name: str(check.value) for check in tables("reasoning").claims.checks if not check.holds}


# -- what is printed --------------------------------------------------------------------------------------------------


def test_the_tables_are_whole():
    source = paper("reasoning")
    assert source.printed.groupby("table").size().to_dict() == {
        "4.1": 16, "4.2": 4, "5.1": 10, "5.2": 72, "5.3": 72, "5.4": 12, "5.5": 16, "5.6": 18, "5.7": 16, "5.8": 6,
        "5.9": 18, "5.10": 18, "5.11": 78, "companion 5.5": 48, "text": 11,
    }  # fmt: skip
    assert source.scores["value"].between(0, 1).all()
    assert not source.printed.duplicated(["table", "backbone", "method", "data", "measure"]).any()
    values = source.values
    assert values[Key("KET-RAG", "SPARQL+GW, 8B", "2wiki", "accuracy:thesis")] == 0.558
    assert values[Key("KET-RAG", "SPARQL, 70B", "hotpotqa", "em of covered")] == 0.612
    assert values[Key("LightRAG", "Base+GW, 8B", "2wiki", "f1")] == 0.319
    assert values[Key("KET-RAG", "Generic CoT, 8B", "musique", "abstained:thesis")] == 0.292
    assert values[Key("KET-RAG", "context", "musique", "coverage:substring")] == 0.772


def test_every_name_of_the_terms_is_one_of_the_tables():
    source = paper("reasoning")
    rows = {one for one in source.scores["method"] if one != "context" and "recomputed" not in one}
    terms = source.terms
    assert {name.rpartition(", ")[0] for name in rows} == {one["called"] for one in terms["readers"]}
    assert {name.rpartition(", ")[2] for name in rows} == {one["called"] for one in terms["models"]}
    assert {one["called"] for one in terms["backbones"]} == set(source.scores["backbone"])
    assert {*terms["data"]} == set(source.scores["data"]) == {*reasoning.DATA}
    assert len(terms["inconsistencies"]) == 22


# -- what follows from it ---------------------------------------------------------------------------------------------


def test_the_papers_own_tables_contradict_these_claims_and_no_other():
    assert list(failing()) == [
        "8B with SPARQL and graph walk is at least the 70B baseline",
        "graph walk hurts on LightRAG in every configuration",
        "SPARQL gains less on LightRAG than on KET-RAG with 8B",
        "SPARQL gains less on LightRAG than on KET-RAG with 70B",
        "accuracies of covered questions of musique are rates of 386",
        "73 to 84 % of all errors are reasoning",
        "gains by type of table 5.9 are of whole questions",
        "gains by type of table 5.10 are of whole questions",
        "bridge questions gain most: of HotpotQA, with 8B, more than those of comparison",
        "the gains on LightRAG that the text gives to the 8B model are its own",
        "accuracies on HotpotQA reach from 67 to 80 %",
        "the 70B baseline abstains as often in table 5.6 as in the companion's",
        "routing in table 5.5 is what the runs of both prompts give",
        "routing is better than generic CoT alone with 8B, recomputed",
        "70B with SPARQL is best on two of the three",
        "coverage is at least what KET-RAG published, on all three",
    ]
    assert len(tables("reasoning").claims.checks) == 35


def test_what_the_failing_ones_say():
    said = failing()
    hurts = said["graph walk hurts on LightRAG in every configuration"]
    assert hurts.startswith("11 of 12; Base+GW, 8B 0.352 against Base")
    assert said["accuracies of covered questions of musique are rates of 386"].startswith("1 of 8")
    assert "+0.046, +0.108, +0.252" in said["the gains on LightRAG that the text gives to the 8B model are its own"]
    assert "42.4%" in said["the 70B baseline abstains as often in table 5.6 as in the companion's"]
    facts = tables("reasoning").claims.facts
    assert facts["accuracies of covered MuSiQue that are rates of 385"] == 8
    assert facts["gains on LightRAG of the 70B model"] == "+0.022, +0.054, +0.076"


@pytest.mark.parametrize(
    "accuracy, covered_accuracy, covered, share",
    [(0.67, 0.696, 454, 138 / 165), (0.236, 0.275, 386, 280 / 382), (0.314, 0.321, 405, 275 / 343),
     (0.61, 0.669, 405, 134 / 195)],
)  # fmt: skip
def test_reasoning_shares_by_counts(accuracy, covered_accuracy, covered, share):
    assert reasoning.reasoning_share(accuracy, covered_accuracy, covered) == pytest.approx(share)


def test_a_number_that_is_changed_is_noticed():
    """Each kind of check looks at the numbers."""
    source = paper("reasoning")
    before = {check.name: check.holds for check in checks_of("reasoning", source.values, source.printed)}
    for table, method, data, name in (
        ("5.4", "SPARQL - Base, 8B", "musique",
         "the differences of table 5.4 are those of table 5.2 and companion 5.5"),
        ("5.7", "Base+GW - Base, 8B", "mean of the three", "the means of table 5.7 are those of its columns"),
        ("5.8", "Base, 8B", "2wiki", "the reasoning shares of table 5.8 follow from tables 5.1, 5.2 and 5.3"),
        ("5.5", "Base, 8B", "2wiki", "what table 5.5 has of table 5.2 is the same"),
        ("5.9", "SPARQL - Base, 8B", "2wiki: comparison",
         "gains by type of table 5.9 average to those of table 5.4, to 0.1 points"),
    ):  # fmt: skip
        printed = source.printed.copy()
        here = (printed["table"] == table) & (printed["method"] == method) & (printed["data"] == data)
        printed.loc[here, "value"] += 0.05
        after = {check.name: check.holds for check in checks_of("reasoning", source.values, printed)}
        assert here.any() and before[name] and not after[name], name


def test_claims_of_numbers_by_hand():
    key = lambda method, backbone="KET-RAG": (backbone, method, "musique", reasoning.ACCURACY)  # noqa: E731
    checks = checks_of("reasoning", {key("SPARQL, 8B"): 0.4, key("Base, 8B"): 0.4})
    assert [(check.name, check.holds) for check in checks] == [("SPARQL is better than the baseline on KET-RAG", False)]
    assert checks_of("reasoning", {}) == []


# -- where a run has its place ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reader, row",
    [
        ("direct[prompt=brief]", "Base"), ("direct[prompt=brief,compress=graph-walk[budget=4000]]", "Base+GW"),
        ("sparql", "SPARQL"), ("direct[prompt=sparql]", "SPARQL"), ("sparql[compress=graph-walk]", "SPARQL+GW"),
        ("cot", "Generic CoT"), ("direct[route=true]", "Routing"),
        ("direct[compress=graph-walk,route=true,retry=auto]", "Routing+GW"),
        ("direct", None), ("sparql-exec", None), ("sparql[compress=similarity]", None), (None, None),
        ("cot[compress=graph-walk]", None), ("direct[prompt=sparql-thesis]", "SPARQL"),
        ("direct[prompt=sparql-thesis,compress=graph-walk]", "SPARQL+GW"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("model", ["8B", "70B"])
def test_the_reader_and_the_model_make_the_row(ask, reader, row, model):
    engine = {"8B": "openai:llama-3.1-8b-instant", "70B": "openai:llama-3.3-70b-versatile"}[model]
    run = ask(reader, engine=engine, data={"name": "2wikimultihopqa-6119", "fingerprint": ""})
    found = {cell.method for cell in compare(run, "reasoning").cells}
    assert found == {"context", f"{row}, {model}"} - {f"None, {model}", "Routing+GW, 70B"}, "which nobody printed"


def test_a_router_has_five_tokens_and_the_skeleton_what_is_printed(ask):
    data = {"name": "2wikimultihopqa-6119", "fingerprint": ""}  # of which routing is printed
    routed = compare(ask("direct[route=true]", data=data), "reasoning").cells
    assert any("reader's router_tokens: 32, there 5" in cell.why for cell in routed)
    five = compare(ask("direct[route=true,router_tokens=5]", data=data), "reasoning").cells
    assert len(five) > 1 and not any("router_tokens" in why for cell in five for why in cell.why)
    assert paper("reasoning").terms["layers"]["skeleton"] == {"beta": 0.8, "selection": "pagerank"}


def test_what_differs_is_named_and_rules_are_no_model(ask):
    run = ask("sparql[compress=graph-walk[budget=4000,profile=released],extraction=thesis]", engine="rules",
              settings=KET_RAG | {"theta": 0.4})  # fmt: skip
    cells = [cell for cell in compare(run, "reasoning").cells if cell.method != "context"]
    assert {cell.verdict for cell in cells} == {NOT_COMPARABLE} and {cell.method for cell in cells} == {"SPARQL+GW, 8B"}
    assert {
        "reader's model: the run does not say, there llama-3.1-8b-instant",
        "reader's temperature: 0.0, there 0.3",
        "judge: none, there llama-3.1-8b-instant",
        "questions: 10, there 500",
        "theta: 0.4, there 0.5",
        "passages: the run does not say, there it is not said",
    } <= {*cells[0].why}
    assert any(why.startswith("split and corpus: musique/dev/other, there musique/dev/500") for why in cells[0].why)


def test_k_is_a_condition_only_where_the_method_does_not_lay_out_the_context(ask):
    """Also where it lays out those of all questions but one."""

    def reasons(layouts):
        run = ask("sparql[k=1,budget=none]")
        rows = [row | ({"layout": layout} if layout else {}) for row, layout in zip(run.rows, layouts)]
        (run.folder / "checksums.json").unlink(missing_ok=True)
        (run.folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        cells = compare(Run(run.folder), "reasoning").cells
        return {why for cell in cells if cell.method in ("SPARQL, 8B", "context") for why in cell.why}

    told = {"reader's k: 1, there it is not said", "reader's budget: None, there it is not said",
            "context's k: 1, there it is not said", "context's budget: None, there it is not said"}  # fmt: skip
    assert told <= reasons([None] * 10) and told <= reasons(["lightrag"] * 9 + [None])
    assert not told & reasons(["lightrag"] * 10)


def test_a_reader_that_fills_no_row_is_told_the_nearest(ask):
    why = "the nearest row is SPARQL: compress similarity, there none"
    found = tables("reasoning", [ask("sparql[compress=similarity[budget=400]]")])
    assert [note for note in found.notes if "no place" in note and why in note], found.notes
    assert {cell.method for cell in found.cells if cell.run} == {"context"}
    assert not [note for note in tables("reasoning", [ask("sparql")]).notes if "no place" in note]


def test_the_layout_is_a_condition_of_what_is_covered(ask):
    """The context of the row is what the reader makes of the evidence."""

    def why(reader):
        (cell,) = [one for one in compare(ask(reader), "reasoning").cells if one.measure == "coverage:substring"]
        return [one for one in cell.why if "layout" in one]

    assert why("direct[prompt=brief,layout=passages]") == ["context's layout: passages, there auto"]
    assert why("direct[prompt=brief]") == []


def test_short_answers_are_the_8b_rows_alone(ask):
    """And matter to EM and F1 alone."""

    def said(reader, measure, **config):
        cells = [one for one in compare(ask(reader, **config), "reasoning").cells if one.table == "5.2"]
        return [why for one in cells if one.measure == measure for why in one.why if "rewrite" in why]

    large = {"engine": "openai:llama-3.3-70b-versatile"}
    assert said("sparql", "f1") == ["reader's rewrite: False, there True"] and said("sparql[rewrite=true]", "f1") == []
    assert said("sparql[rewrite=true]", "accuracy:thesis") == said("sparql", "accuracy:thesis") == []
    assert said("sparql", "f1", **large) == []
    assert said("sparql[rewrite=true]", "f1", **large) == ["reader's rewrite: True, there False"]


def test_covered_only_numbers_are_over_the_covered(ask):
    """Four right of ten, and of the five that are covered."""
    cells = {(cell.table, cell.measure): cell for cell in compare(ask("sparql"), "reasoning").cells}
    assert cells["5.2", "accuracy:thesis"].ours == 0.4 and cells["5.2", "accuracy:thesis"].n == 10
    assert cells["5.3", "accuracy:thesis of covered"].ours == 0.8 and cells["5.3", "accuracy:thesis of covered"].n == 5
    assert cells["5.1", "coverage:substring"].ours == 0.5


def test_a_row_is_tested_against_the_baseline_of_another_run(ask):
    runs = [ask("direct[prompt=brief]", [0] * 10), ask("sparql", [1] * 10)]
    cells = [cell for cell in tables("reasoning", runs).cells if cell.data == "musique"]
    found = {(cell.table, cell.method, cell.measure): cell for cell in cells}
    assert found["5.2", "SPARQL, 8B", "accuracy:thesis"].p == pytest.approx(2 / 2**10)
    assert found["5.2", "Base, 8B", "accuracy:thesis"].p is None
    assert found["5.2", "SPARQL, 70B", "accuracy:thesis"].verdict == NOT_MEASURED


def test_other_methods_and_data_have_no_place(ask):
    found = tables("reasoning", [ask("sparql", method="dense"), ask("sparql", data={"name": "x", "fingerprint": ""})])
    assert found.counts()[NOT_MEASURED] == len(found.cells) and len(found.notes) == 3


def test_the_command_line_prints_them(ask):
    said = CliRunner().invoke(app, ["tables", "--paper", "reasoning", "--run", str(ask("sparql").folder)])
    assert said.exit_code == 0 and "0.2880 | 0.4000 [no interval]" in said.output, said.output
    assert "the gains on LightRAG that the text gives" in said.output
