"""The tables of papers next to measured numbers: what is printed, what follows from it, and the verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import audit_bdtr as bdtr
import pytest
from auditing import checks_of
from test_analyses import BDTR, QUESTIONS, written
from test_views import HOSTILE, UNSHOWABLE, Checked
from typer.testing import CliRunner

from workbench.cli.app import app
from workbench.errors import SettingError
from workbench.evaluation.verdict import Verdict
from workbench.papers.tables import (
    DIFFERS,
    NOT_COMPARABLE,
    NOT_MEASURED,
    REPRODUCED,
    Cell,
    Tables,
    compare,
    tables,
)
from workbench.published import Key, paper, papers
from workbench.records import Question

CELLS = 144 + 12 + 4 + 8 + 5 + 4 + 18  # of Tables 1, 2, 3 and 5, figure 4a, Table 4, figure 1
CELLS += 6 + 6 + 6 + 4  # gains of Tables 1 and 5 and of the text, figure 3
MUSIQUE = {"name": "musique/dev/hipporag-1000", "fingerprint": ""}
OVER_RAPTOR = BDTR | {"backbone": "raptor", "min_docs": 5}
THOUSAND = tuple(Question(f"q{at}", "?", ("x",)) for at in range(1_000))


@pytest.fixture
def thousand(tmp_path):
    """Runs over a thousand questions; `right`: label → how many have the right answer. EM alone, or as well."""

    def run(right, methods, out="run", measures=("em",), **config):
        scores = {
            label: {name: [float(at < count) for at in range(1_000)] for name in measures}
            for label, count in right.items()
        }
        config = {"data": MUSIQUE} | config
        return written(tmp_path / out, methods, scores, questions=THOUSAND, **config)

    return run


def changed(run, change) -> Path:
    """The folder of the run, after `change(config)`."""
    config = json.loads((run.folder / "run.json").read_text())
    change(config)
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "run.json").write_text(json.dumps(config))
    return run.folder


def cells(found, **wanted):
    return [cell for cell in found.cells if all(getattr(cell, name) == value for name, value in wanted.items())]


@pytest.fixture
def comparable(monkeypatch):
    """As if every condition were known and agreed; test_conditions.py has the conditions."""
    monkeypatch.setattr("workbench.papers.tables.differences", lambda *_: iter(()))


def test_gfm_rag_has_its_rows_and_asks_for_the_published_weights(thousand):
    published = f"rmanluo/GFM-RAG-8M@{'a' * 40}"
    over = {"iterations": 2, "bgec": True}
    for checkpoint, differs in (("mini", True), (published, False)):
        methods = {
            "gfm_rag": {"checkpoint": checkpoint},
            "bdtr": over | {"backbone": f"gfm_rag[checkpoint={checkpoint}]"},
        }
        run = thousand(dict.fromkeys(methods, 300), methods, checkpoint[:4])
        found = {(cell.backbone, cell.method): cell.why for cell in compare(run).cells}
        assert found.keys() == {("GFM-RAG", "Original"), ("GFM-RAG", "BDTR")}
        for (_, method), why in found.items():
            said = f"{'backbone' if method == 'BDTR' else ''}"
            expected = f"{said}{chr(39) + 's ' if said else ''}checkpoint: {checkpoint}, there rmanluo/GFM-RAG-8M"
            assert (expected in why) == differs


# -- what is printed --------------------------------------------------------------------------------------------------


def test_the_tables_are_whole():
    source = paper("bdtr")
    scores = source.scores
    sizes = {"1": 144, "2": 12, "3": 4, "5": 8, "figure 1": 18, "figure 4a": 5}
    assert scores.groupby("table").size().to_dict() == sizes
    assert scores["value"].between(0, 1).all() and not scores["value"].isna().any()
    assert not scores.duplicated(["table", "backbone", "method", "data", "measure"]).any()
    assert source.values[Key("GFM-RAG", "BDTR", "2wiki", "f1")] == 0.8046
    assert source.values[Key("RAPTOR", "Original", "musique", "f1")] == 0.4179, "Table 1 has four digits, Table 5 three"
    assert source.printed[source.printed["table"] == "figure 3"]["value"].sum() == pytest.approx(100)


def test_every_name_of_the_terms_is_one_of_the_tables():
    source = paper("bdtr")
    assert {one["called"] for one in source.terms["backbones"]} == set(source.scores["backbone"])
    assert {one["called"] for one in source.terms["methods"]} | {"Original"} == set(source.scores["method"])
    assert {*source.terms["data"]} == set(source.scores["data"])


def test_an_unknown_paper_is_refused_with_the_known_ones():
    assert papers() == ["bdtr", "catrag", "dotrag", "reasoning", "youtu"]
    with pytest.raises(SettingError, match="no paper is called 'x'; there are bdtr, catrag, dotrag, reasoning"):
        tables("x")


# -- what follows from it ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("data", "measure", "percent"), [
    ("hotpotqa", "em", 2.47), ("hotpotqa", "f1", 2.51), ("2wiki", "em", 3.76), ("2wiki", "f1", 2.85),
    ("musique", "em", 8.43), ("musique", "f1", 7.03),
])  # fmt: skip
def test_the_improvement_over_the_best_baseline(data, measure, percent):
    assert bdtr.gain_over_best_baseline(paper("bdtr").values, data, measure) == pytest.approx(percent, abs=0.005)


@pytest.mark.parametrize(("backbone", "em", "f1"), [
    ("HippoRAG2", 11.01, 8.50), ("RAPTOR", 23.72, 22.41), ("GFM-RAG", 15.93, 13.39), ("GraphRAG", 25.70, 23.02),
])  # fmt: skip
def test_the_improvement_over_static_retrieval(backbone, em, f1):
    gains = [bdtr.gain_over_static(paper("bdtr").values, backbone, measure) for measure in ("em", "f1")]
    assert gains == pytest.approx([em, f1], abs=0.005)


def test_a_gain_by_hand():
    static, ours = (0.4, 0.2, 0.5), (0.5, 0.3, 0.5)  # +25 %, +50 %, 0 %
    values = {("B", name, data, "em"): value for name, column in (("Original", static), ("BDTR", ours))
              for data, value in zip(bdtr.DATA, column)}  # fmt: skip
    assert bdtr.gain_over_static(values, "B", "em") == pytest.approx(25)
    assert bdtr.gain_over_static(values | {("B", "Original", "musique", "em"): 0}, "B", "em") is None
    assert bdtr.gain_over_static(values, "B", "f1") is None
    baselines = {("B", name, "musique", "em"): value for name, value in zip(bdtr.BASELINES, (0.1, 0.4, 0.3, 0.2))}
    assert bdtr.gain_over_best_baseline(values | baselines, "musique", "em") == pytest.approx(25)


def test_the_papers_own_tables_contradict_these_claims_and_no_other():
    verdict = tables().claims
    failing = {check.name: str(check.value) for check in verdict.checks if not check.holds}
    assert list(failing) == [
        "every iterative method improves on static retrieval on HotpotQA, for every backbone",
        "BDTR is best, for every backbone and data set",
        "gain over the best baseline, %: BDTR, mean, musique, f1",
        "IRGS and HippoRAG2 are as far apart as in some column of Table 1 (percentage points)",
    ]
    best = failing["BDTR is best, for every backbone and data set"]
    assert best.startswith("115 of 120;") and "IRCOT 0.668 against BDTR 0.664 (HippoRAG2, 2wiki, em)" in best
    assert "printed 6.73, computed 7.03" in failing.values()
    assert any(check.name.startswith("BGEC alone") and check.holds for check in verdict.checks)
    assert any("PopQA" in check.name and check.holds and check.value == 0.016 for check in verdict.checks)
    assert any("2Wiki and MuSiQue" in check.name and check.value == "66 of 66" for check in verdict.checks)
    assert any(check.name.startswith("IRCoT") and check.value == "9 of 9" for check in verdict.checks)
    text = {check.where: check.value for check in verdict.checks if check.where[0] in "24" and check.holds}
    assert text == {
        "4.2, on Table 2": "4 of 4", "4.2, on Table 3": "2 of 2", "4.2, on Table 5": "8 of 8",
        "2.2, on Figure 1": "6 of 6",
    }  # fmt: skip
    assert any(check.name.endswith("on PopQA") and check.value == "10 of 10" for check in verdict.checks)


def test_a_claim_of_which_nothing_is_known_is_left_out():
    assert checks_of("bdtr", {}) == []
    assert checks_of("bdtr", {("RAPTOR", "BDTR", "musique", "em"): 0.4}) == []


def test_recall_at_five_should_rise_more_than_at_a_hundred():
    values = {("RAPTOR", name, "musique", f"recall@{k}"): value for name, k, value in (
        ("Original", 5, 0.5), ("Original", 100, 0.9), ("BDTR", 5, 0.8), ("BDTR", 100, 0.95))}  # fmt: skip
    (check,) = [one for one in checks_of("bdtr", values) if "raises" in one.name]
    assert check.holds and check.value == "1 of 1"


# -- verdicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("comparable")
def test_a_number_in_the_interval_is_reproduced(thousand):
    right = {"raptor": 300, "bdtr[backbone=raptor]": 390}
    methods = {"raptor": {}, "bdtr[backbone=raptor]": OVER_RAPTOR}
    found = compare(thousand(right, methods))
    assert [(cell.table, cell.method, cell.ours, cell.published, cell.verdict) for cell in found.cells] == [
        ("1", "Original", 0.3, 0.296, REPRODUCED), ("1", "BDTR", 0.39, 0.399, REPRODUCED),
        ("5", "Original", 0.3, 0.296, REPRODUCED), ("5", "BDTR", 0.39, 0.399, REPRODUCED),
        ("5", "BDTR", pytest.approx(30), 34.8, REPRODUCED),  # its gain in percent
        ("figure 1", "Original", 0.3, 0.296, REPRODUCED),
    ]  # fmt: skip
    ours = found.cells[1]
    half = 1.96 * (0.39 * 0.61 / 1_000) ** 0.5
    assert (ours.low, ours.high) == pytest.approx((0.39 - half, 0.39 + half), abs=0.002)
    assert (ours.n, ours.seed, ours.backbone, ours.data, ours.label) == (1_000, 0, "RAPTOR", "musique", [*right][1])
    assert ours.p == pytest.approx(1e-4), "90 questions more and none less; 9,999 sign patterns"
    assert ours.p_holm == pytest.approx(2e-4), "in two tables"
    assert found.cells[0].p is None, "static is not compared with itself"
    assert found.counts() == {REPRODUCED: 6, DIFFERS: 0, NOT_COMPARABLE: 0, NOT_MEASURED: CELLS - 6}


@pytest.mark.usefixtures("comparable")
def test_a_number_outside_it_differs(thousand):
    found = compare(thousand({"raptor": 340}, {"raptor": {}}))
    assert {cell.verdict for cell in found.cells} == {DIFFERS}
    assert "✗" in repr(found) and found.cells[0].why == ()


@pytest.mark.parametrize(("config", "settings", "why"), [
    ({"data": {"name": "musique-train-100", "fingerprint": ""}}, {},
     "split and corpus: musique-train-100, there musique/dev/hipporag-1000"),
    ({"questions": {"n": 500, "hash": ""}}, {}, "questions: 500, there 1,000"),
    ({"questions": {"n": 1_200, "hash": ""}}, {}, "unfinished: 1,000 of 1,200 questions asked"),
    ({}, {"iterations": 1}, "iterations: 1, there 2"),
    ({}, {"max_docs": 5}, "max_docs: 5, there none"),
])  # fmt: skip
def test_what_differs_is_named(thousand, config, settings, why):
    run = thousand({"bdtr": 399}, {"bdtr": OVER_RAPTOR | settings})
    found = compare(changed(run, lambda said: said.update(config)))
    assert {cell.verdict for cell in found.cells} == {NOT_COMPARABLE}
    assert all(why in cell.why for cell in found.cells)
    assert why in repr(found)


def test_layers_written_by_rules_and_broken_questions_are_named(thousand):
    run = thousand({"raptor": 296}, {"raptor": {}})
    made = {"summaries": {"made_by": ["openai:gpt-4o-mini", "rules (1)"]}, "extractions": {"made_by": ["rules"]}}
    changed(run, lambda config: config["methods"]["raptor"].update(layers=made))
    rows = (run.folder / "results.jsonl").read_text().replace('"failure": null', '"failure": "gone"', 3)
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "results.jsonl").write_text(rows)
    (why,) = {cell.why for cell in compare(run.folder).cells}
    assert {"summaries: made by rules, not by a model", "failures: 3 questions broke and count as 0"} <= {*why}


@pytest.mark.usefixtures("comparable")
def test_settings_say_which_row_it_is(thousand):
    methods = {
        "dtr": OVER_RAPTOR | {"bgec": False}, "bgec": OVER_RAPTOR | {"iterations": 0}, "both": OVER_RAPTOR,
        "lift": OVER_RAPTOR | {"policy": "lift"},
    }  # fmt: skip
    run = thousand(dict.fromkeys(methods, 380), methods)
    found = compare(changed(run, lambda config: [one.update(label="bdtr") for one in config["methods"].values()]))
    assert {(cell.method, cell.label) for cell in cells(found, table="5")} == {
        ("DTR", "dtr"), ("BGEC", "bgec"), ("BDTR", "both"), ("BDTR", "lift"),
    }  # fmt: skip
    assert {cell.verdict for cell in cells(found, method="BGEC")} == {REPRODUCED}, "no rounds are its own setting"


@pytest.mark.parametrize(("label", "settings", "data", "nearest"), [
    ("dense", {}, "musique", "no row is of it; there are rows of hipporag2, raptor, gfm_rag, graphrag, ircot"),
    ("bdtr", OVER_RAPTOR | {"backbone": "dense", "bgec": True, "iterations": 0}, "musique",
     "the nearest row is BGEC: backbone dense, there hipporag2, raptor, gfm_rag, graphrag"),
    ("raptor", {}, "meridian", "the nearest row is Original over RAPTOR: data meridian, there hotpotqa/dev"),
    ("bdtr (thoughts by hand)", OVER_RAPTOR, "musique", "no row is of it"),
])  # fmt: skip
def test_what_has_no_place_is_said(tmp_path, label, settings, data, nearest):
    run = written(tmp_path / "run", {label: settings}, {label: {"em": [1, 1, 1, 1]}},
                  data={"name": data, "fingerprint": ""})  # fmt: skip
    found = compare(run)
    assert found.cells == () and found.measured is None
    assert f"on {data}: no place for {label}; {nearest}" in found.notes[-1]
    for shown in (found._repr_html_(), repr(found)):
        assert "No number of these has a place" in shown and "no place for" in shown
    assert tables("bdtr", [run]).counts()[NOT_MEASURED] == CELLS


@pytest.mark.usefixtures("comparable")
def test_a_figure_without_its_data_set_is_not_compared_strictly(tmp_path):
    scores = {"hipporag2": {"recall@100": [1] * 950 + [0] * 50}}
    run = written(tmp_path / "run", {"hipporag2": {}}, scores, questions=THOUSAND, data=MUSIQUE)
    (cell,) = compare(run).cells
    assert (cell.table, cell.published, cell.verdict) == ("figure 4a", 0.95, NOT_COMPARABLE)
    assert cell.why == ("the figure does not name its data set; MuSiQue is assumed; printed as about",)


def test_several_runs_stand_side_by_side_and_are_asked_for_the_claims(thousand, monkeypatch):
    rules = lambda one, *_: ["rules"] if one.run.config["engine"] == "rules" else []  # noqa: E731
    monkeypatch.setattr("workbench.papers.tables.differences", rules)
    low = thousand({"raptor": 300, "bdtr": 280}, {"raptor": {}, "bdtr": OVER_RAPTOR}, "low")
    high = thousand({"bdtr": 420}, {"bdtr": OVER_RAPTOR}, "high", engine="rules")
    found = tables("bdtr", [low.folder, high])
    both = cells(found, table="1", backbone="RAPTOR", method="BDTR", data="musique", measure="em")
    assert [(cell.ours, cell.verdict) for cell in both] == [(0.28, DIFFERS), (0.42, NOT_COMPARABLE)]
    (check,) = [one for one in found.measured.checks if one.name.startswith("BDTR is best")]
    assert not check.holds and "Original 0.3 against BDTR 0.28 (RAPTOR, musique, em)" in check.value
    assert len(found.cells) == CELLS + 2, "two cells have a second number"
    assert "bdtr, low" in repr(found) and "bdtr, high" in repr(found), "one row each"


# -- how they look ----------------------------------------------------------------------------------------------------


def test_the_command_line_prints_tables_and_json(tmp_path):
    runner = CliRunner()
    plain = runner.invoke(app, ["tables"])
    assert plain.exit_code == 0 and f"{CELLS} not measured" in plain.output
    assert "RAPTOR     BDTR      0.598" in plain.output
    run = written(tmp_path / "run", {"raptor": {}}, {"raptor": {"em": [1, 0, 0, 0]}}, engine="rules",
                  data={"name": "musique-train-100", "fingerprint": ""})  # fmt: skip
    said = json.loads(runner.invoke(app, ["tables", "--paper", "bdtr", "--run", str(run.folder), "--json"]).stdout)
    assert said["counts"] == {REPRODUCED: 0, DIFFERS: 0, NOT_COMPARABLE: 3, NOT_MEASURED: CELLS - 3}
    (cell,) = [one for one in said["cells"] if one["ours"] is not None and one["table"] == "5"]
    assert (cell["ours"], cell["published"], cell["n"]) == (0.25, 0.296, len(QUESTIONS))
    assert said["claims"]["checks"] and said["inconsistencies"]
    for words in (["tables", "--paper", "x"], ["tables", "--run", str(tmp_path)]):
        assert runner.invoke(app, words).exit_code == 1


@pytest.mark.usefixtures("comparable")
def test_the_same_folders_give_the_same_tables(thousand):
    run = thousand({"raptor": 300}, {"raptor": {}})
    first, second = tables("bdtr", [run]), tables("bdtr", [run.folder])
    assert first == second and first.frame().equals(second.frame())
    assert first.frame()["verdict"].value_counts()[REPRODUCED] == 3


@pytest.mark.parametrize("text", [*HOSTILE, "".join(HOSTILE), "", "x" * 100_000], ids=range(len(HOSTILE) + 3))
def test_nothing_in_them_is_acted_upon(text):
    cell = Cell(
        text, text, text, text, text, 0.5, text, text, 0.4, 0.3, 0.5, 9, 0, 0.01, 0.02, NOT_COMPARABLE, (text, text)
    )
    verdict = Verdict(text)
    verdict.check(text, text, text, bool)
    many = tuple(replace(cell, label=f"{at} {text[:300]}") for at in range(40))
    for found in (
        Tables(text, text, (cell, replace(cell, verdict=REPRODUCED)), verdict, verdict, ((text, text),), (text,)),
        Tables(text, text, many),
        Tables(text, text, ()),
    ):
        shown = found._repr_html_()
        Checked(shown)
        assert not UNSHOWABLE.search(shown) and not UNSHOWABLE.search(repr(found))
        assert len(shown) < 90_000 and len(repr(found)) < 60_000
        assert len(found.frame()) == len(found.cells)


def test_what_is_not_measured_is_counted_alike_whether_it_is_shown_or_not(thousand):
    run = thousand({"raptor": 300}, {"raptor": {}})
    whole, measured = tables("bdtr", [run]), compare(run)
    assert measured.counts() == whole.counts() and whole.counts()[NOT_MEASURED] == CELLS - 3
    assert len(measured.cells) == 3 and f"{CELLS - 3} not measured" in repr(measured)
    assert sum(measured.counts().values()) == len(whole.cells)


@pytest.fixture
def printed(monkeypatch):
    """`printed(value, **columns)`: Table 1 prints this number for RAPTOR on MuSiQue, and its cell is compared."""
    monkeypatch.setattr("workbench.papers.tables.differences", lambda *_: iter(()))
    source = paper("bdtr")

    def compared(run, value, **columns):
        frame = source.printed.copy()
        here = (frame["table"] == "1") & (frame["backbone"] == "RAPTOR") & (frame["method"] == "Original")
        for name, one in {"value": value, **columns}.items():
            frame.loc[here & (frame["data"] == "musique") & (frame["measure"] == "em"), name] = one
        changed_paper = replace(source, printed=frame)
        monkeypatch.setattr("workbench.papers.tables.published.paper", lambda _: changed_paper)
        monkeypatch.setitem(changed_paper.__dict__, "rounding", source.rounding)
        return next(cell for cell in compare(run).cells if cell.table == "1")

    return compared


def test_a_printed_number_stands_for_all_that_round_to_it(thousand, printed):
    assert paper("bdtr").rounding["1", "em"] == 0.0005 and paper("bdtr").rounding["1", "f1"] == 0.00005
    run = thousand({"raptor": 300}, {"raptor": {}})
    high = printed(run, 0.3).high
    assert printed(run, high + 0.0004).verdict == REPRODUCED
    assert printed(run, high + 0.0006).verdict == DIFFERS


def test_a_verdict_compares_intervals(thousand, printed):
    """Where the paper prints how certain it is, its interval and ours must overlap."""
    run = thousand({"raptor": 300}, {"raptor": {}})
    alone, wide = printed(run, 0.35), printed(run, 0.35, plus_minus=0.03)
    assert (alone.verdict, wide.verdict) == (DIFFERS, REPRODUCED)
    assert (wide.published_low, wide.published_high) == pytest.approx((0.3195, 0.3805))
    assert wide.published_low <= wide.high < alone.published_low
    assert printed(run, 0.35, plus_minus=0.01).verdict == DIFFERS


@pytest.mark.parametrize(("n", "right", "why"), [
    (2, 2, "too few questions for an interval: 2, it takes 20"),
    (2, 1, "too few questions for an interval: 2, it takes 20"),
    (19, 9, "too few questions for an interval: 19, it takes 20"),
    (1_000, 0, "no interval: all 1,000 questions have the same value"),
    (1_000, 1_000, "no interval: all 1,000 questions have the same value"),
])  # fmt: skip
@pytest.mark.usefixtures("comparable")
def test_without_an_interval_there_is_no_verdict(tmp_path, n, right, why):
    scores = {"raptor": {"em": [float(at < right) for at in range(n)]}}
    run = written(tmp_path / "run", {"raptor": {}}, scores, questions=THOUSAND[:n], data=MUSIQUE)
    found = compare(run)
    for cell in found.cells:
        assert (cell.verdict, cell.why, cell.low, cell.high) == (NOT_COMPARABLE, (why,), None, None)
    assert "[no interval] ?" in repr(found) and "no interval" in found._repr_html_()


@pytest.mark.usefixtures("comparable")
def test_the_table_says_what_is_corrected(thousand):
    run = thousand({"raptor": 300, "bdtr": 380}, {"raptor": {}, "bdtr": OVER_RAPTOR})
    found = compare(run)
    tests = sum(cell.p is not None for cell in found.cells)
    note = f"p is that of one test, p_holm is corrected over the {tests} cells that have one; intervals are not."
    assert tests > 1 and note in found.notes
    for shown in (repr(found), found._repr_html_()):
        assert note in shown and "95 % interval of this cell, not corrected for several" in shown


@pytest.mark.parametrize("name", papers())
def test_every_printed_number_is_shown(name):
    """As a cell, or where no run measures it as printed."""
    found, printed = tables(name), paper(name).printed
    assert len({replace(cell, why=()) for cell in found.cells}) + len(found.stated) == len(printed)


def test_numbers_that_no_run_measures_are_shown_as_printed():
    shown = str(tables("reasoning"))
    assert "Table 4.2, as printed; no run is held against it (price)" in shown
    assert "QA standard, Llama-3.3-70B  0.59" in shown and "Table 4.2, as printed" in tables("reasoning")._repr_html_()


def test_a_gain_stands_beside_the_score_of_the_same_name():
    (row,) = [line for line in str(tables("bdtr")).splitlines() if "BGEC " in line and "0.388" in line]
    assert row.split() == ["RAPTOR", "BGEC", "0.388", "0.5260", "31.100", "25.8000"]
