"""Cells that take more than the mean of a run's measure: differences of two runs, by type and over all data sets,
shares of errors, routing recomputed from three runs, hours of retrieval. Every condition of every run
counts: a dozen of each, and all of them in the full profile."""

from __future__ import annotations

import json
import random
from unittest.mock import patch

import pytest
import unchanged
from tiers import FULL

from workbench.evaluation.run import Run
from workbench.measures import OF_SHORT
from workbench.papers import tables as tables_
from workbench.papers.conditions import differences
from workbench.papers.placing import places
from workbench.papers.tables import MEAN, NOT_COMPARABLE, REPRODUCED, WORKERS, Measured, compare, found_of, tables
from workbench.published import paper

SOURCE, BDTR = (unchanged.closed(paper(name)) for name in ("reasoning", "bdtr"))
PRINTED = list(SOURCE.printed.itertuples())
ACCURACY = "accuracy:thesis"


def rows_of(kind, **wanted):
    """One row for each table and method."""
    rows = [row for row in PRINTED if row.kind == kind and all(getattr(row, k) == v for k, v in wanted.items())]
    kept = (row for row in reversed(rows) if row.data != MEAN and "hop" not in row.data.partition(": ")[2])
    return list({(row.table, row.method): row for row in kept}.values())


def sides(row):
    first, _, second = row.method.partition(" - ")
    return [first if ", " in first else f"{first}, {second.rpartition(', ')[2]}", second]


def run_of(folder, row, method, value, kind=None, spread=0.0):
    """The run of a method over the data of a row; `kind` is the type of its questions, whose values alternate around
    `value` by `spread`."""
    data = row.data.partition(":")[0]
    run = unchanged.run_of(folder, SOURCE, row._replace(method=method, data=data, value=value, measure=row.measure))
    of_kind = int(row.note.split()[0]) if row.note.endswith(" questions") else len(run.rows)
    (measure,) = {name for name, score in run.rows[0]["scores"].items() if name != "coverage:substring"}
    rows = [
        one | {"type": kind if at < of_kind else "another",
               "scores": one["scores"] | {measure: value + (spread if at % 2 else -spread)}}
        for at, one in enumerate(run.rows)
    ]  # fmt: skip
    (folder / "checksums.json").unlink(missing_ok=True)
    (folder / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    return Run(folder)


def measured(source, runs):
    return [
        Measured(run, name, place) for run in runs for name in run.methods for place in places(source.terms, run, name)
    ]


def reasons(source, row, runs):
    """Of each measurement of a printed number, why it is not comparable."""
    found = found_of(source, row, measured(source, runs))
    return [[why for side in one.sides for why in differences(side, source.terms, one.measure)] for one in found]


def all_noticed(source, row, runs, judged=True):
    """Every condition of every run, changed alone. Significance is no condition, and would take most of the time."""
    with patch.object(tables_, "paired_test", return_value=None):
        _all_noticed(source, row, runs, judged)


def _all_noticed(source, row, runs, judged):
    assert reasons(source, row, runs) == [[]], "the unchanged runs"
    unnoticed = []
    for at, run in enumerate(runs):
        tried = [*unchanged.changes(run), *(unchanged.changes_of_reader(run, True) if judged else ())]
        assert len(tried) > 20
        tried = tried if FULL else random.Random(f"{row.method} {at}").sample(tried, 12)
        free = {f"reader's {key}" for key in source.terms["reader"].get("free_in_own_context", ())}
        free |= {"reader's prompt"} if "route" in str(run.config["reader"]) else set()
        free |= set() if row.measure.partition(" ")[0] in OF_SHORT else {"reader's rewrite"}
        for what, change in tried:
            if what in free:
                continue
            others = [*runs[:at], unchanged.changed(run, change), *runs[at + 1 :]]
            unnoticed += [(at, what)] if [] in reasons(source, row, others) else []
    assert unnoticed == []


def verdicts(row, runs, monkeypatch, source=SOURCE):
    monkeypatch.setattr(tables_.published, "paper", lambda _: source)
    cells = tables("it", runs).cells
    return [cell for cell in cells if (cell.table, cell.method, cell.data, cell.measure) == (
        row.table, row.method, row.data, row.measure)]  # fmt: skip


@pytest.mark.parametrize("row", rows_of("difference"), ids=lambda row: f"{row.table} {row.method}")
def test_a_difference_is_reproduced_only_if_both_runs_are_the_papers(tmp_path, monkeypatch, row):
    kind = row.data.partition(": ")[2] or None
    values = (row.value, 0.0) if row.value > 0 else (0.0, -row.value)
    runs = [run_of(tmp_path / str(at), row, one, values[at], kind, 0.1 * at) for at, one in enumerate(sides(row))]
    (cell,) = verdicts(row, runs, monkeypatch)
    assert cell.verdict == REPRODUCED and cell.ours == pytest.approx(row.value)
    all_noticed(SOURCE, row, runs)
    if kind:
        more = row._replace(note="22 questions")
        fewer = [
            run_of(tmp_path / f"few{at}", more, one, values[at], kind, 0.1 * at) for at, one in enumerate(sides(row))
        ]
        (cell,) = verdicts(row, fewer, monkeypatch)
        assert cell.why == (f"questions of this type: 22, there {row.note.split()[0]}",)


def test_a_difference_by_type_is_of_the_questions_of_this_type(tmp_path, monkeypatch):
    row = next(row for row in PRINTED if row.table == "5.9" and row.data == "hotpotqa: bridge")
    runs = [run_of(tmp_path / str(at), row, method, 1 - at, "comparison") for at, method in enumerate(sides(row))]
    assert [cell.ours for cell in verdicts(row, runs, monkeypatch)] == [None]


def test_the_mean_of_the_three_counts_each_data_set_the_same(tmp_path, monkeypatch):
    row = next(row for row in PRINTED if row.table == "5.7" and row.data == MEAN)
    runs, gains = [], {"hotpotqa": 0.3, "musique": 0.0, "2wiki": 0.6}
    for data, gain in gains.items():
        here = row._replace(data=data)
        runs += [
            run_of(tmp_path / f"{data}{at}", here, method, gain * (1 - at)) for at, method in enumerate(sides(row))
        ]
    (cell,) = verdicts(row, runs, monkeypatch)
    assert (cell.ours, cell.n) == (pytest.approx(0.3), 1_500)
    assert [cell.ours for cell in verdicts(row, runs[:4], monkeypatch)] == [None]  # one of them is missing


@pytest.mark.parametrize("row", rows_of("share"), ids=lambda row: row.method)
def test_a_share_of_errors(tmp_path, monkeypatch, row):
    run = run_of(tmp_path / "run", row._replace(measure=ACCURACY), row.method, 0.0)
    covered = round(row.value * len(run.rows))
    rows = [
        one | {"scores": one["scores"] | {"coverage:substring": float(at < covered)}} for at, one in enumerate(run.rows)
    ]
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    run = Run(run.folder)
    (cell,) = verdicts(row, [run], monkeypatch)
    assert cell.verdict == REPRODUCED and cell.ours == pytest.approx(row.value)
    all_noticed(SOURCE, row, [run])


@pytest.mark.parametrize("row", rows_of("recomputed", measure=ACCURACY), ids=lambda row: row.method)
def test_routing_recomputed_from_the_runs_of_both_prompts_and_the_labels_of_a_third(tmp_path, monkeypatch, row):
    """Half the questions are comparisons, which the run of `cot` answers, always rightly; of the others it does what
    SPARQL abstained on: a quarter of all."""
    model = row.method.rpartition(", ")[2]
    runs = [run_of(tmp_path / one[:3], row, f"{one}, {model}", 0.0) for one in ("SPARQL", "Generic CoT", "Routing")]
    n = len(runs[0].rows)
    of_one = {
        0: lambda at: {"abstained": at % 4 == 0},
        1: lambda at: {"scores": {ACCURACY: 1.0}},
        2: lambda at: {"reading": {"kind": "comparison" if at % 2 else "bridge", "invalid": False}},
    }
    for at, run in enumerate(runs):
        changed = [one | of_one[at](number) for number, one in enumerate(run.rows)]
        (run.folder / "checksums.json").unlink(missing_ok=True)
        (run.folder / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in changed))
    runs = [Run(run.folder) for run in runs]
    (cell,) = verdicts(row, runs, monkeypatch)
    assert (cell.ours, cell.n) == (0.75, n)
    assert [one.ours for one in verdicts(row, runs[:2], monkeypatch)] == [None]  # nobody labelled the questions
    all_noticed(SOURCE, row, runs)


