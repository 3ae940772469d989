"""What a regression run finds between a recorded baseline and what a notebook says now."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import workbench as wb
from workbench.errors import DataError
from workbench.notebooks import regression
from workbench.notebooks.regression import Baseline, Checked, Finding, Regression, compare, same
from workbench.records import Question

BEFORE = Baseline(
    "01_it",
    {"data": "tiny", "engine": "rules", "k": 5},
    data={"tiny": "abc"},
    methods={"dense": {"k": 5}},
    layers={"synonyms": {"threshold": 0.8}},
    prompts={"answer": "v1 aa"},
    checks={"failed questions": {"value": 0, "expected": "0", "holds": True}},
    facts={"warnings": [], "nodes per hop": [[1, 8]], "answer": "Oslo", "bias": 0.25},
    runs={
        "tiny": {"questions": 2, "of": "ff", "k": 5, "budget": None, "judge": None, "reader": "direct",
                 "table": {"dense": {"recall@5": 0.5, "f1": None}}, "got": {"dense": {"q1": "0a", "q2": "0b"}}},
    },
)  # fmt: skip


def moved(**parts):
    """The findings where these parts are others now."""
    return compare(BEFORE, replace(BEFORE, **parts)).findings


def table(value):
    return {"tiny": {**BEFORE.runs["tiny"], "table": {"dense": {**BEFORE.runs["tiny"]["table"]["dense"], **value}}}}


def test_nothing_moved():
    found = compare(BEFORE, BEFORE)
    assert found == Checked("01_it", compared=18) and Regression((found,)).holds
    assert "01_it: nothing moved (18 compared)" in repr(found)


def test_a_number_moved_and_by_how_much():
    (found,) = moved(runs=table({"recall@5": 0.45}))
    assert found == Finding("moved", "number", "tiny, dense, recall@5", 0.5, 0.45) and found.by == pytest.approx(-0.05)
    assert "0.5 → 0.45" in repr(found) and "by -0.05" in repr(found)


@pytest.mark.parametrize(
    ("parts", "of", "name"),
    [
        ({"facts": {**BEFORE.facts, "bias": 0.26}}, "fact", "bias"),
        ({"facts": {**BEFORE.facts, "nodes per hop": [[1, 9]]}}, "fact", "nodes per hop"),
        ({"facts": {**BEFORE.facts, "answer": "Bergen"}}, "fact", "answer"),
        ({"data": {"tiny": "abd"}}, "data", "tiny"),
        ({"methods": {"dense": {"k": 6}}}, "setting", "dense, k"),
        ({"layers": {"synonyms": {"threshold": 0.9}}}, "setting", "synonyms, threshold"),
        ({"prompts": {"answer": "v1 ab"}}, "prompt", "answer"),
        ({"runs": {"tiny": {**BEFORE.runs["tiny"], "k": 6}}}, "setting", "tiny, k"),
        ({"runs": {"tiny": {**BEFORE.runs["tiny"], "of": "fe"}}}, "data", "tiny, questions"),
        ({"runs": table({"f1": 0.0})}, "number", "tiny, dense, f1"),  # it was undefined
        (
            {"runs": {"tiny": {**BEFORE.runs["tiny"], "got": {"dense": {"q1": "0a", "q2": "0c"}}}}},
            "question",
            "tiny, dense, q2",
        ),
    ],
)
def test_anything_else_that_moved(parts, of, name):
    (found,) = moved(**parts)
    assert (found.kind, found.of, found.name) == ("moved", of, name)


def test_checks_flip_move_vanish_and_are_new():
    check = BEFORE.checks["failed questions"]
    (flipped,) = moved(checks={"failed questions": {**check, "value": 3, "holds": False}})
    assert (flipped.kind, flipped.before, flipped.after) == ("flipped", "holds (0)", "fails (3)")
    (other,) = moved(checks={"failed questions": {**check, "value": 1}})
    assert (other.kind, other.by) == ("moved", 1)
    (laxer,) = moved(checks={"failed questions": {**check, "expected": "< 9"}})
    assert (laxer.kind, laxer.before, laxer.after) == ("moved", "0", "< 9")
    vanished, new = moved(checks={"failures": check})
    assert (vanished.kind, vanished.name, new.kind, new.name) == ("vanished", "failed questions", "new", "failures")


def test_a_notebook_that_fails_says_so_and_not_what_it_did_not_come_to():
    failed = replace(BEFORE, failure="01_it.ipynb, cell 3: ValueError: no", checks={}, facts={}, runs={})
    found = compare(BEFORE, failed)
    assert [one.kind for one in found.findings] == ["failed"] and found.failed
    assert not Regression((found,)).holds and not Regression((found,), accepted=("x",)).holds
    with_verdict = replace(BEFORE, failure="01_it.ipynb, cell 9: AssertionError", facts={})
    assert {one.kind for one in compare(BEFORE, with_verdict).findings} == {"failed", "vanished"}


def test_without_a_baseline_or_with_other_parameters_nothing_is_compared():
    (found,) = compare(None, BEFORE).findings
    assert found.kind == "no baseline" and "--accept" in repr(found)
    other = compare(BEFORE, replace(BEFORE, parameters={**BEFORE.parameters, "k": 9, "more": 1}, facts={}))
    assert [(one.kind, one.name, one.before, one.after) for one in other.findings] == [
        ("other parameters", "k", 5, 9), ("other parameters", "more", None, 1),
    ]  # fmt: skip
    assert other.compared == 0 and "there is no baseline for it" in repr(other)


def test_the_last_bits_of_a_number_are_the_machines():
    assert moved(runs=table({"recall@5": 0.5 + 4e-7}), facts={**BEFORE.facts, "bias": 0.25 - 1e-10}) == ()
    assert len(moved(runs=table({"recall@5": 0.5 + 6e-7}))) == 1
    assert same(2.2e-16, 0.0) and not same(True, 1) and not same("1", 1) and same(5, 5.0)


def test_a_baseline_is_written_and_read(tmp_path):
    path = regression.write(tmp_path / "new", replace(BEFORE, failure=None))
    assert regression.read(tmp_path / "new", "01_it") == BEFORE and regression.read(tmp_path, "01_it") is None
    text = path.read_text(encoding="utf-8")
    assert regression.write(path.parent, BEFORE).read_text(encoding="utf-8") == text and "failure" not in text
    path.write_text("{torn", encoding="utf-8")
    with pytest.raises(DataError, match="write it again with --accept"):
        regression.read(path.parent, "01_it")
    path.write_text('{"format": 99}', encoding="utf-8")
    with pytest.raises(DataError, match="upgrade"):
        regression.read(path.parent, "01_it")


def test_what_is_recorded_of_an_executed_notebook(tmp_path, tiny_index):
    """The verdict, and of each run its conditions and means; nothing of the machine or the hour."""
    verdict = wb.Verdict("it")
    verdict.check("found", 1 / 3, "> 0", lambda value: value > 0)
    verdict.state(bias=float("nan"), deep={"a": [2 / 3, float("nan")]})
    verdict.save(tmp_path / "figures" / "tiny" / "01_verdict.json")
    asked = [Question(f"q{at}", f"Who is {at}?", ("x",), support=("p1",)) for at in range(40)]
    for methods, k in ((["dense"], 2), (["bm25"], 3)):
        searching = [wb.method(name, tiny_index) for name in methods]
        folder = tmp_path / "runs" / f"tiny-0123456789a{k}"
        wb.evaluate(asked, searching, measures=["recall@2"], k=k, out=folder, progress=False)
    found = regression.recorded("01_it", {"engine": "rules"}, tmp_path)
    assert found.checks == {"found": {"value": 0.33333333, "expected": "> 0", "holds": True}}
    assert found.facts == {"bias": None, "deep": {"a": [0.66666667, None]}}
    assert {name: (list(run["table"]), run["k"]) for name, run in found.runs.items()} == {
        "tiny": (["bm25"], 3), "tiny 2": (["dense"], 2),
    }  # fmt: skip
    text = regression.write(tmp_path, found).read_text(encoding="utf-8")
    assert "seconds" not in text and str(tmp_path) not in text and json.loads(text)["format"] == regression.FORMAT
    assert found.runs["tiny"]["got"].keys() == {"bm25"} and len(found.runs["tiny"]["got"]["bm25"]) == 40
    assert compare(found, found).findings == ()


def test_places_that_change_where_no_mean_moves_are_found(tmp_path, tiny_index):
    """Of the gold passage nothing changes; two others, of equal scores, change places."""
    run = wb.evaluate(
        [Question("q1", "Who is it?", ("x",), support=("p1",))], [wb.method("dense", tiny_index)],
        measures=["recall@5"], out=tmp_path / "runs" / "tiny-0123456789a", progress=False,
    )  # fmt: skip
    before = regression.recorded("01_it", {"engine": "rules"}, tmp_path)
    rows = run.folder / "results.jsonl"
    (run.folder / "checksums.json").unlink(missing_ok=True)
    row = json.loads(rows.read_text(encoding="utf-8"))
    row["ranking"][-2:] = row["ranking"][:-3:-1]
    rows.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (found,) = compare(before, regression.recorded("01_it", {"engine": "rules"}, tmp_path)).findings
    assert (found.of, found.name) == ("question", "tiny, dense, q1") and found.by is None


def test_reports_escape_what_a_notebook_says():
    found = Regression((compare(None, replace(BEFORE, failure="<b>cell</b>")), compare(BEFORE, BEFORE)))
    assert "<b>cell" not in found._repr_html_() and "&lt;b&gt;cell" in found._repr_html_()
    assert "1 of 2 notebooks moved" in repr(found) and "workbench run --accept" in repr(found)
    many = Checked("01_it", tuple(Finding("moved", "fact", f"f{at}", 1, 2) for at in range(60)))
    assert "and 20 more" in repr(many) and many._repr_html_().count("<tr>") < 45
    assert json.loads(json.dumps(found.plain()))["notebooks"][0]["findings"][0]["kind"] == "failed"
