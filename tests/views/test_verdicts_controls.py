"""The widget of tables and verdicts without a browser: functions move the controls, controls move what is shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from test_views import HOSTILE, UNSHOWABLE, Checked
from tiny import TinyEncoder

import workbench as wb
from workbench.data import Dataset
from workbench.errors import DataError, SettingError
from workbench.methods.iterative.replay import Replay
from workbench.papers.comparable import side_by_side
from workbench.papers.tables import NOT_COMPARABLE, NOT_MEASURED, tables
from workbench.published import papers
from workbench.records import Passage, Question
from workbench.trace import Trace
from workbench.views.figures import verdict_figure
from workbench.views.render import STYLE, html_of
from workbench.views.stepped import LIVE
from workbench.views.verdicts import KIND, MARK, interval_of


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of two methods over the tiny corpus, which stands for PopQA."""
    from tiny import tiny_dataset

    data, folder = tiny_dataset(), tmp_path_factory.mktemp("verdicts")
    engine = wb.engine("rules")
    index = wb.Index.build(data, engine, folder / "index", encoder=TinyEncoder(), progress=False)
    methods = [wb.method(spec, index, engine) for spec in ("hipporag2", "bdtr[backbone=hipporag2]")]
    reader = wb.reader("direct", engine)
    return wb.evaluate(data.questions, methods, reader, folder / "run", measures=["em", "f1"], progress=False)


@pytest.fixture
def verdicts(made):
    return wb.verdicts([made], stands_for={str(made.folder): "popqa"})


def cells(verdicts) -> list[dict]:
    return [cell for row in verdicts._grid.data["rows"] for cell in row["cells"] if cell]


def test_without_a_run_every_table_of_every_source_is_shown():
    verdicts = wb.verdicts()
    assert verdicts.found.paper == papers()[0] and list(verdicts.sources().index) == papers()
    for name in papers():
        found = verdicts.paper(name)
        for number in dict.fromkeys(cell.table for cell in found.cells):
            shown = verdicts.table(number)
            assert {cell.verdict for cell in shown.cells} == {NOT_MEASURED}
            assert len(cells(verdicts)) == len(shown.cells) and not any(one["ours"] for one in cells(verdicts))
    assert "not measured" in repr(verdicts) and Checked(verdicts.static_html())
    with pytest.raises(SettingError, match=r"no cell is chosen; click a cell, or choose it by name"):
        verdicts.questions()


def test_it_starts_where_something_is_measured(verdicts):
    assert verdicts.found.paper == "bdtr" and verdicts._table == "2" and verdicts.chosen is None
    assert verdicts._list.label == "2: 12 numbers, 4 measured"
    shown = verdicts._grid.data
    assert shown["keys"] == ["backbone", "method", "measured as"]
    assert shown["columns"] == [["popqa", "em"], ["popqa", "f1"]]
    assert [row["names"][:2] for row in shown["rows"]][:2] == [["HippoRAG2", "Original"], ["HippoRAG2", "IRCOT"]]
    measured = [cell for cell in cells(verdicts) if cell["ours"]]
    assert len(measured) == 4 and {cell["kind"] for cell in measured} == {"unknown"}
    assert all(cell["ours"].startswith("? 0.") and cell["says"].endswith(NOT_COMPARABLE) for cell in measured)


def test_each_verdict_has_a_colour_a_mark_and_a_word():
    looks = {state: (KIND[state], MARK[state]) for state in ("reproduced", "differs", "not comparable", "not measured")}
    assert len(set(looks.values())) == len({kind for kind, _ in looks.values()}) == 4
    assert all(f".hopscope .{kind}" in STYLE for kind, _ in looks.values())


def test_a_cell_shows_both_sides(verdicts):
    conditions = verdicts.cell("BDTR", "popqa", "em")
    assert conditions == side_by_side(verdicts.found, verdicts.chosen)
    assert conditions.counts()["differs"] >= 5 and conditions.counts()["unknown"] >= 3
    shown = " ".join(Checked(verdicts._conditions.html).shown)
    assert "popqa/hipporag-1000" in shown and "tiny" in shown and "not said" in shown
    assert verdicts._grid.picked == verdicts._of_table().index(verdicts.chosen)
    assert "published" in verdicts._cell.html and "<svg class='interval'" in verdicts._cell.html


