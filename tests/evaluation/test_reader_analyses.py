"""Analyses that compare the runs of several readers, or lay out the seconds of one: by hand."""

from __future__ import annotations

import json

import pytest
from test_analyses import BDTR, QUESTIONS, written

import workbench as wb
from workbench import analyses
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.records import Question

# -- what a reader gains, by kind of question -------------------------------------------------------------------------

TYPED = (*QUESTIONS[:3], Question("q4", "four?", ("4",), "comparison", 3))


def typed(run: Run, questions=TYPED) -> Run:
    """The run with the types of its questions in its rows, as `evaluate` writes them."""
    known = {question.id: {"type": question.type, "hops": question.hops} for question in questions}
    return changed(run, lambda row: known[row["question_id"]])


def changed(run: Run, how) -> Run:
    path = run.folder / "results.jsonl"
    (run.folder / "checksums.json").unlink(missing_ok=True)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({**row, **how(row)}) + "\n" for row in rows))
    return Run(run.folder)


@pytest.fixture
def readers(tmp_path) -> dict[str, Run]:
    """Three readers over four questions: two bridges, two comparisons."""
    scores = {"brief": [1, 0, 1, 0], "sparql": [1, 1, 1, 1], "sparql+gw": [0, 1, 1, 1]}
    return {
        name: typed(written(tmp_path / name, {"ket_rag": {}}, {"ket_rag": {"accuracy": values, "f1": values}},
                            questions=TYPED, reader=name))
        for name, values in scores.items()
    }  # fmt: skip


def test_gains_by_type_are_paired_differences(readers):
    found = analyses.gains_by_kind(readers, measures=["accuracy"])
    table = {(row["reader"], row["by"], row["kind"]): row for row in found.rows}
    assert {row["against"] for row in found.rows} == {"brief"}, "the first is the baseline"
    gains = {key: (row["n"], row["difference"]) for key, row in table.items()}
    assert gains["sparql", "all", "all"] == (4, 0.5)
    assert gains["sparql", "type", "bridge"] == (2, 0.5) and gains["sparql", "type", "comparison"] == (2, 0.5)
    assert gains["sparql", "hops", "2"] == (3, pytest.approx(1 / 3)) and gains["sparql", "hops", "3"] == (1, 1)
    assert gains["sparql+gw", "type", "bridge"] == (2, 0), "one question lost, one won"
    assert table["sparql+gw", "type", "bridge"]["mcnemar"] == 1.0
    whole = table["sparql", "all", "all"]
    assert whole["low"] is whole["high"] is None, "four questions are too few for an interval"
    assert whole["p"] <= whole["p_holm"] <= 1
    assert found.figure(), "marks without intervals"
    by_type = [gains["sparql", "type", kind] for kind in ("bridge", "comparison")]
    assert sum(n * gain for n, gain in by_type) / 4 == whole["difference"], "kinds average to the whole"


# -- what iteration gains, by data set --------------------------------------------------------------------------------


def test_iteration_against_the_backbone_alone_in_every_run(tmp_path):
    methods = {"dense": {}, "raptor": {}, "ircot": {"backbone": "dense"}, "bdtr": BDTR | {"backbone": "hipporag2"}}
    scores = {"dense": {"em": [0, 0, 1, 0]}, "raptor": {"em": [1, 1, 1, 1]}, "ircot": {"em": [1, 1, 1, 0]},
              "bdtr": {"em": [1, 1, 1, 1]}}  # fmt: skip
    run = written(tmp_path / "musique", methods, scores, data={"name": "musique", "fingerprint": ""})
    (row,) = analyses.gains_over_static({"first": run}).rows
    assert (row["run"], row["data"], row["method"], row["against"]) == ("first", "musique", "ircot", "dense")
    assert (row["n"], row["value"], row["baseline"], row["difference"]) == (4, 0.75, 0.25, 0.5)
    assert row["measure"] == "em" and row["p_holm"] == row["p"]
    with pytest.raises(SettingError, match="both a method and its backbone alone"):
        analyses.gains_over_static(run, measures=["f1"])


# -- routing, recomputed ----------------------------------------------------------------------------------------------


