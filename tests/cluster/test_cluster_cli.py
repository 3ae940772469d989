"""`--cluster` on the command line: what it writes has the bytes of one process."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from tiny import files

from workbench.cluster import Cluster
from workbench.encoding import ENCODERS
from workbench.testing import data as _hash_encoder  # noqa: F401 (registers it)


@pytest.fixture
def spread_over(two, monkeypatch) -> list[str]:
    """The SPECs for which a cluster was opened; all of them are the two processes."""
    asked: list[str] = []
    monkeypatch.setattr(Cluster, "open", lambda spec: asked.append(spec) or nullcontext(two))
    return asked


def test_index_evaluate_and_grid(workbench, spread_over, notes, tmp_path):
    assert "hash" in ENCODERS  # of `workbench.testing`, which workers do not know by its name
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": "q1", "question": "Who designed the theatre?", "answers": ["Karl Weiss"]}\n')
    for name, more in (("one", ()), ("two", ("--cluster", "local[2]"))):
        index, run, grid = (tmp_path / name / what for what in ("index", "run", "grid"))
        workbench("index", notes, "-o", index, "--encoder", "hash", "--layers", "passages", *more)
        workbench("evaluate", index, "-q", questions, "-m", "dense", "-r", "direct", "-o", run, *more)
        workbench("grid", index, "-q", questions, "-m", "dense", "-o", grid, *more)
    assert spread_over == ["local[2]"] * 3
    one, two = (_contents(tmp_path / name) for name in ("one", "two"))
    assert one == two and "run/results.jsonl" in one


def test_a_table(workbench, spread_over, tmp_path):
    workbench("table", "bdtr", "1", "--data", "no/such/data", "--cluster", "tcp://head:8786", code=1)
    assert spread_over == ["tcp://head:8786"]


def _contents(folder):
    apart = ("timings.jsonl", ".seconds", ".lock")
    return {name: text for name, text in files(folder).items() if not name.endswith(apart)}
