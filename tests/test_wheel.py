"""The wheel without the repository: in an empty folder it answers a question, and its notebooks are opened and run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
QUESTION, ANSWER = "Who set up the school that trained the designer of the Lanthorn Bridge?", "Tobiah Wrensk"
# What the package reads at run time beside its modules.
BROUGHT = (
    "py.typed",
    "data/bundled/meridian/corpus.jsonl",
    "data/bundled/meridian/graph/triples.jsonl",
    "data/bundled/meridian-anonymised.names.jsonl",
    "lessons/notebooks/baseline/01_build_graph.json",
    "methods/gfm_rag/mini/config.json",
    "llm/prices.csv",
    "steps/prompts/fact_filter.md",
    "weights.csv",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built without the network: the builder is one of the development's packages."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    [built] = folder.glob("hopscope-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    options = ["--no-deps", "--no-index", "--no-compile", "--quiet", "--disable-pip-version-check", "--target", folder]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, wheel], check=True)
    return folder


@pytest.fixture(scope="module")
def workbench(installed, tmp_path_factory) -> Callable[..., subprocess.CompletedProcess]:
    """Runs a verb in an empty folder. `-S` leaves out `.pth` files, and with them this checkout; third-party packages
    and what they bring for Jupyter come by their folders."""
    folder = tmp_path_factory.mktemp("empty")
    paths = os.pathsep.join([str(installed), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    environment = {name: value for name, value in os.environ.items() if name != "WORKBENCH_HOME"}
    environment |= {"PYTHONPATH": paths, "JUPYTER_PATH": str(Path(sys.prefix, "share", "jupyter"))}

    def run(*words: str, code: int = 0) -> subprocess.CompletedProcess:
        command = [sys.executable, "-S", "-m", "workbench", *words]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    where = [sys.executable, "-S", "-c", "import workbench; print(workbench.__file__)"]
    found = subprocess.run(where, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout
    assert Path(found.strip()).is_relative_to(installed), "not the checkout"
    run.folder = folder
    return run


@pytest.mark.slow
def test_it_brings_what_the_package_reads(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert not [name for name in BROUGHT if f"workbench/{name}" not in names]
    notebooks = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert {Path(name).name for name in names if name.startswith("workbench/lessons/notebooks/")} >= notebooks
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {f"workbench/{page}" for page in pages} <= names
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "workbench").rglob("*.py")}
    assert modules <= names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "docs/"))]


@pytest.mark.slow
def test_from_an_empty_folder_to_a_traced_answer(workbench):
    """With `dense`, whose layers are built in seconds."""
    said = json.loads(workbench("ask", "meridian", QUESTION, "-m", "dense", "--trace", "--json").stdout)
    assert said["answer"] == ANSWER and said["passages"] and said["engine"] == "rules"
    assert {event["step"] for event in said["trace"]} >= {"dense", "direct"}
    assert (workbench.folder / "indexes" / "meridian" / "manifest.json").exists()
    again = workbench("ask", "meridian", QUESTION, "-m", "bm25", "-r", "none")
    assert "First the index" not in again.stderr


@pytest.mark.slow
def test_the_notebooks_are_copied_opened_and_run(workbench):
    count = len(list((ROOT / "notebooks").glob("*.ipynb")))
    assert len(json.loads(workbench("notebooks", "mine", "--json").stdout)) == count
    assert workbench("lab", "--version").stdout[0].isdigit(), "JupyterLab took over"
    assert len(list((workbench.folder / "lab").glob("*.ipynb"))) == count
    few = workbench.folder / "few"
    few.mkdir()
    few.joinpath("triples.tsv").write_text("Nora Whitlock\tfounded\tOrsby Mill\nOrsby Mill\tlies in\tOrsby\n")
    few.joinpath("questions.jsonl").write_text('{"id": "q1", "question": "Who founded the mill?", "answers": ["Nora"]}')
    [ran] = json.loads(workbench("run", "--only", "01", "--data", "few", "--json").stdout)["notebooks"]
    assert Path(workbench.folder, ran["page"]).exists()
    assert list(workbench.folder.glob("figures/*/01_verdict.json"))
