"""The runs on disk are listed, and two of them are held against each other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli.app import app
from workbench.errors import SettingError
from workbench.evaluation.listing import between, in_words, runs


@pytest.fixture
def made(tiny, tiny_index, tmp_path):
    def made(name, *specs, **settings):
        methods = [wb.method(spec, tiny_index) for spec in specs]
        reader = wb.reader(settings.pop("reader", "direct"))
        return wb.evaluate(tiny.questions, methods, reader, tmp_path / "runs" / name, progress=False, **settings)

    return made


def verb(*arguments):
    result = CliRunner().invoke(app, [*map(str, arguments)], terminal_width=200)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_all_runs_are_listed_those_of_grids_and_those_put_aside_as_well(made, tiny, tiny_index, tmp_path):
    made("one", "dense")
    made("one", "bm25", limit=1)
    dense = wb.method("dense", tiny_index)
    wb.grid(tiny.questions, [dense], {"a": "direct"}, tmp_path / "runs" / "grid", progress=False)
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "run.json").write_text("{")
    listed = runs(tmp_path / "runs").set_index("run")
    (of_grid,) = (name for name in listed.index if name.startswith("grid/a-"))
    assert list(listed.index) == ["broken", of_grid, "one"]
    assert listed.loc["one", ["methods", "rows", "of", "failures"]].tolist() == [["dense", "bm25"], 4, 6, 0]
    assert "FileDamaged" in listed.loc["broken", "failure"]
    assert {"dense,", "bm25", "one"} <= set(verb("runs", tmp_path / "runs").split())
    assert json.loads(verb("runs", tmp_path / "runs", "--json"))[2]["run"] == "one"
    with pytest.raises(SettingError, match="is not a folder"):
        runs(tmp_path / "none")


def test_two_runs_beside_each_other(made):
    one = made("one", "dense", "hipporag2", k=20)
    other = made("other", "hipporag2[damping=0.9]", "dense", k=7, measures=["recall@2"])
    found = between(one, other)
    assert found.frame[["measure", "method", "against", "n", "difference"]].values.tolist() == [
        ["recall@2", "dense", "dense", 2, 0.0]
    ]
    assert found.differing["k"] == (20, 7) and "reader" not in found.differing
    assert re.search(r"\bk +20 +7\b", repr(found)) and "<b>" in found._repr_html_()
    printed = verb("compare", one.folder, other.folder)
    assert "recall@2" in printed and "20" in printed
    said = json.loads(verb("compare", one.folder, other.folder, "--json"))
    assert said["differing"]["k"] == [20, 7] and said["compare"][0]["n"] == 2


def test_differences_are_printed_with_their_numbers_in_any_terminal(made, monkeypatch):
    run, head = made("one", "dense", "hipporag2", "hipporag2[damping=0.9]"), ["measure", "method", "against", "n"]
    for columns in ("200", "60"):
        monkeypatch.setenv("COLUMNS", columns)
        printed = repr(run.compare())
        assert "..." not in printed and printed.count("hipporag2[damping=0.9]") == len(run.compare()) / 2
        for row in run.compare().to_dict("records"):
            assert f"{row['difference']:.4f}" in printed and f"{row['p_holm']:.4f}" in printed
    assert repr(run.compare()).splitlines()[0].split()[:4] != head  # too narrow for a table
    monkeypatch.setenv("COLUMNS", "200")
    assert repr(run.compare()).splitlines()[0].split()[:4] == head
    assert "method by rules" in repr(run.compare()) and type(run.compare().head(1)) is pd.DataFrame


def test_what_differs_between_runs_is_said_in_words(made):
    one, other = made("one", "dense", k=20), made("other", "dense", k=7, limit=1)
    found = between(one, other)
    said = {row["condition"]: (row["first"], row["second"]) for row in found.conditions}
    assert said["k"] == ("20", "7") and said["questions"][1].startswith("1 (")
    printed = verb("compare", one.folder, other.folder)
    for shown in (printed, repr(found), found._repr_html_()):
        assert "'hash'" not in shown and "&#x27;hash" not in shown


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ({"made": {"made_by": ["rules (triples v2)"], "hash": "a"}}, {"made": {"made_by": ["m"], "hash": "b"}},
         ("made content a, made_by rules (triples v2)", "made content b, made_by m")),
        ({"damping": 0.5, "k": 3}, {"damping": 0.9, "k": 3}, ("damping 0.5", "damping 0.9")),
        ([0, 1], None, ("0, 1", "none")),
        (0, "", ("0", "none")),
    ],
)  # fmt: skip
def test_conditions_in_words(was, now, said):
    assert in_words(was, now) == said


def test_runs_without_a_method_in_common_are_held_against_the_first_one_of_the_first(made):
    one, other = made("one", "dense", "bm25"), made("other", "hipporag2[damping=0.9]")
    found = between(one, other, ["recall@1", "f1"])
    assert set(found.frame["against"]) == {"dense"} and set(found.frame["measure"]) == {"recall@1", "f1"}
    assert "label of hipporag2[damping=0.9]" in found.differing
    with pytest.raises(SettingError, match="no measure asked for"):
        between(one, other, ["recall@3"])


def test_what_was_put_aside_is_held_against_what_came_after(made, edit):
    made("one", "hipporag2")
    edit("workbench.rules.choosing")
    run = made("one", "hipporag2")
    (before,) = (run.folder / "before").iterdir()
    found = between(before, run)
    assert "rules/choosing.py" in found.differing["code of hipporag2"][1]
    assert "rules/choosing.py" in run.notes[0] and str(before) in run.notes[0]
    assert list(runs(run.folder.parent)["run"]) == ["one", f"one/before/{Path(before).name}"]


def test_a_grid_of_the_command_line_reads_as_much_with_every_reader(tiny, tiny_encoder, tmp_path, monkeypatch):
    wb.write_folder(tiny, tmp_path / "data")
    index = wb.Index.build(tiny, None, tmp_path / "index", encoder=tiny_encoder, progress=False)
    monkeypatch.setattr(wb.Index, "open", lambda folder, encoder=None: index)
    asked = ("-q", tmp_path / "data" / "questions.jsonl", "-m", "dense", "-r", "direct", "-r", "cot")
    words = ("grid", tmp_path / "index", *asked)
    said = json.loads(verb(*words, "-o", tmp_path / "grid", "--json"))
    assert said["readers"]["direct"] == "direct[k=none,budget=12000]"
    own = json.loads(verb(*words, "-o", tmp_path / "own", "--tokens", 0, "--json"))
    assert own["readers"]["direct"] == "direct"