def test_a_click_is_the_same_as_the_function(verdicts):
    verdicts.cell("BDTR", "popqa", "f1")
    wanted, at = verdicts.chosen, verdicts._grid.picked
    verdicts.table("1")
    assert verdicts.chosen is None and verdicts._grid.picked == -1
    verdicts._list.value = "2"
    verdicts._grid.picked = at  # as the page does it
    assert verdicts.chosen == wanted and verdicts._message.html == ""
    verdicts._papers.value = "catrag"
    assert verdicts.found.paper == "catrag" and verdicts.chosen is None
    assert verdicts._table == "recall", "the first table, as nothing of it is measured"


def test_questions_come_worst_first_with_a_trace(verdicts, made):
    verdicts.cell("BDTR", "popqa", "em")
    asked = verdicts.questions()
    scores = [row.scores[0] for row in asked.rows]
    assert scores == sorted(scores) and {row.question_id for row in asked.rows} == {"q1", "q2"}, "q3 has no answer"
    assert [value for _, value in verdicts._question_list.options][1:] == [row.question_id for row in asked.rows]
    worst = asked.rows[0].question_id
    shown = verdicts.trace(worst)
    assert isinstance(shown, Replay) and verdicts._question_list.value == worst and "round 1" in verdicts._trace.html
    verdicts._question_list.value = asked.rows[-1].question_id
    assert asked.rows[-1].question in " ".join(Checked(verdicts._trace.html).shown)
    verdicts.cell("Original", "popqa", "em")
    assert isinstance(verdicts.trace(worst), Trace) and "RETRIEVER" in verdicts._trace.html
    with pytest.raises(SettingError, match="there is no question 'nobody'"):
        verdicts.trace("nobody")


def test_a_missing_trace_is_said(verdicts, made, monkeypatch):
    verdicts.cell("BDTR", "popqa", "em")
    monkeypatch.setattr(type(made), "trace", lambda *_: (_ for _ in ()).throw(FileNotFoundError()))
    with pytest.raises(DataError, match="evaluate with trace='full'"):
        verdicts.trace("q1")
    verdicts._question_list.value = "q1"
    assert "evaluate with trace=" in verdicts._message.html


def test_filters_leave_the_cells_that_are_like_them(verdicts):
    shown = verdicts.filter(verdict=NOT_COMPARABLE, measure="em")
    assert len(shown.cells) == len(cells(verdicts)) == 2
    assert verdicts._filters["verdict"].value == NOT_COMPARABLE
    verdicts._filters["measure"].value = "every"
    assert len(cells(verdicts)) == 4
    verdicts.cell("Original", "popqa", "f1")
    assert verdicts._grid.picked == verdicts._of_table().index(verdicts.chosen)
    verdicts.filter(verdict=None)
    assert len(cells(verdicts)) == 12 and verdicts.chosen is not None
    with pytest.raises(SettingError, match="there is no verdict 'lost'"):
        verdicts.filter(verdict="lost")


def test_what_is_not_measured_shows_the_run_that_the_paper_asks_for(verdicts):
    conditions = verdicts.cell("IRCOT", "popqa", "em")
    assert conditions.of == ("ircot[backbone=hipporag2[profile=released]], read by direct",) or conditions.of
    assert "the paper's conditions ask for ircot" in " ".join(Checked(verdicts._conditions.html).shown)
    assert verdicts.questions().rows == () and "there is no run" in verdicts._behind.html
    with pytest.raises(SettingError, match="has no measurement"):
        verdicts.trace("q1")


