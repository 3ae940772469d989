"""What the conditions of every paper say of its adversarial runs (adversarial.py), recorded beside it as
`conditions.jsonl`: a line for each row of a table, with every condition of the unchanged run on both sides, and for
each change the conditions that it adds.

    python tests/contract/conditions.py    write the file
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import adversarial

from workbench.methods.gfm_rag import hub
from workbench.papers.condition import SAME
from workbench.papers.conditions import conditions
from workbench.published import papers

FILE = Path(__file__).with_suffix(".jsonl")


def verdicts() -> Iterator[dict[str, Any]]:
    """Rows of the papers, and what their adversarial runs differ in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hub, "cached", lambda repository: ["a" * 40])
        for name in papers():
            yield from (_of(row) for row in adversarial.rows_of(adversarial.stated(name)))


def _of(row: adversarial.Row) -> dict[str, Any]:
    (before,) = _sides(row, row.side.run)
    unlike = {condition for condition in before if condition[3] != SAME}
    changes: dict[str, list[list[str]]] = {}  # the conditions that are new at each place of the run
    for what, change in adversarial.changes(row):
        after = _sides(row, adversarial.changed(row.side.run, change, row.side.label))
        changes[what] = [
            [f"{name} ({state})" for name, _, _, state in sorted({*side} - unlike) if state != SAME] for side in after
        ]
    unchanged = sorted(" = ".join(condition) for condition in before)
    return {"paper": row.source.name, "row": row.name, "unchanged": unchanged, "changes": changes}


def _sides(row: adversarial.Row, run: Any) -> list[list[tuple[str, str, str, str]]]:
    return [
        [(one.name, one.theirs, one.ours, one.state) for one in conditions(side, row.source.terms, row.measure)]
        for side in row.sides(run)
    ]


def recorded() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    FILE.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in verdicts()), "utf-8")
