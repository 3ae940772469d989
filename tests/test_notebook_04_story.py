"""Notebook 04 without a browser: what it writes, what its page shows, and data that have no questions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest

from workbench import notebooks

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "04_replay_bdtr_iterations.ipynb"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Execute it with its figures, index and runs in a temporary folder."""
    monkeypatch.chdir(tmp_path)

    def run(**parameters):
        return notebooks.run(NOTEBOOK, tmp_path / "executed", parameters, progress=False)

    return run


def test_on_the_bundled_corpus(run, tmp_path, meridian_index):
    executed = run(index=str(meridian_index.folder), limit=2)
    figures = tmp_path / "figures" / "meridian"
    analyses = ("ablation", "by_kind", "complementarity", "cuts", "promotion", "recall", "rounds")
    assert {path.name for path in figures.iterdir()} == {
        *(f"04_{name}.{kind}" for name in analyses for kind in ("csv", "png")),
        *("04_ranks.png", "04_ranks_beside.png", "04_ranks_edited.png", "04_scores.png", "04_run.csv"),
        "04_verdict.json",
    }
    verdict = json.loads((figures / "04_verdict.json").read_text())
    assert verdict["holds"] and len(verdict["checks"]) == 6
    # The passage that names the missing link is deep in the ranking, and comes up when it is asked for by its title.
    assert verdict["facts"]["gold ranks of pia-normelle"][0] > 10
    assert verdict["facts"]["gold ranks of pia-normelle, edited"][1] == 1
    outputs = [output for cell in nbformat.read(executed, as_version=4).cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 7
    made = executed.with_suffix(".html").read_text(encoding="utf-8")
    assert "ReplayWidget at" not in made and made.count("hopscope-bump") == 2  # no kernel: pictures
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)


def test_on_a_folder_without_questions(run, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    texts = ("Mora founded the Halden Theatre.", "Karl Weiss designed the theatre.", "Halden lies on the Glomma.")
    rows = [{"id": str(at), "title": "", "text": text} for at, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run(data=str(folder), question="Who designed the theatre in Halden?", backbone="dense", other="bdtr[policy=strict]")
    assert json.loads((tmp_path / "figures" / "notes" / "04_verdict.json").read_text())["holds"]
