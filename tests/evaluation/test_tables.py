"""The tables of papers next to measured numbers: what is printed, what follows from it, and the verdicts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from by_hand import QUESTIONS as THOUSAND
from by_hand import RunByHand, right, with_number
from test_analyses import BDTR, QUESTIONS, written
from test_views import HOSTILE, UNSHOWABLE, Checked
from typer.testing import CliRunner

from workbench.cli.app import app
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
from workbench.published import paper, papers

CELLS = 144 + 12 + 4 + 8 + 5 + 4 + 18  # of Tables 1, 2, 3 and 5, figure 4a, Table 4, figure 1
CELLS += 6 + 6 + 6 + 4  # gains of Tables 1 and 5 and of the text, figure 3
MUSIQUE = {"name": "musique/dev/hipporag-1000", "fingerprint": ""}
OVER_RAPTOR = BDTR | {"backbone": "raptor", "min_docs": 5}


def thousand(answered, methods, out="run", measures=("em",), **config):
    """A run over a thousand questions; `answered`: label → how many have the right answer."""
    scores = {label: {name: right(count) for name in measures} for label, count in answered.items()}
    return RunByHand(methods, scores, folder=out, **{"data": MUSIQUE} | config)


def cells(found, **wanted):
    return [cell for cell in found.cells if all(getattr(cell, name) == value for name, value in wanted.items())]


@pytest.fixture
def comparable(monkeypatch):
    """As if every condition were known and agreed; test_conditions.py has the conditions."""
    monkeypatch.setattr("workbench.papers.tables.differences", lambda *_: iter(()))


def test_gfm_rag_has_its_rows_and_asks_for_the_published_weights():
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
            whose = "backbone" if method == "BDTR" else "method"
            expected = f"{whose}'s checkpoint: {checkpoint}, there rmanluo/GFM-RAG-8M [settings.gfm_rag.checkpoint]"
            assert (expected in why) == differs


# -- verdicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("comparable")
def test_a_number_in_the_interval_is_reproduced():
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


@pytest.mark.parametrize(("engine", "maker", "said"), [
    ("rules", "openai:x (triples v2)", " (by rules)"), ("openai:rules", "openai:x (triples v2)", ""),
    ("openai:x", "rules (triples v2)", " (by rules)"), ("openai:x", "curated, by hand", " (curated facts)"),
    ("worked:meridian#7000ef98", "openai:x (triples v2)", " (replies written by hand)"),
    ("worked+rules:meridian#7000ef98", "openai:x (triples v2)", " (by rules)"),
])  # fmt: skip
def test_who_is_no_model_stands_beside_a_name(engine, maker, said):
    run = thousand({"hipporag2": 300}, {"hipporag2": {}})
    run.config["methods"]["hipporag2"] |= {"engine": engine, "layers": {"extractions": {"made_by": [maker]}}}
    (line, *_) = [line for line in repr(compare(run)).splitlines() if "HippoRAG2" in line and "Original" in line]
    assert f"hipporag2{said}  " in line


@pytest.mark.parametrize(("measures", "labels"), [
    (("recall@5",), [""]), (("f1",), [" (by rules)"]), (("recall@5", "f1"), ["", " (by rules)"]),
])  # fmt: skip
def test_rules_that_only_read_are_named_where_answers_are_measured(measures, labels):
    run = thousand({"hipporag2": 300}, {"hipporag2": {}}, measures=measures, reading={"engine": "rules"})
    found = compare(run, "catrag")
    lines = [line for line in repr(found).splitlines() if line.startswith("  HippoRAG 2 ")]
    assert [f"hipporag2{label}  " in line for label, line in zip(labels, lines, strict=True)] == [True] * len(labels)
    assert found.measured is None or ("by rules" in found.measured.title) == any(labels)


@pytest.mark.parametrize(("label", "settings", "data"), [
    ("dense", {}, "musique"), ("bdtr", OVER_RAPTOR | {"backbone": "dense"}, "musique"), ("raptor", {}, "meridian"),
])  # fmt: skip
def test_what_has_no_place_is_said(label, settings, data):
    run = thousand({label: 4}, {label: settings}, data={"name": data, "fingerprint": ""})
    found = compare(run)
    assert found.cells == () and found.measured is None
    assert f"on {data}: no place for {label}; no row is of such a method" in found.notes[-1]
    for shown in (found._repr_html_(), repr(found)):
        assert "No number of these has a place" in shown and "no place for" in shown
    assert tables("bdtr", [run]).counts()[NOT_MEASURED] == CELLS


@pytest.mark.usefixtures("comparable")
def test_a_figure_without_its_data_set_is_not_compared_strictly():
    run = thousand({"hipporag2": 950}, {"hipporag2": {}}, measures=("recall@100",))
    (cell,) = compare(run).cells
    assert (cell.table, cell.published, cell.verdict) == ("figure 4a", 0.95, NOT_COMPARABLE)
    assert cell.why == ("the figure does not name its data set; MuSiQue is assumed; printed as about",)


def test_several_runs_stand_side_by_side_and_are_asked_for_the_claims(monkeypatch):
    rules = lambda one, *_: ["rules"] if one.run.config["engine"] == "rules" else []  # noqa: E731
    monkeypatch.setattr("workbench.papers.tables.differences", rules)
    low = thousand({"raptor": 300, "bdtr": 280}, {"raptor": {}, "bdtr": OVER_RAPTOR}, "low")
    high = thousand({"bdtr": 420}, {"bdtr": OVER_RAPTOR}, "high", engine="rules")
    found = tables("bdtr", [low, high])
    both = cells(found, table="1", backbone="RAPTOR", method="BDTR", data="musique", measure="em")
    assert [(cell.ours, cell.verdict) for cell in both] == [(0.28, DIFFERS), (0.42, NOT_COMPARABLE)]
    (check,) = [one for one in found.measured.checks if one.name.startswith("BDTR is best")]
    assert not check.holds and "Original 0.3 against BDTR 0.28 (RAPTOR, musique, em)" in check.value
    assert len(found.cells) == CELLS + 2, "two cells have a second number"
    assert "bdtr, low" in repr(found) and "bdtr, high" in repr(found), "one row each"


# -- how they look ----------------------------------------------------------------------------------------------------


def test_the_command_line_prints_tables_and_json(tmp_path):
    runner = CliRunner()
    plain = runner.invoke(app, ["table"])
    assert plain.exit_code == 0 and f"{CELLS} not measured" in plain.output
    assert "RAPTOR     BDTR      0.598" in plain.output
    run = written(tmp_path / "run", {"raptor": {}}, {"raptor": {"em": [1, 0, 0, 0]}}, engine="rules",
                  data={"name": "musique-train-100", "fingerprint": ""})  # fmt: skip
    said = json.loads(runner.invoke(app, ["table", "bdtr", "--run", str(run.folder), "--json"]).stdout)
    assert said["counts"] == {REPRODUCED: 0, DIFFERS: 0, NOT_COMPARABLE: 3, NOT_MEASURED: CELLS - 3}
    (cell,) = [one for one in said["cells"] if one["ours"] is not None and one["table"] == "5"]
    assert (cell["ours"], cell["published"], cell["n"]) == (0.25, 0.296, len(QUESTIONS))
    assert said["claims"]["checks"] and said["inconsistencies"]
    for words in (["table", "x"], ["table", "--run", str(tmp_path)]):
        assert runner.invoke(app, words).exit_code == 1


@pytest.mark.usefixtures("comparable")
def test_the_same_folders_give_the_same_tables(tmp_path):
    run = written(tmp_path / "run", {"raptor": {}}, {"raptor": {"em": right(300)}}, questions=THOUSAND, data=MUSIQUE)
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


def test_what_is_not_measured_is_counted_alike_whether_it_is_shown_or_not():
    run = thousand({"raptor": 300}, {"raptor": {}})
    whole, measured = tables("bdtr", [run]), compare(run)
    assert measured.counts() == whole.counts() and whole.counts()[NOT_MEASURED] == CELLS - 3
    assert len(measured.cells) == 3 and f"{CELLS - 3} not measured" in repr(measured)
    assert sum(measured.counts().values()) == len(whole.cells)


@pytest.fixture
def printed(monkeypatch):
    """`printed(run, value, **columns)`: Table 1 prints this number for RAPTOR on MuSiQue, and its cell is compared."""
    monkeypatch.setattr("workbench.papers.tables.differences", lambda *_: iter(()))
    source = paper("bdtr")

    def compared(run, value, **columns):
        place = {"table": "1", "backbone": "RAPTOR", "method": "Original", "data": "musique", "measure": "em"}
        changed = with_number(source, value, **place)
        for name, one in columns.items():
            changed.printed[name] = one
        monkeypatch.setattr("workbench.papers.tables.published.paper", lambda _: changed)
        monkeypatch.setitem(changed.__dict__, "rounding", source.rounding)
        return next(cell for cell in compare(run).cells if cell.table == "1")

    return compared


def test_a_printed_number_stands_for_all_that_round_to_it(printed):
    assert paper("bdtr").rounding["1", "em"] == 0.0005 and paper("bdtr").rounding["1", "f1"] == 0.00005
    run = thousand({"raptor": 300}, {"raptor": {}})
    high = printed(run, 0.3).high
    assert printed(run, high + 0.0004).verdict == REPRODUCED
    assert printed(run, high + 0.0006).verdict == DIFFERS


def test_a_verdict_compares_intervals(printed):
    """Where the paper prints how certain it is, its interval and ours must overlap."""
    run = thousand({"raptor": 300}, {"raptor": {}})
    alone, wide = printed(run, 0.35), printed(run, 0.35, plus_minus=0.03)
    assert (alone.verdict, wide.verdict) == (DIFFERS, REPRODUCED)
    assert (wide.published_low, wide.published_high) == pytest.approx((0.3195, 0.3805))
    assert wide.published_low <= wide.high < alone.published_low
    assert printed(run, 0.35, plus_minus=0.01).verdict == DIFFERS


@pytest.mark.parametrize(("n", "answered", "why"), [
    (2, 2, "too few questions for an interval: 2, it takes 20"),
    (2, 1, "too few questions for an interval: 2, it takes 20"),
    (19, 9, "too few questions for an interval: 19, it takes 20"),
    (1_000, 0, "no interval: all 1,000 questions have the same value"),
    (1_000, 1_000, "no interval: all 1,000 questions have the same value"),
])  # fmt: skip
@pytest.mark.usefixtures("comparable")
def test_without_an_interval_there_is_no_verdict(n, answered, why):
    run = RunByHand({"raptor": {}}, {"raptor": {"em": right(answered, n)}}, questions=THOUSAND[:n], data=MUSIQUE)
    found = compare(run)
    for cell in found.cells:
        assert (cell.verdict, cell.why, cell.low, cell.high) == (NOT_COMPARABLE, (why,), None, None)
    assert "[no interval] ?" in repr(found) and "no interval" in found._repr_html_()


@pytest.mark.usefixtures("comparable")
def test_the_table_says_what_is_corrected():
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