@pytest.fixture
def prompts(tmp_path) -> dict[str, Run]:
    """The runs of both prompts and of a router: q1 bridge, q2 comparison, q3 bridge (sparql abstains), q4 no label."""
    scores = {"sparql": [1, 1, 0, 0], "cot": [0, 0, 1, 1], "routed": [1, 0, 1, 1]}
    runs = {
        name: written(tmp_path / name, {"ket_rag": {}}, {"ket_rag": {"accuracy": values}}, reader=spec)
        for (name, values), spec in zip(scores.items(), ("sparql", "cot", "cot[route=true]"))
    }
    kinds = {"q1": "bridge", "q2": "comparison", "q3": "bridge", "q4": "bridge"}
    runs["sparql"] = changed(runs["sparql"], lambda row: {"abstained": row["question_id"] == "q3"})
    runs["routed"] = changed(runs["routed"], lambda row: {"reading": {
        "prompt": "sparql", "kind": kinds[row["question_id"]], "invalid": row["question_id"] == "q4"}})  # fmt: skip
    return runs


def test_routing_takes_the_answer_of_the_routed_prompt_and_the_other_if_it_abstained(prompts):
    found = analyses.recomputed_routing(prompts, "routed")
    rows = {row["configuration"]: row for row in found.rows}
    assert list(rows) == ["sparql", "cot", "routed", "routing, recomputed"]
    ours = rows["routing, recomputed"]
    # q1 sparql 1, q2 cot 0, q3 sparql abstained: cot 1, q4 without a label: sparql 0
    assert (ours["n"], ours["accuracy"], ours["abstained"]) == (4, 0.5, 0)
    assert (ours["second"], ours["unlabelled"]) == (1, 1)
    assert (rows["sparql"]["accuracy"], rows["sparql"]["abstained"]) == (0.5, 0.25)
    assert rows["routed"]["difference"] == pytest.approx(0.5 - 0.75) and rows["sparql"]["difference"] == 0
    assert ours["difference"] is None and rows["cot"]["second"] is None


# -- wall-clock time --------------------------------------------------------------------------------------------------


def test_questions_are_laid_out_over_workers(tmp_path):
    run = written(
        tmp_path / "timed", {"bdtr": BDTR, "dense": {}}, {name: {"em": [1] * 4} for name in ("bdtr", "dense")}
    )
    with pytest.raises(SettingError, match=r"no timings\.jsonl"):
        analyses.wall_clock(run)
    taken = {"q1": 3.0, "q2": 1.0, "q3": 1.0, "q4": 1.0}
    timed = [{"question_id": one, "method": "bdtr", "seconds": {"bdtr": many, "direct": 50}}
             for one, many in taken.items()]  # fmt: skip
    (run.folder / "timings.jsonl").write_text("".join(json.dumps(row) + "\n" for row in timed))
    found = analyses.wall_clock(run, workers=[8, 1, 2])
    assert [(row["method"], row["workers"], row["hours"] * 3600, row["speed_up"]) for row in found.rows] == [
        ("bdtr", 1, 6, 1), ("bdtr", 2, 3, 2), ("bdtr", 8, 3, 2),
    ]  # fmt: skip
    assert found.rows[1]["waiting"] == 0 and found.rows[2]["waiting"] == 0.75 and found.rows[2]["seconds"] == 0.75
    assert "BDTR 1.7 h, BDTR parallel 0.3 h" in found.notes[-1]
    with pytest.raises(SettingError, match=r"workers=\[0\]"):
        analyses.wall_clock(run, workers=[0])


def test_with_rules_the_recomputed_routing_is_the_live_one(tiny, tiny_index, tmp_path):
    """A deterministic engine gives the same answer to the same prompt, so nothing may differ."""
    specs = {"sparql": "sparql", "cot": "cot", "routed": "cot[route=true]"}
    grid = wb.grid(tiny.questions, [wb.method("dense", tiny_index)], specs, tmp_path / "grid", progress=False)
    rows = {row["configuration"]: row for row in analyses.recomputed_routing(grid, "routed").rows}
    live, ours = rows["routed"], rows["routing, recomputed"]
    assert (ours["n"], ours["accuracy"], ours["abstained"]) == (live["n"], live["accuracy"], live["abstained"])
    assert live["difference"] == 0 and live["low"] is live["high"] is None
    retried = [row["reading"]["retried"] for row in grid.runs["routed"].rows]
    assert ours["second"] == sum(retried) and ours["unlabelled"] == 0
    gains = analyses.gains_by_kind(grid, {"routed": "sparql"}, measures=["accuracy"])
    assert gains.rows[0]["kind"] == "all" and gains.rows[0]["n"] == len(tiny.questions)
