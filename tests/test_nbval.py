"""Executed notebooks are checked by nbval, as CONTRIBUTING.md tells a contributor to do by hand: every cell runs in a
new kernel without an error, and what the notebook concludes is the same again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

TESTS = Path(__file__).parent


def nbval(*notebooks: Path) -> subprocess.CompletedProcess[str]:
    """In a pytest of its own, without the settings of this one."""
    options = ["--nbval-lax", "--nbval-sanitize-with", TESTS / "nbval_sanitise.cfg", "--nbval-cell-timeout=600"]
    plain = ["-c", os.devnull, f"--rootdir={notebooks[0].parent}", "-p", "no:cacheprovider", "-p", "no:xdist", "-q"]
    command = [sys.executable, "-m", "pytest", *options, *plain, *notebooks]
    environment = {name: value for name, value in os.environ.items() if name != "WORKBENCH_HOME"}
    return subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)


def concluding(cell) -> bool:
    """Whether a cell prints the sentences of the lesson."""
    return cell.cell_type == "code" and cell.source.startswith("print(lesson.seen(")


@pytest.mark.slow
def test_notebooks_say_the_same_in_a_new_kernel(notebook):
    """Those whose runs take seconds when the index and the rows of the first execution stand."""
    checked = []
    for number in ("01", "04"):
        ran = notebook(number)
        node = nbformat.read(ran.path, as_version=4)
        for cell in filter(concluding, node.cells):
            cell.metadata["tags"] = ["nbval-check-output"]
        checked.append(ran.path.with_name(f"checked_{ran.path.name}"))
        nbformat.write(node, checked[-1])
    assert any(concluding(cell) for path in checked for cell in nbformat.read(path, as_version=4).cells)
    try:
        done = nbval(*checked)
    finally:
        for path in checked:
            path.unlink()
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]


def test_a_changed_output_and_a_failing_cell_are_found(tmp_path):
    """The check can fail; seconds are no change."""
    cells = [nbformat.v4.new_code_cell(source) for source in ("print('1.25 s', 'a')", "print('b')", "1 / 0")]
    for cell in cells[:2]:
        cell.metadata["tags"], cell.execution_count = ["nbval-check-output"], 1
        cell.outputs = [nbformat.v4.new_output("stream", text={"1": "0.5 s a\n"}.get(cell.source[7], "c\n"))]
    path = tmp_path / "planted.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    done = nbval(path)
    assert done.returncode == 1 and "2 failed, 1 passed" in done.stdout
