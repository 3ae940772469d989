"""What earlier versions stored opens in this one, and gives what it gave (README.md here)."""

from __future__ import annotations

import json
from pathlib import Path

import make
import numpy as np
import on_disk
import pytest

from workbench.cli.check import check
from workbench.evaluation import Run
from workbench.index import Index

OF_THE_FILES = ("dense", "hipporag2")  # whose rankings follow from stored vectors and edges; others may get better
STORED = sorted(Path(__file__).parent.glob("v*/"))


@pytest.fixture(scope="module", params=STORED, ids=lambda stored: stored.name)
def stored(request, tmp_path_factory):
    """(what a version stored, unpacked; what it gave)."""
    place = tmp_path_factory.mktemp(request.param.name)
    make.unpack(request.param, place)
    return place, json.loads((request.param / "expected.json").read_text(encoding="utf-8"))


def test_a_stored_version_is_small():
    assert STORED
    for folder in STORED:
        assert sum(path.stat().st_size for path in folder.iterdir()) < 300_000


def test_it_gives_what_it_gave(stored):
    place, expected = stored
    found = make.given(place)
    before, now = ({**said, "rankings": None} for said in (expected, found))
    assert now == before
    assert {name for name, ranking in found["rankings"].items() if ranking} >= expected["rankings"].keys()
    for method in OF_THE_FILES:
        (ids, scores), (now_ids, now_scores) = (zip(*said["rankings"][method]) for said in (expected, found))
        assert now_ids == ids, method
        assert np.allclose(now_scores, scores, atol=1e-5), method  # other processors, other last bits


def test_it_is_sound(stored):
    place, _ = stored
    for name in (*make.FOLDERS, "recording.sqlite"):
        assert check(place / name).good, check(place / name)


def test_it_grows(stored, tmp_path):
    """A stored index takes in a passage, and a stored run goes on with a method more; what it had stays."""
    place, expected = stored
    index = Index.open(place / "index")
    run = on_disk.run(place / "run", index)
    assert {f"{row['question_id']} {row['method']}": row["answer"] for row in run.rows} == expected["answers"]
    assert len(Run(place / "run").rows) == len(expected["answers"])