def timed(folder, seconds):
    row = next(row for row in BDTR.printed.itertuples() if row.table == "3" and row.method == "BDTR")
    row = row._replace(backbone="HippoRAG2", measure="recall@5", value=0.5)
    run = unchanged.run_of(folder, BDTR, row)
    (label,) = run.methods
    lines = [{"question_id": one["question_id"], "method": label, "seconds": {label: seconds, "direct": 99.0}}
             for one in run.rows]  # fmt: skip
    (folder / "timings.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Run(folder)


def test_hours_of_retrieval_one_after_the_other_and_side_by_side(tmp_path, monkeypatch):
    run = timed(tmp_path / "run", 7.2)
    monkeypatch.setattr(tables_.published, "paper", lambda _: BDTR)
    cells = {(cell.method, cell.measure): cell for cell in compare(run, "bdtr").cells if cell.table == "4"}
    assert {key: cell.ours for key, cell in cells.items()} == {
        ("BDTR", "hours"): pytest.approx(2.0),
        ("BDTR parallel", "hours"): pytest.approx(2.0 / WORKERS),
        ("BDTR parallel", "speed-up"): pytest.approx(WORKERS),
    }
    assert {cell.verdict for cell in cells.values()} == {NOT_COMPARABLE}
    assert all("seconds depend on the machine" in "; ".join(cell.why) for cell in cells.values())
    assert "8 workers here" in "; ".join(cells["BDTR parallel", "hours"].why)
    row = next(row for row in BDTR.printed.itertuples() if row.table == "4" and row.method == "BDTR")
    all_noticed(BDTR, row, [run], judged=False)


def test_a_run_without_timings_has_no_hours(tmp_path, monkeypatch):
    run = timed(tmp_path / "run", 7.2)
    (run.folder / "timings.jsonl").unlink()
    monkeypatch.setattr(tables_.published, "paper", lambda _: BDTR)
    assert not [cell for cell in compare(run, "bdtr").cells if cell.table == "4"]


def test_figure_1_is_the_gain_of_ircot_over_the_backbones_of_section_2():
    source = paper("bdtr")
    figure = {
        (row.backbone, row.method, row.data): row.value for row in source.scores.itertuples() if row.table == "figure 1"
    }
    assert len(figure) == 3 * 2 * 3 and all(source.values[*key, "em"] == value for key, value in figure.items())
