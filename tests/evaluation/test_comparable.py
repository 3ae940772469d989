"""What stands between a cell and a comparable number: conditions side by side, and the run that a paper asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from by_hand import RunByHand, right
from test_views import HOSTILE, UNSHOWABLE, Checked

from workbench.papers.comparable import Conditions, Questions, QuestionScores, side_by_side
from workbench.papers.condition import DIFFERS, SAME, UNKNOWN, Condition
from workbench.papers.tables import NOT_COMPARABLE, Claim, Claims, tables
from workbench.published import paper


@pytest.fixture
def measured():
    """The tables of BDTR with a run of RAPTOR."""
    data = {"name": "musique/dev/hipporag-1000", "fingerprint": ""}
    run = RunByHand({"raptor": {"mode": "leaves"}}, {"raptor": {"em": right(300)}}, data=data)
    run.config["methods"]["raptor"]["layers"] = {"passages": {"settings": {}, "passages": 9_811}}
    return tables("bdtr", [run])


def test_both_come_from_one_check(measured):
    """The sentences of a cell are those of the conditions that are not the same, in their order."""
    cells = [cell for cell in measured.cells if cell.verdict == NOT_COMPARABLE]
    assert cells
    for cell in cells:
        shown = side_by_side(measured, cell)
        assert cell.why == tuple(dict.fromkeys(one.why for one in shown.rows if one.why))
        assert sum(shown.counts().values()) == len(shown.rows) and shown.counts()[SAME] > 5
        assert shown.of == ("raptor, read by direct",)


def test_what_differs_stands_on_both_sides(measured):
    cell = next(cell for cell in measured.cells if cell.verdict == NOT_COMPARABLE)
    rows = {one.name: one for one in side_by_side(measured, cell).rows}
    assert (rows["passages"].theirs, rows["passages"].ours, rows["passages"].state) == ("11,656", "9,811", DIFFERS)
    assert (rows["questions"].theirs, rows["questions"].state) == ("1,000", SAME)
    assert rows["encoder"].state == UNKNOWN and rows["encoder"].theirs == ""
    assert rows["reader's k"].why == "reader's k: 5, there it is not said [reader.asked]"


def test_a_difference_has_the_conditions_of_both_sides():
    found = tables("reasoning")
    cell = next(one for one in found.cells if one.method == "Routing+GW, 8B - Base, 70B")
    shown = side_by_side(found, cell)
    assert len(shown.of) == 2 and "route=true" in shown.of[0] and "prompt=brief" in shown.of[1]
    assert {one.theirs for one in shown.rows if one.name == "reader's model"} == {
        "llama-3.1-8b-instant", "llama-3.3-70b-versatile",
    }  # fmt: skip


def test_a_row_that_no_run_fills_says_so():
    found = tables("graphrag_bench")
    absent = paper("graphrag_bench").terms["absent"]
    cell = next(one for one in found.cells if one.method in absent)
    assert side_by_side(found, cell).rows == ()


@pytest.fixture
def cell():
    names = ("5", "RAPTOR", "Original")
    return next(one for one in tables("bdtr").cells if (one.table, one.backbone, one.method) == names)


@pytest.mark.parametrize("text", [*HOSTILE, "".join(HOSTILE), "", "x" * 100_000], ids=range(len(HOSTILE) + 3))
def test_nothing_in_them_is_acted_upon(text, cell):
    one = Condition(text, text, text, text)
    hostile = replace(cell, method=text, backbone=text, data=text, measure=text, label=text, run=text, why=(text,))
    asked = Questions(hostile, text, (text, text), (QuestionScores(text, text, (0.0, 1.0), text, (text, text)),))
    claims = Claims(text, (Claim(text, text, True, False, text, text), Claim(text, text, None, None)), ((text, text),))
    for thing in (Conditions(hostile, (text,), (one,), text), asked, claims):
        shown = thing._repr_html_()
        Checked(shown)
        assert not UNSHOWABLE.search(shown) and not UNSHOWABLE.search(repr(thing))
        assert len(shown) < 60_000 and len(repr(thing)) < 30_000


def test_hours_that_no_run_measured_have_no_conditions():
    """They are of a machine, so no run can be foreseen for them."""
    found = tables("bdtr")
    cell = next(one for one in found.cells if (one.table, one.measure) == ("4", "hours"))
    assert side_by_side(found, cell).rows == ()
