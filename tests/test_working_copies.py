"""What JupyterLab opens are copies: they keep outputs and edits, and follow their originals where nobody edited
them."""

import json

import nbformat
import pytest
from typer.testing import CliRunner

from workbench import notebooks
from workbench.cli.app import app
from workbench.errors import SettingError


def write(path, *sources):
    path.parent.mkdir(exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources]), path)


def edit(path, change):
    node = nbformat.read(path, as_version=4)
    change(node)
    nbformat.write(node, path)


def run_and_save(node):
    """What JupyterLab leaves in a notebook that was run."""
    node.cells[0].execution_count = 1
    node.cells[0].outputs = [nbformat.v4.new_output("stream", text="seen")]
    node.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    node.metadata["language_info"] = {"name": "python", "version": "3.11.7"}


@pytest.fixture
def original(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(notebooks, "originals", lambda: tmp_path / "notebooks")
    write(tmp_path / "notebooks" / "01_first.ipynb", "1 + 1", "2 + 2")
    return tmp_path / "notebooks" / "01_first.ipynb"


@pytest.fixture
def copy(original):
    [(copy, state)] = notebooks.working_copies().items()
    assert state == "new" and copy.as_posix() == "lab/01_first.ipynb"
    return copy


def state():
    [state] = notebooks.working_copies().values()
    return state


def sources(path):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


def test_a_copy_has_the_cells_of_its_original(original, copy):
    assert sources(copy) == sources(original) == ["1 + 1", "2 + 2"]
    before = copy.read_bytes()
    assert state() == "as it was" and copy.read_bytes() == before
    assert [path.name for path in copy.parent.iterdir()] == [copy.name]


def test_outputs_survive_and_are_no_edit(original, copy):
    edit(copy, run_and_save)
    saved = copy.read_bytes()
    assert state() == "as it was" and copy.read_bytes() == saved
    write(original, "1 + 1", "3 + 3")
    assert state() == "renewed"
    assert sources(copy) == ["1 + 1", "3 + 3"] and not nbformat.read(copy, as_version=4).cells[0].outputs
    assert state() == "as it was"


@pytest.mark.parametrize(
    "change",
    [
        lambda node: node.cells[0].update(source="limit = 3"),
        lambda node: node.cells.pop(),
        lambda node: node.cells.reverse(),
        lambda node: node.cells[0].update(cell_type="raw"),
    ],
    ids=["source", "fewer", "order", "kind"],
)
def test_an_edited_copy_is_kept(original, copy, change):
    edit(copy, change)
    edited = copy.read_bytes()
    assert state() == "as it was"  # there is nothing newer to have
    write(original, "new")
    assert state() == "kept" and copy.read_bytes() == edited
    copy.rename(copy.with_name("mine.ipynb"))
    assert state() == "new" and sources(copy) == ["new"]


def test_a_copy_that_is_no_notebook_is_named(copy):
    copy.write_text("{torn")
    with pytest.raises(SettingError, match=r"lab/01_first\.ipynb cannot be read as a notebook .*remove it"):
        notebooks.working_copies()


def test_the_verb_opens_the_first_copy_and_says_what_it_kept(original, copy, monkeypatch):
    started = []
    monkeypatch.setattr(notebooks.os, "execve", lambda file, words, environment: started.append((words, environment)))
    monkeypatch.delenv("WORKBENCH_HOME", raising=False)
    edit(copy, lambda node: node.cells.pop())
    write(original, "new")
    result = CliRunner().invoke(app, ["lab", "--no-browser", "--port", "8899", "--allow-root"])
    assert result.exit_code == 0, result.output
    assert (
        result.stderr.startswith("lab/01_first.ipynb has changes of yours and is kept") and "rename it" in result.stderr
    )
    [(words, environment)] = started
    assert environment["WORKBENCH_HOME"] == str(original.parents[1]), "kernels write where the verb was called"
    assert words[1:] == [
        "-m", "jupyterlab", "--notebook-dir=.", "--LabApp.default_url=/lab/tree/lab/01_first.ipynb",
        "--no-browser", "--port", "8899", "--allow-root",
    ]  # fmt: skip


@pytest.mark.parametrize("words", [[], ["--no-browser"]])
def test_root_is_told_what_to_add_before_anything_is_prepared(original, tmp_path, monkeypatch, words):
    monkeypatch.setattr(notebooks.os, "geteuid", lambda: 0)
    result = CliRunner().invoke(app, ["lab", *words])
    assert result.exit_code == 1 and not (tmp_path / "lab").exists()
    assert "workbench lab --allow-root" in result.stderr and "make lab LAB=--allow-root" in result.stderr


def test_the_verb_copies_them_out_and_keeps_edits(original, tmp_path):
    result = CliRunner().invoke(app, ["notebooks", "mine", "--json"])
    assert json.loads(result.stdout) == [{"notebook": "mine/01_first.ipynb", "state": "new"}]
    edit(tmp_path / "mine" / "01_first.ipynb", lambda node: node.cells.pop())
    write(original, "new")
    result = CliRunner().invoke(app, ["notebooks", "mine"])
    assert "kept" in result.stdout and "mine/01_first.ipynb has changes of yours" in result.stderr
    assert sources(tmp_path / "mine" / "01_first.ipynb") == ["1 + 1"]


def test_the_baseline_of_an_installed_package_is_not_overwritten(original, tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "PACKAGE", tmp_path)
    with pytest.raises(SettingError, match="belongs to the installed package; name a folder of yours with --baseline"):
        notebooks.check(None, tmp_path / "out", {}, accept=True)