def test_claims_stand_beside_each_other(verdicts):
    claims = verdicts.claims()
    counts = claims.counts()
    whole = tables("bdtr")
    claimed, recomputed = counts["held by its own numbers"], counts["recomputed, held"]
    assert (claimed, counts["failed by its own numbers"]) == (24, 2), "the authors' claims, and no check of ours"
    assert claimed + 2 + recomputed + counts["recomputed, failed"] == len(whole.claims.checks)
    assert counts["inconsistencies"] == len(whole.inconsistencies) and verdicts._tabs.selected_index == 2
    assert "BDTR is best, for every backbone and data set" in verdicts._claims.html


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda one: one.paper("nature"), "there is no paper 'nature'; choose one of bdtr"),
        (lambda one: one.table("9"), "there is no table '9'; choose one of 1, text, 2"),
        (lambda one: one.cell("Nobody"), "table 2 of bdtr has no such cell; choose one of its methods: Original"),
        (lambda one: one.filter(colour="red"), "there is no filter 'colour'"),
    ],
)
def test_what_cannot_be_shown_leaves_all_as_it_is(verdicts, call, said):
    verdicts.cell("BDTR", "popqa", "em")
    before = verdicts.found.paper, verdicts._table, verdicts.chosen, verdicts._grid.data, dict(verdicts._filter)
    with pytest.raises(SettingError, match=said):
        call(verdicts)
    assert before == (
        verdicts.found.paper, verdicts._table, verdicts.chosen, verdicts._grid.data, dict(verdicts._filter),
    )  # fmt: skip


def test_an_interval_is_drawn_from_numbers_alone(verdicts):
    verdicts.cell("BDTR", "popqa", "em")
    drawn = html_of(interval_of(verdicts.chosen))
    assert re.fullmatch(r"[\w\s<>/='\".,:;#%◇●,\[\]-]+", drawn) and drawn.count("<circle") == 1
    assert interval_of(replace(verdicts.chosen, ours=None)) is None
    low = html_of(interval_of(replace(verdicts.chosen, published=-0.2, ours=-0.5, low=-0.9, high=0.1)))
    assert "from -1 to 1" in low


def test_the_figure_of_all_sources_is_the_same_twice_and_takes_any_name(tmp_path):
    counts = pd.DataFrame({"reproduced": [1, 0], "differs": [2, 0], "not comparable": [3, 0], "not measured": [4, 0]},
                          index=["$a$ _b", "no number"])  # fmt: skip
    first, second = (verdict_figure(counts).save(tmp_path / name).read_bytes() for name in ("a.png", "b.png"))
    assert first == second
    words = [text.get_text() for text in verdict_figure(counts).figure.axes[0].texts]
    assert words == ["1", "2", "3", "4"], "counts are written in the bars that have room"


def test_it_is_saved_as_a_page_without_a_kernel(verdicts, tmp_path):
    verdicts.cell("BDTR", "popqa", "em")
    saved = verdicts.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "popqa/hipporag-1000" in saved and "<script" not in saved.replace(LIVE, "")


@pytest.mark.parametrize("text", [one for one in HOSTILE if "\ud800" not in one])
def test_nothing_in_a_run_is_acted_upon(tmp_path, text):
    """An attack as question, answer, gold, title and text, and in the names that a run gives itself."""
    data = Dataset(text[:40], (Passage("p", text, text),), (), ())
    index = wb.Index.build(data, None, tmp_path / "index", encoder=TinyEncoder(), layers=["passages"], progress=False)
    methods = [wb.method("dense", index)]
    reader = wb.reader("direct", wb.engine("rules"))
    run = wb.evaluate([Question("q", f"What? {text}", (text,), text[:20])], methods, reader, tmp_path / "run",
                      measures=["f1", "accuracy"], progress=False)  # fmt: skip
    config = json.loads((run.folder / "run.json").read_text())
    config["methods"]["dense"] |= {"encoder": text, "prompts": {text: text}}
    config["data"]["name"] = text
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "run.json").write_text(json.dumps(config))
    verdicts = wb.verdicts([run.folder], "catrag", "answers", stands_for={str(run.folder): "musique"})
    measured = [cell for cell in verdicts.found.cells if cell.run]
    assert measured
    verdicts.cell(measured[0])
    verdicts.trace("q")
    shown = verdicts._conditions, verdicts._behind, verdicts._trace, verdicts._claims, verdicts._all, verdicts._head
    for part in shown:
        Checked(part.html)
        assert not UNSHOWABLE.search(part.html)
    for label, _ in verdicts._question_list.options:
        assert not UNSHOWABLE.search(label)
    assert not UNSHOWABLE.search(json.dumps(verdicts._grid.data, ensure_ascii=False))
    assert not UNSHOWABLE.search(repr(verdicts)) and "<script>" not in verdicts.static_html().replace(STYLE, "")
