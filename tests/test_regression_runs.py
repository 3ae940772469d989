"""`workbench run --check` on a small notebook: what is planted is found, what is harmless is not, and what cannot be
compared is said. The places of `benchmarks/regress_planted.py` are there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
import pytest
from scripts import loaded
from typer.testing import CliRunner

from workbench.cli.app import app

ROOT = Path(__file__).parents[1]
RUN = ("run", "--notebooks", "notebooks")
RULES = '''"""Ranks words for a notebook."""
LEAST = 0.5
SCORES = {"a": 0.9, "b": 0.7, "c": 0.7, "d": 0.2}


def ranked():
    chosen = [word for word in SCORES if SCORES[word] >= LEAST]
    return sorted(chosen, key=lambda word: (-SCORES[word], word))
'''
CELLS = (  # what wb.Verdict saves, without the seconds that importing the workbench takes
    "k = 2\nfigures = 'figures'\ntheme = None",
    "import json, os, pathlib\nimport ranks_words\nfound = ranks_words.ranked()",
    """home = pathlib.Path(os.environ["WORKBENCH_HOME"])
(home / "runs").mkdir()  # fails where it is left of a notebook before
(home / figures).mkdir()
check = {"name": "words", "value": len(found), "expected": "> 2", "holds": len(found) > 2}
facts = {"best": found[:k], "mean": sum(map(ranks_words.SCORES.get, found)) / 3}
(home / figures / "01_verdict.json").write_text(json.dumps({"checks": [check], "facts": facts}))""",
    "assert check['holds'], check",
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a notebook, and the rules that it imports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORKBENCH_HOME", raising=False)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # a module edited twice in a second would be read from its cache
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "ranks_words.py").write_text(RULES, encoding="utf-8")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    notebook.cells[0].metadata["tags"] = ["parameters"]
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "notebooks" / "01_it.ipynb")
    return tmp_path


def run(*words, code=0):
    result = CliRunner().invoke(app, [*RUN, *words])
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


def findings(*words):
    """What a check that found something says, as kind, name and difference."""
    result = CliRunner().invoke(app, [*RUN, "--check", "--json", *words])
    assert result.exit_code == 1, (result.output, result.exception)
    (one,) = json.loads(result.stdout)["notebooks"]
    return [(finding["kind"], finding["name"], finding["by"]) for finding in one["findings"]]


def plant(place, old, new):
    assert RULES.count(old) == 1
    (place / "ranks_words.py").write_text(RULES.replace(old, new), encoding="utf-8")


def baseline(place):
    return (place / "notebooks" / "baseline" / "01_it.json").read_text(encoding="utf-8")


def test_nothing_is_found_where_nothing_changed_and_nothing_is_touched(place):
    assert "Recorded 1 baseline" in run("--accept")
    assert '"mean": 0.76666667' in baseline(place)
    assert str(place) not in baseline(place) and "figures" not in baseline(place)
    plant(place, "chosen = [", "chosen = [  # a comment\n        ")
    assert "01_it: nothing moved (3 compared)" in run("--check")
    assert not (place / "figures").exists() and not (place / "runs").exists() and "WORKBENCH_HOME" not in os.environ


def test_what_is_planted_is_found(place):
    run("--accept")
    plant(place, "(-SCORES[word], word)", "(-SCORES[word], [-ord(word)])")  # the order of ties
    assert findings() == [("moved", "best", None)]
    plant(place, "LEAST = 0.5", "LEAST = 0.1")  # a threshold
    assert findings() == [("moved", "words", 1), ("moved", "mean", pytest.approx(0.2 / 3))]


def test_a_check_that_flips_is_found_and_not_accepted(place):
    run("--accept")
    recorded = baseline(place)
    plant(place, "LEAST = 0.5", "LEAST = 0.8")
    assert [kind for kind, *_ in findings()] == ["failed", "flipped", "moved", "moved"]
    assert "never recorded" in run("--accept", code=1) and baseline(place) == recorded


def test_other_parameters_and_missing_baselines_are_said_before_anything_is_executed(place):
    assert findings() == [("no baseline", "01_it", None)]
    assert not (place / "build").exists()
    run("--accept", "--set", "theme=dark")
    (place / "build" / "regression" / "01_it.ipynb").unlink()
    assert findings() == [("other parameters", "theme", None)]
    assert not (place / "build" / "regression" / "01_it.ipynb").exists()
    run("--accept")
    (place / "notebooks" / "01_it.ipynb").rename(place / "notebooks" / "02_it.ipynb")
    said = run("--check", code=1)
    assert "02_it: 1 finding" in said and "01_it: 1 finding" in said and "vanished" in said
    run("--accept")
    assert [file.name for file in (place / "notebooks" / "baseline").iterdir()] == ["02_it.json"]


def test_a_folder_of_something_else_is_not_emptied(place):
    (place / "out" / "fresh").mkdir(parents=True)
    said = run("--accept", "-o", "out", code=1)
    assert "was not made by a check" in said and (place / "out" / "fresh").exists()


def test_a_failed_notebook_is_not_accepted(place):
    plant(place, "LEAST = 0.5", "LEAST = ")
    said = run("--accept", code=1)
    assert "failed" in said and "SyntaxError" in said and not (place / "notebooks" / "baseline").exists()


# ── benchmarks/regress_planted.py ─────────────────────────────────────────────────────────────────────────────────────


planted = loaded(ROOT / "benchmarks" / "regress_planted.py", "regress_planted")


def test_each_change_can_be_planted():
    for change in planted.PLANTED:
        file = planted.place(change)
        changed = file.read_text(encoding="utf-8").replace(change.old, change.new)
        if file.suffix == ".py":
            compile(changed, str(file), "exec")
        assert changed != file.read_text(encoding="utf-8"), change.name
        assert list((ROOT / "notebooks").glob(f"{change.notebook}*.ipynb")), change.name


def test_there_are_ten_at_least_and_harmless_ones():
    names = {change.name: change.harmless for change in planted.PLANTED}
    assert len(names) == len(planted.PLANTED) and list(names.values()).count(False) >= 10 and any(names.values())
