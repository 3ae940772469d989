"""What answers cost: prices by hand, the front, and what stands for money where none was spent."""

from __future__ import annotations

import json

import pytest
from test_analyses import written

import workbench as wb
from workbench.analyses import cost_quality
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.records import Question

QUESTIONS = (Question("q1", "?", ("x",)), Question("q2", "?", ("x",)))


@pytest.fixture
def run(tmp_path):
    def run(name, right=(1, 0), tokens=(1000, 3000), money=0.0, shown=(500, 700), retried=(False, True)):
        made = written(tmp_path / name, {"m": {}}, {"m": {"accuracy": list(right)}}, questions=QUESTIONS, reader=name)
        rows = []
        for at, row in enumerate(made.rows):
            used = {"calls": 1, "prompt_tokens": tokens[at] - 20, "completion_tokens": 20, "money": money}
            reading = {"tokens": shown[at], "retried": retried[at]}
            rows.append({**row, "usage": {"answer": used, "judge": {**used, "money": 9.0}}, "reading": reading})
        (made.folder / "checksums.json").unlink(missing_ok=True)
        (made.folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return Run(made.folder)

    return run


def test_a_flat_price(run):
    """2,000 tokens at $0.59 a million; the judge is part of the measuring."""
    (row,) = cost_quality(run("a"), prices=0.59).rows
    assert (row["money"], row["cost"]) == (pytest.approx(0.00118), row["money"])
    assert (row["tokens"], row["quality"], row["n"], row["front"]) == (2000, 0.5, 2, True)
    assert row["shown"] == (500 + 2 * 700) / 2, "the second try is shown the context again"


def test_the_front(run):
    """c is dearer than b and no better; d is worse than a and dearer; of a and b neither."""
    made = {"a": ((1, 0), (10, 10)), "b": ((1, 1), (90, 90)), "c": ((1, 1), (99, 99)), "d": ((0, 0), (20, 20))}
    runs = [run(name, *how) for name, how in made.items()]
    found = cost_quality(runs, prices=1.0)
    assert [(row["reader"], row["front"]) for row in found.rows] == [
        ("a", True), ("b", True), ("c", False), ("d", False),
    ]  # fmt: skip
    cheap = cost_quality(runs, prices={"a": 1, "b": 1, "c": 0.5, "d": 1}).rows
    assert [row["front"] for row in cheap] == [True, False, True, False]


def test_what_stands_for_money(run):
    assert cost_quality(run("paid", money=0.25)).unit == "US dollars"
    free = cost_quality(run("free"))
    assert (free.unit, free.rows[0]["cost"]) == ("tokens", 2000)
    rules = cost_quality(run("rules", tokens=(20, 20), retried=(0, 0)), measure="accuracy")
    assert rules.unit == "tokens"
    none = run("none", tokens=(20, 20))
    text = (none.folder / "results.jsonl").read_text().replace('"prompt_tokens": 0, "completion_tokens": 20', (
        '"prompt_tokens": 0, "completion_tokens": 0'))  # fmt: skip
    (none.folder / "checksums.json").unlink(missing_ok=True)
    (none.folder / "results.jsonl").write_text(text)
    shown = cost_quality(Run(none.folder))
    assert (shown.unit, shown.rows[0]["cost"]) == ("tokens of context shown", 950)
    assert "Nothing was paid for" in shown.notes[-1]


def test_an_unknown_price_is_no_front(run):
    found = cost_quality([run("known", money=0.1), run("unknown", money=None)])
    assert [(row["money"], row["front"]) for row in found.rows] == [(0.1, True), (None, False)]
    assert "price of a model is not known" in found.notes[-1]


def test_equal_budgets(run):
    """Of two that are shown as much, the better one is on the front; the one that asks less often is, too."""
    better, worse = run("better", right=(1, 1)), run("worse", right=(1, 0))
    found = wb.compare([better.folder, worse.folder], at="tokens")
    assert found.unit == "tokens of context shown" and not [note for note in found.notes if "Nothing was" in note]
    assert [(row["reader"], row["cost"], row["front"]) for row in found.rows] == [
        ("better", 950, True), ("worse", 950, False),
    ]  # fmt: skip
    asked = wb.compare(better, at="requests")
    assert (asked.unit, asked.rows[0]["cost"], asked.measure) == ("requests", 1, "accuracy")
    assert wb.compare(better, at="dollars").unit == "US dollars"
    with pytest.raises(SettingError, match="compared at tokens, requests, dollars"):
        wb.compare(better, at="euros")
