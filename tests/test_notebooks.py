"""The notebooks: without outputs in git, executed with papermill and parameters, on the bundled and on other data."""

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import nbformat
import pytest

import workbench as wb
from workbench import notebooks
from workbench.errors import SettingError

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "notebooks"
ALL = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_outputs_are_stripped(path):
    command = [sys.executable, "-m", "nbstripout", "--verify", str(path)]
    assert subprocess.run(command, capture_output=True).returncode == 0, f"run: nbstripout {path.relative_to(ROOT)}"


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_it_is_a_document(path):
    """Title, promise, parameters, and a last section that asserts its verdict."""
    cells = nbformat.read(path, as_version=4).cells
    assert cells[0].cell_type == "markdown" and cells[0].source.startswith("# ") and "\n> " in cells[0].source
    assert [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    assert cells[-1].source.startswith("assert verdict.holds")


def made(cell) -> set[str]:
    """The names that a code cell binds in the notebook; those of a comprehension stay inside it."""
    tree = ast.parse(cell.source)
    inside = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    hidden = {id(node) for scope in ast.walk(tree) if isinstance(scope, inside) for node in ast.walk(scope)}
    stored = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {node.id for node in stored if id(node) not in hidden}


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_each_name_is_made_by_one_cell(path):
    """A parameter that is overwritten, or a name that changes its meaning further down, breaks the cell that runs
    again."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    counted = Counter(name for cell in cells for name in made(cell))
    assert [name for name, count in counted.items() if count > 1] == []


SMALL = {
    "01": {"limit": 2},
    "03": {"beside": ["lightrag"]},
    "04": {"limit": 1},
    "05": {"methods": ["dense"], "ablated": ["dense"], "prompts": ["brief", "sparql"], "limit": 2, "budget": 600},
}


@pytest.mark.slow
@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_each_cell_runs_again(path, tmp_path, monkeypatch, meridian_index):
    """After the whole notebook all cells once more from the last to the first: each finds what it needs as it was."""
    node = nbformat.read(path, as_version=4)
    again = [cell for cell in node.cells[::-1] if cell.cell_type == "code" and not cell.metadata.get("tags")]
    node.cells += [nbformat.v4.new_code_cell(cell.source) for cell in again]
    doubled = tmp_path / path.name
    nbformat.write(node, doubled)
    monkeypatch.chdir(tmp_path)
    parameters = {"index": str(meridian_index.folder), **SMALL[path.name[:2]]}
    notebooks.run(doubled, tmp_path / "executed", parameters, progress=False)


@pytest.fixture
def run_in(tmp_path, monkeypatch):
    """Execute a notebook with its figures, index and runs in a temporary folder."""
    monkeypatch.chdir(tmp_path)

    def run(name, **parameters):
        return notebooks.run(FOLDER / name, tmp_path / "executed", parameters, progress=False)

    return run


def test_build_graph_on_the_bundled_corpus(run_in, tmp_path):
    executed = run_in("01_build_graph.ipynb", limit=4)
    written = {path.name for path in (tmp_path / "figures" / "meridian").iterdir()}
    assert written == {
        "01_checkup.csv",
        "01_counts.csv",
        "01_degrees.png",
        "01_neighbourhood.png",
        "01_ranking.png",
        "01_recall.png",
        "01_retrieval.csv",
        "01_verdict.json",
        "01_walk.png",
        "01_walk_and_dense.png",
    }
    assert json.loads((tmp_path / "figures" / "meridian" / "01_verdict.json").read_text())["holds"]
    outputs = [output for cell in nbformat.read(executed, as_version=4).cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 5
    assert sum("text/html" in output.get("data", {}) for output in outputs) >= 12
    made = executed.with_suffix(".html").read_text(encoding="utf-8")
    assert "Explorer of" not in made and "<iframe" in made  # a page has no kernel, so it shows the graph itself
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)


def test_build_graph_on_a_folder_without_questions(run_in, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    texts = (
        "Mora founded the Halden Theatre in 1931.",
        "Karl Weiss designed the theatre.",
        "Halden lies on the Glomma.",
    )
    rows = [{"id": str(i), "title": "", "text": text} for i, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run_in("01_build_graph.ipynb", data=str(folder), question="Who designed the theatre in Halden?")
    assert json.loads((tmp_path / "figures" / "notes" / "01_verdict.json").read_text())["holds"]


def test_an_unknown_parameter_is_refused(run_in):
    with pytest.raises(SettingError, match="no parameter 'colour'"):
        run_in("01_build_graph.ipynb", colour="blue")


def test_a_failing_cell_is_named_with_the_executed_copy(run_in, tmp_path):
    with pytest.raises(notebooks.NotebookFailed, match=r"01_build_graph.ipynb, cell \d+: DataError"):
        run_in("01_build_graph.ipynb", data="nowhere")
    assert (tmp_path / "executed" / "01_build_graph.html").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["musique-train-100", "hotpotqa-train-100"])
def test_build_graph_on_real_data(shared, run_in, tmp_path, name):
    """Facts given, and raw text."""
    data = shared / "datasets" / name
    run_in("01_build_graph.ipynb", data=str(data))
    verdict = json.loads((tmp_path / "figures" / name / "01_verdict.json").read_text())
    assert verdict["holds"]
    assert verdict["facts"]["passages"] == len(wb.load(data).passages)
