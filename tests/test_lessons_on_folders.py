"""Notebooks on three passages without questions: what cannot be measured is left out, and what remains holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
ASKED = {"question": "Who designed the theatre in Halden?", "engine": "rules"}
GIVEN = {
    "02": {**ASKED, "raptor": True},
    "04": {**ASKED, "backbone": "dense", "other": "bdtr[policy=strict]"},
    "05": {**ASKED, "prompts": ["brief", "sparql"], "budgets": [300]},
    "06": ASKED,
    "07": {},
}


@pytest.mark.slow
@pytest.mark.parametrize("number", GIVEN)
def test_on_a_folder_without_questions(number, run_in_folder, notes):
    """A tree of summaries, or a grid of six readers."""
    (notebook,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    run_in_folder(notebook, data=str(notes), **GIVEN[number])
    verdict = json.loads((notes.parent / "figures" / "notes" / f"{number}_verdict.json").read_text())
    assert verdict["holds"] and (number != "07" or verdict["facts"]["not comparable"] == 0)
