"""All notebooks: without outputs in git, executed once on the bundled corpus; notebook 01 on other data as well."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from scripts import loaded

import workbench as wb
from workbench import notebooks
from workbench.errors import SettingError

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "notebooks"
ALL = sorted(FOLDER.glob("*.ipynb"))


def test_outputs_are_stripped():
    """One process for all: it takes two seconds to start."""
    done = subprocess.run([sys.executable, "-m", "nbstripout", "--verify", *ALL], capture_output=True, text=True)
    assert done.returncode == 0, f"run: nbstripout notebooks/*.ipynb: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_it_is_a_document(path):
    """Title, promise, parameters, and a last section that asserts its verdict."""
    cells = nbformat.read(path, as_version=4).cells
    assert cells[0].cell_type == "markdown" and cells[0].source.startswith("# ") and "\n> " in cells[0].source
    assert [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    assert cells[-1].source.startswith("assert verdict.holds")


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_it_is_read_like_a_paper(path):
    """One import, short cells, and none that asks whether something is there."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    cells = [cell for cell in cells if "parameters" not in cell.metadata.get("tags", [])]
    assert cells[0].source.splitlines()[0] == "import workbench as wb"
    trees = [ast.parse(cell.source) for cell in cells]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    assert sum(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes) == 1
    assert [ast.unparse(node) for node in nodes if isinstance(node, ast.If | ast.IfExp | ast.Match)] == []
    assert [cell.source for cell in cells if len(cell.source.splitlines()) > 6] == []
    shown = [cell.source.splitlines()[-1] for cell in cells]
    assert shown.count("verdict") == 1 and shown[-1] == "verdict", "the checks are shown once, at the end"


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


PICTURE = {"image/png", "image/svg+xml", "application/vnd.jupyter.widget-view+json"}
NUMBERS = [path.name[:2] for path in ALL]


@pytest.mark.parametrize("number", NUMBERS)
def test_it_runs_from_the_first_cell_to_the_last(notebook, number):
    """As it stands in git: on the bundled corpus, with the parameters that it names, but few questions in its study."""
    ran = notebook(number)
    assert all(cell.execution_count for cell in ran.cells)
    assert ran.verdict["holds"]
    shown = [output.get("data", {}) for cell in ran.cells[:3] for output in cell.outputs]
    drawn = [data.keys() & PICTURE or "<iframe" in str(data.get("text/html")) for data in shown]
    assert any(drawn), "a picture after two cells"
    bars = [data for cell in ran.cells for output in cell.outputs if "it/s" in str(data := output.get("data", {}))]
    assert bars == [], "bars of progress vanish"
    (folded,) = [output["data"]["text/html"] for output in ran.cells[-1].outputs if "data" in output]
    assert re.search(r"<details><summary>.*\d+ of \d+ checks hold</summary>", folded, re.DOTALL)


@pytest.mark.parametrize("number", NUMBERS)
def test_each_cell_runs_again(notebook, number):
    """After the whole notebook all cells once more from the last to the first: each finds what it needs as it was."""
    ran = notebook(number, live=True)
    ran.again(ran.cells[::-1])


@pytest.mark.slow
@pytest.mark.usefixtures("run_in_folder")
def test_any_question_can_be_asked_in_a_notebook(meridian_curated, tmp_path, monkeypatch):
    """One that has no worked replies as well; `benchmarks/any_question.py` asks more, with other engines."""
    shutil.copytree(meridian_curated.folder, tmp_path / "indexes" / "meridian-curated")
    script = loaded(ROOT / "benchmarks" / "any_question.py", "any_question")
    monkeypatch.setattr(script, "LIMIT", 1)
    ((path, engine, asked),) = script.planned(["worked"], script.drawn(1, seed=7), "04")
    assert script.execute(path, engine, asked).failure == ""


def nbval(notebook: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """In a pytest of its own, without the settings of this one; what the notebook made stands in its `home`."""
    sanitised = ["--nbval-sanitize-with", ROOT / "tests" / "nbval_sanitise.cfg"]
    options = ["--nbval-lax", *sanitised, "--nbval-cell-timeout=600"]
    plain = ["-c", os.devnull, f"--rootdir={notebook.parent}", "-p", "no:cacheprovider", "-p", "no:xdist", "-q"]
    command = map(str, [sys.executable, "-m", "pytest", *options, *plain, notebook])
    environment = {**os.environ, "WORKBENCH_HOME": str(home)}
    return subprocess.run(list(command), env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_nbval_finds_a_changed_output_and_a_failing_cell(tmp_path):
    """And takes other seconds for no change."""
    outputs = {"print('1.25 s', 'a')": "0.5 s a\n", "print('b')": "c\n", "1 / 0": ""}
    cells = [nbformat.v4.new_code_cell(source, execution_count=1) for source in outputs]
    for cell in cells[:2]:
        cell.metadata["tags"] = ["nbval-check-output"]
        cell.outputs = [nbformat.v4.new_output("stream", text=outputs[cell.source])]
    path = tmp_path / "planted.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    done = nbval(path, tmp_path)
    assert done.returncode == 1 and "2 failed, 1 passed" in done.stdout


@pytest.fixture
def run_in(tmp_path, monkeypatch):
    """Execute a notebook with its figures, index and runs in a temporary folder."""
    monkeypatch.chdir(tmp_path)

    def run(name, **parameters):
        return notebooks.run(FOLDER / name, tmp_path / "executed", parameters, progress=False)

    return run


@pytest.mark.slow
def test_build_graph_on_a_folder_without_questions(run_in_folder, notes, tmp_path):
    question = "Who designed the theatre in Halden?"
    run_in_folder(FOLDER / "01_build_graph.ipynb", data=str(notes), engine="rules", question=question)
    assert json.loads((tmp_path / "figures" / "notes" / "01_verdict.json").read_text())["holds"]


def test_an_unknown_parameter_is_refused(run_in):
    with pytest.raises(SettingError, match="no parameter 'colour'"):
        run_in("01_build_graph.ipynb", colour="blue")


def test_a_failing_cell_is_named_with_the_executed_copy(run_in, tmp_path):
    with pytest.raises(notebooks.NotebookFailed, match=r"01_build_graph.ipynb, cell \d+: DataError"):
        run_in("01_build_graph.ipynb", data="nowhere")
    assert (tmp_path / "executed" / "01_build_graph.html").exists()


def part_of(data: Path, to: Path, questions: int = 4) -> Path:
    """A data set of the first questions, the passages that they rest on and 30 others."""
    rows = {path.name: path.read_text(encoding="utf-8").splitlines() for path in data.glob("*.jsonl")}
    asked = rows["questions.jsonl"][:questions]
    gold = {passage for row in asked for passage in json.loads(row)["support"]}
    ids = [json.loads(row)["id"] for row in rows["corpus.jsonl"]]
    kept = gold | set([id for id in ids if id not in gold][:30])
    to.mkdir()
    for name, lines in rows.items():
        key = {"corpus.jsonl": "id", "openie.jsonl": "passage_id"}.get(name)
        part = asked if name == "questions.jsonl" else [line for line in lines if json.loads(line)[key] in kept]
        (to / name).write_text("".join(f"{line}\n" for line in part), encoding="utf-8")
    return to


@pytest.mark.slow
def test_build_graph_on_real_data_and_again_in_a_new_kernel(shared, run_in, tmp_path):
    """On facts that the data bring; then nbval finds no cell that fails, and its lesson prints the same."""
    name = "musique-train-100"
    data = part_of(shared / "datasets" / name, tmp_path / name)
    run_in("01_build_graph.ipynb", data=str(data), engine="rules")
    verdict = json.loads((tmp_path / "figures" / name / "01_verdict.json").read_text())
    assert verdict["holds"]
    assert verdict["facts"]["passages"] == len(wb.load(data).passages) > 30
    path = tmp_path / "executed" / "01_build_graph.ipynb"
    node = nbformat.read(path, as_version=4)
    (concluding,) = [cell for cell in node.cells if "print(lesson.seen(" in cell.source]
    concluding.metadata["tags"] = ["nbval-check-output"]
    nbformat.write(node, path)
    done = nbval(path, tmp_path)
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]


def test_an_executed_copy_is_that_of_its_notebook_whatever_its_parameters():
    cells = [nbformat.v4.new_markdown_cell("# A"), nbformat.v4.new_code_cell("a = 1")]
    node = nbformat.v4.new_notebook(cells=cells)
    given = nbformat.v4.new_code_cell("a = 2", metadata={"tags": ["injected-parameters"]})
    executed = nbformat.v4.new_notebook(cells=[*deepcopy(cells), given])
    assert notebooks.same_cells(node, executed)
    executed.cells[0].source = "# B"
    assert not notebooks.same_cells(node, executed)


def test_what_needs_a_kernel_is_taken_out():
    shown = {"application/vnd.jupyter.widget-view+json": {"model_id": "m"}, "text/html": "<p>still</p>"}
    cell = nbformat.v4.new_code_cell("w", outputs=[nbformat.v4.new_output("display_data", shown)])
    node = nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": {"state": {}}})
    assert notebooks.still(node) == 1 and notebooks.still(node) == 0
    assert node.cells[0].outputs[0].data == {"text/html": "<p>still</p>"} and "widgets" not in node.metadata


def test_a_page_has_widgets_with_a_page_of_their_own_and_no_bars_of_progress():
    view = "application/vnd.jupyter.widget-view+json"
    shown = (
        {view: {}, "text/plain": "evaluate:   0%|          | 0/2"},
        {view: {}, "text/plain": "Explorer", "text/html": "<p>explored</p>"},
        {"text/plain": "'Orsby'"},
    )
    outputs = [nbformat.v4.new_output("display_data", data=data) for data in shown]
    node = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("1", outputs=outputs), nbformat.v4.new_markdown_cell("…")]
    )
    assert notebooks.still(node) == 1
    assert [output.data for output in node.cells[0].outputs] == [
        {"text/plain": "Explorer", "text/html": "<p>explored</p>"}, {"text/plain": "'Orsby'"},
    ]  # fmt: skip
